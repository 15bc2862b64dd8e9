/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Standard input, output and error may have been closed by whoever starts a program (>&-). What it
 * opens next would take their places: a socket would get what is printed.
 */
#ifndef LIB_STANDARD_H
#define LIB_STANDARD_H

#include <fcntl.h>
#include <unistd.h>

/* Before anything is opened. Each that is closed is opened the wrong way round, so its use still
 * fails with EBADF. */
static inline void standard_reserve(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

#endif

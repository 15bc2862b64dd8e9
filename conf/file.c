/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int grow(uint8_t **data, size_t *capacity)
{
	size_t bigger = *capacity ? 2 * *capacity : 65536;
	uint8_t *grown = realloc(*data, bigger);

	if (!grown)
		return -ENOMEM;
	*data = grown;
	*capacity = bigger;
	return 0;
}

/* The size that fstat tells is not trusted: files grow, and those of /proc say 0. */
static int read_fd(int fd, size_t bytes_max, uint8_t **data, size_t *bytes)
{
	size_t capacity = 0;

	for (;;) {
		ssize_t n;
		int err = *bytes == capacity ? grow(data, &capacity) : 0;

		if (err)
			return err;
		n = read(fd, *data + *bytes, capacity - *bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		*bytes += (size_t)n;
		if (*bytes > bytes_max) {
			*bytes = 0;
			return -EFBIG;
		}
	}
}

static int open_regular(const char *path, struct stat *st)
{
	/* O_NONBLOCK: a FIFO must not hang us before fstat says what it is. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		err = -errno;
	else if (!S_ISREG(st->st_mode))
		err = S_ISDIR(st->st_mode) ? -EISDIR : -ENODEV;
	else
		return fd;
	close(fd);
	return err;
}

int file_open(const char *path)
{
	struct stat st;

	return open_regular(path, &st);
}

const char *file_why(int err)
{
	return err == -ENODEV ? "Not a regular file" : strerror(-err);
}

int file_read(const char *path, size_t bytes_max, uint8_t **data, size_t *bytes, int64_t *mtime_s)
{
	struct stat st;
	int err, fd;

	*data = NULL;
	*bytes = 0;
	fd = open_regular(path, &st);
	if (fd < 0)
		return fd;
	*mtime_s = st.st_mtim.tv_sec;
	err = read_fd(fd, bytes_max, data, bytes);
	close(fd);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A listening Unix socket with one owner.
 *
 * A lock file beside it (PATH.lock) is held while it lives, so that of two daemons that start at
 * once one is refused; who holds the lock and finds nobody answering may replace a stale socket.
 * Threads: control only.
 */
#ifndef CTRL_LISTEN_H
#define CTRL_LISTEN_H

#include <stdint.h>
#include <sys/un.h>

struct listener {
	int fd;
	int lock_fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* -errno with a sentence in @why. @group: NULL or unknown: the daemon's own. */
int listen_open(struct listener *listener, const char *path, const char *group, uint32_t mode,
		char *why, uint32_t why_bytes);
/* Closes it and takes socket and lock file away. */
void listen_close(struct listener *listener);

#endif

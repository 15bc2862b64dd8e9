/* SPDX-License-Identifier: BSD-2-Clause */
/* culvert capture -w: the daemon's pcapng into a file or a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/capture.h"
#include "cli/cli.h"
#include "lib/bits.h"

#define STALLED_MS 5000		/* that a reader may take once we are to end */

struct output {
	struct live *live;
	int fd;
	bool waits;		/* it may be full for a while: a pipe, a socket */
	int error;		/* why nothing can be written any more: 0 or errno */
};

int capture_file_open(const struct cli *cli, const char *file)
{
	int fd;

	if (strcmp(file, "-") == 0) {
		if (!isatty(STDOUT_FILENO))
			return STDOUT_FILENO;
		cli_fail(cli, "standard output is a terminal: pipe it into 'wireshark -k -i -', or "
			      "give a file");
		return -1;
	}
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		cli_fail(cli, "%s: %s", file, strerror(errno));
	return fd;
}

/* False: the pipe stays full, and we are to end. */
static bool wait_for_room(const struct output *o)
{
	struct live *l = o->live;

	for (;;) {
		unsigned int seen = live_wait(l, LIVE_SIGNAL | LIVE_FD, o->fd, POLLOUT,
					      l->stopped ? STALLED_MS : -1);

		if (seen & LIVE_FD)
			return true;
		if (!seen)
			return false;
		live_stop(l);
	}
}

/* A pipe that has room takes PIPE_BUF bytes without waiting. */
static void put(void *arg, const char *bytes, size_t n)
{
	struct output *o = arg;

	while (n && !o->error) {
		ssize_t r;

		if (o->waits && !wait_for_room(o)) {
			o->error = ETIMEDOUT;
			break;
		}
		r = write(o->fd, bytes, o->waits ? min_of(n, (size_t)PIPE_BUF) : n);
		if (r < 0 && errno != EINTR)
			o->error = errno;
		if (r > 0) {
			bytes += r;
			n -= (size_t)r;
		}
	}
	if (o->error)
		live_stop(o->live);
}

int capture_file_write(struct live *l, int fd, const char *file)
{
	const char *name = fd == STDOUT_FILENO ? "standard output" : file;
	struct output o = {.live = l, .fd = fd};
	struct stat st = {0};
	int status;

	fstat(fd, &st);
	o.waits = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	if (S_ISREG(st.st_mode) && fd != STDOUT_FILENO && ftruncate(fd, 0) < 0)
		o.error = errno;
	status = live_run(l, fd, put, &o);
	if (fd != STDOUT_FILENO && close(fd) < 0 && !o.error)
		o.error = errno;
	if (o.error == ETIMEDOUT)
		return cli_fail(l->cli, "%s: nobody reads it; the last frames are not in it", name);
	if (o.error && o.error != EPIPE)
		return cli_fail(l->cli, "%s: %s", name, strerror(o.error));
	return status;
}

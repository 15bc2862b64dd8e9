/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

#define BACKLOG 64

struct reason {
	char *text;
	uint32_t bytes;
};

__attribute__((format(printf, 3, 4))) static int fail(struct reason *why, int error,
						      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, why->bytes, fmt, ap);
	va_end(ap);
	return error;
}

static void lock_path(const struct listener *l, char *path, size_t bytes)
{
	snprintf(path, bytes, "%s.lock", l->path);
}

static void make_directories(const char *path)
{
	char part[sizeof(((struct listener *)0)->path)];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		memcpy(part, path, (size_t)(slash - path));
		part[slash - path] = '\0';
		mkdir(part, 0755);	/* open() of the lock says what is wrong */
	}
}

/* Whether @fd is still the file behind @path: its last owner may have removed it in between. */
static bool same_file(int fd, const char *path)
{
	struct stat held, there;

	return fstat(fd, &held) == 0 && stat(path, &there) == 0 && held.st_ino == there.st_ino &&
	       held.st_dev == there.st_dev;
}

static int take_lock(struct listener *l, struct reason *why)
{
	char path[sizeof(l->path) + 8];

	lock_path(l, path, sizeof(path));
	for (;;) {
		l->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (l->lock_fd < 0)
			return fail(why, -errno, "%s: %s", path, strerror(errno));
		if (flock(l->lock_fd, LOCK_EX | LOCK_NB) < 0)
			break;
		if (same_file(l->lock_fd, path))
			return 0;
		close(l->lock_fd);
	}
	close(l->lock_fd);
	return fail(why, -EADDRINUSE,
		    "another culvertd holds %s: stop it, or set control.socket to another path",
		    l->path);
}

static bool somebody_answers(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool refused;

	if (fd < 0)
		return true;
	refused = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
		  errno == ECONNREFUSED;
	close(fd);
	return !refused;
}

/* Takes a socket away that a killed daemon left behind. */
static int clear_path(const struct sockaddr_un *address, struct reason *why)
{
	const char *path = address->sun_path;
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return fail(why, -EEXIST, "%s is there and is no socket: move it away", path);
	if (somebody_answers(address))
		return fail(why, -EADDRINUSE,
			    "somebody else listens on %s: stop it, or set control.socket", path);
	if (unlink(path) < 0)
		return fail(why, -errno, "stale socket %s: %s", path, strerror(errno));
	return 0;
}

static void give_to_group(const char *path, const char *name)
{
	const struct group *group = name ? getgrnam(name) : NULL;

	if (name && !group)
		log_info("no group '%s' here: %s is for root alone (groupadd --system %s)", name,
			 path, name);
	else if (group && chown(path, (uid_t)-1, group->gr_gid) < 0)
		log_warn("%s: cannot give it to group %s: %s", path, name, strerror(errno));
}

static int bind_and_listen(struct listener *l, const struct sockaddr_un *address,
			   const char *group, uint32_t mode, struct reason *why)
{
	mode_t umask_before = umask(0177);
	int r = bind(l->fd, (const struct sockaddr *)address, sizeof(*address));
	int error = errno;

	umask(umask_before);
	if (r < 0)
		return fail(why, -error, "bind to %s: %s", l->path, strerror(error));
	/* Nobody can connect before listen(), so nobody gets in by the wrong mode. */
	give_to_group(l->path, group);
	if (chmod(l->path, mode) == 0 && listen(l->fd, BACKLOG) == 0)
		return 0;
	error = errno;
	unlink(l->path);
	return fail(why, -error, "listen on %s: %s", l->path, strerror(error));
}

int listen_open(struct listener *l, const char *path, const char *group, uint32_t mode,
		char *why_text, uint32_t why_bytes)
{
	struct reason why = {why_text, why_bytes};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char lock[sizeof(l->path) + 8];
	int r;

	*l = (struct listener){.fd = -1, .lock_fd = -1};
	if (!*path)
		return fail(&why, -EINVAL, "control.socket is empty");
	if (strlen(path) >= sizeof(address.sun_path))
		return fail(&why, -ENAMETOOLONG, "control.socket %s: longer than %zu bytes", path,
			    sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	strcpy(l->path, path);
	make_directories(path);
	r = take_lock(l, &why);
	if (r < 0)
		return r;
	r = clear_path(&address, &why);
	if (r < 0)
		goto unlock;
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0) {
		r = fail(&why, -errno, "socket: %s", strerror(errno));
		goto unlock;
	}
	r = bind_and_listen(l, &address, group, mode, &why);
	if (r == 0)
		return 0;
	close(l->fd);
unlock:
	lock_path(l, lock, sizeof(lock));
	unlink(lock);
	close(l->lock_fd);
	return r;
}

void listen_close(struct listener *l)
{
	char lock[sizeof(l->path) + 8];

	lock_path(l, lock, sizeof(lock));
	unlink(l->path);
	close(l->fd);
	unlink(lock);
	close(l->lock_fd);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/tcpdump.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lib/clock.h"

#define LISTEN_MS 5000		/* it may be looking up the names of its filter */
#define LOOK_MS 2

struct child {
	pid_t pid;
	int fd;			/* a pidfd */
	unsigned int ifindex;	/* where it is to listen */
	unsigned int before;	/* how many listened there without it */
};

/* How many sockets get the frames of device @ifindex. Those that only send, as the daemon's, have
 * no protocol. */
static unsigned int count_listeners(unsigned int ifindex)
{
	FILE *sockets = fopen("/proc/net/packet", "re");
	unsigned int n = 0, protocol, iface, running;
	char line[256];

	while (sockets && fgets(line, sizeof(line), sockets))
		if (sscanf(line, "%*s %*s %*s %x %u %u", &protocol, &iface, &running) == 3)
			n += protocol && running && iface == ifindex;
	if (sockets)
		fclose(sockets);
	return n;
}

/* In the child. Returns when there is no such program. */
static void exec_tcpdump(const struct live *l, pid_t parent, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
	execvp(argv[0], argv);
}

/* 0 or -errno. */
static int spawn(const struct live *l, char **argv, pid_t *pid)
{
	pid_t parent = getpid();
	int error = 0, fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	*pid = fork();
	if (*pid == 0) {
		exec_tcpdump(l, parent, argv);
		error = -errno;
		_exit(write(fd[1], &error, sizeof(error)) == sizeof(error) ? 127 : 1);
	}
	if (*pid < 0)
		error = -errno;
	close(fd[1]);
	/* The child's end is closed by a program that runs. */
	while (*pid > 0 && read(fd[0], &error, sizeof(error)) < 0 && errno == EINTR)
		;
	close(fd[0]);
	if (*pid > 0 && error)
		waitpid(*pid, NULL, 0);
	return error;
}

static int spawn_failed(const struct cli *cli, int error)
{
	if (error == -ENOENT)
		return cli_fail(cli, "tcpdump is not installed: apt install tcpdump, or write a "
				     "file with -w");
	return cli_fail(cli, "tcpdump: %s", strerror(-error));
}

static int start(const struct live *l, const char *device, int n, char **arguments,
		 struct child *child)
{
	char **argv;
	int error;

	child->ifindex = if_nametoindex(device);
	if (!child->ifindex)
		return cli_fail(l->cli,
				"%s is not in this network namespace: run it where culvertd runs",
				device);
	child->before = count_listeners(child->ifindex);
	argv = calloc((size_t)n + 4, sizeof(*argv));
	if (!argv)
		return cli_fail(l->cli, "out of memory");
	argv[0] = (char[]){"tcpdump"};
	argv[1] = (char[]){"-i"};
	argv[2] = (char *)device;
	memcpy(argv + 3, arguments, (size_t)n * sizeof(*argv));
	error = spawn(l, argv, &child->pid);
	free(argv);
	if (error)
		return spawn_failed(l->cli, error);
	child->fd = pidfd_open(child->pid, 0);
	if (child->fd >= 0)
		return CLI_DONE;
	cli_fail(l->cli, "pidfd_open: %s", strerror(errno));
	kill(child->pid, SIGTERM);
	waitpid(child->pid, NULL, 0);
	return CLI_FAILED;
}

/* The daemon answers nothing else on a connection while a stream goes on. */
static int resume(const struct live *l, uint64_t id)
{
	struct cli other = {.socket = l->cli->socket, .noun = l->cli->noun};
	json_t *params = json_pack("{s:I}", "id", (json_int_t)id), *result;
	int status = client_call(&other, "capture.start", params, &result);

	json_decref(result);
	client_close(&other);
	return status;
}

/* CLI_DONE: it has ended. CLI_FAILED: it has to be. */
static int watch(struct live *l, uint64_t id, const struct child *child)
{
	uint64_t limit_ns = clock_ns() + LISTEN_MS * NS_PER_MS;
	bool started = false;

	for (;;) {
		unsigned int seen = live_wait(l, LIVE_DATA | LIVE_SIGNAL | LIVE_FD, child->fd,
					      POLLIN, started ? -1 : LOOK_MS);

		if (seen & LIVE_FD)
			return CLI_DONE;
		if (seen & LIVE_SIGNAL)
			kill(child->pid, l->signo);
		if (seen & LIVE_DATA && live_read(l, NULL, NULL))
			return CLI_FAILED;
		if (started || (count_listeners(child->ifindex) <= child->before &&
				clock_ns() < limit_ns))
			continue;
		if (resume(l, id))
			return CLI_FAILED;
		started = true;
	}
}

int tcpdump_on(struct live *l, uint64_t id, const char *device, int n, char **arguments,
	       int *exit_status)
{
	struct child child = {0};
	int status, state = 0;

	/* Ignored, it would take the child's status with it. */
	signal(SIGCHLD, SIG_DFL);
	if (start(l, device, n, arguments, &child))
		return CLI_FAILED;
	status = watch(l, id, &child);
	if (status) {
		kill(child.pid, SIGTERM);
		while (!(live_wait(l, LIVE_SIGNAL | LIVE_FD, child.fd, POLLIN, -1) & LIVE_FD))
			kill(child.pid, l->signo);
	}
	waitpid(child.pid, &state, 0);
	close(child.fd);
	*exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/live.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/client.h"
#include "lib/bits.h"

static bool is_ignored(int signo)
{
	struct sigaction action;

	return sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* A signal that is blocked waits for whoever reads the descriptor, also when it is ignored. */
static int catch_signals(struct live *l)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals < 0)
		return cli_fail(l->cli, "signalfd: %s", strerror(errno));
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &l->mask);
	return CLI_DONE;
}

int live_begin(struct live *l, struct cli *cli, const char *method, json_t *params, json_t **about)
{
	int status = client_call(cli, method, params, about);

	*l = (struct live){.cli = cli, .signals = -1};
	if (status)
		return status;
	l->unread = cli->client->start < cli->client->in.n;
	return catch_signals(l);
}

void live_fini(struct live *l)
{
	json_decref(l->end);
	if (l->signals >= 0)
		close(l->signals);
	client_close(l->cli);
}

static bool read_signal(struct live *l)
{
	struct signalfd_siginfo info;

	if (read(l->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	l->signo = (int)info.ssi_signo;
	return true;
}

unsigned int live_wait(struct live *l, unsigned int wanted, int fd, short events, int timeout_ms)
{
	struct pollfd fds[] = {
		{.fd = wanted & LIVE_DATA ? l->cli->client->fd : -1, .events = POLLIN},
		{.fd = wanted & LIVE_SIGNAL ? l->signals : -1, .events = POLLIN},
		{.fd = wanted & LIVE_FD ? fd : -1, .events = events},
	};
	unsigned int seen = 0;

	if (wanted & LIVE_DATA && l->unread)
		return LIVE_DATA;
	while (poll(fds, ARRAY_SIZE(fds), timeout_ms) < 0 && errno == EINTR)
		;
	if (fds[0].revents)
		seen |= LIVE_DATA;
	if (fds[1].revents && read_signal(l))
		seen |= LIVE_SIGNAL;
	if (fds[2].revents)
		seen |= LIVE_FD;
	return seen;
}

static int take_line(struct live *l, const char *line)
{
	if (!l->last) {
		int status = client_chunk(l->cli, line, &l->left);

		l->last = status == CLI_DONE && l->left == 0;
		return status;
	}
	if (client_end(l->cli, line, &l->end))
		return CLI_FAILED;
	return l->stopped ? CLI_DONE :
			    cli_fail(l->cli, "culvertd has ended it: see journalctl -u culvertd");
}

/* Hands over what chunks have in the buffer. */
static int take_bytes(struct live *l, void (*take)(void *arg, const char *bytes, size_t n),
		      void *arg)
{
	struct client *c = l->cli->client;

	while (c->start < c->in.n && !l->end) {
		char *at = c->in.data + c->start;
		size_t n = c->in.n - c->start;
		char *newline;

		if (l->left) {
			n = min_of(n, l->left);
			if (take)
				take(arg, at, n);
			c->start += n;
			l->left -= n;
			continue;
		}
		newline = memchr(at, '\n', n);
		if (!newline)
			break;
		*newline = '\0';
		c->start += (size_t)(newline - at) + 1;
		if (take_line(l, at))
			return CLI_FAILED;
	}
	return CLI_DONE;
}

int live_read(struct live *l, void (*take)(void *arg, const char *bytes, size_t n), void *arg)
{
	if ((!l->unread && client_fill(l->cli)) || take_bytes(l, take, arg))
		l->failed = true;
	l->unread = false;
	return l->failed ? CLI_FAILED : CLI_DONE;
}

void live_stop(struct live *l)
{
	sigset_t set;

	if (l->stopped)
		return;
	l->stopped = true;
	shutdown(l->cli->client->fd, SHUT_WR);
	/* A terminal that is closed may send SIGHUP twice; ^C twice means it. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int live_finish(struct live *l, void (*take)(void *arg, const char *bytes, size_t n), void *arg)
{
	live_stop(l);
	while (!l->end && !l->failed) {
		if (live_wait(l, LIVE_DATA, -1, 0, CLIENT_PATIENCE_S * 1000)) {
			live_read(l, take, arg);
		} else {
			cli_fail(l->cli, "culvertd does not answer within %d s", CLIENT_PATIENCE_S);
			l->failed = true;
		}
	}
	return l->failed ? CLI_FAILED : CLI_DONE;
}

int live_run(struct live *l, int fd, void (*take)(void *arg, const char *bytes, size_t n),
	     void *arg)
{
	while (!l->stopped) {
		unsigned int seen =
			live_wait(l, LIVE_DATA | LIVE_SIGNAL | LIVE_FD, fd, 0, -1);

		if (seen & LIVE_DATA && live_read(l, take, arg))
			return CLI_FAILED;
		if (seen & (LIVE_SIGNAL | LIVE_FD))
			live_stop(l);
	}
	return live_finish(l, take, arg);
}

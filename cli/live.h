/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A live stream of the daemon (docs/protocol.md), and the signals that end it: SIGINT, SIGTERM and
 * SIGHUP (unless it is ignored, as nohup does).
 *
 * Life: live_begin; live_wait and live_read until there is an end; live_fini. In between signals
 * are only told by live_wait, but a ^C that comes after live_stop kills, as ever. A broken pipe is
 * an error of write().
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct cli;

struct live {
	struct cli *cli;
	sigset_t mask;		/* as it was before: for children */
	int signals;		/* a signalfd */
	int signo;		/* the last that came */
	bool unread;		/* something came together with the answer */
	bool stopped;		/* the daemon was told to end */
	bool failed;		/* there is nothing to wait for: the complaint was made */
	size_t left;		/* bytes of a chunk that are still to come */
	bool last;		/* no further chunk comes, only the end */
	json_t *end;		/* the daemon's totals; NULL: it goes on */
};

/* Takes @params. CLI_DONE with *@about a new reference to the answer. */
int live_begin(struct live *l, struct cli *cli, const char *method, json_t *params,
	       json_t **about);
/* Hangs up. */
void live_fini(struct live *l);

enum live_events {
	LIVE_DATA = 1 << 0,	/* something to read */
	LIVE_SIGNAL = 1 << 1,	/* see signo */
	LIVE_FD = 1 << 2,	/* @events of @fd, or its end */
};

/* Waits for @wanted at most @timeout_ms (negative: for ever). What has happened, 0: nothing. */
unsigned int live_wait(struct live *l, unsigned int wanted, int fd, short events, int timeout_ms);

/* Reads what there is, and hands over what is in chunks (@take may be NULL). After that end may be
 * set; an end before live_stop is a failure. */
int live_read(struct live *l, void (*take)(void *arg, const char *bytes, size_t n), void *arg);

/* Tells the daemon to end. Harmless when done before. */
void live_stop(struct live *l);
/* Tells it, if need be, and reads up to the end. CLI_FAILED after a complaint, now or before. */
int live_finish(struct live *l, void (*take)(void *arg, const char *bytes, size_t n), void *arg);
/* Reads until a signal comes, @fd has no reader any more, or @take stops it; then up to the end. */
int live_run(struct live *l, int fd, void (*take)(void *arg, const char *bytes, size_t n),
	     void *arg);

#endif

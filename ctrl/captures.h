/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The captures that there are, whoever asked for them: a client (cmd_capture.c) or the
 * configuration (permanent.h).
 *
 * Life of one: captures_begin makes its device and its rings, captures_start its thread, and gives
 * the workers its taps. It ends by captures_end, or by itself when its client or device is gone:
 * out of the set of taps, a grace period, what is in the rings is sent, the device goes, over() is
 * called.
 * Threads: control only. (What RCU calls back for is told to it through an eventfd.)
 */
#ifndef CTRL_CAPTURES_H
#define CTRL_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "ctrl/capture_device.h"
#include "ctrl/loop.h"
#include "lib/why.h"

struct gateway;
struct captures;

enum capture_run_state {
	RUN_PAUSED,		/* everything is ready, nothing is captured */
	RUN_CAPTURES,
	RUN_LEAVES,		/* out of the set, but a worker may still have that */
	RUN_DRAINS,		/* its thread sends what is left */
};

/* What is asked for. */
struct capture_wish {
	const char *name;	/* for people, and for the device that is made */
	struct tap_options tap;	/* its filter is taken (free()) in any case */
	const char *filter_text;	/* or NULL */
	const char *device;	/* that exists; NULL: one is made */
	bool pcapng;		/* to a client, no device at all */
};

struct capture_run {
	uint32_t id;		/* never used again */
	uint32_t slot;		/* its bit in the set */
	uint8_t state;		/* enum capture_run_state */
	bool pcapng;
	bool permanent;		/* set by who asked for it */
	char name[128];
	char *filter_text;	/* or NULL */
	struct capture_device device;
	uint64_t since_ns;	/* of its beginning */
	struct capture *capture;
	/* Called once, when it is over and its device is gone; the run is freed behind it. NULL:
	 * nobody wants to know. @error: 0, or -errno when it broke off. */
	void (*over)(struct capture_run *run, const struct capture_counts *counts, int error);
	void *owner;		/* over()'s */
	/* captures.c */
	struct captures *captures;
	struct loop_watch done;
	uint64_t last_set;	/* number of the newest set that it was in; 0: none */
	int error;
	bool now;		/* what is left in its rings is not wanted */
};

/* -errno. */
int captures_create(struct gateway *g, struct captures **captures);
/* Ends all; no worker may run any more, nobody is told. Accepts NULL. */
void captures_destroy(struct captures *s);

/* 0 with a paused one, or -errno with a sentence that has the cure. */
int captures_begin(struct captures *s, const struct capture_wish *wish, struct capture_run **run,
		   const struct why *why);
/* A paused one captures from now on. @client: with pcapng, its socket. 0; or -errno, and it is
 * paused as before. */
int captures_start(struct capture_run *run, int client);
/* Perhaps at once: a paused one is over when this returns. @now: what is left in the rings is not
 * wanted. Harmless when it ends already. */
void captures_end(struct capture_run *run, bool now);

void captures_every_second(struct captures *s);

/* Whether any captures: packets are to know when their NIC received them, then. */
bool captures_any(const struct captures *s);
/* The one with this id, or NULL. */
struct capture_run *captures_find(const struct captures *s, uint32_t id);
/* The one in slot @i < CAPTURE_MAX, or NULL. */
struct capture_run *captures_at(const struct captures *s, uint32_t i);
/* How many capture now, and what all have captured and missed since the start. */
uint32_t captures_sum(const struct captures *s, uint64_t *captured, uint64_t *missed);

/* "srv1", "tunnel:192.0.2.2", "network:blue"; @text holds CAPTURE_NAME_BYTES. */
const char *captures_source_name(const struct gateway *g, const struct capture_source *source,
				 char *text);

#endif

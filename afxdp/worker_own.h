/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a worker consists of: shared by worker.c and pipeline.c, and by nobody else.
 */
#ifndef AFXDP_WORKER_OWN_H
#define AFXDP_WORKER_OWN_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include "afxdp/area.h"
#include "afxdp/tx.h"
#include "afxdp/worker.h"

struct worker {
	/* fixed after worker_create */
	struct worker_options options;
	struct area area;
	struct pool pool;
	struct spsc learn_events;
	struct spsc resolve_events;
	struct counters *counters;
	int wake_fd;		/* eventfd: ends a sleep */
	int event_fd;		/* worker_event_fd() */
	/* control */
	pthread_t thread;
	bool running;
	/* worker's thread (control's while it does not run) */
	bool stop;
	bool quiet;		/* nothing moves, and what went to files was flushed */
	bool news;		/* control has not been told yet of events in the rings */
	uint32_t n_polled;
	uint32_t learn_seen;	/* heads of the two rings when they were last looked at */
	uint32_t resolve_seen;
	uint64_t told_ns;
	uint64_t moved_ns;	/* when packets or completions were last seen */
	uint64_t nap_ns;	/* length of the next sleep while something is owed */
	struct port_queue *polled[PORT_MAX];
	struct pollfd sleep_on[PORT_MAX + 1];	/* [0] is wake_fd */
	uint32_t n_sleep_on;
	struct lane lane;
	struct tx_ports tx;
	struct burst burst;
	struct burst rule_copies;	/* of act; each is flooded by its own way into copies */
	struct burst copies;
	/* control writes a call, the worker takes it: fn is set last and cleared first */
	void (*call_fn)(struct worker *, void *) cache_aligned;
	void *call_arg;
	sem_t call_done;
	/* worker writes, control reads; longest_loop_ns is reset by control */
	uint64_t busy_ns cache_aligned;
	uint64_t started_ns;
	uint64_t longest_loop_ns;
};

#endif

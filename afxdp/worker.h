/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers: one thread per core, each with queue i of every port.
 *
 * Life: worker_create (frames, lane, no thread), worker_start, any number of worker_call,
 * worker_stop, worker_destroy. Ports attach and detach their queues through worker_call (port.h
 * does it).
 *
 * In its loop a worker takes no lock, allocates nothing, logs nothing and makes no system call but
 * AF_XDP kicks, ppoll when idle, and one write to the event fd when there is something to tell
 * control (at most one a millisecond). Pcap ports are the exception: they read and write their
 * files in the loop. It is an RCU (QSBR) reader: quiescent once a loop, offline while it sleeps.
 * Threads: all functions are control's.
 */
#ifndef AFXDP_WORKER_H
#define AFXDP_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/lane.h"

#define WORKER_MAX 64

struct worker_options {
	uint32_t index;		/* serves queue `index` of every port */
	int core;		/* CPU to run on; -1: any */
	bool busy;		/* never sleeps */
	uint32_t n_frames;	/* frames of its area (FRAME_BYTES each) */
	uint32_t cookie;	/* of rx_meta */
	struct tables *tables;
};

struct worker;

/* How a worker is doing; read at any time. */
struct worker_stats {
	uint64_t busy_ns;	/* spent on loops that moved packets */
	uint64_t total_ns;	/* since start */
	uint64_t longest_loop_ns;	/* since the last worker_stats call */
	uint32_t frames_free;
	uint32_t n_frames;
	bool hugepages;
	int core;
};

/* Maps the frame area and makes the lane. -ENOMEM with a sentence in @why (bytes asked for and the
 * cure) when the memory is not there. */
int worker_create(const struct worker_options *options, struct worker **worker, char *why,
		  uint32_t why_bytes);
int worker_start(struct worker *worker);
/* Ends the thread. Queues must be detached, or their ports are closed after it. */
void worker_stop(struct worker *worker);
/* Accepts NULL. */
void worker_destroy(struct worker *worker);

/* Runs @fn(@worker, @arg) on the worker's thread between two loops (or here, when it is not
 * running), and waits for it: a loop's time, microseconds. Wakes a sleeping worker. */
void worker_call(struct worker *worker, void (*fn)(struct worker *, void *), void *arg);

struct lane *worker_lane(struct worker *worker);
/* Of rx_meta: what the XDP programs of its ports have to write. */
uint32_t worker_cookie(const struct worker *worker);
const struct counters *worker_counters(const struct worker *worker);
void worker_stats(struct worker *worker, struct worker_stats *stats);
/* Its busy_ns alone. */
uint64_t worker_busy_ns(const struct worker *worker);

/* Control's ends of the rings that lane.h describes. */
struct spsc *worker_learn_events(struct worker *worker);
struct spsc *worker_resolve_events(struct worker *worker);
/* Becomes readable when a worker pushed to one of those rings, at most a millisecond later; shared
 * by all workers. Drain it (8 bytes, non-blocking), then pop until the rings are empty. -errno
 * without one. */
int worker_event_fd(void);

#endif

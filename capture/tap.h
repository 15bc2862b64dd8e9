/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taps: what the workers do for captures. A worker filters first, then copies at most snaplen bytes
 * into a ring of that capture and worker (ring.h); everything else is the capture's own thread's
 * (capture.h).
 *
 * A tap sees a frame where it comes in (as the port received it, a tag that the driver took out put
 * back), where it leaves (as it was given to the device; not when the TX ring was full), and where
 * it dies. Between the first and the last a record stays open until the end of the burst, so a
 * frame that came in carries what became of it: `drop`.
 * A tunnel's frames, and those of a network, are inner ones, without the outer headers.
 *
 * Invariants: without captures lane->taps is NULL and no stage of this file runs. A tap never waits
 * and never changes what is forwarded. It makes one system call, when a capture's thread that found
 * nothing for a while went to sleep and there is a record for it now.
 * Threads: struct tap_set is immutable, published by control under RCU; struct tap is one worker's.
 */
#ifndef CAPTURE_TAP_H
#define CAPTURE_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/ring.h"
#include "dataplane/lane.h"
#include "lib/pcap_filter.h"

#define CAPTURE_MAX 32		/* at a time */
#define CAPTURE_SOURCES_MAX 64	/* of one capture */
#define CAPTURE_SNAPLEN_MAX 65535

enum capture_dir {
	CAPTURE_IN = 1 << 0,
	CAPTURE_OUT = 1 << 1,
	CAPTURE_BOTH = CAPTURE_IN | CAPTURE_OUT,
};

/* What is captured: a port or tunnel, or a network. */
struct capture_source {
	uint16_t egress;	/* EGRESS_NONE: the network */
	uint16_t network;
};

/* Which frames a capture takes. */
struct tap_options {
	struct capture_source source[CAPTURE_SOURCES_MAX];
	uint32_t n_sources;
	uint8_t dir;		/* enum capture_dir */
	bool drops;		/* only what culvert drops, as it was then: of dir CAPTURE_IN
				 * packets that came in there, of CAPTURE_OUT those that were to
				 * leave there. no-frame: once a packet, however many copies, and
				 * only where it came in */
	bool inner;		/* underlay ports: what was inside, too */
	uint16_t snaplen;	/* bytes of a frame at most */
	uint32_t sample;	/* of those that the filter lets pass one in this many; 1: all */
	const struct pcap_filter *filter;	/* NULL: all. The capture's */
};

/* A packet of a tunnel may be seen twice where it comes in. */
enum tap_depth {
	TAP_OUTSIDE,	/* as the port received it */
	TAP_INSIDE,	/* without the outer headers */
	TAP_DEPTHS,
};

/* One worker's part of one capture. Made and freed by capture.c. */
struct tap {
	const struct tap_options *options;
	int wake_fd;		/* an eventfd */
	uint32_t asleep;	/* the thread sets it: whoever publishes clears it, and wakes */
	struct ring ring;
	/* worker writes, others read */
	uint64_t matched cache_aligned;	/* the filter let them pass */
	uint64_t captured;	/* in the ring, or out of it already */
	uint64_t missed;	/* the ring was full */
	/* worker */
	uint64_t to_skip;	/* until the next sample */
	uint8_t gap;		/* RECORD_GAP: of the next record */
	uint64_t open[TAP_DEPTHS];	/* bit i: record[][i] is one of the burst's packet i */
	struct record *record[TAP_DEPTHS][BURST_MAX];
};

/* By what a frame is of, the captures that want it: bit c stands for capture c. */
struct tap_masks {
	uint32_t any;			/* of all below */
	uint32_t egress[EGRESS_MAX];	/* by port or tunnel */
	uint32_t *network;		/* [NETWORK_MAX], or NULL: no network is captured */
};

/* All captures that run. */
struct tap_set {
	uint32_t used;
	uint32_t inner;		/* captures with `inner` */
	uint32_t late;		/* captures that tap_in() has to look for: of tunnels, of networks,
				 * and those with `inner` */
	struct tap_masks in;
	struct tap_masks out;
	struct tap_masks drop_in;	/* captures with `drops` are in these two only */
	struct tap_masks drop_out;
	struct tap *taps[CAPTURE_MAX];	/* [capture][worker] */
};

/* Control. A set of the captures @options[c], of which NULLs are left out; @taps[c] has one of each
 * worker. NULL without memory. */
struct tap_set *tap_set_create(const struct tap_options *const options[CAPTURE_MAX],
			       struct tap *const taps[CAPTURE_MAX]);
/* Accepts NULL. */
void tap_set_destroy(struct tap_set *set);

/*
 * The stages; afxdp/pipeline.c has their places. Called only while lane->taps is not NULL.
 */

/* Frames of one port as they came in. Behind rx, before parse. */
void tap_rx(struct lane *lane, struct burst *burst);
/* Frames that came in by a tunnel, inside an underlay port's frames, or in a network. Behind
 * classify. */
void tap_in(struct lane *lane, struct burst *burst);
/* Frames that were given to a device, and those that were dropped. Behind tx, before anything is
 * taken from the pool or published to the TX rings: the frames are still what they were. */
void tap_out(struct lane *lane, struct burst *burst);
/* The end of a burst: its records are complete. */
void tap_publish(struct lane *lane);

#endif

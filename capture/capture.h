/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running capture: rings that the workers fill (tap.h), and a thread that takes frames out of
 * them and sends them to a network device, where tcpdump sees them, or as pcapng to a client.
 *
 * Life: capture_create (rings, no thread), capture_start, its taps in a published tap_set; then out
 * of the set, a grace period, capture_finish (what is in the rings is still sent), capture_destroy
 * once done_fd is readable.
 *
 * The thread polls the rings, with naps of a millisecond while frames come; when none do it sleeps,
 * and the worker that has the next one wakes it. When the device or the client is slower than the
 * workers, rings fill and what does not fit is missed: nothing ever waits for a capture.
 * Threads: all functions are control's.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/tap.h"
#include "lib/why.h"

#define CAPTURE_NAME_BYTES 64

struct capture_options {
	struct tap_options tap;	/* copied; its filter becomes the capture's (free()) in any case */
	uint32_t n_workers;
	int ifindex;		/* of the device that frames are sent on; 0: pcapng for a client */
	uint32_t device_max;	/* longest frame that the device takes, Ethernet header included;
				 * longer ones are cut */
	/* pcapng: what egress ids are called; becomes the capture's (free()) in any case. */
	char (*names)[CAPTURE_NAME_BYTES];
	uint32_t n_names;
	const char *filter_text;	/* copied; NULL: none */
};

struct capture_counts {
	uint64_t matched;	/* frames that were wanted, before sampling */
	uint64_t captured;	/* copied for it, and not refused by the device */
	uint64_t missed;	/* wanted, but the ring was full or the device had no room */
	uint64_t cut;		/* longer than the device takes */
};

struct capture;

/* 0 or -errno with a sentence. */
int capture_create(const struct capture_options *options, struct capture **capture,
		   const struct why *why);

/* For tap_set_create. */
const struct tap_options *capture_tap_options(const struct capture *capture);
struct tap *capture_taps(struct capture *capture);

/* Starts the thread. @client: without a device, the socket that chunks of pcapng go to (a line with
 * the number of bytes, then these); the capture works on a duplicate of it. 0 or -errno. */
int capture_start(struct capture *capture, int client);

/* No worker has its taps any more: the thread sends what is left and ends. When @now (the client is
 * gone, or we are stopping) at most one more batch, and it waits for nobody. Harmless when it ended
 * by itself; may be called again with @now. */
void capture_finish(struct capture *capture, bool now);

/* Readable when the thread has ended: asked to, or by itself, since the client or the device is
 * gone. */
int capture_done_fd(const struct capture *capture);
/* Why it ended by itself: 0 or -errno, -EPIPE when the client is gone. -ECANCELED: it was to end
 * now, but the client did not take all of the last chunk. A client that has a part of a chunk is
 * hung up on. */
int capture_error(const struct capture *capture);

/* At any time. */
void capture_counts(const struct capture *capture, struct capture_counts *counts);

/* Ends the thread, if need be, and frees all. Accepts NULL. */
void capture_destroy(struct capture *capture);

#endif

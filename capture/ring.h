/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of captured frames, from one worker to one capture's thread. It is allowed to overflow:
 * what does not fit is counted by the producer and gone.
 *
 * The memory is mapped twice in a row, so a record is never in two pieces. A record is reserved,
 * filled in, perhaps amended (its packet's fate is known later), and published with all others of
 * its burst; only then the consumer sees it.
 * Invariants: tail <= head <= reserved <= tail + bytes; all are multiples of 8.
 * Threads: exactly one reserves and publishes, exactly one reads and releases. Nobody waits.
 */
#ifndef CAPTURE_RING_H
#define CAPTURE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bits.h"

/* What stands in front of every frame. */
struct record {
	uint32_t bytes;		/* to the next record: this struct, the frame, and what rounds it */
	uint16_t caplen;	/* bytes of the frame that are here */
	uint16_t len;		/* bytes that it had */
	uint64_t time_ns;	/* CLOCK_MONOTONIC, or the NIC's own clock: see flags */
	uint16_t where;		/* egress id of the port or tunnel that it was seen at */
	uint8_t dir;		/* enum capture_dir, one of them */
	uint8_t drop;		/* enum drop_reason: what became of the packet, or of a copy */
	uint8_t flags;		/* enum record_flags */
	uint8_t unused[3];
	uint8_t frame[];
};
_Static_assert(sizeof(struct record) == 24 && sizeof(struct record) % 8 == 0, "no holes");

enum record_flags {
	RECORD_INNER = 1 << 0,		/* was inside a VXLAN packet of the underlay port `where` */
	RECORD_NIC_TIME = 1 << 1,	/* time_ns is the receive descriptor's */
	RECORD_GAP = 1 << 2,		/* frames were missed since the record before */
};

struct ring {
	/* fixed after ring_init */
	uint8_t *memory;
	uint64_t bytes;		/* a power of two */
	/* producer */
	uint64_t reserved cache_aligned;	/* behind the last record that is being filled in */
	uint64_t tail_seen;
	/* producer writes, consumer reads */
	uint64_t head cache_aligned;
	/* consumer writes, producer reads */
	uint64_t tail cache_aligned;
};

/* @bytes is rounded up to a power of two of whole pages. 0 or -errno. */
int ring_init(struct ring *ring, uint64_t bytes);
/* Accepts an all-zero one. */
void ring_fini(struct ring *ring);

/* Room for a record with @caplen bytes of frame, its bytes and caplen set; NULL: it is full. Valid
 * until ring_publish. */
struct record *ring_reserve(struct ring *ring, uint16_t caplen);
/* The consumer may have all that was reserved. */
static inline void ring_publish(struct ring *ring)
{
	if (ring->head != ring->reserved)
		store_release(&ring->head, ring->reserved);
}

/* The published records that were not released: from *@first, ends before *@end (both in the ring's
 * memory, contiguous: r = (void *)r + r->bytes). False: none. */
bool ring_peek(const struct ring *ring, const struct record **first, const struct record **end);
/* @bytes from the oldest on are the producer's again. */
void ring_release(struct ring *ring, uint64_t bytes);

#endif

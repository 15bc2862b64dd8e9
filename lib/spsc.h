/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of fixed-size elements between one producer thread and one consumer thread.
 *
 * Invariants: capacity is a power of two; head - tail <= capacity; an element is owned by the
 * producer until spsc_push returns true, by the consumer after spsc_pop returned true.
 * Threads: exactly one pushes, exactly one pops. Nobody ever waits: full and empty are answers.
 */
#ifndef LIB_SPSC_H
#define LIB_SPSC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bits.h"

struct spsc {
	/* fixed after spsc_init */
	uint8_t *slots;
	uint32_t capacity;
	uint32_t element_bytes;
	/* producer writes */
	uint32_t head cache_aligned;
	/* consumer writes */
	uint32_t tail cache_aligned;
};

/* Makes room for @capacity (rounded up to a power of two) elements. 0 or -ENOMEM. */
int spsc_init(struct spsc *r, uint32_t capacity, uint32_t element_bytes);
void spsc_fini(struct spsc *r);

/* Copies one element in. False when the ring is full; the caller counts it. */
bool spsc_push(struct spsc *r, const void *element);

/* Copies the oldest element out. False when the ring is empty. */
bool spsc_pop(struct spsc *r, void *element);

/* Whether something waits. One load; the consumer may call it in every loop. */
static inline bool spsc_pending(const struct spsc *r)
{
	return load_acquire(&r->head) != load_relaxed(&r->tail);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames of one worker: an area of equal frames and the stack of those that are free.
 *
 * A frame is FRAME_BYTES, its packet starts FRAME_HEADROOM in (what the kernel leaves in front of a
 * packet that it receives); metadata and outer headers go into that headroom.
 * Invariants: a frame is either on the stack, in a packet, or lent to the kernel in a ring of the
 * port that owner[] names. owner is written when a frame is lent and left alone afterwards.
 * Threads: one worker's. The area is the caller's memory (afxdp/area.h maps it; tests use malloc).
 */
#ifndef DATAPLANE_POOL_H
#define DATAPLANE_POOL_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_BYTES 4096
#define FRAME_HEADROOM 256
#define FRAME_NONE UINT32_MAX

struct pool {
	uint8_t *area;
	uint32_t n_frames;
	uint32_t n_free;
	uint32_t *free;		/* indices; the top of the stack is free[n_free - 1] */
	uint8_t *owner;		/* by frame: index of the port that it was lent to last */
	uint64_t *on_stack;	/* pool_reclaim's: one bit a frame */
};

/* Takes @area (@n_frames * FRAME_BYTES bytes; stays the caller's) with all frames free. -ENOMEM. */
int pool_init(struct pool *pool, uint8_t *area, uint32_t n_frames);
void pool_fini(struct pool *pool);

/* A free frame's index, or FRAME_NONE. */
static inline uint32_t pool_take(struct pool *pool)
{
	return pool->n_free ? pool->free[--pool->n_free] : FRAME_NONE;
}

static inline void pool_give(struct pool *pool, uint32_t frame)
{
	pool->free[pool->n_free++] = frame;
}

static inline uint8_t *pool_data(const struct pool *pool, uint32_t frame)
{
	return pool->area + (size_t)frame * FRAME_BYTES + FRAME_HEADROOM;
}

/* The frame that @data points into. */
static inline uint32_t pool_frame_of(const struct pool *pool, const uint8_t *data)
{
	return (uint32_t)((size_t)(data - pool->area) / FRAME_BYTES);
}

/* Bytes in front of @data, and from @data to the end of its frame. */
static inline uint32_t pool_headroom(const struct pool *pool, const uint8_t *data)
{
	return (uint32_t)((size_t)(data - pool->area) % FRAME_BYTES);
}

static inline uint32_t pool_tailroom(const struct pool *pool, const uint8_t *data)
{
	return FRAME_BYTES - pool_headroom(pool, data);
}

/* Gives back every frame that was lent to @port and never came home: its sockets are gone. Returns
 * how many. Frames on the stack are told apart, frames in packets are not: call it between two
 * bursts, at any time after the sockets' end. */
uint32_t pool_reclaim(struct pool *pool, uint8_t port);

#endif

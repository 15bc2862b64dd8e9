/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t map_bytes(uint32_t n_frames)
{
	return ((size_t)n_frames + 63) / 64 * sizeof(uint64_t);
}

int pool_init(struct pool *pool, uint8_t *area, uint32_t n_frames)
{
	memset(pool, 0, sizeof(*pool));
	pool->area = area;
	pool->n_frames = n_frames;
	pool->free = malloc((size_t)n_frames * sizeof(*pool->free));
	pool->owner = calloc(n_frames, sizeof(*pool->owner));
	pool->on_stack = malloc(map_bytes(n_frames));
	if (!pool->free || !pool->owner || !pool->on_stack) {
		pool_fini(pool);
		return -ENOMEM;
	}
	/* Taken from the front of the area first: what is never needed is never touched. */
	for (uint32_t frame = n_frames; frame > 0; frame--)
		pool_give(pool, frame - 1);
	return 0;
}

void pool_fini(struct pool *pool)
{
	free(pool->free);
	free(pool->owner);
	free(pool->on_stack);
	memset(pool, 0, sizeof(*pool));
}

uint32_t pool_reclaim(struct pool *pool, uint8_t port)
{
	uint32_t n_before = pool->n_free;

	memset(pool->on_stack, 0, map_bytes(pool->n_frames));
	for (uint32_t i = 0; i < n_before; i++)
		pool->on_stack[pool->free[i] / 64] |= 1ull << pool->free[i] % 64;
	for (uint32_t frame = 0; frame < pool->n_frames; frame++) {
		bool on_stack = pool->on_stack[frame / 64] >> frame % 64 & 1;

		if (!on_stack && pool->owner[frame] == port)
			pool_give(pool, frame);
	}
	return pool->n_free - n_before;
}

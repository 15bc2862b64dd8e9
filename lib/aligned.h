/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that begins at a cache line: for what has cache_aligned members.
 */
#ifndef LIB_ALIGNED_H
#define LIB_ALIGNED_H

#include <stdlib.h>
#include <string.h>

#include "lib/bits.h"

/* @bytes of zeros, for free(). NULL without memory. */
static inline void *aligned_zalloc(size_t bytes)
{
	size_t rounded = (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
	void *p = aligned_alloc(CACHE_LINE, rounded);

	return p ? memset(p, 0, rounded) : NULL;
}

#endif

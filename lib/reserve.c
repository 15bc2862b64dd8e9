/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/reserve.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/bits.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* 5.14 */
#endif

static size_t round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) / to * to;
}

/* Maps a step more than it needs, and gives back what lies before and behind. */
static uint8_t *map_aligned(size_t bytes)
{
	size_t before;
	uint8_t *p = mmap(NULL, bytes + RESERVE_STEP, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	before = round_up((uintptr_t)p, RESERVE_STEP) - (uintptr_t)p;
	if (before)
		munmap(p, before);
	munmap(p + before + bytes, RESERVE_STEP - before);
	return p + before;
}

int reserve_init(struct reserve *r, size_t bytes, bool huge)
{
	bytes = round_up(bytes, RESERVE_STEP);
	*r = (struct reserve){.base = map_aligned(bytes), .bytes = bytes};
	if (!r->base)
		return -ENOMEM;
	madvise(r->base, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return 0;
}

void reserve_fini(struct reserve *r)
{
	if (r->base)
		munmap(r->base, r->bytes);
	*r = (struct reserve){0};
}

int reserve_grow(struct reserve *r, size_t bytes)
{
	size_t usable = round_up(bytes, RESERVE_STEP);

	if (bytes <= r->usable)
		return 0;
	if (usable > r->bytes ||
	    mprotect(r->base + r->usable, usable - r->usable, PROT_READ | PROT_WRITE))
		return -ENOMEM;
	r->usable = usable;
	return 0;
}

void reserve_clear(struct reserve *r, size_t offset, size_t bytes)
{
	madvise(r->base + offset, bytes, MADV_DONTNEED);
}

void memory_populate(void *memory, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = round_up((uintptr_t)memory, page);
	uintptr_t to = ((uintptr_t)memory + bytes) & ~(page - 1);

	if (from < to)
		madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

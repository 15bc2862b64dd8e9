/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/reserve.h"

#include <errno.h>
#include <sys/mman.h>

#include "lib/bits.h"

int reserve_init(struct reserve *r, size_t bytes)
{
	void *base;

	bytes = (bytes + RESERVE_STEP - 1) / RESERVE_STEP * RESERVE_STEP;
	base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -ENOMEM;
	/* A huge page for a few bytes of it would be memory that nobody asked for. */
	madvise(base, bytes, MADV_NOHUGEPAGE);
	*r = (struct reserve){.base = base, .bytes = bytes};
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
	size_t usable;

	if (bytes <= r->usable)
		return 0;
	if (bytes > r->bytes)
		return -ENOMEM;
	usable = (bytes + RESERVE_STEP - 1) / RESERVE_STEP * RESERVE_STEP;
	if (mprotect(r->base + r->usable, usable - r->usable, PROT_READ | PROT_WRITE))
		return -ENOMEM;
	r->usable = usable;
	return 0;
}

void reserve_clear(struct reserve *r, size_t offset, size_t bytes)
{
	madvise(r->base + offset, bytes, MADV_DONTNEED);
}

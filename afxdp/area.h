/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a worker's frames: huge pages where there are free ones, else ordinary memory for
 * which the kernel is asked to use transparent huge pages.
 *
 * Invariants: base is aligned to a huge page; all of it is there (touched) when area_map returns 0.
 * Threads: control's.
 */
#ifndef AFXDP_AREA_H
#define AFXDP_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct area {
	uint8_t *base;
	size_t bytes;   /* what was asked for, rounded up to a whole huge page */
	bool hugepages; /* from the hugetlb pool, not merely asked for */
};

/* 0, or -ENOMEM when the machine has not that much memory available. */
int area_map(struct area *area, size_t bytes);
/* Accepts an area that was never mapped (all zero). */
void area_unmap(struct area *area);

#endif

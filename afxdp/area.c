/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/area.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* 5.14 */
#endif

#define HUGE_BYTES ((size_t)2 << 20)

static int anonymous(size_t bytes, int flags, uint8_t **base)
{
	void *at =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	*base = at;
	return 0;
}

/* Maps one huge page more than is needed and gives the ends back. */
static int anonymous_aligned(size_t bytes, uint8_t **base)
{
	uint8_t *wide = NULL;
	size_t before;
	int r = anonymous(bytes + HUGE_BYTES, 0, &wide);

	if (r)
		return r;
	before = -(uintptr_t)wide & (HUGE_BYTES - 1);
	if (before)
		munmap(wide, before);
	munmap(wide + before + bytes, HUGE_BYTES - before);
	*base = wide + before;
	return 0;
}

/* What could be had without swapping; SIZE_MAX when the kernel does not say. */
static size_t available_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib;
	size_t bytes = SIZE_MAX;
	char line[128];

	if (!f)
		return bytes;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			bytes = (size_t)kib << 10;
	fclose(f);
	return bytes;
}

/* Now, and not in the first packets. Kernels without the advice fault the pages in when the first
 * socket pins them. */
static int populate(uint8_t *base, size_t bytes)
{
	if (madvise(base, bytes, MADV_POPULATE_WRITE) && errno != EINVAL)
		return -ENOMEM;
	return 0;
}

int area_map(struct area *area, size_t bytes)
{
	memset(area, 0, sizeof(*area));
	if (!bytes || bytes > SIZE_MAX - 2 * HUGE_BYTES)
		return -ENOMEM;
	bytes = (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	if (!anonymous(bytes, MAP_HUGETLB | 21 << MAP_HUGE_SHIFT, &area->base)) {
		area->bytes = bytes;
		if (!populate(area->base, bytes)) {
			area->hugepages = true;
			return 0;
		}
		/* Reserved, yet not to be had: a cgroup's or a node's limit. */
		area_unmap(area);
	}
	if (bytes > available_bytes() || anonymous_aligned(bytes, &area->base))
		return -ENOMEM;
	area->bytes = bytes;
	madvise(area->base, bytes, MADV_HUGEPAGE);
	if (populate(area->base, bytes)) {
		area_unmap(area);
		return -ENOMEM;
	}
	return 0;
}

void area_unmap(struct area *area)
{
	if (area->base)
		munmap(area->base, area->bytes);
	memset(area, 0, sizeof(*area));
}

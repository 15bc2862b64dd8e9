/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames as lists of bytes, and a page's end to put them at: what reads beyond crashes.
 */
#ifndef TESTS_UNIT_FRAMES_H
#define TESTS_UNIT_FRAMES_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES(...) \
	.frame = (const uint8_t[]){__VA_ARGS__}, .len = sizeof((const uint8_t[]){__VA_ARGS__})
#define MACS 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2
#define U16(v) (uint8_t)((v) >> 8), (uint8_t)(v)
#define IP4(first, total, fragment, proto) \
	first, 0xb8, U16(total), 0, 0, U16(fragment), 64, proto, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2
#define ADDRESS6(last) 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last
#define IP6(payload, proto) 0x6b, 0x80, 0, 0, U16(payload), proto, 64, ADDRESS6(1), ADDRESS6(2)
#define PORTS 0x12, 0x34, 0x56, 0x78
#define EXT(next, units) next, units, 1, 4, 0, 0, 0, 0
#define FRAG(next, offset) next, 0, U16(offset), 0, 0, 0, 1
#define TAG(tci) 0x81, 0, U16(tci)
#define STAG(tci) 0x88, 0xa8, U16(tci)

static uint8_t *guarded_end;	/* the first byte that must not be read */

/* Set-up of a group of tests. */
static inline int map_guard(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *area = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		return -1;
	guarded_end = area + 2 * page;
	return mprotect(guarded_end, (size_t)page, PROT_NONE);
}

#endif

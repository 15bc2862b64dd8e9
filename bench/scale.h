/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The length of a core cycle, without a counter of them: a chain of multiplications, each waiting
 * for the one before, takes three cycles each on every x86-64 core of the last decade.
 */
#ifndef BENCH_SCALE_H
#define BENCH_SCALE_H

#include <stdint.h>

#define SCALE_CHAIN 300
#define SCALE_CYCLES (3 * SCALE_CHAIN)

static inline void scale_chain(void)
{
	uint64_t x = 3;

	for (int i = 0; i < SCALE_CHAIN; i++)
		__asm__ volatile("imul %0, %0" : "+r"(x));
}

#endif

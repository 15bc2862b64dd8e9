/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers for tests that compare with an oracle. The seed is printed; SEED in the
 * environment repeats a run.
 */
#ifndef TESTS_UNIT_RANDOM_H
#define TESTS_UNIT_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/hash.h"

static uint64_t random_state;

static inline void random_init(const char *what)
{
	const char *given = getenv("SEED");

	random_state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	printf("%s: SEED=%llu\n", what, (unsigned long long)random_state);
	fflush(stdout);
}

/* Mixed twice: after one multiplication numbers that follow each other are in step, and of all
 * combinations of them only few ever come. */
static inline uint64_t random_u64(void)
{
	return hash_mix(hash_mix(random_state++, 0x5eed), 1);
}

/* 0 .. n - 1 */
static inline uint32_t random_below(uint32_t n)
{
	return (uint32_t)((random_u64() >> 32) * n >> 32);
}

static inline void random_bytes(uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)random_u64();
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/hash.h"

#include <sys/random.h>

#include "lib/clock.h"

uint64_t hash_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = hash_mix(clock_ns(), (uintptr_t)&seed);
	return seed;
}

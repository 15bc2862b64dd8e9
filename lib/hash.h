/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hashes for tables and for flows. Not for keys that an attacker chooses in bulk: whoever builds a
 * table mixes a random seed in.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stdint.h>

/* One 64 x 64 -> 128 bit multiplication, folded: every input bit reaches every output bit. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd6e8feb86659fd93ull);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* The last step of a hash made by hash_mix() with a seed. One multiplication is as good as its
 * factor, and about one random seed in a thousand is a bad one, under which MAC addresses that
 * count up crowd together. */
static inline uint64_t hash_end(uint64_t h)
{
	return hash_mix(h, 0);
}

static inline uint64_t hash_u64(uint64_t v, uint64_t seed)
{
	return hash_end(hash_mix(v ^ seed, seed));
}

/* A seed that nobody can guess. Never waits: at boot, when the kernel has no random numbers yet, it
 * is made of the time and an address. */
uint64_t hash_seed(void);

#endif

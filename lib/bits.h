/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small words that every file needs and C lacks.
 */
#ifndef LIB_BITS_H
#define LIB_BITS_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CACHE_LINE 64
#define cache_aligned __attribute__((aligned(CACHE_LINE)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#define min_of(a, b) ((a) < (b) ? (a) : (b))
#define max_of(a, b) ((a) > (b) ? (a) : (b))

/* @i is the number of each bit that is set in the 64 of @bits, lowest first. */
#define for_each_bit(i, bits) \
	for (uint64_t left_ = (bits), i; \
	     left_ && (i = (uint64_t)__builtin_ctzll(left_), 1); left_ &= left_ - 1)

/* A value that one thread writes and others read without order: counters, ages, states. */
#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/* Adds to a counter of which this thread is the only writer. */
#define counter_add(p, n) store_relaxed((p), load_relaxed(p) + (n))

#endif

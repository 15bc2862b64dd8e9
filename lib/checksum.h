/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Internet checksum (RFC 1071).
 *
 * Sums are of 16-bit words as they lie in memory: one's complement addition does not care about
 * byte order as long as the result is stored the same way. A sum is 64 bits wide and folded once,
 * at the end.
 */
#ifndef LIB_CHECKSUM_H
#define LIB_CHECKSUM_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* @sum plus the words of @data; an odd last byte is padded with zero. What is summed up in pieces
 * has pieces of even length, but for the last. */
uint64_t checksum_add(const void *data, size_t bytes, uint64_t sum);

/* A 16-bit field in host order, as a word of the sum. */
static inline uint64_t checksum_word(uint16_t v)
{
	return htobe16(v);
}

static inline uint16_t checksum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Stores the complement of @sum: the checksum field of a header. */
static inline void checksum_store(uint8_t *field, uint64_t sum)
{
	uint16_t v = (uint16_t)~checksum_fold(sum);

	memcpy(field, &v, sizeof(v));
}

/* UDP: zero means "none", so a checksum that comes out as zero is sent as all ones (RFC 768). */
static inline void checksum_store_udp(uint8_t *field, uint64_t sum)
{
	uint16_t v = (uint16_t)~checksum_fold(sum);

	v = v ? v : 0xffff;
	memcpy(field, &v, sizeof(v));
}

/* What a sum changes by when words that it covers go from @before to @after: RFC 1624, equation 3.
 * @bytes is even. */
static inline uint64_t checksum_change(const void *before, const void *after, size_t bytes)
{
	return checksum_add(after, bytes, 0) +
	       (uint16_t)~checksum_fold(checksum_add(before, bytes, 0));
}

/* The sum behind @field changed by @change. A wrong checksum stays wrong. */
static inline void checksum_apply(uint8_t *field, uint64_t change)
{
	uint16_t old;

	memcpy(&old, field, sizeof(old));
	checksum_store(field, (uint16_t)~old + change);
}

/* The same for UDP, which may have none. */
static inline void checksum_apply_udp(uint8_t *field, uint64_t change)
{
	uint16_t old;

	memcpy(&old, field, sizeof(old));
	if (old)
		checksum_store_udp(field, (uint16_t)~old + change);
}

/* A 16-bit word that @field covers went from @before to @after (host order). */
static inline void checksum_adjust(uint8_t *field, uint16_t before, uint16_t after)
{
	checksum_apply(field, (uint64_t)(uint16_t)~htobe16(before) + htobe16(after));
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/checksum.h"

uint64_t checksum_add(const void *data, size_t bytes, uint64_t sum)
{
	const uint8_t *p = data;
	uint64_t low = 0, high = 0, word;

	/* Halves of 64-bit words in two sums: no carry to catch, and nothing to wait for. */
	for (; bytes >= sizeof(word); bytes -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		low += word & 0xffffffff;
		high += word >> 32;
	}
	word = 0;
	memcpy(&word, p, bytes);
	low += word & 0xffffffff;
	high += word >> 32;
	return sum + low + high;
}

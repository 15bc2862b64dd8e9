/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Polynomials over GF(2), modulo Castagnoli's, bits reversed: bit 31 is x^0, a shift to the right
 * multiplies by x.
 */
#include "lib/crc32c.h"

#define CASTAGNOLI 0x82f63b78u
#define X_0 0x80000000u
#define X_8 0x00800000u

static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		if (a & X_0)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? CASTAGNOLI : 0);
	}
	return product;
}

/* Each byte of the message, the changed ones included, shifts the register by eight bits. */
uint32_t crc32c_change(uint32_t change, size_t bytes)
{
	uint32_t power = X_8;

	for (; bytes; bytes >>= 1) {
		if (bytes & 1)
			change = multiply(power, change);
		power = multiply(power, power);
	}
	return change;
}

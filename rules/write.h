/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing text by hand, at @p, where the caller made room; each returns the place behind it.
 */
#ifndef RULES_WRITE_H
#define RULES_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/bits.h"

/* A text whose length the compiler knows. */
#define write_str(p, text) write_bytes((p), (text), sizeof(text) - 1)

static inline char *write_bytes(char *p, const void *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}

static inline char *write_decimal(char *p, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return write_bytes(p, digits + at, sizeof(digits) - at);
}

/* At least @width digits, without 0x. */
static inline char *write_hex_digits(char *p, uint64_t v, int width)
{
	int n = v ? (67 - __builtin_clzll(v)) / 4 : 1;

	for (n = max_of(n, width); n--;)
		*p++ = "0123456789abcdef"[v >> n * 4 & 15];
	return p;
}

/* "0x5", "0", as printf's %#x. */
static inline char *write_hex(char *p, uint64_t v)
{
	return write_hex_digits(v ? write_str(p, "0x") : p, v, 1);
}

static inline char *write_mac(char *p, const uint8_t mac[static 6])
{
	for (int i = 0; i < 6; i++) {
		if (i)
			*p++ = ':';
		p = write_hex_digits(p, mac[i], 2);
	}
	return p;
}

static inline char *write_ipv4(char *p, const uint8_t ip[static 4])
{
	for (int i = 0; i < 4; i++) {
		if (i)
			*p++ = '.';
		if (ip[i] >= 100)
			*p++ = (char)('0' + ip[i] / 100);
		if (ip[i] >= 10)
			*p++ = (char)('0' + ip[i] / 10 % 10);
		*p++ = (char)('0' + ip[i] % 10);
	}
	return p;
}

/* As inet_ntop does it: "fe80::1", "::192.0.2.1". */
char *write_ipv6(char *p, const uint8_t ip[static 16]);

#endif

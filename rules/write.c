/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/write.h"

#include "lib/bytes.h"

#define GROUPS 8

/* The longest run of two or more zero groups, the first of several (RFC 5952). */
static void find_zeros(const uint8_t ip[static 16], int *first, int *end)
{
	*first = *end = -1;
	for (int i = 0; i < GROUPS; i++) {
		int n = 0;

		while (i + n < GROUPS && !get_be16(ip + 2 * (i + n)))
			n++;
		if (n >= 2 && n > *end - *first) {
			*first = i;
			*end = i + n;
		}
		i += n;
	}
}

char *write_ipv6(char *p, const uint8_t ip[static 16])
{
	int first, end;

	find_zeros(ip, &first, &end);
	for (int i = 0; i < GROUPS; i++) {
		if (i == first) {
			p = write_str(p, "::");
			i = end - 1;
			continue;
		}
		if (i && i != end)
			*p++ = ':';
		/* Compatible and mapped addresses (RFC 4291, 2.5.5). */
		if (i == 6 && first == 0 && (end == 6 || (end == 5 && get_be16(ip + 10) == 0xffff)))
			return write_ipv4(p, ip + 12);
		p = write_hex_digits(p, get_be16(ip + 2 * i), 1);
	}
	return p;
}

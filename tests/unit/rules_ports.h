/* SPDX-License-Identifier: BSD-2-Clause */
/* The ports that the tests of rules/ know: 1..200 are named p1..p200; a tunnel to 192.0.2.1, number
 * 60000; port 250 is there and may not be used, as one of the underlay. */
#ifndef TESTS_UNIT_RULES_PORTS_H
#define TESTS_UNIT_RULES_PORTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"

#define TEST_PORTS 200
#define TEST_VTEP "192.0.2.1"

static inline uint16_t test_of_number(void *arg, uint32_t number)
{
	if (number == RULES_TUNNEL_NUMBER0)
		return EGRESS_TUNNEL0;
	return number >= 1 && number <= TEST_PORTS ? (uint16_t)number : EGRESS_NONE;
}

static inline uint16_t test_of_name(void *arg, const char *name, size_t n)
{
	char text[16] = "", *end;

	if (n == strlen(TEST_VTEP) && memcmp(name, TEST_VTEP, n) == 0)
		return EGRESS_TUNNEL0;
	if (n < 2 || n > 4 || *name != 'p')
		return EGRESS_NONE;
	memcpy(text, name, n);
	n = strtoul(text + 1, &end, 10);
	return *end ? EGRESS_NONE : test_of_number(arg, (uint32_t)n);
}

static inline uint32_t test_number(void *arg, uint16_t egress)
{
	return egress == EGRESS_TUNNEL0 ? RULES_TUNNEL_NUMBER0 : egress;
}

static inline const char *test_name(void *arg, uint16_t egress, char text[static 64])
{
	if (egress == EGRESS_TUNNEL0)
		return TEST_VTEP;
	snprintf(text, 64, "p%u", egress);
	return text;
}

static const struct rules_ports test_ports = {
	.of_number = test_of_number,
	.of_name = test_of_name,
	.number = test_number,
	.name = test_name,
};

#endif

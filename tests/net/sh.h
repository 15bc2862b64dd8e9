/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of iproute2 and ethtool, for tests in C; a header of cmocka's goes before this one.
 */
#ifndef TESTS_NET_SH_H
#define TESTS_NET_SH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs one, quietly. */
static inline int sh(const char *fmt, ...)
{
	char command[512], line[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "exec >/dev/null 2>&1; %s", command);
	return system(line);
}

#define MUST(...) assert_int_equal(sh(__VA_ARGS__), 0)

#endif

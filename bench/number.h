/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers on the command lines of the bench's programs.
 */
#ifndef BENCH_NUMBER_H
#define BENCH_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* False: not a number from @min to @max. */
static inline bool read_number(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || v < min || v > max)
		return false;
	*value = (uint32_t)v;
	return true;
}

/* False: not a time that a run may take. */
static inline bool read_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && !*end && *seconds > 0 && *seconds < 1e6;
}

#endif

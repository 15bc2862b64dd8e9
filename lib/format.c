/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/format.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/bits.h"

static const char prefixes[] = {0, 'k', 'M', 'G', 'T', 'P', 'E'};

const char *format_count(uint64_t n, char text[static FORMAT_BYTES])
{
	double value = (double)n;
	unsigned int i = 0;

	/* Rounded before the prefix is chosen: 999999 is 1.0M and not 1000k. */
	while (value >= 999.5 && i + 1 < ARRAY_SIZE(prefixes)) {
		value /= 1000;
		i++;
	}
	if (i == 0)
		snprintf(text, FORMAT_BYTES, "%" PRIu64, n);
	else
		snprintf(text, FORMAT_BYTES, "%.*f%c", value < 9.95 ? 1 : 0, value, prefixes[i]);
	return text;
}

const char *format_number(uint64_t n, char text[static FORMAT_BYTES])
{
	if (n >= 100000)
		return format_count(n, text);
	snprintf(text, FORMAT_BYTES, "%" PRIu64, n);
	return text;
}

const char *format_unit(double value, const char *unit, char text[static FORMAT_BYTES])
{
	unsigned int i = 0;
	int digits;

	while (value >= 999.5 && i + 1 < ARRAY_SIZE(prefixes)) {
		value /= 1000;
		i++;
	}
	digits = i == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	if (i == 0)
		snprintf(text, FORMAT_BYTES, "%.0f %s", value, unit);
	else
		snprintf(text, FORMAT_BYTES, "%.*f %c%s", digits, value, prefixes[i], unit);
	return text;
}

static const struct {
	uint64_t seconds;
	char letter;
} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};

const char *format_age(uint64_t seconds, char text[static FORMAT_BYTES])
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && seconds < units[i].seconds)
		i++;
	if (i + 1 == ARRAY_SIZE(units))
		snprintf(text, FORMAT_BYTES, "%" PRIu64 "s", seconds);
	else
		snprintf(text, FORMAT_BYTES, "%" PRIu64 "%c %" PRIu64 "%c",
			 seconds / units[i].seconds, units[i].letter,
			 seconds % units[i].seconds / units[i + 1].seconds, units[i + 1].letter);
	return text;
}

const char *format_age_short(uint64_t seconds, char text[static FORMAT_BYTES])
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && seconds < units[i].seconds)
		i++;
	snprintf(text, FORMAT_BYTES, "%" PRIu64 "%c", seconds / units[i].seconds, units[i].letter);
	return text;
}

const char *format_speed(uint32_t mbps, char text[static FORMAT_BYTES])
{
	if (mbps == 0)
		snprintf(text, FORMAT_BYTES, "-");
	else if (mbps < 1000)
		snprintf(text, FORMAT_BYTES, "%uM", mbps);
	else if (mbps % 1000)
		snprintf(text, FORMAT_BYTES, "%u.%uG", mbps / 1000, mbps % 1000 / 100);
	else
		snprintf(text, FORMAT_BYTES, "%uG", mbps / 1000);
	return text;
}

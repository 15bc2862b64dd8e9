/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bits.h"

static const struct {
	const char *name;
	int syslog_priority;
} levels[] = {
	[LOG_LVL_ERROR] = {"error", 3},
	[LOG_LVL_WARN] = {"warn", 4},
	[LOG_LVL_INFO] = {"info", 6},
	[LOG_LVL_DEBUG] = {"debug", 7},
};

static int current = LOG_LVL_INFO;

void log_set_level(enum log_level level)
{
	store_relaxed(&current, (int)level);
}

enum log_level log_get_level(void)
{
	return (enum log_level)load_relaxed(&current);
}

int log_level_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (strcmp(levels[i].name, name) == 0)
			return (int)i;
	return -1;
}

const char *log_level_name(enum log_level level)
{
	return levels[level].name;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	char line[1024];
	int n = 0;
	va_list ap;

	if ((int)level > load_relaxed(&current))
		return;
	if (getenv("JOURNAL_STREAM"))
		n = snprintf(line, sizeof(line), "<%d>", levels[level].syslog_priority);
	else if (level != LOG_LVL_INFO)
		n = snprintf(line, sizeof(line), "%s: ", levels[level].name);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	/* One write, so that lines of two threads never mix. */
	fprintf(stderr, "%s\n", line);
}

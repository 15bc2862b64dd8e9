/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/cli.h"

int word_find(const struct word *words, const char *text)
{
	int found = WORD_UNKNOWN;

	if (!*text)
		return WORD_UNKNOWN;
	for (const struct word *w = words; w->name; w++)
		if (strcmp(w->name, text) == 0)
			return w->value;
	for (const struct word *w = words; w->name; w++) {
		if (strncmp(w->name, text, strlen(text)) != 0)
			continue;
		if (found != WORD_UNKNOWN && found != w->value)
			return WORD_AMBIGUOUS;
		found = w->value;
	}
	return found;
}

void word_candidates(const struct word *words, const char *text, struct buffer *out)
{
	int last = WORD_UNKNOWN;

	/* The first name of each value stands for all of them. */
	for (const struct word *w = words; w->name; w++) {
		if (w->value == last || strncmp(w->name, text, strlen(text)) != 0)
			continue;
		buffer_printf(out, "%s%s", out->n ? ", " : "", w->name);
		last = w->value;
	}
}

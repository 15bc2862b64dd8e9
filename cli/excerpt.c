/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/excerpt.h"
#include "cli/table.h"
#include "lib/bits.h"

#define INDENT 2
#define EXCERPT_BYTES (TABLE_WIDTH - INDENT)
#define CUT "..."

/* The second to fourth bytes of a character. */
static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static int characters(const char *text, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += !continues(text[i]);
	return count;
}

void excerpt_print(FILE *out, const char *text, size_t column)
{
	size_t n = strlen(text), at = min_of(column - 1, n), start = 0, stop = n;
	char line[EXCERPT_BYTES + 1];

	if (n > EXCERPT_BYTES) {
		if (at > EXCERPT_BYTES * 2 / 3)
			start = min_of(at - EXCERPT_BYTES / 2, n - EXCERPT_BYTES);
		stop = start + EXCERPT_BYTES;
	}
	snprintf(line, sizeof(line), "%.*s", (int)(stop - start), text + start);
	if (start)
		memcpy(line, CUT, strlen(CUT));
	if (stop < n)
		memcpy(line + EXCERPT_BYTES - strlen(CUT), CUT, strlen(CUT));
	table_make_safe(line);
	fprintf(out, "%*s%s\n%*s^\n", INDENT, "", line, INDENT + characters(line, at - start), "");
}

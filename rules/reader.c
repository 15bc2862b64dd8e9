/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rules/rules.h"
#include "rules/scan.h"

void rules_reader_init(struct rules_reader *reader, const struct rules_ports *ports,
		       int (*rule)(void *arg, const struct flow_spec *spec, uint32_t line),
		       void *arg)
{
	*reader = (struct rules_reader){.ports = ports, .rule = rule, .arg = arg};
}

void rules_reader_fini(struct rules_reader *reader)
{
	buffer_fini(&reader->rest);
}

static bool begins_with(const char *text, size_t n, const char *word)
{
	size_t length = strlen(word);

	return n >= length && memcmp(text, word, length) == 0;
}

/* What stands above a dump: "NXST_FLOW reply (xid=0x4):", "OFPST_FLOW reply (OF1.3) (xid=0x2):". */
static bool is_header(const char *text, size_t n)
{
	return begins_with(text, n, "NXST_FLOW reply") || begins_with(text, n, "OFPST_FLOW reply");
}

static int fail_long(struct rules_reader *reader, struct rules_error *error)
{
	error->line = reader->line;
	error->column = RULES_LINE_MAX + 1;
	snprintf(error->why, sizeof(error->why), "the line is too long, allowed: %d bytes",
		 RULES_LINE_MAX);
	return -EINVAL;
}

static int read_line(struct rules_reader *reader, const char *text, size_t n,
		     struct rules_error *error)
{
	struct flow_spec spec;
	size_t blank = 0;

	reader->line++;
	if (reader->skip) {
		reader->skip = false;
		return 0;
	}
	if (n > RULES_LINE_MAX)
		return fail_long(reader, error);
	while (blank < n && scan_is(text[blank], SCAN_BLANK))
		blank++;
	if (blank == n || text[blank] == '#' || is_header(text + blank, n - blank))
		return 0;
	if (!rules_parse(reader->ports, text, n, &spec, error)) {
		error->line = reader->line;
		return -EINVAL;
	}
	return reader->rule(reader->arg, &spec, reader->line);
}

/* The whole lines at @text. *@used: how much that is, the one that went wrong included. */
static int read_lines(struct rules_reader *reader, const char *text, size_t n, size_t *used,
		      struct rules_error *error)
{
	const char *at = text, *end = text + n, *newline;
	int r = 0;

	while (r == 0 && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		r = read_line(reader, at, (size_t)(newline - at), error);
		at = newline + 1;
	}
	*used = (size_t)(at - text);
	return r;
}

int rules_reader_feed(struct rules_reader *reader, const char *text, size_t n,
		      struct rules_error *error)
{
	struct buffer *rest = &reader->rest;
	size_t used;
	int r;

	if (n == 0 && rest->n == 0)
		return 0;
	if (rest->n) {
		buffer_add(rest, text, n);
		if (rest->failed)
			return -ENOMEM;
		r = read_lines(reader, rest->data, rest->n, &used, error);
		buffer_consume(rest, used);
	} else {
		r = read_lines(reader, text, n, &used, error);
		buffer_add(rest, text + used, n - used);
	}
	if (r == 0 && rest->n > RULES_LINE_MAX) {
		/* Nothing is kept of a line that has no end, and it is refused once. */
		rest->n = 0;
		if (!reader->skip) {
			reader->line++;
			r = fail_long(reader, error);
			reader->line--;
			reader->skip = true;
		}
	}
	return rest->failed && r == 0 ? -ENOMEM : r;
}

int rules_reader_end(struct rules_reader *reader, struct rules_error *error)
{
	size_t n = reader->rest.n;

	reader->rest.n = 0;
	return n || reader->skip ? read_line(reader, reader->rest.data, n, error) : 0;
}

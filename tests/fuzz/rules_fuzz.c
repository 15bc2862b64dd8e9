/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer: any bytes as rules either parse or are refused at a place inside their line; a rule
 * that parses is printed as text that parses to the same rule; and pieces make no difference.
 *
 *   clang -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/rules_fuzz.c \
 *         rules/{actions,fields,match,names,parse,print,reader,scan,write}.c conf/text.c \
 *         lib/buffer.c -o rules_fuzz
 *   ./rules_fuzz -max_len=1024 CORPUS tests/rules
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "tests/unit/rules_ports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const struct rules_format format = {.ports = &test_ports};

static int print(void *arg, const struct flow_spec *spec, uint32_t line)
{
	struct buffer *text = arg;
	size_t start = text->n;
	struct rules_error error;
	struct flow_spec back;

	rules_print_spec(spec, &format, text);
	if (!rules_parse(&test_ports, text->data + start, text->n - start, &back, &error) ||
	    memcmp(&spec->key, &back.key, sizeof(back.key)) ||
	    memcmp(&spec->mask, &back.mask, sizeof(back.mask)) ||
	    spec->priority != back.priority || spec->n_actions != back.n_actions ||
	    memcmp(spec->action, back.action, spec->n_actions * sizeof(spec->action[0])))
		abort();
	for (size_t i = 0; i < sizeof(spec->key); i++)
		if (((const uint8_t *)&spec->key)[i] & ~((const uint8_t *)&spec->mask)[i])
			abort();
	buffer_str(text, "\n");
	return 0;
}

/* Errors too become text. */
static void note_errors(struct rules_reader *reader, int r, struct rules_error *error,
			struct buffer *text)
{
	while (r == -EINVAL) {
		if (error->column == 0 || error->line == 0 || !*error->why)
			abort();
		buffer_printf(text, "%u:%u: %s\n", error->line, error->column, error->why);
		r = rules_reader_feed(reader, NULL, 0, error);
	}
	if (r)
		abort();
}

static void read_all(const uint8_t *data, size_t bytes, size_t piece, struct buffer *text)
{
	struct rules_reader reader;
	struct rules_error error;

	rules_reader_init(&reader, &test_ports, print, text);
	for (size_t at = 0; at < bytes; at += piece) {
		size_t n = bytes - at < piece ? bytes - at : piece;
		/* A copy of its own: whatever is read beyond it is seen. */
		char *copy = malloc(n);
		int r;

		memcpy(copy, data + at, n);
		r = rules_reader_feed(&reader, copy, n, &error);
		free(copy);
		note_errors(&reader, r, &error, text);
	}
	note_errors(&reader, rules_reader_end(&reader, &error), &error, text);
	rules_reader_fini(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct buffer whole = {0}, pieces = {0};

	read_all(data, bytes, bytes ? bytes : 1, &whole);
	read_all(data, bytes, 7, &pieces);
	if (whole.n != pieces.n || (whole.n && memcmp(whole.data, pieces.data, whole.n)))
		abort();
	buffer_fini(&whole);
	buffer_fini(&pieces);
	return 0;
}

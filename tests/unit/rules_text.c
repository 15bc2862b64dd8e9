/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules on stdin -> each in its normal form on stdout, or what is wrong with it: "error COLUMN
 * WHY". The ports are those of rules_ports.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "tests/unit/rules_ports.h"

static int print(void *arg, const struct flow_spec *spec, uint32_t line)
{
	const struct rules_format format = {.ports = &test_ports};
	struct buffer *out = arg;

	rules_print_spec(spec, &format, out);
	buffer_str(out, "\n");
	return 0;
}

int main(void)
{
	struct rules_error error;
	struct rules_reader reader;
	struct buffer out = {0};
	char piece[65536];
	size_t n;
	int r;

	rules_reader_init(&reader, &test_ports, print, &out);
	do {
		n = fread(piece, 1, sizeof(piece), stdin);
		r = n ? rules_reader_feed(&reader, piece, n, &error)
		      : rules_reader_end(&reader, &error);
		while (r == -EINVAL) {
			buffer_printf(&out, "error %u %s\n", error.column, error.why);
			r = rules_reader_feed(&reader, NULL, 0, &error);
		}
	} while (n);
	fwrite(out.data, 1, out.n, stdout);
	buffer_fini(&out);
	rules_reader_fini(&reader);
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}

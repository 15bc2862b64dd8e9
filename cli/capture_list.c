/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cli/capture.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "lib/bits.h"
#include "lib/format.h"

/* Columns at most, so that filters have at least nine; what others do not use is theirs, too. */
#define NAME_MAX_WIDTH 15
#define OF_MAX_WIDTH 16

static const struct column columns[] = {
	{"NAME", false},    {"DEVICE", false}, {"OF", false},	  {"DIR", false},
	{"CAPTURED", true}, {"MISSED", true},  {"FILTER", false},
};

/* At most @max bytes of @text, with a mark when there are more. */
static void add_short(struct table *t, const char *text, size_t max, const char *behind)
{
	size_t n = strlen(text), cut = max - 3;

	if (n <= max) {
		table_cellf(t, "%s%s", text, behind);
		return;
	}
	while (cut && ((unsigned char)text[cut] & 0xc0) == 0x80)
		cut--;
	table_cellf(t, "%.*s...%s", (int)cut, text, behind);
}

static void add_sources(struct table *t, const json_t *of)
{
	struct buffer text = {0};
	const json_t *source;
	size_t i;

	json_array_foreach(of, i, source)
		buffer_printf(&text, "%s%s", i ? "," : "", json_string_value(source));
	add_short(t, text.n ? text.data : "", OF_MAX_WIDTH, "");
	buffer_fini(&text);
}

static void add_row(struct table *t, const json_t *c, size_t filter_max)
{
	char count[FORMAT_BYTES];

	add_short(t, get_text(c, "name"), NAME_MAX_WIDTH, get_bool(c, "permanent") ? "*" : "");
	table_cell(t, get_bool(c, "pcapng") ? "(pcapng)" : get_text(c, "device"));
	add_sources(t, json_object_get(c, "of"));
	table_cell(t, get_text(c, "dir"));
	table_cell(t, format_number(get_int(c, "captured"), count));
	table_cell(t, format_number(get_int(c, "missed"), count));
	add_short(t, get_text(c, "filter"), filter_max, "");
}

static void add_rows(struct table *t, const json_t *captures, size_t filter_max)
{
	const json_t *c;
	size_t i;

	table_init(t, columns, ARRAY_SIZE(columns));
	json_array_foreach(captures, i, c)
		add_row(t, c, filter_max);
}

static size_t room_for_filters(const json_t *captures)
{
	size_t used = 0;
	struct table t;

	add_rows(&t, captures, TABLE_WIDTH);
	for (size_t i = 0; i + 1 < ARRAY_SIZE(columns); i++)
		used += t.width[i] + 1;
	table_fini(&t);
	return TABLE_WIDTH - used;
}

static bool any_permanent(const json_t *captures)
{
	const json_t *c;
	size_t i;

	json_array_foreach(captures, i, c)
		if (get_bool(c, "permanent"))
			return true;
	return false;
}

static void print_table(const json_t *captures)
{
	struct table t;

	add_rows(&t, captures, room_for_filters(captures));
	table_print(&t, stdout);
	table_fini(&t);
	if (any_permanent(captures))
		puts("*: permanent, from the configuration");
}

int capture_list(struct cli *cli)
{
	json_t *captures;

	if (client_list(cli, "capture.list", NULL, &captures))
		return CLI_FAILED;
	if (cli->json) {
		cli_print_json(json_pack("{s:o}", "captures", captures));
		return CLI_DONE;
	}
	print_table(captures);
	json_decref(captures);
	return CLI_DONE;
}

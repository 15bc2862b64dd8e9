/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "lib/bits.h"
#include "lib/format.h"

#define SECONDS_MAX 86400

/* The row of @reasons that is about the same reason and port as @row. */
static const json_t *same_row(const json_t *reasons, const json_t *row)
{
	json_t *r;
	size_t i;

	json_array_foreach(reasons, i, r)
		if (strcmp(get_text(r, "reason"), get_text(row, "reason")) == 0 &&
		    strcmp(get_text(r, "port"), get_text(row, "port")) == 0)
			return r;
	return NULL;
}

/* Rates over @seconds instead of the daemon's own window. */
static void set_recent(json_t *after, const json_t *before, unsigned int seconds)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(after, "reasons"), i, row) {
		const json_t *old = same_row(json_object_get(before, "reasons"), row);
		uint64_t n = get_int(row, "packets") - get_int(old, "packets");

		json_object_set_new(row, "recent", json_integer((json_int_t)n));
		json_object_set_new(row, "per_s", json_real((double)n / seconds));
	}
	json_object_set_new(after, "window_s", json_real(seconds));
}

static int compare_rows(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	uint64_t recent_x = get_int(x, "recent"), recent_y = get_int(y, "recent");
	uint64_t packets_x = get_int(x, "packets"), packets_y = get_int(y, "packets");

	if (recent_x != recent_y)
		return recent_x < recent_y ? 1 : -1;
	return packets_x < packets_y ? 1 : packets_x > packets_y ? -1 : 0;
}

/* Worst first. */
static void sort_rows(json_t *reasons)
{
	size_t n = json_array_size(reasons);
	json_t **rows = calloc(n + 1, sizeof(*rows));

	if (!rows)
		return;
	for (size_t i = 0; i < n; i++)
		rows[i] = json_incref(json_array_get(reasons, i));
	qsort(rows, n, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < n; i++)
		json_array_set_new(reasons, i, rows[i]);
	free(rows);
}

static void add_row(struct table *t, const json_t *r)
{
	char rate[FORMAT_BYTES], age[FORMAT_BYTES];
	uint64_t last_s = get_int(r, "last_s");

	table_cell(t, get_text(r, "reason"));
	table_cell(t, get_text(r, "port"));
	table_cellf(t, "%" PRIu64, get_int(r, "recent"));
	table_cell(t, format_count((uint64_t)(get_real(r, "per_s") + 0.5), rate));
	table_cellf(t, "%" PRIu64, get_int(r, "packets"));
	table_cell(t, last_s < 2 ? "now" : format_age_short(last_s, age));
	table_cell(t, get_text(r, "detail"));
}

static void print_table(const json_t *drops)
{
	char recent[32];
	struct column columns[] = {
		{"REASON", false},     {"WHERE", false}, {recent, true},   {"/s", true},
		{"SINCE START", true}, {"LAST", false},	 {"DETAIL", false},
	};
	struct table t;
	json_t *r;
	size_t i;

	snprintf(recent, sizeof(recent), "IN %.3g s", get_real(drops, "window_s"));
	table_init(&t, columns, ARRAY_SIZE(columns));
	json_array_foreach(json_object_get(drops, "reasons"), i, r)
		add_row(&t, r);
	table_print(&t, stdout);
	table_fini(&t);
}

void drops_kernel_counts(struct buffer *out, const json_t *kernel)
{
	static const char *const always[] = {"rx_ring_full", "fill_empty"};
	const char *name;
	json_t *n;

	json_object_foreach((json_t *)kernel, name, n) {
		bool shown = json_integer_value(n) != 0;

		for (size_t i = 0; i < ARRAY_SIZE(always); i++)
			shown = shown || strcmp(name, always[i]) == 0;
		if (!shown)
			continue;
		if (out->n)
			buffer_str(out, "  ");
		for (const char *c = name; *c; c++)
			buffer_add(out, *c == '_' ? "-" : c, 1);
		buffer_printf(out, " %" PRIu64, (uint64_t)json_integer_value(n));
	}
}

static void print_kernel(const json_t *kernel)
{
	static const char label[] = "kernel side (before or after culvert): ";
	struct buffer text = {0};

	drops_kernel_counts(&text, kernel);
	fputs(label, stdout);
	table_wrapped(stdout, text.n ? text.data : "", strlen(label), 2);
	buffer_fini(&text);
}

static void print_books(const json_t *b)
{
	int64_t off = (int64_t)(get_int(b, "rx") + get_int(b, "copied") + get_int(b, "generated") -
				get_int(b, "tx") - get_int(b, "drops"));

	printf("rx %" PRIu64 " + copied %" PRIu64 " + made %" PRIu64 " = tx %" PRIu64
	       " + drops %" PRIu64 ": ",
	       get_int(b, "rx"), get_int(b, "copied"), get_int(b, "generated"), get_int(b, "tx"),
	       get_int(b, "drops"));
	if (get_bool(b, "balanced"))
		printf("balanced\n");
	else
		printf("NOT balanced, %" PRId64 " too %s on the right\n", off < 0 ? -off : off,
		       off < 0 ? "many" : "few");
}

static json_t *params_of(const char *port)
{
	return port ? json_pack("{s:s}", "port", port) : json_object();
}

static void wait_s(unsigned int seconds)
{
	struct timespec left = {.tv_sec = seconds};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static int show(struct cli *cli, const char *port, unsigned int seconds)
{
	json_t *before = NULL, *drops;

	if (seconds) {
		if (client_call(cli, "drops", params_of(port), &before))
			return CLI_FAILED;
		wait_s(seconds);
	}
	if (client_call(cli, "drops", params_of(port), &drops)) {
		json_decref(before);
		return CLI_FAILED;
	}
	if (before)
		set_recent(drops, before, seconds);
	json_decref(before);
	sort_rows(json_object_get(drops, "reasons"));
	if (cli->json) {
		cli_print_json(drops);
		return CLI_DONE;
	}
	print_table(drops);
	print_kernel(json_object_get(drops, "kernel"));
	print_books(json_object_get(drops, "books"));
	json_decref(drops);
	return CLI_DONE;
}

/* 0: not a number of seconds. */
static unsigned int seconds_of(const char *text)
{
	unsigned long n;

	if (strspn(text, "0123456789") != strlen(text) || strlen(text) > 6)
		return 0;
	n = strtoul(text, NULL, 10);
	return n <= SECONDS_MAX ? (unsigned int)n : 0;
}

int drops_run(struct cli *cli, int argc, char **argv)
{
	unsigned int seconds = argc ? seconds_of(argv[argc - 1]) : 0;

	if (seconds)
		argc--;
	if (argc > 1)
		return cli_usage(cli);
	return show(cli, argc == 1 ? argv[0] : NULL, seconds);
}

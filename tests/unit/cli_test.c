/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/excerpt.h"
#include "cli/ranges.h"
#include "cli/seen.h"
#include "cli/table.h"
#include "lib/bits.h"
#include "tests/unit/random.h"

/* cli/main.c has them; nothing here may come so far. */
int cli_fail(const struct cli *cli, const char *fmt, ...)
{
	fail_msg("%s", fmt);
	return CLI_FAILED;
}

static void prefixes(void **state)
{
	enum { PORT, NETWORK, TUNNEL, TRACE, TOP, DEL, LOG };
	static const struct word words[] = {
		{"port", PORT},		{"ports", PORT},      {"network", NETWORK},
		{"networks", NETWORK},	{"tunnel", TUNNEL},   {"tunnels", TUNNEL},
		{"trace", TRACE},	{"top", TOP},	      {"del", DEL},
		{"delete", DEL},	{"logs", LOG},	      {"log", LOG},
		{0},
	};
	static const struct {
		const char *text;
		int value;
		const char *candidates;
	} rows[] = {
		{"port", PORT, "port"},
		{"ports", PORT, "ports"},
		{"p", PORT, "port"},
		{"portsx", WORD_UNKNOWN, NULL},
		{"n", NETWORK, "network"},
		{"t", WORD_AMBIGUOUS, "tunnel, trace, top"},
		{"tu", TUNNEL, "tunnel"},
		{"to", TOP, "top"},
		{"top", TOP, "top"},
		{"d", DEL, "del"},
		{"dele", DEL, "delete"},
		{"log", LOG, "logs"},
		{"P", WORD_UNKNOWN, NULL},
		{"", WORD_UNKNOWN, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buffer names = {0};

		assert_int_equal(word_find(words, rows[i].text), rows[i].value);
		word_candidates(words, rows[i].text, &names);
		if (rows[i].candidates)
			assert_string_equal(names.data, rows[i].candidates);
		buffer_fini(&names);
	}
}

/* Runs @print with a stream and compares what it wrote. */
static void check_output(void (*print)(FILE *out), const char *want)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	print(out);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static const struct column columns[] = {{"PORT", false}, {"RX-PPS", true}, {"NETWORK", false}};

static void print_rows(FILE *out)
{
	static const char *const cells[] = {
		"srv1", "812k", "blue", "M\xc3\xbcller", "3", NULL, "evil\033[2J\xc2\x9b", "0", "",
	};
	struct table t;

	table_init(&t, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		table_cell(&t, cells[i]);
	table_print(&t, out);
	/* The next part keeps widths and has no headers. */
	table_cell(&t, "a");
	table_cellf(&t, "%d", 1234567);
	table_cell(&t, "b");
	table_print(&t, out);
	table_print(&t, out);
	table_fini(&t);
}

static void print_no_rows(FILE *out)
{
	struct table t;

	table_init(&t, columns, ARRAY_SIZE(columns));
	table_print(&t, out);
	table_fini(&t);
}

static void tables(void **state)
{
	check_output(print_rows, "PORT       RX-PPS NETWORK\n"
				 "srv1         812k blue\n"
				 "M\xc3\xbcller          3 -\n"
				 "evil?[2J??      0 -\n"
				 "a          1234567 b\n");
	check_output(print_no_rows, "PORT RX-PPS NETWORK\n");
}

#define WORD_OF_70 \
	"0123456789012345678901234567890123456789" \
	"012345678901234567890123456789"

static void print_long(FILE *out)
{
	table_wrapped(out, "one two  three", 9, 9);
	table_wrapped(out, "", 0, 9);
	table_wrapped(out, WORD_OF_70 "  " WORD_OF_70 " end", 9, 9);
}

static void wrapped(void **state)
{
	check_output(print_long, "one two  three\n"
				 "\n" WORD_OF_70 "\n"
				 "         " WORD_OF_70 "\n"
				 "         end\n");
}

static void print_places(FILE *out)
{
	excerpt_print(out, "priority=1,ipp actions=drop", 12);
	excerpt_print(out, "ip", 3);
	excerpt_print(out, "ip", 99);
	excerpt_print(out, "", 1);
	/* Columns are bytes, and what is no text takes as many. */
	excerpt_print(out, "in_port=M\xc3\xbcller,x", 17);
	excerpt_print(out, "a\tb\033[2J,x", 9);
	/* As long as fits, and one byte more: from the front, in the middle, to the end. */
	excerpt_print(out, WORD_OF_70 "12345678", 78);
	excerpt_print(out, WORD_OF_70 "123456789", 1);
	excerpt_print(out, WORD_OF_70 WORD_OF_70, 71);
	excerpt_print(out, WORD_OF_70 "123456789", 80);
}

static void places(void **state)
{
	check_output(print_places,
		     "  priority=1,ipp actions=drop\n"
		     "             ^\n"
		     "  ip\n"
		     "    ^\n"
		     "  ip\n"
		     "    ^\n"
		     "  \n"
		     "  ^\n"
		     "  in_port=M\xc3\xbcller,x\n"
		     "                 ^\n"
		     "  a?b?[2J,x\n"
		     "          ^\n"
		     "  " WORD_OF_70 "12345678\n"
		     "                                        "
		     "                                       ^\n"
		     "  " WORD_OF_70 "12345...\n"
		     "  ^\n"
		     "  ...4567890123456789012345678901234567890123456789"
		     "01234567890123456789012345...\n"
		     "                                         ^\n"
		     "  ...456789012345678901234567890123456789"
		     "012345678901234567890123456789123456789\n"
		     "                                        "
		     "                                        ^\n");
}

static void vlan_ranges(void **state)
{
	static const struct {
		const char *map;
		const char *text;
	} rows[] = {
		{"{}", ""},
		{"{\"5\":\"red\"}", "5 red"},
		{"{\"100\":\"t.100\",\"101\":\"t.101\",\"102\":\"t.102\",\"2001\":\"red\"}",
		 "100-102 t.100-102, 2001 red"},
		/* Translated: the numbers differ but go on together. */
		{"{\"10\":\"t.7\",\"11\":\"t.8\"}", "10-11 t.7-8"},
		/* A gap on either side, another stem, numbers that do not go on. */
		{"{\"10\":\"t.10\",\"12\":\"t.11\"}", "10 t.10, 12 t.11"},
		{"{\"10\":\"t.10\",\"11\":\"t.12\"}", "10 t.10, 11 t.12"},
		{"{\"10\":\"t.10\",\"11\":\"u.11\"}", "10 t.10, 11 u.11"},
		{"{\"10\":\"t.x\",\"11\":\"t.x1\",\"12\":\"t.\"}", "10 t.x, 11 t.x1, 12 t."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *map = json_loads(rows[i].map, 0, NULL);
		struct buffer out = {0};

		ranges_add(&out, map);
		assert_string_equal(out.n ? out.data : "", rows[i].text);
		buffer_fini(&out);
		json_decref(map);
	}
}

/* Against an array that is looked through from the front. */
static void seen_once(void **state)
{
	bool printed[4][1500] = {0};
	struct seen s = {0};

	random_init("seen");
	/* First without repetitions, as the daemon promises. */
	for (int i = 0; i < 700; i++) {
		char network[16], mac[32];

		snprintf(network, sizeof(network), "n%d", i % 4);
		snprintf(mac, sizeof(mac), "02:00:00:00:%02x:%02x", i >> 8, i & 255);
		assert_int_equal(seen_add(&s, network, mac), 1);
		printed[i % 4][i] = true;
	}
	assert_true(seen_restart(&s));
	for (int n = 0; n < 20000; n++) {
		unsigned int network_id = random_below(4), i = random_below(1500);
		char network[16], mac[32];

		snprintf(network, sizeof(network), "n%u", network_id);
		snprintf(mac, sizeof(mac), "02:00:00:00:%02x:%02x", i >> 8, i & 255);
		assert_int_equal(seen_add(&s, network, mac), !printed[network_id][i]);
		printed[network_id][i] = true;
		if (n == 10000)
			assert_true(seen_restart(&s));
	}
	assert_int_equal(seen_add(&s, "n0", "no MAC"), -1);
	seen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes),    cmocka_unit_test(tables),
		cmocka_unit_test(wrapped),     cmocka_unit_test(places),
		cmocka_unit_test(vlan_ranges), cmocka_unit_test(seen_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "lib/bits.h"
#include "lib/format.h"

static const struct column columns[] = {
	{"VTEP", false}, {"STATE", false}, {"DEVICE", false}, {"NEXT-HOP", false},
	{"MTU", true},	 {"RX-PPS", true}, {"TX-PPS", true},  {"LOST/S", true},
};

static bool is_ok(const json_t *t)
{
	return strcmp(get_text(t, "state"), "ok") == 0;
}

static void add_rate(struct table *table, const json_t *t, const char *name)
{
	char text[FORMAT_BYTES];

	table_cell(table, format_count((uint64_t)(get_real(t, name) + 0.5), text));
}

static void add_row(struct table *table, const json_t *t)
{
	char age[FORMAT_BYTES];

	table_cell(table, get_text(t, "vtep"));
	table_cellf(table, "%s %s", get_text(t, "state"),
		    format_age_short(get_int(t, "since_s"), age));
	table_cell(table, get_text(t, "device"));
	table_cell(table, get_text(t, "next_hop"));
	if (get_int(t, "mtu"))
		table_cellf(table, "%" PRIu64, get_int(t, "mtu"));
	else
		table_cell(table, NULL);
	add_rate(table, t, "rx_pps");
	add_rate(table, t, "tx_pps");
	add_rate(table, t, "lost_pps");
}

/* Worst first, else in file order. */
static void print_table(const json_t *tunnels)
{
	struct table table;
	json_t *t;
	size_t i;

	table_init(&table, columns, ARRAY_SIZE(columns));
	json_array_foreach(tunnels, i, t)
		if (!is_ok(t))
			add_row(&table, t);
	json_array_foreach(tunnels, i, t)
		if (is_ok(t))
			add_row(&table, t);
	table_print(&table, stdout);
	table_fini(&table);
}

static void print_one(const json_t *t)
{
	char age[FORMAT_BYTES], rate[FORMAT_BYTES];

	printf("vtep     %s, number %" PRIu64 "\n", get_text(t, "vtep"), get_int(t, "number"));
	printf("state    %s for %s%s%s\n", get_text(t, "state"),
	       format_age(get_int(t, "since_s"), age), *get_text(t, "why") ? ": " : "",
	       get_text(t, "why"));
	if (is_ok(t)) {
		printf("way      from %s by %s to %s (%s), MTU %" PRIu64 "\n",
		       get_text(t, "source"), get_text(t, "device"), get_text(t, "next_hop"),
		       get_text(t, "next_hop_mac"), get_int(t, "mtu"));
	}
	traffic_print(t, "rx");
	traffic_print(t, "tx");
	printf("lost     %" PRIu64 ", now %s/s\n", get_int(t, "lost"),
	       format_count((uint64_t)(get_real(t, "lost_pps") + 0.5), rate));
}

int tunnel_run(struct cli *cli, int argc, char **argv)
{
	json_t *params, *tunnels;

	if (argc > 0 && argc <= 2 && strcmp(argv[0], "check") == 0)
		return cli_later(cli, "check");
	if (argc > 1)
		return cli_usage(cli);
	params = argc == 1 ? json_pack("{s:s}", "vtep", argv[0]) : NULL;
	if (argc == 1 && !params)
		return cli_fail(cli, "the address is not UTF-8");
	if (client_list(cli, "tunnel", params, &tunnels))
		return CLI_FAILED;
	if (cli->json) {
		cli_print_json(json_pack("{s:o}", "tunnels", tunnels));
		return CLI_DONE;
	}
	if (argc == 1)
		print_one(json_array_get(tunnels, 0));
	else
		print_table(tunnels);
	json_decref(tunnels);
	return CLI_DONE;
}

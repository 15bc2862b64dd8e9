/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "lib/bits.h"

static const struct column columns[] = {
	{"NETWORK", false}, {"VNI", true},     {"MACS", true},	 {"LIMIT", true},  {"AGEING", true},
	{"LEARN", false},   {"MOVES", true},   {"PORTS", true},	 {"REMOTES", true},
};

static void add_row(struct table *t, const json_t *n)
{
	table_cell(t, get_text(n, "name"));
	if (get_int(n, "vni"))
		table_cellf(t, "%" PRIu64, get_int(n, "vni"));
	else
		table_cell(t, NULL);
	table_cellf(t, "%" PRIu64, get_int(n, "macs"));
	table_cellf(t, "%" PRIu64, get_int(n, "mac_limit"));
	if (get_int(n, "ageing_s"))
		table_cellf(t, "%" PRIu64 "s", get_int(n, "ageing_s"));
	else
		table_cell(t, "never");
	table_cell(t, get_text(n, "learn"));
	table_cellf(t, "%" PRIu64, get_int(n, "moves"));
	table_cellf(t, "%zu", json_array_size(json_object_get(n, "ports")));
	table_cellf(t, "%zu", json_array_size(json_object_get(n, "remotes")));
}

static void print_names(const char *label, const json_t *names)
{
	json_t *name;
	size_t i;

	printf("%s", label);
	json_array_foreach(names, i, name)
		printf(" %s", json_string_value(name));
	printf("%s\n", i ? "" : " none");
}

static void print_one(const json_t *n)
{
	printf("network  %s, id %" PRIu64 "\n", get_text(n, "name"), get_int(n, "id"));
	if (get_int(n, "vni"))
		printf("vni      %" PRIu64 "\n", get_int(n, "vni"));
	else
		printf("vni      none: local only\n");
	printf("macs     %" PRIu64 " of %" PRIu64 ", not learned for the limit: %" PRIu64
	       ", moved: %" PRIu64 "\n",
	       get_int(n, "macs"), get_int(n, "mac_limit"), get_int(n, "limit_hits"),
	       get_int(n, "moves"));
	printf("learn    %s, ageing ", get_text(n, "learn"));
	if (get_int(n, "ageing_s"))
		printf("%" PRIu64 " s\n", get_int(n, "ageing_s"));
	else
		printf("never\n");
	print_names("ports   ", json_object_get(n, "ports"));
	print_names("remotes ", json_object_get(n, "remotes"));
}

int network_run(struct cli *cli, int argc, char **argv)
{
	json_t *params = argc == 1 ? json_pack("{s:s}", "name", argv[0]) : NULL;
	json_t *networks, *n;
	struct table t;
	size_t i;

	if (argc > 1)
		return cli_usage(cli);
	if (argc == 1 && !params)
		return cli_fail(cli, "the name is not UTF-8");
	if (client_list(cli, "network", params, &networks))
		return CLI_FAILED;
	if (cli->json) {
		cli_print_json(json_pack("{s:o}", "networks", networks));
		return CLI_DONE;
	}
	if (argc == 1) {
		print_one(json_array_get(networks, 0));
	} else {
		table_init(&t, columns, ARRAY_SIZE(columns));
		json_array_foreach(networks, i, n)
			add_row(&t, n);
		table_print(&t, stdout);
		table_fini(&t);
	}
	json_decref(networks);
	return CLI_DONE;
}

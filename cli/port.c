/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/ranges.h"
#include "cli/table.h"
#include "lib/bits.h"
#include "lib/format.h"

#define LABEL_WIDTH 9

static const struct column columns[] = {
	{"PORT", false},   {"DEVICE", false}, {"STATE", false},	 {"SPEED", true},
	{"MODE", false},   {"Q", true},	      {"RX-PPS", true},	 {"TX-PPS", true},
	{"DROP/S", true},  {"HASH", false},   {"NETWORK", false},
};

static void add_rate(struct table *t, const json_t *p, const char *name)
{
	char text[FORMAT_BYTES];

	table_cell(t, format_count((uint64_t)(get_real(p, name) + 0.5), text));
}

static const char *short_hash(const char *hash)
{
	return strcmp(hash, "software") == 0 ? "soft" : strcmp(hash, "none") == 0 ? "-" : hash;
}

/* "blue"; "blue +3" with three tagged beside it; without an untagged one "blue (100)" or
 * "3 tagged". */
static void add_networks(struct table *t, const json_t *p)
{
	json_t *tagged = json_object_get(p, "tagged");
	size_t n_tagged = json_object_size(tagged);
	const char *untagged = get_text(p, "untagged");
	void *first = json_object_iter(tagged);

	if (get_bool(p, "underlay") && !*untagged && !n_tagged)
		table_cell(t, "(underlay)");
	else if (!n_tagged)
		table_cell(t, untagged);
	else if (*untagged)
		table_cellf(t, "%s +%zu", untagged, n_tagged);
	else if (n_tagged == 1)
		table_cellf(t, "%s (%s)", json_string_value(json_object_iter_value(first)),
			    json_object_iter_key(first));
	else
		table_cellf(t, "%zu tagged", n_tagged);
}

static void add_row(struct table *t, const json_t *p)
{
	char age[FORMAT_BYTES], speed[FORMAT_BYTES];

	table_cell(t, get_text(p, "name"));
	table_cell(t, get_text(p, "device"));
	table_cellf(t, "%s %s", get_text(p, "state"), format_age_short(get_int(p, "since_s"), age));
	table_cell(t, format_speed((uint32_t)get_int(p, "speed_mbps"), speed));
	table_cell(t, strcmp(get_text(p, "mode"), "none") == 0 ? "-" : get_text(p, "mode"));
	table_cellf(t, "%" PRIu64, get_int(p, "queues"));
	add_rate(t, p, "rx_pps");
	add_rate(t, p, "tx_pps");
	add_rate(t, p, "drop_pps");
	table_cell(t, short_hash(get_text(p, "hash")));
	add_networks(t, p);
}

static void print_table(const json_t *ports)
{
	struct table t;
	json_t *p;
	size_t i;

	table_init(&t, columns, ARRAY_SIZE(columns));
	json_array_foreach(ports, i, p)
		add_row(&t, p);
	table_print(&t, stdout);
	table_fini(&t);
}

/* "LABEL    text: why" */
static void print_line(const char *label, const char *text, const char *why)
{
	struct buffer line = {0};

	buffer_printf(&line, "%s%s%s", text, why && *why ? ": " : "", why ? why : "");
	if (line.n) {
		table_make_safe(line.data);
		printf("%-*s", LABEL_WIDTH, label);
		table_wrapped(stdout, line.data, LABEL_WIDTH, LABEL_WIDTH);
	}
	buffer_fini(&line);
}

static void print_device(const json_t *p)
{
	struct buffer text = {0};
	char speed[FORMAT_BYTES];

	if (*get_text(p, "device"))
		buffer_printf(&text, "%s, ", get_text(p, "device"));
	buffer_printf(&text, "%s, number %" PRIu64, get_text(p, "kind"), get_int(p, "number"));
	if (*get_text(p, "driver"))
		buffer_printf(&text, ", driver %s", get_text(p, "driver"));
	if (*get_text(p, "mac"))
		buffer_printf(&text, ", MAC %s", get_text(p, "mac"));
	if (get_int(p, "mtu"))
		buffer_printf(&text, ", MTU %" PRIu64, get_int(p, "mtu"));
	if (get_int(p, "speed_mbps"))
		buffer_printf(&text, ", %s",
			      format_speed((uint32_t)get_int(p, "speed_mbps"), speed));
	print_line("device", text.data, NULL);
	buffer_fini(&text);
}

static void print_how(const json_t *p)
{
	char text[128], age[FORMAT_BYTES];
	uint64_t queues = get_int(p, "queues");

	snprintf(text, sizeof(text), "%s for %s", get_text(p, "state"),
		 format_age(get_int(p, "since_s"), age));
	print_line("state", text, get_text(p, "why"));
	if (strcmp(get_text(p, "mode"), "none") == 0)
		return;
	snprintf(text, sizeof(text), "%s, %" PRIu64 " %s%s", get_text(p, "mode"), queues,
		 queues == 1 ? "queue" : "queues",
		 get_bool(p, "hugepages") ? ", huge pages" : "");
	print_line("mode", text, get_text(p, "mode_why"));
	print_line("program", get_text(p, "program"), get_text(p, "program_why"));
}

static void print_networks(const json_t *p)
{
	const json_t *tagged = json_object_get(p, "tagged");
	const char *untagged = get_text(p, "untagged");
	struct buffer text = {0};

	if (get_bool(p, "underlay"))
		print_line("underlay", "carries VXLAN; all else stays with the kernel", NULL);
	if (*untagged)
		print_line("untagged", untagged, NULL);
	if (json_object_size(tagged)) {
		ranges_add(&text, tagged);
		print_line("tagged", text.data, NULL);
	}
	buffer_fini(&text);
	if (*untagged || json_object_size(tagged) || strcmp(get_text(p, "rest"), "drop") != 0)
		print_line("rest", get_text(p, "rest"), NULL);
}

static void print_counters(const json_t *p)
{
	struct buffer kernel = {0};
	char rate[FORMAT_BYTES];
	const char *name;
	json_t *n;

	traffic_print(p, "rx");
	traffic_print(p, "tx");
	printf("books    rx %" PRIu64 " + copied %" PRIu64 " = forwarded %" PRIu64
	       " + drops %" PRIu64 "; generated %" PRIu64 "\n",
	       get_int(p, "rx_packets"), get_int(p, "copied"), get_int(p, "forwarded"),
	       get_int(p, "drops"), get_int(p, "generated"));
	printf("drops    %" PRIu64 ", now %s/s", get_int(p, "drops"),
	       format_count((uint64_t)(get_real(p, "drop_pps") + 0.5), rate));
	json_object_foreach(json_object_get(p, "drop_reasons"), name, n)
		printf("\n         %-18s %" PRIu64, name, (uint64_t)json_integer_value(n));
	printf("\ntx-full  %" PRIu64 " of what was to leave here found the ring full\n",
	       get_int(p, "tx_full"));
	printf("hash     nic %" PRIu64 ", software %" PRIu64 " packets to tunnels\n",
	       get_int(p, "hash_nic"), get_int(p, "hash_software"));
	drops_kernel_counts(&kernel, json_object_get(p, "kernel"));
	print_line("kernel", kernel.n ? kernel.data : "", NULL);
	buffer_fini(&kernel);
}

static void print_one(const json_t *p)
{
	char text[64];

	print_line("port", get_text(p, "name"), get_text(p, "description"));
	print_device(p);
	print_how(p);
	print_networks(p);
	snprintf(text, sizeof(text), "%" PRIu64, get_int(p, "macs"));
	if (get_int(p, "mac_limit"))
		snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64, get_int(p, "macs"),
			 get_int(p, "mac_limit"));
	print_line("macs", text, NULL);
	print_counters(p);
}

static int show(struct cli *cli, const char *name)
{
	json_t *params = name ? json_pack("{s:s}", "name", name) : NULL;
	json_t *ports;

	if (name && !params)
		return cli_fail(cli, "the name is not UTF-8");
	if (client_list(cli, "port", params, &ports))
		return CLI_FAILED;
	if (cli->json) {
		cli_print_json(json_pack("{s:o}", "ports", ports));
		return CLI_DONE;
	}
	if (name)
		print_one(json_array_get(ports, 0));
	else
		print_table(ports);
	json_decref(ports);
	return CLI_DONE;
}

static int set_enabled(struct cli *cli, const char *method, const char *name)
{
	json_t *result;

	if (client_call(cli, method, json_pack("{s:s}", "name", name), &result))
		return CLI_FAILED;
	if (cli->json)
		cli_print_json(json_incref(result));
	json_decref(result);
	return CLI_DONE;
}

int port_run(struct cli *cli, int argc, char **argv)
{
	enum { ENABLE, DISABLE, SHOW };
	static const struct word verbs[] = {
		{"enable", ENABLE}, {"disable", DISABLE}, {"show", SHOW}, {"list", SHOW}, {0},
	};
	int verb = argc > 0 ? word_find(verbs, argv[0]) : SHOW;

	if (argc == 0)
		return show(cli, NULL);
	if (argc == 2 && verb == ENABLE)
		return set_enabled(cli, "port.enable", argv[1]);
	if (argc == 2 && verb == DISABLE)
		return set_enabled(cli, "port.disable", argv[1]);
	if (argc == 2 && verb == SHOW)
		return show(cli, argv[1]);
	/* One word is a port's name, unless it is a verb in full. */
	if (argc == 1 && strcmp(argv[0], "show") != 0 && strcmp(argv[0], "list") != 0 &&
	    strcmp(argv[0], "enable") != 0 && strcmp(argv[0], "disable") != 0)
		return show(cli, argv[0]);
	if (argc == 1 && verb == SHOW)
		return show(cli, NULL);
	return cli_usage(cli);
}

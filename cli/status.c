/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "lib/bits.h"
#include "lib/format.h"

#define PROBLEM_INDENT 7
#define TEXT_INDENT 9

static void print_head(const json_t *s)
{
	const json_t *config = json_object_get(s, "config");
	time_t modified = (time_t)get_int(config, "modified_unix_s");
	char age[FORMAT_BYTES], when[32] = "";
	struct tm tm;

	printf("%s  culvertd %s  %s  up %s  pid %" PRIu64 "\n", get_text(s, "name"),
	       get_text(s, "version"), get_text(s, "state"),
	       format_age(get_int(s, "uptime_s"), age), get_int(s, "pid"));
	if (localtime_r(&modified, &tm))
		strftime(when, sizeof(when), " of %b %e %H:%M", &tm);
	printf("config   %s%s\n", get_text(config, "file"), when);
}

static void print_workers(const json_t *workers)
{
	struct buffer cores = {0}, busy = {0};
	uint64_t longest_us = 0;
	bool hugepages = true;
	json_t *w;
	size_t i;

	json_array_foreach(workers, i, w) {
		int core = (int)get_int(w, "core");

		if (core >= 0)
			buffer_printf(&cores, "%s%d", i ? "," : "", core);
		buffer_printf(&busy, " %.0f%%", get_real(w, "busy_percent"));
		longest_us = max_of(longest_us, get_int(w, "longest_loop_us"));
		hugepages = hugepages && get_bool(w, "hugepages");
	}
	printf("workers  %zu (%s %s)  busy%s  longest loop %.1f ms  hugepages %s\n", i,
	       i == 1 ? "core" : "cores", cores.n ? cores.data : "any", busy.n ? busy.data : "",
	       (double)longest_us / 1000, hugepages ? "yes" : "no");
	buffer_fini(&cores);
	buffer_fini(&busy);
}

static void print_ports(const json_t *s)
{
	static const struct {
		const char *key, *name;
	} states[] = {{"no_link", "no link"}, {"missing", "missing"}, {"shut", "shut"},
		      {"failed", "failed"},   {"done", "done"}};
	const json_t *ports = json_object_get(s, "ports");

	printf("ports    %" PRIu64 " up", get_int(ports, "up"));
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (get_int(ports, states[i].key))
			printf(", %" PRIu64 " %s", get_int(ports, states[i].key), states[i].name);
	printf("   networks %" PRIu64 "\n", get_int(s, "networks"));
}

static void print_tables(const json_t *s)
{
	const json_t *tunnels = json_object_get(s, "tunnels");
	char fdb[FORMAT_BYTES], flows[FORMAT_BYTES];

	printf("fdb      %s   tunnels %" PRIu64 " ok, %" PRIu64 " bad   flows %s\n",
	       format_number(get_int(s, "fdb"), fdb), get_int(tunnels, "ok"),
	       get_int(tunnels, "bad"), format_number(get_int(s, "flows"), flows));
}

static void print_captures(const json_t *c)
{
	char captured[FORMAT_BYTES], missed[FORMAT_BYTES];

	if (get_int(c, "running"))
		printf("captures %" PRIu64 "   since start: captured %s, missed %s\n",
		       get_int(c, "running"), format_number(get_int(c, "captured"), captured),
		       format_number(get_int(c, "missed"), missed));
}

static void print_traffic(const json_t *t)
{
	char rx_pps[FORMAT_BYTES], rx_bps[FORMAT_BYTES], tx_pps[FORMAT_BYTES],
		tx_bps[FORMAT_BYTES], drops[FORMAT_BYTES];

	printf("traffic  rx %s %s  tx %s %s  drops %s/s\n",
	       format_unit(get_real(t, "rx_pps"), "pps", rx_pps),
	       format_unit(get_real(t, "rx_bps"), "b/s", rx_bps),
	       format_unit(get_real(t, "tx_pps"), "pps", tx_pps),
	       format_unit(get_real(t, "tx_bps"), "b/s", tx_bps),
	       format_count((uint64_t)(get_real(t, "drop_pps") + 0.5), drops));
}

static void print_kernel(const json_t *kernel)
{
	const char *comma = "", *mode;
	struct buffer text = {0};
	json_t *n;

	buffer_printf(&text, "%s  hash: nic %" PRIu64 ", software %" PRIu64 "  mode:",
		      get_text(kernel, "release"), get_int(kernel, "hash_nic"),
		      get_int(kernel, "hash_software"));
	json_object_foreach(json_object_get(kernel, "modes"), mode, n) {
		buffer_printf(&text, "%s %s %" PRIu64, comma, mode,
			      (uint64_t)json_integer_value(n));
		comma = ",";
	}
	printf("kernel   ");
	if (!text.failed)
		table_wrapped(stdout, text.data, TEXT_INDENT, TEXT_INDENT);
	buffer_fini(&text);
}

static void print_problem(const json_t *p)
{
	time_t now = time(NULL);
	uint64_t since_s = get_int(p, "since_s");
	time_t since = now - (time_t)since_s;
	char when[16] = "", text[640];
	struct tm tm;

	if (localtime_r(&since, &tm))
		strftime(when, sizeof(when), since_s < 86400 ? "%H:%M" : "%b%d", &tm);
	snprintf(text, sizeof(text), "%s  %s", get_text(p, "what"), get_text(p, "text"));
	table_make_safe(text);
	printf("%-*s", PROBLEM_INDENT, when);
	table_wrapped(stdout, text, PROBLEM_INDENT, PROBLEM_INDENT);
	snprintf(text, sizeof(text), "%s", get_text(p, "cure"));
	table_make_safe(text);
	/* To be copied: never broken. */
	if (*text)
		printf("%*slook: %s\n", PROBLEM_INDENT, "", text);
}

static void print_status(const json_t *s)
{
	const json_t *problems = json_object_get(s, "problems");
	uint64_t n = get_int(s, "n_problems");
	json_t *p;
	size_t i;

	print_head(s);
	print_workers(json_object_get(s, "workers"));
	print_ports(s);
	print_tables(s);
	print_captures(json_object_get(s, "captures"));
	print_traffic(json_object_get(s, "traffic"));
	print_kernel(json_object_get(s, "kernel"));
	if (n == 0)
		return;
	printf("PROBLEMS %" PRIu64 "\n", n);
	json_array_foreach(problems, i, p)
		print_problem(p);
	if (n > i)
		printf("%*sand %" PRIu64 " more\n", PROBLEM_INDENT, "", n - i);
}

int status_run(struct cli *cli, int argc, char **argv)
{
	bool check = argc == 1 && strcmp(argv[0], "--check") == 0;
	json_t *s;
	bool ok;

	if (argc > 0 && !check)
		return cli_usage(cli);
	if (client_call(cli, "status", NULL, &s))
		return CLI_FAILED;
	ok = strcmp(get_text(s, "state"), "OK") == 0;
	if (cli->json) {
		cli_print_json(s);
	} else {
		print_status(s);
		json_decref(s);
	}
	return check && !ok ? CLI_FAILED : CLI_DONE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ctrl/captures.h"
#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "ctrl/flows.h"
#include "lib/bits.h"
#include "lib/clock.h"

#define PROBLEMS_MAX 100

static json_t *config_object(const struct commands *c)
{
	json_t *o = json_object();

	field_text(o, "file", c->g->conf->path);
	field_int(o, "loaded_unix_s", (uint64_t)c->loaded_unix_s);
	field_int(o, "modified_unix_s", (uint64_t)c->g->conf->mtime_s);
	return o;
}

static json_t *workers_array(const struct commands *c)
{
	json_t *workers = json_array();

	for (uint32_t i = 0; i < c->g->n_workers; i++) {
		struct worker_rates r;
		json_t *o = json_object();

		rates_worker(c->rates, i, &r);
		field_int(o, "index", i);
		json_object_set_new(o, "core", json_integer(r.stats.core));
		field_real(o, "busy_percent", r.busy_percent);
		field_int(o, "busy_ns", worker_busy_ns(c->g->worker[i]));
		field_int(o, "longest_loop_us", r.longest_loop_ns / NS_PER_US);
		field_int(o, "frames_free", r.stats.frames_free);
		field_int(o, "frames", r.stats.n_frames);
		field_bool(o, "hugepages", r.stats.hugepages);
		json_array_append_new(workers, o);
	}
	return workers;
}

static json_t *ports_object(const struct gateway *g)
{
	static const char *const names[] = {
		[GATEWAY_PORT_UP] = "up",	      [GATEWAY_PORT_NO_LINK] = "no_link",
		[GATEWAY_PORT_MISSING] = "missing",   [GATEWAY_PORT_SHUT] = "shut",
		[GATEWAY_PORT_FAILED] = "failed",     [GATEWAY_PORT_DONE] = "done",
	};
	uint64_t n[ARRAY_SIZE(names)] = {0};
	json_t *o = json_object();

	for (uint32_t i = 0; i < g->n_ports; i++)
		n[g->port[i].state]++;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		field_int(o, names[i], n[i]);
	return o;
}

static json_t *tunnels_object(const struct gateway *g)
{
	uint32_t n = g->tunnels ? g->tunnels->n_tunnels : 0, ok = 0;
	json_t *o = json_object();

	for (uint32_t i = 0; i < n; i++)
		ok += tunnels_get(g->tunnels, (uint16_t)(EGRESS_TUNNEL0 + i))->state == TUNNEL_OK;
	field_int(o, "ok", ok);
	field_int(o, "bad", n - ok);
	return o;
}

static json_t *captures_object(const struct gateway *g)
{
	json_t *o = json_object();
	uint64_t captured, missed;

	field_int(o, "running", captures_sum(g->captures, &captured, &missed));
	field_int(o, "captured", captured);
	field_int(o, "missed", missed);
	return o;
}

static json_t *traffic_object(const struct commands *c)
{
	struct port_rates sum = {0};
	json_t *o = json_object();

	for (uint32_t i = 0; i < c->g->n_ports; i++) {
		struct port_rates r;

		rates_port(c->rates, (uint16_t)i, &r);
		sum.rx_pps += r.rx_pps;
		sum.rx_bps += r.rx_bps;
		sum.tx_pps += r.tx_pps;
		sum.tx_bps += r.tx_bps;
		sum.drop_pps += r.drop_pps;
	}
	field_real(o, "rx_pps", sum.rx_pps);
	field_real(o, "rx_bps", sum.rx_bps);
	field_real(o, "tx_pps", sum.tx_pps);
	field_real(o, "tx_bps", sum.tx_bps);
	field_real(o, "drop_pps", sum.drop_pps);
	return o;
}

static json_t *modes_object(const struct gateway *g)
{
	static const enum port_mode modes[] = {MODE_ZERO_COPY, MODE_NATIVE, MODE_SKB};
	json_t *o = json_object();

	for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
		uint64_t n = 0;

		for (uint32_t i = 0; i < g->n_ports; i++)
			n += g->port[i].port && g->port[i].info.mode == modes[m];
		field_int(o, port_mode_name(modes[m]), n);
	}
	return o;
}

static json_t *host_object(const struct gateway *g)
{
	uint64_t nic = 0, software = 0;
	struct utsname host;
	json_t *o = json_object();

	uname(&host);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const char *hash = port_hash_name(g, (uint16_t)i);

		nic += strcmp(hash, "nic") == 0;
		software += strcmp(hash, "software") == 0;
	}
	field_text(o, "release", host.release);
	field_int(o, "hash_nic", nic);
	field_int(o, "hash_software", software);
	field_json(o, "modes", modes_object(g));
	return o;
}

/* Returns how many problems there are; @array gets the first PROBLEMS_MAX. */
static uint32_t add_problems(struct gateway *g, json_t *array)
{
	struct gateway_problem *problems = calloc(PROBLEMS_MAX, sizeof(*problems));
	uint32_t n = problems ? gateway_problems(g, problems, PROBLEMS_MAX) : 0;
	uint64_t now_ns = clock_ns();

	for (uint32_t i = 0; i < min_of(n, PROBLEMS_MAX); i++) {
		json_t *o = json_object();

		field_int(o, "since_s", (now_ns - problems[i].since_ns) / NS_PER_S);
		field_text(o, "what", problems[i].what);
		field_text(o, "text", problems[i].text);
		field_text(o, "cure", problems[i].cure);
		json_array_append_new(array, o);
	}
	free(problems);
	return n;
}

int cmd_status(struct request *request)
{
	const struct commands *c = request->context;
	struct gateway *g = c->g;
	json_t *o = json_object(), *problems = json_array();
	uint32_t n_problems = add_problems(g, problems);
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	field_text(o, "name", name);
	field_text(o, "version", CULVERT_VERSION);
	field_text(o, "state", n_problems ? "DEGRADED" : "OK");
	field_int(o, "uptime_s", (clock_ns() - g->started_ns) / NS_PER_S);
	field_int(o, "pid", (uint64_t)getpid());
	field_json(o, "config", config_object(c));
	field_json(o, "workers", workers_array(c));
	field_json(o, "ports", ports_object(g));
	field_int(o, "networks", g->n_networks ? g->n_networks - 1 : 0);
	field_int(o, "fdb", fdb_count(g->tables->fdb));
	field_json(o, "tunnels", tunnels_object(g));
	field_int(o, "flows", flow_table_count(g->flows->table));
	field_json(o, "captures", captures_object(g));
	field_json(o, "traffic", traffic_object(c));
	field_json(o, "kernel", host_object(g));
	field_json(o, "problems", problems);
	field_int(o, "n_problems", n_problems);
	field_json(o, "books", books_object(g));
	request->result = o;
	return 0;
}

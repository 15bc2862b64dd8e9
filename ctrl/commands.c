/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/log.h"

/* A method without a function is not in this version. */
/* clang-format off */
const struct method commands_methods[] = {
	{"status",         cmd_status,       {{0}}},
	{"port",           cmd_port,         {{"name", JSON_STRING, false}}},
	{"port.enable",    cmd_port_enable,  {{"name", JSON_STRING, true}}},
	{"port.disable",   cmd_port_disable, {{"name", JSON_STRING, true}}},
	{"network",        cmd_network,      {{"name", JSON_STRING, false}}},
	{"tunnel",         cmd_tunnel,       {{"vtep", JSON_STRING, false}}},
	{"fdb",            cmd_fdb,          {{"network", JSON_STRING, false},
					      {"port", JSON_STRING, false},
					      {"vtep", JSON_STRING, false},
					      {"mac", JSON_STRING, false}}},
	{"fdb.add",        cmd_fdb_add,      {{"network", JSON_STRING, true},
					      {"mac", JSON_STRING, true},
					      {"to", JSON_STRING, true}}},
	{"fdb.del",        cmd_fdb_del,      {{"network", JSON_STRING, true},
					      {"mac", JSON_STRING, true},
					      {"to", JSON_STRING, false}}},
	{"fdb.flush",      cmd_fdb_flush,    {{"network", JSON_STRING, false},
					      {"port", JSON_STRING, false}}},
	{"flow.add",       cmd_flow_add,     {{"rule", JSON_STRING, true}}},
	{"flow.add_many",  cmd_flow_add_many, {{0}}},
	{"flow.replace",   cmd_flow_replace, {{0}}},
	{"flow.del",       cmd_flow_del,     {{"match", JSON_STRING, false},
					      {"strict", JSON_TRUE, false}}},
	{"flow.dump",      cmd_flow_dump,    {{"match", JSON_STRING, false},
					      {"strict", JSON_TRUE, false},
					      {"names", JSON_TRUE, false},
					      {"json", JSON_TRUE, false}}},
	{"flow.count",     cmd_flow_count,   {{"match", JSON_STRING, false},
					      {"strict", JSON_TRUE, false}}},
	{"drops",          cmd_drops,        {{"port", JSON_STRING, false}}},
	{"capture",        cmd_capture,      {{"of", JSON_ARRAY, true},
					      {"dir", JSON_STRING, false},
					      {"filter", JSON_STRING, false},
					      {"program", JSON_ARRAY, false},
					      {"snaplen", JSON_INTEGER, false},
					      {"sample", JSON_INTEGER, false},
					      {"inner", JSON_TRUE, false},
					      {"drops", JSON_TRUE, false},
					      {"device", JSON_STRING, false},
					      {"pcapng", JSON_TRUE, false},
					      {"paused", JSON_TRUE, false}}},
	{"capture.start",  cmd_capture_start, {{"id", JSON_INTEGER, true}}},
	{"capture.list",   cmd_capture_list, {{0}}},
	{"config.show",    cmd_config_show,  {{0}}},
	{"log",            cmd_log,          {{"level", JSON_STRING, false}}},
	{"tunnel.check",   NULL, {{0}}},
	{"trace",          NULL, {{0}}},
	{"config.diff",    NULL, {{0}}},
	{"config.reload",  NULL, {{0}}},
	{"config.confirm", NULL, {{0}}},
};
/* clang-format on */
const size_t commands_n_methods = ARRAY_SIZE(commands_methods);

/* Calls @visit for every (network, port) pair of the configuration. */
static void each_membership(struct commands *c, void (*visit)(struct commands *c, uint16_t network,
							      uint16_t port))
{
	const struct conf *conf = c->g->conf;

	for (size_t i = 0; i < conf->n_ports; i++) {
		const struct conf_port *p = &conf->ports[i];

		if (p->untagged)
			visit(c, p->untagged, (uint16_t)i);
		if (p->rest == CONF_REST_NETWORK)
			visit(c, p->rest_network, (uint16_t)i);
		for (size_t t = 0; t < p->n_tagged; t++)
			visit(c, p->tagged[t].network, (uint16_t)i);
	}
}

static void count_member(struct commands *c, uint16_t network, uint16_t port)
{
	c->first_port[network + 2]++;
}

/* first_port[n + 1] is where the next port of n goes: in the end it is where n + 1 begins. */
static void add_member(struct commands *c, uint16_t network, uint16_t port)
{
	c->ports[c->first_port[network + 1]++] = port;
}

static int index_ports(struct commands *c)
{
	size_t n = c->g->conf->n_networks;

	c->first_port = calloc(n + 2, sizeof(*c->first_port));
	if (!c->first_port)
		return -ENOMEM;
	each_membership(c, count_member);
	for (size_t i = 1; i < n + 2; i++)
		c->first_port[i] += c->first_port[i - 1];
	c->ports = calloc((size_t)c->first_port[n + 1] + 1, sizeof(*c->ports));
	if (!c->ports)
		return -ENOMEM;
	each_membership(c, add_member);
	return 0;
}

static void add_file(struct buffer *text, const char *path)
{
	char part[4096];
	FILE *f = fopen(path, "re");
	size_t n;

	buffer_printf(text, "# %s\n", path);
	if (!f) {
		buffer_printf(text, "# %s\n", strerror(errno));
		return;
	}
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		buffer_add(text, part, n);
	fclose(f);
	if (text->n && text->data[text->n - 1] != '\n')
		buffer_str(text, "\n");
}

/* `config show` shows what was loaded, not what the files have become since. */
static int keep_config(struct commands *c)
{
	const struct conf *conf = c->g->conf;
	struct buffer text = {0};

	for (size_t i = 0; i < conf->n_files; i++)
		add_file(&text, conf->files[i]);
	if (text.failed) {
		buffer_fini(&text);
		return -ENOMEM;
	}
	c->config_text = text.data;
	c->config_bytes = text.n;
	return 0;
}

int commands_create(struct gateway *g, const char *socket_path, struct commands **commands,
		    char *why, uint32_t why_bytes)
{
	struct commands *c = calloc(1, sizeof(*c));
	struct server_options options = {
		.path = socket_path,
		.group = g->conf->socket_group,
		.mode = g->conf->socket_mode,
		.methods = commands_methods,
		.n_methods = commands_n_methods,
		.context = c,
	};
	int r = -ENOMEM;

	snprintf(why, why_bytes, "out of memory");
	if (!c)
		return r;
	c->g = g;
	c->loaded_unix_s = time(NULL);
	r = index_ports(c);
	if (r == 0)
		r = keep_config(c);
	if (r == 0)
		r = rates_create(g, &c->rates);
	if (r == 0)
		r = server_create(g->loop, &options, &c->server, why, why_bytes);
	if (r < 0) {
		commands_destroy(c);
		return r;
	}
	*commands = c;
	return 0;
}

void commands_destroy(struct commands *c)
{
	if (!c)
		return;
	server_destroy(c->server);
	rates_destroy(c->rates);
	free(c->config_text);
	free(c->ports);
	free(c->first_port);
	free(c);
}

const char *request_text(const struct request *request, const char *name)
{
	return json_string_value(json_object_get(request->params, name));
}

int request_port(struct request *request, const char *name)
{
	const struct commands *c = request->context;
	const char *text = request_text(request, name);
	int port = gateway_find_port(c->g, text);

	if (port < 0)
		request_refuse(request, "no port '%.64s': 'culvert port' lists them", text);
	return port;
}

int request_network(struct request *request, const char *name)
{
	const struct commands *c = request->context;
	const char *text = request_text(request, name);
	int network = gateway_find_network(c->g, text);

	if (network < 0)
		request_refuse(request, "no network '%.64s': 'culvert network' lists them", text);
	return network;
}

uint16_t request_egress(struct request *request, const char *name)
{
	const struct commands *c = request->context;
	const char *text = request_text(request, name);
	int port = gateway_find_port(c->g, text);
	uint16_t egress = EGRESS_NONE;
	struct ip ip;

	if (port >= 0)
		return (uint16_t)port;
	if (!ip_parse(text, &ip)) {
		request_refuse(request, "'%.64s' is neither a port nor a VTEP's address", text);
		return EGRESS_NONE;
	}
	if (c->g->tunnels)
		egress = tunnels_find(c->g->tunnels, &ip);
	if (egress == EGRESS_NONE)
		request_refuse(request, "%.64s is no remote VTEP: 'culvert tunnel' lists them",
			       text);
	return egress;
}

struct list {
	struct stream stream;
	const struct commands *c;
	uint32_t i, end;
	json_t *(*item)(const struct commands *c, uint32_t i);
};

static int list_next(struct stream *stream, struct buffer *out)
{
	struct list *l = container_of(stream, struct list, stream);
	size_t stop = out->n + PROTOCOL_CHUNK_BYTES;
	uint64_t stop_ns = clock_ns() + LOOP_TASK_NS;

	while (l->i < l->end && out->n < stop && clock_ns() < stop_ns) {
		json_t *item = l->item(l->c, l->i++);
		char *line;

		if (json_is_null(item))
			continue;
		line = item ? json_dumps(item, PROTOCOL_JSON) : NULL;
		json_decref(item);
		if (!line)
			return -ENOMEM;
		buffer_str(out, line);
		buffer_str(out, "\n");
		free(line);
		stream->count++;
	}
	return l->i < l->end;
}

static void list_end(struct stream *stream)
{
	free(container_of(stream, struct list, stream));
}

int request_list(struct request *request, uint32_t from, uint32_t to,
		 json_t *(*item)(const struct commands *c, uint32_t i))
{
	struct list *l = malloc(sizeof(*l));

	if (!l)
		return request_refuse(request, "out of memory");
	*l = (struct list){
		.stream = {.next = list_next, .end = list_end, .kind = "json"},
		.c = request->context,
		.i = from,
		.end = to,
		.item = item,
	};
	request->stream = &l->stream;
	return 0;
}

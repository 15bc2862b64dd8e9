/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "lib/clock.h"

const char *port_hash_name(const struct gateway *g, uint16_t port)
{
	const struct gateway_port *p = &g->port[port];
	struct port_counters c;

	gateway_port_counters(g, port, &c);
	if (c.hash_nic || c.hash_soft)
		return c.hash_nic >= c.hash_soft ? "nic" : "software";
	/* Nothing was sent to a tunnel yet: what it would be. */
	if (!p->port || p->conf->underlay || p->conf->type == CONF_PORT_SINK)
		return "none";
	return p->info.bound_program ? "nic" : "software";
}

static void add_device(json_t *o, const struct gateway_port *p)
{
	const struct port_info *info = &p->info;
	bool open = p->port != NULL;
	bool netdev = p->conf->type == CONF_PORT_NETDEV || p->conf->type == CONF_PORT_INTERNAL;
	const char *program = !open || !netdev ? "none" :
			      info->bound_program ? "device-bound" : "plain";
	const char *device = open && info->device[0] ? info->device : p->conf->device;

	field_text(o, "device", netdev ? device : NULL);
	field_int(o, "speed_mbps", open ? info->speed_mbps : 0);
	field_text(o, "mode", open ? port_mode_name(info->mode) : port_mode_name(MODE_NONE));
	field_text(o, "mode_why", open ? info->mode_why : "");
	field_text(o, "program", program);
	field_text(o, "program_why", open ? info->program_why : "");
	field_int(o, "queues", open ? info->queues : 0);
	field_int(o, "mtu", open ? info->mtu : p->conf->mtu);
	field_mac(o, "mac", &info->mac);
	field_text(o, "driver", open && info->driver[0] ? info->driver : NULL);
	field_bool(o, "hugepages", open && info->hugepages);
}

static json_t *drop_reasons(const struct port_counters *c, uint64_t *sum)
{
	json_t *o = json_object();

	*sum = 0;
	for (int i = 1; i < DROP_REASON_COUNT; i++) {
		if (c->drop[i].packets)
			field_int(o, drop_name((enum drop_reason)i), c->drop[i].packets);
		*sum += c->drop[i].packets;
	}
	return o;
}

static void add_counters(json_t *o, const struct commands *c, uint16_t port)
{
	struct port_counters n;
	struct port_rates r;
	json_t *reasons;
	uint64_t drops;

	gateway_port_counters(c->g, port, &n);
	rates_port(c->rates, port, &r);
	reasons = drop_reasons(&n, &drops);
	field_int(o, "rx_packets", n.rx_packets);
	field_int(o, "rx_bytes", n.rx_bytes);
	field_int(o, "tx_packets", n.tx_packets);
	field_int(o, "tx_bytes", n.tx_bytes);
	field_int(o, "copied", n.copied);
	field_int(o, "generated", n.generated);
	field_int(o, "forwarded", n.forwarded);
	field_int(o, "drops", drops);
	field_int(o, "tx_full", n.tx_full);
	field_real(o, "rx_pps", r.rx_pps);
	field_real(o, "rx_bps", r.rx_bps);
	field_real(o, "tx_pps", r.tx_pps);
	field_real(o, "tx_bps", r.tx_bps);
	field_real(o, "drop_pps", r.drop_pps);
	field_int(o, "hash_nic", n.hash_nic);
	field_int(o, "hash_software", n.hash_soft);
	field_text(o, "hash", port_hash_name(c->g, port));
	field_json(o, "drop_reasons", reasons);
	field_json(o, "kernel", kernel_object(c->g, port));
}

static void add_map(json_t *o, const struct conf *conf, const struct conf_port *p)
{
	json_t *tagged = json_object();
	const char *rest = p->rest == CONF_REST_DROP ? "drop" : "kernel";
	char vid[8];

	for (size_t i = 0; i < p->n_tagged; i++) {
		snprintf(vid, sizeof(vid), "%u", p->tagged[i].vid);
		field_text(tagged, vid, conf->networks[p->tagged[i].network].name);
	}
	if (p->rest == CONF_REST_NETWORK)
		rest = conf->networks[p->rest_network].name;
	field_bool(o, "underlay", p->underlay);
	field_text(o, "untagged", p->untagged ? conf->networks[p->untagged].name : NULL);
	field_json(o, "tagged", tagged);
	field_text(o, "rest", rest);
}

static json_t *port_object(const struct commands *c, uint32_t i)
{
	const struct gateway_port *p = &c->g->port[i];
	json_t *o = json_object();

	field_text(o, "name", p->conf->name);
	field_text(o, "description", p->conf->description);
	field_int(o, "number", p->conf->number);
	field_text(o, "kind", port_kind_name((enum port_kind)p->conf->type));
	field_text(o, "state", gateway_port_state_name(p->state));
	field_int(o, "since_s", (clock_ns() - p->since_ns) / NS_PER_S);
	field_text(o, "why", p->why);
	add_device(o, p);
	add_counters(o, c, (uint16_t)i);
	field_int(o, "macs", p->macs);
	field_int(o, "mac_limit", p->conf->mac_limit);
	add_map(o, c->g->conf, p->conf);
	return o;
}

int cmd_port(struct request *request)
{
	const struct commands *c = request->context;
	int port;

	if (!request_text(request, "name"))
		return request_list(request, 0, c->g->n_ports, port_object);
	port = request_port(request, "name");
	if (port < 0)
		return PROTOCOL_REFUSED;
	return request_list(request, (uint32_t)port, (uint32_t)port + 1, port_object);
}

static int set_shut(struct request *request, bool shut)
{
	const struct commands *c = request->context;
	int port = request_port(request, "name");
	int r;

	if (port < 0)
		return PROTOCOL_REFUSED;
	r = gateway_port_shut(c->g, (uint16_t)port, shut);
	if (r < 0)
		return request_refuse(request, "port %s: %s", request_text(request, "name"),
				      strerror(-r));
	request->result = json_object();
	field_text(request->result, "state", gateway_port_state_name(c->g->port[port].state));
	return 0;
}

int cmd_port_enable(struct request *request)
{
	return set_shut(request, false);
}

int cmd_port_disable(struct request *request)
{
	return set_shut(request, true);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "ctrl/flows.h"
#include "lib/bits.h"
#include "lib/clock.h"

/* How a reason's detail is packed: stages.h and vxlan.h say it of every one. */
enum detail_kind {
	DETAIL_NONE,
	DETAIL_BYTES,
	DETAIL_MAC,
	DETAIL_KEY,		/* fdb_key() of the destination */
	DETAIL_NETWORK,
	DETAIL_EGRESS,
	DETAIL_EGRESS_VLAN,
	DETAIL_VLAN,
	DETAIL_RULE,
	DETAIL_TTL,
	DETAIL_ETHERTYPE,
	DETAIL_OFFSET,
	DETAIL_NOT_VXLAN,
	DETAIL_IPV4,
	DETAIL_VTEP,
	DETAIL_FLAGS,
	DETAIL_VNI,
	DETAIL_VNI_SOURCE,
	DETAIL_NEED_HAVE,
	DETAIL_TOO_BIG,
};

static const uint8_t kinds[DROP_REASON_COUNT] = {
	[DROP_RUNT] = DETAIL_BYTES,
	[DROP_BAD_SOURCE] = DETAIL_MAC,
	[DROP_RESERVED] = DETAIL_MAC,
	[DROP_OUTER_BAD] = DETAIL_OFFSET,
	[DROP_NOT_VXLAN] = DETAIL_NOT_VXLAN,
	[DROP_VTEP_LOCAL] = DETAIL_IPV4,
	[DROP_VXLAN_SHORT] = DETAIL_NEED_HAVE,
	[DROP_VXLAN_FLAGS] = DETAIL_FLAGS,
	[DROP_VNI_UNKNOWN] = DETAIL_VNI,
	[DROP_VTEP_REMOTE] = DETAIL_VNI_SOURCE,
	[DROP_ECN] = DETAIL_VNI,
	[DROP_INNER_SHORT] = DETAIL_BYTES,
	[DROP_VLAN_UNMAPPED] = DETAIL_VLAN,
	[DROP_UNTAGGED] = DETAIL_ETHERTYPE,
	[DROP_FLOW] = DETAIL_RULE,
	[DROP_TTL] = DETAIL_TTL,
	[DROP_SAME_PORT] = DETAIL_KEY,
	[DROP_SPLIT_HORIZON] = DETAIL_KEY,
	[DROP_NO_TARGET] = DETAIL_NETWORK,
	[DROP_NO_FRAME] = DETAIL_NETWORK,
	[DROP_EGRESS_TAG] = DETAIL_EGRESS_VLAN,
	[DROP_PORT_DOWN] = DETAIL_EGRESS,
	[DROP_NO_ROUTE] = DETAIL_VTEP,
	[DROP_NO_NEIGHBOUR] = DETAIL_VTEP,
	[DROP_TOO_BIG] = DETAIL_TOO_BIG,
};

struct out {
	const struct gateway *g;
	uint64_t last_ns;	/* when the packet was dropped */
	char *text;
	size_t bytes;
};

/* The last four bytes of an address: all of an IPv4 one. */
static void put_ipv4(const struct out *o, const char *before, uint64_t detail)
{
	uint32_t address = htonl((uint32_t)detail);
	struct ip ip = ip_from_v4(&address);
	char text[IP_TEXT_BYTES];

	if ((uint32_t)detail)
		snprintf(o->text, o->bytes, "%s%s", before, ip_format(&ip, text));
}

/* The last four bytes of a remote VTEP's address: of one of either family that we have. */
static void put_vtep(const struct out *o, uint64_t detail)
{
	uint32_t end = htonl((uint32_t)detail);
	char text[IP_TEXT_BYTES];

	for (uint32_t i = 0; end && o->g->tunnels && i < o->g->tunnels->n_tunnels; i++) {
		const struct ip *remote = &o->g->tunnels->tunnel[i]->remote;

		if (memcmp(&remote->byte[12], &end, sizeof(end)) == 0) {
			snprintf(o->text, o->bytes, "%s", ip_format(remote, text));
			return;
		}
	}
	put_ipv4(o, "", detail);
}

static const char *network_name(const struct gateway *g, uint64_t id)
{
	return id && id < g->n_networks ? g->conf->networks[id].name : "?";
}

static const char *egress_name(const struct gateway *g, uint64_t egress, char *text)
{
	bool valid = egress < g->n_ports ||
		     (g->tunnels && tunnels_get(g->tunnels, (uint16_t)egress));

	return valid ? gateway_egress_name(g, (uint16_t)egress, text) : "?";
}

static void put_key(const struct out *o, uint64_t detail, bool with_network)
{
	struct mac mac = fdb_key_mac(detail);
	char text[MAC_TEXT_BYTES];

	mac_format(&mac, text);
	if (with_network)
		snprintf(o->text, o->bytes, "%s in %s", text,
			 network_name(o->g, fdb_key_network(detail)));
	else
		snprintf(o->text, o->bytes, "%s", text);
}

static void put_not_vxlan(const struct out *o, uint64_t detail)
{
	if (detail >> 48)
		snprintf(o->text, o->bytes, "VLAN %u", (unsigned int)(detail >> 48));
	else if (detail >> 32)
		snprintf(o->text, o->bytes, "ethertype 0x%04x", (unsigned int)(detail >> 32));
	else if (detail >> 16 == 17)
		snprintf(o->text, o->bytes, "UDP port %u", (unsigned int)(detail & 0xffff));
	else if (detail)
		snprintf(o->text, o->bytes, "IP protocol %u", (unsigned int)(detail >> 16));
}

static void put_vni_source(const struct out *o, uint64_t detail)
{
	char vni[32];

	snprintf(vni, sizeof(vni), "VNI %u from ", (unsigned int)(detail >> 32));
	put_ipv4(o, vni, detail);
}

static void put_egress_vlan(const struct out *o, uint64_t detail)
{
	char name[IP_TEXT_BYTES];
	const char *port = egress_name(o->g, detail >> 32, name);

	if ((uint32_t)detail)
		snprintf(o->text, o->bytes, "VLAN %u to %s", (unsigned int)(detail & 0xfff), port);
	else
		snprintf(o->text, o->bytes, "untagged to %s", port);
}

static void put_vlan(const struct out *o, uint64_t detail)
{
	snprintf(o->text, o->bytes, "%s %u", detail >> 16 ? "service VLAN" : "VLAN",
		 (unsigned int)(detail & 0xfff));
}

static void copy_rule(const struct flow_table *t, const struct flow_rule *rule,
		      struct flow_spec *spec)
{
	const struct flow_actions *actions = flow_rule_actions(t, rule);

	flow_rule_key(t, rule, &spec->key);
	spec->mask = *flow_rule_mask(t, rule);
	spec->priority = flow_rule_priority(rule);
	spec->n_actions = (uint16_t)actions->n;
	memcpy(spec->action, actions->action, actions->n * sizeof(actions->action[0]));
}

/* As far as it is known: the rule may have gone, and a younger one may be in its place. */
static void put_rule(const struct out *o, uint32_t id)
{
	const struct flow_table *t = o->g->flows->table;
	const struct flow_rule *rule = flow_table_get(t, id);
	struct rules_format format = {.ports = flows_ports(o->g->flows), .names = true};
	struct flow_spec spec;
	struct buffer text = {0};

	if (!rule || flow_rule_created_ns(rule) > o->last_ns) {
		snprintf(o->text, o->bytes, "a rule that is gone");
		return;
	}
	copy_rule(t, rule, &spec);
	rules_print_spec(&spec, &format, &text);
	if (text.n)
		snprintf(o->text, o->bytes, "%s", text.data);
	buffer_fini(&text);
}

static void put_detail(const struct out *o, uint8_t kind, uint64_t detail)
{
	unsigned int high = (unsigned int)(detail >> 32), low = (unsigned int)detail;
	char name[IP_TEXT_BYTES];

	switch ((enum detail_kind)kind) {
	case DETAIL_NONE:
		break;
	case DETAIL_BYTES:
		snprintf(o->text, o->bytes, "%" PRIu64 " bytes", detail);
		break;
	case DETAIL_MAC:
		/* Of an inner frame the VNI is told instead; zero is a MAC address. */
		if (detail > VNI_MAX || !detail)
			put_key(o, detail, false);
		else
			snprintf(o->text, o->bytes, "VNI %u", low);
		break;
	case DETAIL_KEY:
		put_key(o, detail, true);
		break;
	case DETAIL_NETWORK:
		snprintf(o->text, o->bytes, "%s", network_name(o->g, detail));
		break;
	case DETAIL_EGRESS:
		snprintf(o->text, o->bytes, "to %s", egress_name(o->g, detail, name));
		break;
	case DETAIL_EGRESS_VLAN:
		put_egress_vlan(o, detail);
		break;
	case DETAIL_VLAN:
		put_vlan(o, detail);
		break;
	case DETAIL_ETHERTYPE:
		snprintf(o->text, o->bytes, "ethertype 0x%04x", low);
		break;
	case DETAIL_RULE:
		put_rule(o, low);
		break;
	case DETAIL_TTL:
		snprintf(o->text, o->bytes, "TTL %u", low);
		break;
	case DETAIL_OFFSET:
		snprintf(o->text, o->bytes, "header at byte %u", low);
		break;
	case DETAIL_NOT_VXLAN:
		put_not_vxlan(o, detail);
		break;
	case DETAIL_IPV4:
		put_ipv4(o, "", detail);
		break;
	case DETAIL_VTEP:
		put_vtep(o, detail);
		break;
	case DETAIL_FLAGS:
		snprintf(o->text, o->bytes, "header begins %08x", low);
		break;
	case DETAIL_VNI:
		snprintf(o->text, o->bytes, "VNI %u", low);
		break;
	case DETAIL_VNI_SOURCE:
		put_vni_source(o, detail);
		break;
	case DETAIL_NEED_HAVE:
		snprintf(o->text, o->bytes, "%u bytes of %u", low, high);
		break;
	case DETAIL_TOO_BIG:
		snprintf(o->text, o->bytes, "%u > %u", high, low);
		break;
	}
}

const char *drop_detail(const struct gateway *g, enum drop_reason reason,
			const struct drop_cell *cell, char *text, size_t bytes)
{
	struct out out = {g, cell->last_ns, text, bytes};

	text[0] = '\0';
	put_detail(&out, kinds[reason], cell->detail);
	return text;
}

json_t *books_object(const struct gateway *g)
{
	struct gateway_books books;
	json_t *o = json_object();

	gateway_books(g, &books);
	field_int(o, "rx", books.rx);
	field_int(o, "copied", books.copied);
	field_int(o, "generated", books.generated);
	field_int(o, "tx", books.tx);
	field_int(o, "drops", books.drops);
	field_bool(o, "balanced", books.balanced);
	return o;
}

json_t *kernel_object(const struct gateway *g, int port)
{
	uint32_t from = port < 0 ? 0 : (uint32_t)port;
	uint32_t to = port < 0 ? g->n_ports : from + 1;
	struct port_kernel_stats sum = {0}, one;
	json_t *o = json_object();

	for (uint32_t i = from; i < to; i++) {
		if (!g->port[i].port)
			continue;
		port_kernel_stats(g->port[i].port, &one);
		sum.rx_ring_full += one.rx_ring_full;
		sum.fill_empty += one.fill_empty;
		sum.rx_dropped += one.rx_dropped;
		sum.rx_invalid += one.rx_invalid;
		sum.tx_invalid += one.tx_invalid;
	}
	field_int(o, "rx_ring_full", sum.rx_ring_full);
	field_int(o, "fill_empty", sum.fill_empty);
	field_int(o, "rx_dropped", sum.rx_dropped);
	field_int(o, "rx_invalid", sum.rx_invalid);
	field_int(o, "tx_invalid", sum.tx_invalid);
	return o;
}

static void add_reasons(const struct commands *c, uint16_t port, uint64_t now_ns, json_t *array)
{
	double window_s = rates_window_s(c->rates);
	struct port_counters n;
	char detail[96];

	gateway_port_counters(c->g, port, &n);
	for (int i = 1; i < DROP_REASON_COUNT; i++) {
		const struct drop_cell *cell = &n.drop[i];
		uint64_t recent = rates_drop(c->rates, port, (enum drop_reason)i);
		uint64_t age_ns = now_ns > cell->last_ns ? now_ns - cell->last_ns : 0;
		json_t *o;

		if (!cell->packets)
			continue;
		o = json_object();
		field_text(o, "reason", drop_name((enum drop_reason)i));
		field_text(o, "sentence", drop_sentence((enum drop_reason)i));
		field_text(o, "port", c->g->conf->ports[port].name);
		field_int(o, "packets", cell->packets);
		field_int(o, "recent", recent);
		field_real(o, "per_s", window_s > 0 ? (double)recent / window_s : 0);
		field_int(o, "last_s", age_ns / NS_PER_S);
		field_text(o, "detail", drop_detail(c->g, (enum drop_reason)i, cell, detail,
						    sizeof(detail)));
		json_array_append_new(array, o);
	}
}

int cmd_drops(struct request *request)
{
	const struct commands *c = request->context;
	json_t *o, *reasons = json_array();
	uint64_t now_ns = clock_ns();
	int port = -1;

	if (request_text(request, "port")) {
		port = request_port(request, "port");
		if (port < 0) {
			json_decref(reasons);
			return PROTOCOL_REFUSED;
		}
	}
	for (uint32_t i = 0; i < c->g->n_ports; i++)
		if (port < 0 || (uint32_t)port == i)
			add_reasons(c, (uint16_t)i, now_ns, reasons);
	o = json_object();
	field_json(o, "reasons", reasons);
	field_real(o, "window_s", rates_window_s(c->rates));
	field_json(o, "kernel", kernel_object(c->g, port));
	field_json(o, "books", books_object(c->g));
	request->result = o;
	return 0;
}

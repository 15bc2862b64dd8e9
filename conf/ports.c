/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ports: options first, then the map into networks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/errors.h"
#include "conf/reader.h"
#include "conf/text.h"
#include "lib/bits.h"

#define NUMBER_MAX 59999	/* in_port numbers from here on are tunnels */

#define NETDEV (1u << CONF_PORT_NETDEV)
#define INTERNAL (1u << CONF_PORT_INTERNAL)
#define PCAP (1u << CONF_PORT_PCAP)

static const struct word type_words[] = {{"netdev", CONF_PORT_NETDEV},
					 {"internal", CONF_PORT_INTERNAL},
					 {"pcap", CONF_PORT_PCAP},
					 {"sink", CONF_PORT_SINK},
					 {NULL, 0}};
static const struct word mode_words[] = {{"auto", CONF_MODE_AUTO},
					 {"zero-copy", CONF_MODE_ZERO_COPY},
					 {"native", CONF_MODE_NATIVE},
					 {"skb", CONF_MODE_SKB},
					 {NULL, 0}};
static const struct word missing_words[] = {
	{"refuse", CONF_MISSING_REFUSE}, {"wait", CONF_MISSING_WAIT}, {NULL, 0}};
static const struct word shortcut_words[] = {{"off", 0}, {NULL, 0}};
static const struct word auto_word[] = {{"auto", 0}, {NULL, 0}};

static READER(read_missing)
{
	struct port_draft *d = target;

	d->missing = value;
	read_word_u8(r, key, value, &d->port.missing);
}

#define IN_DRAFT(field) offsetof(struct port_draft, field)
#define IN_PORT(field) offsetof(struct port_draft, port.field)

static const struct key type_key = {.name = "type", .words = type_words};
static const struct key port_key[] = {
	{.name = "description", .read = read_text, .offset = IN_PORT(description)},
	{.name = "type", .read = read_nothing},
	{.name = "device", .read = keep_node, .offset = IN_DRAFT(device), .types = NETDEV},
	{.name = "match", .read = keep_node, .offset = IN_DRAFT(match), .types = NETDEV},
	{.name = "number", .read = keep_node, .offset = IN_DRAFT(number)},
	{.name = "untagged", .read = keep_node, .offset = IN_DRAFT(untagged)},
	{.name = "tagged", .read = keep_node, .offset = IN_DRAFT(tagged)},
	{.name = "rest", .read = keep_node, .offset = IN_DRAFT(rest)},
	{.name = "mode", .read = read_word_u8, .words = mode_words, .offset = IN_PORT(mode),
	 .types = NETDEV | INTERNAL},
	{.name = "queues", .read = read_u32, .words = auto_word, .min = 1, .max = 64,
	 .offset = IN_PORT(queues), .types = NETDEV | INTERNAL},
	{.name = "mtu", .read = read_u32, .min = 68, .max = 65535, .offset = IN_PORT(mtu),
	 .types = NETDEV | INTERNAL},
	{.name = "mac-limit", .read = read_u32, .max = 1000000,
	 .allowed = "0..1000000, 0 for only the network's", .offset = IN_PORT(mac_limit)},
	{.name = "storm-control", .read = later_storm,
	 .allowed = "off or {broadcast: N, multicast: N, unknown: N} in packets/s"},
	{.name = "isolated", .read = later_bool},
	{.name = "enabled", .read = read_bool, .offset = IN_PORT(enabled)},
	{.name = "missing", .read = read_missing, .words = missing_words, .types = NETDEV},
	{.name = "shortcut", .read = later_only_off, .words = shortcut_words},
	{.name = "mac", .read = read_mac, .offset = IN_PORT(mac), .types = INTERNAL},
	{.name = "persist", .read = read_bool, .offset = IN_PORT(persist), .types = INTERNAL},
	{.name = "rx", .read = keep_node, .offset = IN_DRAFT(rx), .types = PCAP},
	{.name = "tx", .read = keep_node, .offset = IN_DRAFT(tx), .types = PCAP},
	{.name = "loop", .read = read_bool, .offset = IN_PORT(pcap_loop), .types = PCAP},
	{.name = "preload", .read = read_bool, .offset = IN_PORT(pcap_preload), .types = PCAP},
	{.name = "police", .read = later_any},
	{.name = "bpdu", .read = later_any},
	{.name = "multihome", .read = later_any},
};
static const struct foreign port_foreign[] = {
	{"vids", "tagged"},	 {"trunk", "tagged"},	   {"trunks", "tagged"},
	{"vlans", "tagged"},	 {"vlan", "tagged"},	   {"allowed-vlans", "tagged"},
	{"access", "untagged"},	 {"pvid", "untagged"},	   {"native", "untagged"},
	{"native-vlan", "untagged"}, {"network", "untagged"}, {"tag", "untagged"},
	{"interface", "device"}, {"ifname", "device"},	   {"nic", "device"},
	{"netdev", "device"},	 {"dev", "device"},	   {"name", "device"},
	{"comment", "description"}, {"alias", "description"}, {"label", "description"},
	{"shutdown", "enabled"}, {"disabled", "enabled"},  {"admin", "enabled"},
	{"ofport", "number"},	 {"in-port", "number"},	   {"xdp-mode", "mode"},
	{"n-rxq", "queues"},	 {"kind", "type"},	   {"max-macs", "mac-limit"},
	{"file", "rx"},		 {"pcap", "rx"},
};
static const struct keys port_keys = {.what = "a port",
				      .key = port_key,
				      .n = ARRAY_SIZE(port_key),
				      .foreign = port_foreign,
				      .n_foreign = ARRAY_SIZE(port_foreign)};

struct port_draft *port_add(struct reader *r, const struct node *key, const char *name)
{
	struct conf *conf = r->conf;
	struct port_draft *d;

	if (!r->drafts)
		return NULL;
	if (conf->n_ports == CONF_PORTS_MAX) {
		node_error(&r->tree, key, "ports: too many, allowed: %d with the underlay devices",
			   CONF_PORTS_MAX);
		return NULL;
	}
	d = &r->drafts[conf->n_ports];
	d->key = key;
	d->port.where = node_where(&r->tree, key);
	d->port.device_where = d->port.where;
	d->port.name = arena_strdup(r->memory, name);
	d->port.enabled = true;
	d->port.persist = true;
	if (!d->port.name || index_set(&r->port_by_name, &r->tree.arena, d->port.name,
				       (uint32_t)conf->n_ports))
		return NULL;
	conf->n_ports++;
	return d;
}

/* "0000:01:00.0", lower case; the domain may be left out. */
static bool read_pci(struct reader *r, const struct key *key, const struct node *value, char **pci)
{
	const char *text = scalar_text(r, key, value);
	unsigned int domain = 0, bus, slot, function;
	int n = 0;

	if (!text)
		return false;
	if ((sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &n) == 4 &&
	     !text[n]) ||
	    (domain = 0, n = 0,
	     sscanf(text, "%2x:%2x.%1x%n", &bus, &slot, &function, &n) == 3 && !text[n])) {
		*pci = arena_printf(r->memory, "%04x:%02x:%02x.%x", domain, bus, slot, function);
		return true;
	}
	refuse(r, key, value, "\"%.40s\" is not a PCI address", text);
	return false;
}

static READER(read_match_mac)
{
	struct port_draft *d = target;

	d->port.has_match_mac = read_station_mac(r, key->name, value, &d->port.match_mac);
}

static READER(read_match_pci)
{
	struct port_draft *d = target;

	read_pci(r, key, value, &d->port.match_pci);
}

static const struct key match_key[] = {
	{.name = "mac", .read = read_match_mac},
	{.name = "pci", .read = read_match_pci, .allowed = "an address like \"0000:01:00.0\""},
};
static const struct keys match_keys = {
	.what = "match", .key = match_key, .n = ARRAY_SIZE(match_key)};

static void read_match(struct reader *r, struct port_draft *d)
{
	d->port.device_where = node_where(&r->tree, d->match);
	if (d->device)
		node_error(&r->tree, d->match, "match: beside device, allowed: one of them");
	if (d->match->kind == NODE_MAP && d->match->map->n != 1) {
		node_error(&r->tree, d->match, "match: %u conditions, allowed: one, mac or pci",
			   d->match->map->n);
		return;
	}
	if (node_is_null(d->match))
		node_error(&r->tree, d->match,
			   "match: no value, allowed: {mac: ...} or {pci: ...}");
	read_map(r, &match_keys, d->match, d);
}

/* The netdev: named, found, or of the port's name. */
static void set_device(struct reader *r, struct port_draft *d)
{
	static const struct key device_key = {.name = "device"};
	struct conf_port *p = &d->port;

	if (p->type != CONF_PORT_NETDEV && p->type != CONF_PORT_INTERNAL)
		return;
	if (d->match) {
		read_match(r, d);
		return;
	}
	if (d->device) {
		p->device_where = node_where(&r->tree, d->device);
		read_device(r, &device_key, d->device, &p->device);
	}
	if (!p->device)
		p->device = arena_strdup(r->memory, p->name);
}

static void set_pcap(struct reader *r, struct port_draft *d)
{
	static const struct key rx_key = {.name = "rx"}, tx_key = {.name = "tx"};

	if (d->rx)
		read_path(r, &rx_key, d->rx, &d->port.pcap_rx);
	if (d->tx)
		read_path(r, &tx_key, d->tx, &d->port.pcap_tx);
	if (!d->rx && !d->tx)
		node_error(&r->tree, d->key,
			   "%s: a pcap port without files, allowed: rx: FILE, tx: "
			   "FILE or both",
			   d->port.name);
}

static const struct key number_key = {.name = "number", .min = 1, .max = NUMBER_MAX};

/* Each network once on a port: else a frame of it would have two ways to leave. */
static bool carry(struct reader *r, uint16_t network, const struct node *at)
{
	const struct node *old = r->carried[network];

	if (!network)
		return false;
	if (old) {
		node_error(&r->tree, at,
			   "network %s twice on this port, here and at %s:%u:%u, allowed: "
			   "once",
			   r->conf->networks[network].name, r->tree.files[old->file], old->line,
			   old->column);
		return false;
	}
	r->carried[network] = at;
	return true;
}

/* VLANs of one port while its map is read. */
struct vlan_map {
	const struct node *key[CONF_VID_MAX + 1];
	uint16_t network[CONF_VID_MAX + 1];
	size_t n;
};

static const struct key vid_key = {.name = "tagged", .min = 1, .max = CONF_VID_MAX,
				   .allowed = "VLAN ids 1..4094 or ranges like 100-1099"};

/* The network for VLAN @vid: tenant.@vid when @value names a range. */
static uint16_t network_for_vid(struct reader *r, const struct pair *pair, uint32_t low,
				uint32_t high, uint32_t vid)
{
	const struct node *value = pair->value;
	const struct network_range *range =
		value->kind == NODE_SCALAR ? network_find_range(r, value->text) : NULL;

	if (range && low >= range->low && high <= range->high) {
		uint32_t network = range->first + (vid - range->low);

		return network < r->conf->n_networks ? (uint16_t)network : 0;
	}
	if (range)
		node_error(&r->tree, pair->key,
			   "tagged: %.40s: %s has the networks %s.%u to %s.%u, "
			   "allowed: VLANs %u-%u",
			   pair->key->text, range->name, range->name, range->low, range->name,
			   range->high, range->low, range->high);
	else if (low != high && value->kind == NODE_SCALAR && network_find(r, value->text))
		node_error(&r->tree, value,
			   "tagged: %s is one network for %u VLANs, allowed: a range of "
			   "networks (networks: {NAME: {range: %u-%u}})",
			   value->text, high - low + 1, low, high);
	else
		return network_named(r, "tagged", value);
	return 0;
}

static void read_vlans(struct reader *r, const struct pair *pair, struct vlan_map *vlans)
{
	uint32_t low, high;

	if (!read_range(r, &vid_key, pair->key, true, &low, &high))
		return;
	for (uint32_t vid = low; vid <= high; vid++) {
		const struct node *old = vlans->key[vid];
		uint16_t network;

		if (old) {
			node_error(&r->tree, pair->key,
				   "tagged: VLAN %u here and at %s:%u:%u, allowed: "
				   "once on a port",
				   vid, r->tree.files[old->file], old->line, old->column);
			return;
		}
		network = network_for_vid(r, pair, low, high, vid);
		vlans->key[vid] = pair->key;
		if (!carry(r, network, pair->value)) {
			/* One error for a range, and its other VLANs are taken all the same. */
			while (++vid <= high)
				vlans->key[vid] = pair->key;
			return;
		}
		vlans->network[vid] = network;
		vlans->n++;
	}
}

static void set_tagged(struct reader *r, struct port_draft *d, struct vlan_map *vlans)
{
	struct conf_port *p = &d->port;

	if (node_is_null(d->tagged))
		return;
	if (d->tagged->kind != NODE_MAP) {
		node_error(&r->tree, d->tagged, "tagged: %s, allowed: a map of VLAN: NETWORK, like "
			   "{100: blue, 200-299: tenant}", node_kind_name(d->tagged));
		return;
	}
	for (uint32_t i = 0; i < d->tagged->map->n; i++)
		read_vlans(r, &d->tagged->map->pairs[i], vlans);
	p->tagged = arena_array(r->memory, vlans->n, sizeof(*p->tagged));
	for (uint16_t vid = 1; p->tagged && vid <= CONF_VID_MAX; vid++)
		if (vlans->network[vid])
			p->tagged[p->n_tagged++] =
				(struct conf_tag){.vid = vid, .network = vlans->network[vid]};
}

static void set_rest(struct reader *r, struct port_draft *d)
{
	static const struct key key = {.name = "rest", .allowed = "drop, kernel or a network"};
	const char *text = scalar_text(r, &key, d->rest);
	struct conf_port *p = &d->port;

	if (!text)
		return;
	if (strcmp(text, "kernel") == 0) {
		p->rest = CONF_REST_KERNEL;
		if (p->type != CONF_PORT_NETDEV)
			node_error(&r->tree, d->rest, "rest: kernel on a port that has no kernel "
				   "behind it, allowed: drop or a network");
	} else if (strcmp(text, "drop") != 0) {
		p->rest = CONF_REST_NETWORK;
		p->rest_network = network_named(r, "rest", d->rest);
		if (!carry(r, p->rest_network, d->rest))
			p->rest_network = 0;
	}
}

static void set_networks(struct reader *r, struct port_draft *d)
{
	struct conf_port *p = &d->port;
	struct vlan_map *vlans = calloc(1, sizeof(*vlans));

	if (!vlans) {
		r->memory->failed = true;
		return;
	}
	if (d->untagged) {
		p->untagged = network_named(r, "untagged", d->untagged);
		carry(r, p->untagged, d->untagged);
	}
	if (d->tagged)
		set_tagged(r, d, vlans);
	if (d->rest)
		set_rest(r, d);
	r->carried[p->untagged] = NULL;
	r->carried[p->rest_network] = NULL;
	for (size_t vid = 0; vid <= CONF_VID_MAX; vid++)
		r->carried[vlans->network[vid]] = NULL;
	free(vlans);
}

static void read_port(struct reader *r, const struct pair *pair)
{
	const struct node *type =
		pair->value->kind == NODE_MAP ? map_get(pair->value, "type") : NULL;
	struct port_draft *d;

	if (!check_name(r, "ports", pair->key, PORT_NAME_MAX)) {
		index_set(&r->broken_ports, &r->tree.arena, pair->key->text, 0);
		return;
	}
	d = port_add(r, pair->key, pair->key->text);
	if (!d)
		return;
	if (type)
		read_word_u8(r, &type_key, type, &d->port.type);
	r->port_type = 1u << d->port.type;
	read_map(r, &port_keys, pair->value, d);
	d->port.has_mac = !mac_is_zero(&d->port.mac);
	set_device(r, d);
	if (d->port.type == CONF_PORT_PCAP)
		set_pcap(r, d);
	if (d->number)
		read_number(r, &number_key, d->number, &d->port.number);
	set_networks(r, d);
}

void read_ports(struct reader *r)
{
	static const struct keys section_keys = {.what = "ports"};

	r->drafts = arena_array(&r->tree.arena, CONF_PORTS_MAX, sizeof(*r->drafts));
	r->carried = arena_array(&r->tree.arena, r->conf->n_networks, sizeof(*r->carried));
	if (!r->drafts || !r->carried || !r->ports)
		return;
	if (r->ports->kind != NODE_MAP) {
		read_map(r, &section_keys, r->ports, NULL);
		return;
	}
	for (uint32_t i = 0; i < r->ports->map->n; i++)
		read_port(r, &r->ports->map->pairs[i]);
}

static void set_bit(uint64_t *bits, uint16_t n)
{
	bits[n / 64] |= 1ull << (n % 64);
}

bool port_carries(struct reader *r, size_t port, uint16_t network)
{
	struct port_draft *d = &r->drafts[port];

	if (!d->carries) {
		d->carries = arena_array(&r->tree.arena, CONF_NETWORKS_MAX / 64, sizeof(uint64_t));
		if (!d->carries)
			return true;
		set_bit(d->carries, d->port.untagged);
		set_bit(d->carries, d->port.rest_network);
		for (size_t i = 0; i < d->port.n_tagged; i++)
			set_bit(d->carries, d->port.tagged[i].network);
	}
	return d->carries[network / 64] >> (network % 64) & 1;
}

const char *port_near(const struct reader *r, const char *word)
{
	unsigned int best = 1000, distance;
	const char *name = NULL;

	for (size_t i = 0; i < r->conf->n_ports; i++)
		if (text_is_near(word, r->drafts[i].port.name, &distance) && distance < best) {
			best = distance;
			name = r->drafts[i].port.name;
		}
	return name;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tunnels: addresses, options, replication lists; and the underlay devices, which become ports.
 */
#include <string.h>

#include "conf/errors.h"
#include "conf/reader.h"
#include "lib/bits.h"

static READER(read_local)
{
	struct conf_tunnels *t = &r->conf->tunnels;
	struct node *const *items;
	struct ip ip;
	uint32_t n;

	r->local_bad = true;
	if (!read_items(r, key, value, &items, &n))
		return;
	if (n > CONF_LOCAL_MAX) {
		refuse(r, key, value, "%u addresses", n);
		return;
	}
	r->local_bad = false;
	t->local = arena_array(r->memory, CONF_LOCAL_MAX, sizeof(*t->local));
	t->local_where = arena_array(r->memory, CONF_LOCAL_MAX, sizeof(*t->local_where));
	for (uint32_t i = 0; t->local && t->local_where && i < n; i++) {
		bool ok = read_vtep(r, key, items[i], &ip);

		for (size_t j = 0; ok && j < t->n_local; j++)
			if (ip_equal(&t->local[j], &ip)) {
				refuse(r, key, items[i], "%.60s twice", items[i]->text);
				ok = false;
			}
		r->local_bad |= !ok;
		if (!ok)
			continue;
		t->local_where[t->n_local] = node_where(&r->tree, items[i]);
		t->local[t->n_local++] = ip;
	}
}

static const struct key source_ports_key = {
	.name = "source-ports", .min = 1, .max = 65535, .allowed = "LOW-HIGH within 1-65535"};

static READER(read_source_ports)
{
	uint32_t low, high;

	if (!read_range(r, &source_ports_key, value, true, &low, &high))
		return;
	r->conf->tunnels.source_port_min = (uint16_t)low;
	r->conf->tunnels.source_port_max = (uint16_t)high;
}

#define DSCP_INHERIT 64
static const struct word dscp_words[] = {{"inherit", DSCP_INHERIT}, {NULL, 0}};

static READER(read_dscp)
{
	uint32_t dscp;

	if (!read_number(r, key, value, &dscp))
		return;
	r->conf->tunnels.dscp_inherit = dscp == DSCP_INHERIT;
	r->conf->tunnels.dscp = dscp == DSCP_INHERIT ? 0 : (uint8_t)dscp;
}

static const struct word unknown_vni_words[] = {{"drop", 0}, {"kernel", 1}, {NULL, 0}};
static const struct word missing_words[] = {
	{"refuse", CONF_MISSING_REFUSE}, {"wait", CONF_MISSING_WAIT}, {NULL, 0}};
static const struct word df_words[] = {
	{"set", CONF_DF_SET}, {"unset", CONF_DF_UNSET}, {"inherit", CONF_DF_INHERIT}, {NULL, 0}};
static const struct word checksum_words[] = {{"auto", CONF_CHECKSUM_AUTO},
					     {"on", CONF_CHECKSUM_ON},
					     {"off", CONF_CHECKSUM_OFF},
					     {NULL, 0}};

#define IN_TUNNELS(field) offsetof(struct conf_tunnels, field)

/* Their targets are in struct conf_tunnels. */
static const struct key tunnels_key[] = {
	{.name = "local", .read = read_local,
	 .allowed = "up to 16 different IP addresses of this host (quote IPv6 ones)"},
	{.name = "underlay", .read = read_nothing},
	{.name = "remotes", .read = read_nothing},
	{.name = "unknown-vni", .read = read_word_u8, .words = unknown_vni_words,
	 .offset = IN_TUNNELS(unknown_vni_kernel)},
	{.name = "missing", .read = read_word_u8, .words = missing_words,
	 .offset = IN_TUNNELS(missing)},
	{.name = "port", .read = read_u16, .min = 1, .max = 65535, .offset = IN_TUNNELS(udp_port)},
	{.name = "source-ports", .read = read_source_ports},
	{.name = "ttl", .read = read_u8, .min = 1, .max = 255, .offset = IN_TUNNELS(ttl)},
	{.name = "dscp", .read = read_dscp, .max = 63, .words = dscp_words},
	{.name = "df", .read = read_word_u8, .words = df_words, .offset = IN_TUNNELS(df)},
	{.name = "checksum", .read = read_word_u8, .words = checksum_words,
	 .offset = IN_TUNNELS(checksum)},
};
static const struct foreign tunnels_foreign[] = {
	{"dstport", "port"},	    {"dst-port", "port"},	{"udp-port", "port"},
	{"tos", "dscp"},	    {"local-ip", "local"},	{"vtep", "local"},
	{"source", "local"},	    {"src-ip", "local"},	{"dev", "underlay"},
	{"device", "underlay"},	    {"devices", "underlay"},	{"uplinks", "underlay"},
	{"remote", "remotes"},	    {"remote-ip", "remotes"},	{"flood-list", "remotes"},
	{"srcport", "source-ports"}, {"source-port", "source-ports"},
	{"src-ports", "source-ports"}, {"csum", "checksum"},	{"udpcsum", "checksum"},
	{"dont-fragment", "df"},    {"hop-limit", "ttl"},
};
static const struct keys tunnels_keys = {.what = "tunnels",
					 .key = tunnels_key,
					 .n = ARRAY_SIZE(tunnels_key),
					 .foreign = tunnels_foreign,
					 .n_foreign = ARRAY_SIZE(tunnels_foreign)};
_Static_assert(sizeof(bool) == 1, "unknown-vni is read as a byte");

void read_tunnels(struct reader *r)
{
	struct conf_tunnels *t = &r->conf->tunnels;

	if (!r->tunnels)
		return;
	t->where = node_where(&r->tree, r->tunnels);
	read_map(r, &tunnels_keys, r->tunnels, t);
	if (r->tunnels->kind != NODE_MAP)
		return;
	r->underlay = map_get(r->tunnels, "underlay");
	r->remotes = map_get(r->tunnels, "remotes");
	if (r->underlay && node_is_null(r->underlay))
		r->underlay = NULL;
	/* After local, wherever that stands. */
	if (r->remotes)
		read_remotes(r, r->remotes, &t->remotes, &t->n_remotes);
}

/* A list that was read already, for whoever has the same node. */
struct remote_list {
	struct ip *ip;
	size_t n;
};

static const struct key remotes_key = {
	.name = "remotes", .allowed = "a list of VTEP addresses (quote IPv6 ones)"};

static bool is_ours(const struct conf_tunnels *t, const struct ip *ip)
{
	for (size_t i = 0; i < t->n_local; i++)
		if (ip_equal(&t->local[i], ip))
			return true;
	return false;
}

static bool has_source_for(struct reader *r, const struct node *at, const char *what,
			   const struct ip *ip)
{
	const struct conf_tunnels *t = &r->conf->tunnels;

	if (r->local_bad)
		return true;
	for (size_t i = 0; i < t->n_local; i++)
		if (ip_is_v4(&t->local[i]) == ip_is_v4(ip))
			return true;
	node_error(&r->tree, at, "%s: %.60s cannot be reached: tunnels.local has no %s address, "
		   "allowed: VTEPs of a family that it has", what, at->text,
		   ip_is_v4(ip) ? "IPv4" : "IPv6");
	return false;
}

bool read_remote(struct reader *r, const char *what, const struct node *value, struct ip *ip)
{
	struct key key = {.name = what};

	return read_vtep(r, &key, value, ip) && has_source_for(r, value, what, ip);
}

static void read_list(struct reader *r, const struct node *value, struct remote_list *list)
{
	struct node *const *items;
	struct index seen = {0};
	char text[IP_TEXT_BYTES];
	struct ip ip;
	uint32_t n;

	if (!read_items(r, &remotes_key, value, &items, &n))
		return;
	if (n > CONF_REMOTES_MAX) {
		refuse(r, &remotes_key, value, "%u addresses (at most %d)", n, CONF_REMOTES_MAX);
		return;
	}
	list->ip = arena_array(r->memory, n, sizeof(*list->ip));
	for (uint32_t i = 0; list->ip && i < n; i++) {
		char *name;
		int64_t old;

		if (!read_remote(r, "remotes", items[i], &ip))
			continue;
		name = arena_strdup(&r->tree.arena, ip_format(&ip, text));
		old = name ? index_get(&seen, name) : -1;
		if (old >= 0)
			refuse(r, &remotes_key, items[i], "%s here and at line %u", name,
			       items[old]->line);
		if (!name || old >= 0 || index_set(&seen, &r->tree.arena, name, i) ||
		    is_ours(&r->conf->tunnels, &ip))
			continue;
		list->ip[list->n++] = ip;
	}
}

void read_remotes(struct reader *r, const struct node *value, struct ip **remotes, size_t *n)
{
	struct remote_list *list = value->parsed;

	if (!list) {
		list = arena_alloc(&r->tree.arena, sizeof(*list));
		if (!list)
			return;
		read_list(r, value, list);
		((struct node *)value)->parsed = list;
	}
	*remotes = list->ip;
	*n = list->n;
}

static const struct key underlay_key = {
	.name = "underlay", .allowed = "a list of network devices"};

/* The entry under ports: whose device this is. */
static struct port_draft *find_entry(struct reader *r, const char *device)
{
	for (size_t i = 0; i < r->conf->n_ports; i++) {
		struct port_draft *d = &r->drafts[i];

		if (d->port.device && strcmp(d->port.device, device) == 0)
			return d;
	}
	return NULL;
}

/* An entry of ports: for an underlay device has options only. */
static void check_entry(struct reader *r, const struct port_draft *d, const struct node *item)
{
	const struct node *network = d->untagged ? d->untagged : d->tagged;

	if (d->port.type != CONF_PORT_NETDEV)
		node_error(&r->tree, item,
			   "underlay: %s is not a network device of its own, allowed: "
			   "a port without type:",
			   d->port.name);
	if (!network && d->rest && d->port.rest != CONF_REST_KERNEL)
		network = d->rest;
	if (network)
		node_error(&r->tree, network,
			   "%s is an underlay device (%s:%u:%u): all but VXLAN on it "
			   "stays with the kernel, allowed: no networks, rest: kernel",
			   d->port.name, r->tree.files[item->file], item->line, item->column);
}

static void make_entry(struct reader *r, const struct node *item, const char *device)
{
	struct port_draft *d;

	/* The port has the device's name, so it must be one. */
	if (!check_name(r, "underlay", item, PORT_NAME_MAX))
		return;
	d = port_add(r, item, device);
	if (!d)
		return;
	d->port.device = arena_strdup(r->memory, device);
	d->port.device_where = d->port.where;
}

static void add_underlay(struct reader *r, const struct node *item)
{
	static const struct key device_key = {.name = "underlay"};
	struct conf_tunnels *t = &r->conf->tunnels;
	char *device = NULL;
	struct port_draft *d;

	read_device(r, &device_key, item, &device);
	if (!device)
		return;
	for (size_t i = 0; i < t->n_underlay; i++)
		if (strcmp(t->underlay[i], device) == 0) {
			refuse(r, &underlay_key, item, "%s twice", device);
			return;
		}
	d = find_entry(r, device);
	if (d)
		check_entry(r, d, item);
	else if (index_get(&r->port_by_name, device) >= 0)
		node_error(&r->tree, item,
			   "underlay: the port %s has another device, allowed: a name "
			   "that is no port's",
			   device);
	else
		make_entry(r, item, device);
	d = find_entry(r, device);
	if (!d)
		return;
	d->port.underlay = true;
	d->port.rest = CONF_REST_KERNEL;
	if (!d->missing)
		d->port.missing = t->missing;
	t->underlay[t->n_underlay++] = device;
}

void read_underlay(struct reader *r)
{
	struct conf_tunnels *t = &r->conf->tunnels;
	struct node *const *items;
	uint32_t n = 0;

	if (r->underlay && read_items(r, &underlay_key, r->underlay, &items, &n) && n) {
		t->underlay = arena_array(r->memory, n, sizeof(*t->underlay));
		for (uint32_t i = 0; t->underlay && i < n && i < CONF_PORTS_MAX; i++)
			add_underlay(r, items[i]);
	}
	if (t->n_local && !n)
		node_error(&r->tree, r->tunnels, "tunnels: local without underlay, allowed: both "
			   "(which devices carry VXLAN?)");
	else if (n && !t->n_local && !r->local_bad)
		node_error(&r->tree, r->tunnels,
			   "tunnels: underlay without local, allowed: both (which "
			   "addresses are our VTEP?)");
	t->present = t->n_local && t->n_underlay;
}

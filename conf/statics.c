/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * static: MAC -> port or VTEP, once both are known.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/errors.h"
#include "conf/reader.h"

static const struct key static_key = {
	.name = "static", .allowed = "a map of MAC: PORT or MAC: VTEP address"};

static bool read_static_port(struct reader *r, const struct conf_network *network,
			     const struct node *value, struct conf_static *s)
{
	const char *text = value->text;
	const char *near = port_near(r, text);
	int64_t port = index_get(&r->port_by_name, text);

	if (index_get(&r->broken_ports, text) >= 0)
		return false;
	s->port = (int)port;
	if (port < 0 && !check_plain_name(r, "static", value))
		return false;
	if (port < 0 && near)
		node_error(&r->tree, value, "static: no port \"%.40s\", meant: %s?", text, near);
	else if (port < 0)
		node_error(&r->tree, value,
			   "static: no port \"%.40s\", allowed: a port or the address "
			   "of a VTEP",
			   text);
	else if (!port_carries(r, (size_t)port, (uint16_t)(network - r->conf->networks)))
		node_error(&r->tree, value,
			   "static: the port %s is not in %s, allowed: a port that has "
			   "this network",
			   text, network->name);
	else
		return true;
	return false;
}

static bool read_static_vtep(struct reader *r, const struct conf_network *network,
			     const struct node *value, struct conf_static *s)
{
	const struct conf_tunnels *t = &r->conf->tunnels;

	s->port = -1;
	if (!read_remote(r, "static", value, &s->vtep))
		return false;
	for (size_t i = 0; i < t->n_local; i++)
		if (ip_equal(&t->local[i], &s->vtep)) {
			node_error(&r->tree, value,
				   "static: %s is our own address, allowed: a remote "
				   "VTEP or a port",
				   value->text);
			return false;
		}
	if (network->vni || r->vni[network - r->conf->networks])
		return true;
	node_error(&r->tree, value, "static: a VTEP in %s, which has no vni, allowed: a port",
		   network->name);
	return false;
}

static void read_static(struct reader *r, struct conf_network *network, const struct pair *pair)
{
	struct conf_static *s = &network->statics[network->n_statics];
	const char *text;
	struct ip ip;

	if (!read_station_mac(r, "static", pair->key, &s->mac))
		return;
	text = scalar_text(r, &static_key, pair->value);
	if (!text)
		return;
	s->where = node_where(&r->tree, pair->key);
	if (ip_parse(text, &ip) ? read_static_vtep(r, network, pair->value, s) :
				  read_static_port(r, network, pair->value, s))
		network->n_statics++;
}

static int compare(const void *a, const void *b)
{
	const struct conf_static *x = a, *y = b;
	int by_mac = memcmp(&x->mac, &y->mac, sizeof(x->mac));

	if (by_mac)
		return by_mac;
	if (x->where.line != y->where.line)
		return x->where.line < y->where.line ? -1 : 1;
	return (x->where.column > y->where.column) - (x->where.column < y->where.column);
}

/* The same MAC in another spelling is another key to YAML. */
static void check_twice(struct reader *r, struct conf_network *network)
{
	qsort(network->statics, network->n_statics, sizeof(*network->statics), compare);
	for (size_t i = 1; i < network->n_statics; i++) {
		const struct conf_static *old = &network->statics[i - 1];
		const struct conf_static *s = &network->statics[i];
		char text[MAC_TEXT_BYTES];

		if (memcmp(&old->mac, &s->mac, sizeof(s->mac)) == 0)
			conf_errors_add(
				r->tree.errors, s->where,
				"static: %s here and at %s:%u:%u, allowed: once in a network",
				mac_format(&s->mac, text), old->where.file, old->where.line,
				old->where.column);
	}
}

static void read_network_statics(struct reader *r, struct conf_network *network,
				 const struct node *value)
{
	const struct map *m;

	if (node_is_null(value))
		return;
	if (value->kind != NODE_MAP) {
		refuse(r, &static_key, value, "%s", node_kind_name(value));
		return;
	}
	m = value->map;
	r->n_statics += m->n;
	if (r->n_statics > CONF_STATICS_MAX) {
		node_error(&r->tree, value, "static: too many, allowed: %d in all networks",
			   CONF_STATICS_MAX);
		return;
	}
	network->statics = arena_array(r->memory, m->n, sizeof(*network->statics));
	for (uint32_t i = 0; network->statics && i < m->n; i++)
		read_static(r, network, &m->pairs[i]);
	if (network->n_statics)
		check_twice(r, network);
}

void read_statics(struct reader *r)
{
	for (size_t i = 1; r->drafts && r->statics && i < r->conf->n_networks; i++)
		if (r->statics[i])
			read_network_statics(r, &r->conf->networks[i], r->statics[i]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/gateway.h"
#include "ctrl/tunnel_sets.h"
#include "lib/log.h"
#include "lib/rcu.h"

#define PORT_WORDS (PORT_MAX / 64)
#define ANY_FRAME UINT16_MAX	/* frame_max of ports without an MTU */

/* How a network floods. Networks with the same key are one group. */
struct flood_key {
	uint64_t ports[PORT_WORDS];
	const struct tunnel_set *remotes;	/* the replication list */
	const struct tunnel_set *members;	/* and the static entries' VTEPs */
};

/* What is published for a group, as one allocation: its networks, then its flood list. */
struct group_view {
	struct rcu_head rcu;
	struct network network[];
};

struct group {
	struct flood_key key;
	uint16_t *id;		/* its networks; points into views.sorted */
	uint32_t n;
	struct group_view *view;
};

struct port_block {
	struct rcu_head rcu;
	struct port_view view;
};

struct views {
	struct gateway *g;
	struct tunnel_sets sets;
	struct flood_key *key;	/* by network */
	uint16_t *sorted;	/* network ids, group by group */
	struct group *group;
	uint32_t n_groups;
	struct port_block *port[PORT_MAX];
	struct port_view maps[PORT_MAX];	/* only the maps; all views of a port share them */
	uint32_t tunnel_mtu[TUNNEL_MAX];
	bool tunnel_mtu_old;	/* ports changed since it was computed */
};

static bool key_has_port(const struct flood_key *key, uint16_t port)
{
	return key->ports[port / 64] >> (port % 64) & 1;
}

static bool can_send(const struct gateway_port *port)
{
	return port->state == GATEWAY_PORT_UP || port->state == GATEWAY_PORT_DONE;
}

/* Ports first, then tunnels. */
static struct group_view *build_group(const struct views *v, const struct group *group)
{
	const struct gateway *g = v->g;
	uint32_t n_max = g->n_ports + tunnel_set_list(group->key.remotes, NULL);
	size_t networks_bytes = group->n * sizeof(struct network);
	struct flood_list *flood;
	struct group_view *view;

	view = calloc(1, sizeof(*view) + networks_bytes + sizeof(*flood) +
				 n_max * sizeof(flood->egress[0]));
	if (!view)
		return NULL;
	flood = (struct flood_list *)((char *)view->network + networks_bytes);
	for (uint16_t i = 0; i < g->n_ports; i++)
		if (key_has_port(&group->key, i) && can_send(&g->port[i]))
			flood->egress[flood->n++] = i;
	flood->n += tunnel_set_list(group->key.remotes, flood->egress + flood->n);
	for (uint32_t i = 0; i < group->n; i++) {
		const struct conf_network *c = &g->conf->networks[group->id[i]];

		view->network[i] = (struct network){
			.id = group->id[i],
			.learn = c->learn,
			.vni = c->vni,
			.tunnels = group->key.members,
			.flood = flood,
		};
	}
	return view;
}

static void free_group(struct rcu_head *rcu)
{
	free(container_of(rcu, struct group_view, rcu));
}

static int publish_group(struct views *v, struct group *group)
{
	struct group_view *old = group->view;
	struct group_view *view = build_group(v, group);

	if (!view)
		return -ENOMEM;
	for (uint32_t i = 0; i < group->n; i++)
		rcu_assign_pointer(v->g->tables->network[group->id[i]], &view->network[i]);
	group->view = view;
	if (old)
		call_rcu(&old->rcu, free_group);
	return 0;
}

static uint16_t frame_max(const struct gateway_port *port)
{
	uint32_t bytes = port->info.mtu + ETH_BYTES + VLAN_BYTES;

	return port->info.mtu && bytes < ANY_FRAME ? (uint16_t)bytes : ANY_FRAME;
}

static void free_port(struct rcu_head *rcu)
{
	free(container_of(rcu, struct port_block, rcu));
}

static int publish_port(struct views *v, uint16_t i)
{
	const struct gateway_port *port = &v->g->port[i];
	struct port_block *old = v->port[i];
	struct port_block *block = malloc(sizeof(*block));

	if (!block)
		return -ENOMEM;
	block->view = v->maps[i];
	block->view.up = can_send(port);
	block->view.underlay = port->conf->underlay;
	block->view.shut = port->shut;
	block->view.frame_max = frame_max(port);
	rcu_assign_pointer(v->g->tables->port[i], &block->view);
	v->port[i] = block;
	if (old)
		call_rcu(&old->rcu, free_port);
	return 0;
}

static void measure_tunnels(struct views *v)
{
	uint16_t egress[TUNNEL_MAX];

	v->tunnel_mtu_old = false;
	memset(v->tunnel_mtu, 0, sizeof(v->tunnel_mtu));
	for (uint32_t i = 0; i < v->n_groups; i++) {
		uint32_t n = tunnel_set_list(v->group[i].key.members, egress);
		uint32_t mtu = 0;

		for (uint16_t p = 0; n && p < v->g->n_ports; p++)
			if (key_has_port(&v->group[i].key, p) && v->g->port[p].port)
				mtu = max_of(mtu, v->g->port[p].info.mtu);
		for (uint32_t k = 0; k < n; k++)
			v->tunnel_mtu[egress[k] - EGRESS_TUNNEL0] =
				max_of(v->tunnel_mtu[egress[k] - EGRESS_TUNNEL0], mtu);
	}
}

int views_update_port(struct views *v, uint16_t port)
{
	int r = publish_port(v, port);

	for (uint32_t i = 0; i < v->n_groups && r == 0; i++)
		if (key_has_port(&v->group[i].key, port))
			r = publish_group(v, &v->group[i]);
	if (r < 0)
		log_error("port %s: no memory to tell the workers of its new state",
			  v->g->port[port].conf->name);
	v->tunnel_mtu_old = true;
	return r;
}

static void map_network(struct views *v, uint16_t port, uint16_t network, uint16_t vid)
{
	struct port_view *maps = &v->maps[port];

	maps->vid_of_network[network] = vid;
	v->key[network].ports[port / 64] |= 1ull << (port % 64);
}

/* How many entries vid_of_network needs: one more than the largest network id of the port. */
static uint32_t networks_needed(const struct conf_port *c)
{
	uint32_t max = max_of(c->untagged, c->rest == CONF_REST_NETWORK ? c->rest_network : 0);

	for (size_t i = 0; i < c->n_tagged; i++)
		max = max_of(max, c->tagged[i].network);
	return max ? max + 1 : 0;
}

static int build_maps(struct views *v, uint16_t port)
{
	const struct conf_port *c = v->g->port[port].conf;
	struct port_view *maps = &v->maps[port];

	if (c->underlay)
		return 0;
	maps->n_networks = networks_needed(c);
	maps->vid_of_network = malloc((maps->n_networks + 1) * sizeof(uint16_t));
	if (!maps->vid_of_network)
		return -ENOMEM;
	memset(maps->vid_of_network, 0xff, maps->n_networks * sizeof(uint16_t));
	if (c->n_tagged) {
		maps->network_of_vid = calloc(4096, sizeof(uint16_t));
		if (!maps->network_of_vid)
			return -ENOMEM;
	}
	for (size_t i = 0; i < c->n_tagged; i++) {
		maps->network_of_vid[c->tagged[i].vid] = c->tagged[i].network;
		map_network(v, port, c->tagged[i].network, c->tagged[i].vid);
	}
	maps->rest = c->rest == CONF_REST_NETWORK ? c->rest_network : NETWORK_NONE;
	if (maps->rest)
		map_network(v, port, maps->rest, VID_REST);
	maps->untagged = c->untagged;
	if (maps->untagged)
		map_network(v, port, maps->untagged, VID_UNTAGGED);
	return 0;
}

static int add_remote(struct views *v, const struct ip *remote, struct tunnel_set *set)
{
	uint16_t egress = tunnels_add(v->g->tunnels, remote);

	if (egress == EGRESS_NONE) {
		log_error("more than %d remote VTEPs, or no memory for them", TUNNEL_MAX);
		return -ENOSPC;
	}
	tunnel_set_put(set, egress);
	return 0;
}

static bool is_local(const struct conf_tunnels *t, const struct ip *ip)
{
	for (size_t i = 0; i < t->n_local; i++)
		if (ip_equal(&t->local[i], ip))
			return true;
	return false;
}

/* The tunnels of one network: into its key, shared with all networks that have the same. */
static int find_tunnels(struct views *v, const struct conf_network *c, struct flood_key *key)
{
	const struct conf_tunnels *t = &v->g->conf->tunnels;
	const struct ip *remote = c->has_remotes ? c->remotes : t->remotes;
	size_t n = c->has_remotes ? c->n_remotes : t->n_remotes;
	struct tunnel_set set = {0};
	int r = 0;

	if (!v->g->tunnels || !c->vni)
		return 0;
	for (size_t i = 0; i < n && r == 0; i++)
		if (!is_local(t, &remote[i]))
			r = add_remote(v, &remote[i], &set);
	if (r == 0)
		r = tunnel_sets_share(&v->sets, &set, &key->remotes);
	for (size_t i = 0; i < c->n_statics && r == 0; i++)
		if (c->statics[i].port < 0)
			r = add_remote(v, &c->statics[i].vtep, &set);
	return r ? r : tunnel_sets_share(&v->sets, &set, &key->members);
}

static int compare_keys(const void *a, const void *b, void *arg)
{
	const struct views *v = arg;

	return memcmp(&v->key[*(const uint16_t *)a], &v->key[*(const uint16_t *)b],
		      sizeof(struct flood_key));
}

/* Sorts the networks by their key: equal ones stand side by side and are a group. */
static int form_groups(struct views *v)
{
	uint32_t n = v->g->n_networks - 1;

	v->sorted = malloc((n + 1) * sizeof(*v->sorted));
	v->group = calloc(n + 1, sizeof(*v->group));
	if (!v->sorted || !v->group)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		v->sorted[i] = (uint16_t)(i + 1);
	qsort_r(v->sorted, n, sizeof(*v->sorted), compare_keys, v);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || compare_keys(&v->sorted[i], &v->sorted[i - 1], v) != 0)
			v->group[v->n_groups++] = (struct group){
				.key = v->key[v->sorted[i]],
				.id = &v->sorted[i],
			};
		v->group[v->n_groups - 1].n++;
	}
	return 0;
}

static int build(struct views *v)
{
	struct gateway *g = v->g;
	int r = 0;

	v->key = calloc(max_of(g->n_networks, 1u), sizeof(*v->key));
	if (!v->key)
		return -ENOMEM;
	for (uint16_t i = 0; i < g->n_ports && r == 0; i++)
		r = build_maps(v, i);
	for (uint32_t i = 1; i < g->n_networks && r == 0; i++)
		r = find_tunnels(v, &g->conf->networks[i], &v->key[i]);
	if (r == 0 && g->n_networks)
		r = form_groups(v);
	for (uint32_t i = 0; i < v->n_groups && r == 0; i++)
		r = publish_group(v, &v->group[i]);
	for (uint16_t i = 0; i < g->n_ports && r == 0; i++)
		r = publish_port(v, i);
	return r;
}

int views_create(struct gateway *g, struct views **views)
{
	struct views *v = calloc(1, sizeof(*v));
	int r = -ENOMEM;

	if (v) {
		v->g = g;
		r = build(v);
	}
	if (r == 0) {
		*views = v;
		return 0;
	}
	if (r == -ENOMEM)
		log_error("no memory for %u networks", g->n_networks);
	views_destroy(v);
	return r;
}

void views_destroy(struct views *v)
{
	if (!v)
		return;
	memset(v->g->tables->port, 0, sizeof(v->g->tables->port));
	memset(v->g->tables->network, 0, sizeof(v->g->tables->network));
	for (uint32_t i = 0; i < v->n_groups; i++)
		free(v->group[i].view);
	for (uint32_t i = 0; i < PORT_MAX; i++) {
		free(v->port[i]);
		free(v->maps[i].network_of_vid);
		free(v->maps[i].vid_of_network);
	}
	tunnel_sets_fini(&v->sets);
	free(v->group);
	free(v->sorted);
	free(v->key);
	free(v);
}

bool views_carries(const struct views *v, uint16_t network, uint16_t egress)
{
	const struct flood_key *key = &v->key[network];

	if (network == NETWORK_NONE || network >= v->g->n_networks)
		return false;
	if (egress < v->g->n_ports)
		return key_has_port(key, egress);
	return egress_is_tunnel(egress) && tunnel_set_has(key->members, egress);
}

uint32_t views_tunnel_mtu(struct views *v, uint16_t egress)
{
	if (v->tunnel_mtu_old)
		measure_tunnels(v);
	return v->tunnel_mtu[egress - EGRESS_TUNNEL0];
}

uint32_t views_n_groups(const struct views *v)
{
	return v->n_groups;
}

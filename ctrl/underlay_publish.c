/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "ctrl/underlay_own.h"
#include "ctrl/views.h"
#include "lib/clock.h"
#include "lib/log.h"

static const char *device_of(const struct underlay *u, uint16_t port)
{
	return u->g->port[port].info.device;
}

uint32_t underlay_local_for(const struct underlay *u, const struct ip *remote)
{
	const struct tunnel_options *o = &u->g->tunnels->options;
	uint32_t i = 0;

	while (i < o->n_local && ip_is_v4(&o->local[i]) != ip_is_v4(remote))
		i++;
	return i;
}

/* The path that way @k makes, and why it is none. */
static void derive_path(const struct underlay *u, uint32_t k, struct tunnel_path *path, char *why,
			size_t why_bytes)
{
	const struct way *way = &u->way[k];
	const struct gateway_port *port = &u->g->port[way->port];
	const struct hop *hop = way->hop == HOP_NONE ? NULL : &u->hops.hop[way->hop];
	char address[IP_TEXT_BYTES];

	memset(path, 0, sizeof(*path));
	path->state = TUNNEL_NO_ROUTE;
	if (!way->routed || !hop) {
		snprintf(why, why_bytes, "%s", way->why);
	} else if (port->state != GATEWAY_PORT_UP) {
		snprintf(why, why_bytes, "underlay port %s: %s", port->conf->name,
			 gateway_port_state_name(port->state));
	} else if (!hop->usable) {
		path->state = TUNNEL_NO_NEIGHBOUR;
		snprintf(why, why_bytes, "no neighbour for %s on %s",
			 ip_format(&hop->address, address), device_of(u, way->port));
	} else {
		path->state = TUNNEL_OK;
		path->egress_port = way->port;
		path->mtu = way->mtu;
		path->source = u->g->tunnels->options.local[underlay_local_for(u, remote_of(u, k))];
		path->source_mac = port->info.mac;
		path->next_hop_mac = hop->mac;
		why[0] = 0;
	}
}

static void log_state(const struct underlay *u, uint32_t k, uint8_t old, uint8_t state)
{
	const struct gateway_tunnel *t = &u->g->tunnel[k];
	uint32_t needed = views_tunnel_mtu(u->g->views, (uint16_t)(EGRESS_TUNNEL0 + k)) + ETH_BYTES;
	const struct tunnel *tunnel = u->g->tunnels->tunnel[k];
	char remote[IP_TEXT_BYTES];

	ip_format(remote_of(u, k), remote);
	if (state != TUNNEL_OK) {
		log_line(old == TUNNEL_OK ? LOG_LVL_WARN : LOG_LVL_INFO, "tunnel %s: %s", remote,
			 t->why);
		return;
	}
	log_info("tunnel %s: ok by %s", remote, t->device);
	if (needed > tunnel->inner_max)
		log_warn("tunnel %s: MTU %u of the way by %s carries frames of %u bytes, its "
			 "networks have %u; longer ones are dropped as too-big",
			 remote, t->mtu, t->device, tunnel->inner_max, needed);
}

/* For people: what `culvert tunnel` shows. */
static void describe(struct underlay *u, uint32_t k, const struct tunnel_path *path)
{
	struct gateway_tunnel *t = &u->g->tunnel[k];
	const struct way *way = &u->way[k];
	uint32_t local = underlay_local_for(u, remote_of(u, k));

	t->local_missing = local < u->g->tunnels->options.n_local && !u->local[local].present;
	t->device[0] = 0;
	t->next_hop = (struct ip){0};
	if (way->routed && way->hop != HOP_NONE) {
		snprintf(t->device, sizeof(t->device), "%s", device_of(u, way->port));
		t->next_hop = u->hops.hop[way->hop].address;
	}
	t->source = path->source;
	t->next_hop_mac = path->next_hop_mac;
	t->mtu = path->mtu;
}

void underlay_publish(struct underlay *u, uint32_t k)
{
	struct gateway_tunnel *t = &u->g->tunnel[k];
	struct way *way = &u->way[k];
	uint8_t old = way->published.state;
	struct tunnel_path path;
	char why[sizeof(t->why)];
	bool news;

	/* A way that goes on until the new next hop is known loses nothing. */
	if (way->hop != HOP_NONE && !u->hops.hop[way->hop].known &&
	    u->g->port[way->port].state == GATEWAY_PORT_UP)
		return;
	derive_path(u, k, &path, why, sizeof(why));
	news = path.state != old || strcmp(why, t->why) != 0;
	if (memcmp(&path, &way->published, sizeof(path)) != 0 &&
	    tunnels_set_path(u->g->tunnels, (uint16_t)(EGRESS_TUNNEL0 + k), &path) == 0)
		way->published = path;
	if (path.state != old)
		t->since_ns = clock_ns();
	memcpy(t->why, why, sizeof(why));
	describe(u, k, &path);
	if (news)
		log_state(u, k, old, path.state);
}

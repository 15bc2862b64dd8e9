/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "lib/clock.h"

static const char *const state_names[] = {
	[TUNNEL_NO_ROUTE] = "no-route",
	[TUNNEL_NO_NEIGHBOUR] = "no-neighbour",
	[TUNNEL_OK] = "ok",
};

static void add_counters(json_t *o, const struct commands *c, uint16_t egress)
{
	struct tunnel_counters n;
	struct tunnel_rates r;

	gateway_tunnel_counters(c->g, egress, &n);
	rates_tunnel(c->rates, egress, &r);
	field_int(o, "rx_packets", n.rx_packets);
	field_int(o, "rx_bytes", n.rx_bytes);
	field_int(o, "tx_packets", n.tx_packets);
	field_int(o, "tx_bytes", n.tx_bytes);
	field_int(o, "lost", n.lost);
	field_real(o, "rx_pps", r.rx_pps);
	field_real(o, "rx_bps", r.rx_bps);
	field_real(o, "tx_pps", r.tx_pps);
	field_real(o, "tx_bps", r.tx_bps);
	field_real(o, "lost_pps", r.lost_pps);
}

static json_t *tunnel_object(const struct commands *c, uint32_t i)
{
	const struct gateway_tunnel *way = &c->g->tunnel[i];
	uint16_t egress = (uint16_t)(EGRESS_TUNNEL0 + i);
	const struct tunnel *t = tunnels_get(c->g->tunnels, egress);
	bool ok = t->state == TUNNEL_OK;
	json_t *o = json_object();

	field_ip(o, "vtep", &t->remote);
	field_int(o, "number", RULES_TUNNEL_NUMBER0 + i);
	field_text(o, "state", state_names[t->state]);
	field_text(o, "why", ok ? "" : way->why);
	field_text(o, "device", ok ? way->device : NULL);
	field_ip(o, "source", &way->source);
	field_ip(o, "next_hop", &way->next_hop);
	field_mac(o, "next_hop_mac", &way->next_hop_mac);
	field_int(o, "mtu", way->mtu);
	field_int(o, "since_s", (clock_ns() - way->since_ns) / NS_PER_S);
	add_counters(o, c, egress);
	return o;
}

int cmd_tunnel(struct request *request)
{
	const struct commands *c = request->context;
	const char *text = request_text(request, "vtep");
	uint16_t egress = EGRESS_NONE;
	struct ip ip;

	if (!text)
		return request_list(request, 0, c->g->tunnels ? c->g->tunnels->n_tunnels : 0,
				    tunnel_object);
	if (!ip_parse(text, &ip))
		return request_refuse(request, "'%.64s' is not an IP address", text);
	if (c->g->tunnels)
		egress = tunnels_find(c->g->tunnels, &ip);
	if (egress == EGRESS_NONE)
		return request_refuse(request, "no tunnel to %s: 'culvert tunnel' lists them",
				      text);
	return request_list(request, egress - EGRESS_TUNNEL0, egress - EGRESS_TUNNEL0 + 1u,
			    tunnel_object);
}

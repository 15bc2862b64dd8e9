/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/stages.h"

#include "lib/rcu.h"

/* The map may have changed since the entry was made. */
static bool is_member(const struct tables *tables, uint16_t egress, uint16_t network_id)
{
	const struct network *network;
	const struct port_view *port;

	if (egress < PORT_MAX) {
		port = rcu_dereference(tables->port[egress]);
		return port && port_view_vid(port, network_id) != VID_NONE;
	}
	network = rcu_dereference(tables->network[network_id]);
	return egress_is_tunnel(egress) && network && tunnel_set_has(network->tunnels, egress);
}

static void forward_known(const struct tables *tables, struct packet *p, uint16_t egress,
			  uint64_t key)
{
	if (unlikely(!is_member(tables, egress, p->network)))
		return;
	p->egress = egress;
	if (unlikely(egress == p->ingress))
		drop_packet(p, DROP_SAME_PORT, key);
	else if (unlikely(egress_is_tunnel(egress) && egress_is_tunnel(p->ingress)))
		drop_packet(p, DROP_SPLIT_HORIZON, key);
}

void forward(struct lane *lane, struct burst *burst)
{
	const struct tables *tables = lane->tables;
	uint64_t key[BURST_MAX];
	uint16_t egress[BURST_MAX];

	for (uint32_t i = 0; i < burst->n; i++) {
		const struct packet *p = &burst->packet[i];

		key[i] = 0;
		if (!p->drop && p->egress == EGRESS_NONE && !(p->flags & PKT_GROUP))
			key[i] = fdb_key_in_frame(p->network, p->data);
	}
	fdb_lookup_burst(tables->fdb, key, burst->n, egress);
	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (p->drop || p->egress != EGRESS_NONE)
			continue;
		p->egress = EGRESS_FLOOD;
		if (likely(egress[i] != EGRESS_NONE))
			forward_known(tables, p, egress[i], key[i]);
	}
}

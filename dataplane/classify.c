/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/stages.h"

#include "dataplane/mac.h"
#include "dataplane/vlan.h"
#include "lib/rcu.h"

static void into_rest(const struct port_view *port, struct packet *p)
{
	p->network = port->rest;
	vlan_disown(p);
}

static void classify_tagged(const struct port_view *port, struct packet *p, uint16_t vid)
{
	uint16_t network = port_view_named(port, vid);

	if (likely(network != NETWORK_NONE))
		p->network = network;
	else if (port->rest != NETWORK_NONE && vid != VID_RESERVED)
		into_rest(port, p);
	else
		drop_packet(p, DROP_VLAN_UNMAPPED, vid);
}

static void classify_untagged(const struct port_view *port, struct packet *p)
{
	if (unlikely(port->untagged == NETWORK_NONE)) {
		drop_packet(p, DROP_UNTAGGED, p->ethertype);
		return;
	}
	p->network = port->untagged;
	if (p->tag == TAG_FRAME) {
		vlan_pop(p);
		p->tag = TAG_STRIPPED;
	}
}

/* A service tag is no VLAN of ours, whatever its VLAN id. */
static void classify_service_tag(const struct port_view *port, struct packet *p)
{
	p->tci = get_be16(p->data + TCI_AT);
	if (port->rest == NETWORK_NONE)
		drop_packet(p, DROP_VLAN_UNMAPPED, (uint64_t)TPID_S << 16 | VID_OF(p->tci));
	else
		into_rest(port, p);
}

static void classify_one(const struct port_view *port, struct packet *p)
{
	if (unlikely(!port)) {
		drop_packet(p, DROP_PORT_SHUT, p->rx_port);
		return;
	}
	if (p->flags & PKT_GROUP && unlikely(mac_is_reserved(p->data))) {
		drop_packet(p, DROP_RESERVED, fdb_key(NETWORK_NONE, p->data));
		return;
	}
	if (p->tag != TAG_NONE && VID_OF(p->tci) != VID_PRIORITY)
		classify_tagged(port, p, VID_OF(p->tci));
	else if (p->tag == TAG_NONE && unlikely(get_be16(p->data + ETHERTYPE_AT) == TPID_S))
		classify_service_tag(port, p);
	else
		classify_untagged(port, p);
}

void classify(struct lane *lane, struct burst *burst)
{
	struct port_view *const *port = lane->tables->port;

	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (p->drop || p->network != NETWORK_NONE)
			continue;
		classify_one(rcu_dereference(port[p->rx_port]), p);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VXLAN (RFC 7348) over IPv4 and IPv6: the two stages.
 */
#ifndef TUNNELS_VXLAN_H
#define TUNNELS_VXLAN_H

#include "dataplane/lane.h"
#include "tunnels/tunnel.h"

/* The source port for @hash: the same hash always gives the same port, all ports of the range are used
 * evenly. Both ends of the range are included. */
static inline uint16_t vxlan_source_port(const struct tunnel_options *o, uint32_t hash)
{
	uint32_t ports = (uint32_t)o->source_port_max - o->source_port_min + 1;

	return (uint16_t)(o->source_port_min + ((uint64_t)hash * ports >> 32));
}

/* Packets of underlay ports: checks the outer headers, strips them, sets network and ingress (the
 * tunnel), parses the inner frame. The outer hash is forgotten; ECN as RFC 6040 says. A zero UDP checksum
 * is accepted, another one is not verified (RFC 7348, 4.1 leaves it open). An inner VLAN tag stays
 * part of the frame.
 * Drops: outer-bad, not-vxlan, vtep-not-ours, vxlan-truncated, vxlan-no-vni, vni-unknown, vtep-unknown,
 * ecn-illegal, inner-runt, reserved-mac. */
void decap(struct lane *lane, struct burst *burst);

/* Packets whose egress is a tunnel: outer header from the template into the headroom; egress becomes the
 * underlay port. A packet that has no way is dropped, and control is told (lane->resolve_events).
 * An own tag (TAG_FRAME) is taken out first.
 * Drops: no-route, no-neighbour, too-big, port-down. */
void encap(struct lane *lane, struct burst *burst);

#endif

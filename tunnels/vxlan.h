/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VXLAN (RFC 7348) over IPv4 and IPv6: the two stages.
 */
#ifndef TUNNELS_VXLAN_H
#define TUNNELS_VXLAN_H

#include "dataplane/lane.h"
#include "tunnels/tunnel.h"

/* The source port for @hash: the same hash always gives the same port, all ports of the range are
 * used evenly. Both ends of the range are included. */
static inline uint16_t vxlan_source_port(const struct tunnel_options *o, uint32_t hash)
{
	uint32_t ports = (uint32_t)o->source_port_max - o->source_port_min + 1;

	return (uint16_t)(o->source_port_min + ((uint64_t)hash * ports >> 32));
}

/*
 * Packets of underlay ports: checks the outer headers, strips them, sets network and ingress (the
 * tunnel), parses the inner frame. What lies behind the outer lengths is padding and goes. The
 * outer hash is forgotten; ECN as RFC 6040, 4.2 says, DSCP stays the inner one. A zero UDP checksum
 * is accepted, another one is not verified (RFC 7348, 4.1 leaves it open). An inner VLAN tag stays
 * part of the frame.
 *
 * Drops, each with its detail:
 *   outer-bad        offset of the header that is wrong
 *   vxlan-truncated  bytes that the header claims or needs << 32 | bytes that are there
 *   not-vxlan        IP protocol << 16 | UDP destination port; not IP: ethertype << 32; on a VLAN:
 *                    VLAN id << 48
 *   vtep-not-ours    the last four bytes of the outer destination
 *   vxlan-no-vni     the first four bytes of the VXLAN header
 *   vni-unknown      the VNI
 *   vtep-unknown     VNI << 32 | the last four bytes of the outer source
 *   ecn-illegal      VNI
 *   inner-runt       length of the inner frame
 *   bad-source, reserved-mac   of the inner frame: the MAC, as fdb_key(NETWORK_NONE, mac)
 */
void decap(struct lane *lane, struct burst *burst);

/*
 * Packets whose egress is a tunnel: outer header from the template into the headroom; egress
 * becomes the underlay port, and the packet's offsets those of the outer headers. Runs after retag,
 * which must not see them as packets of the underlay port. An own tag (TAG_FRAME) is taken out
 * first.
 *
 * ECN is copied (RFC 6040, 4.1, normal mode; Not-ECT when the inner frame is not IP). DSCP and DF
 * that are inherited: from inner IP of either family; an IPv6 packet counts as DF, since no router
 * may fragment it; not IP: 0 and unset. A packet that has no way is dropped, and control is told
 * (lane->resolve_events), at most once in RESOLVE_REPEAT_NS for one tunnel.
 *
 * Drops, each with its detail:
 *   no-route, no-neighbour   the last four bytes of the remote address; 0: the tunnel or the VNI is
 *                    gone
 *   port-down        egress id of the underlay port
 *   too-big          length of the inner frame << 32 | the longest that would do
 */
void encap(struct lane *lane, struct burst *burst);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stages of the data plane, in the order in which a packet meets them. tunnels/vxlan.h has decap
 * and encap, afxdp/ has rx and tx; afxdp/pipeline.c is the whole way on one screen.
 */
#ifndef DATAPLANE_STAGES_H
#define DATAPLANE_STAGES_H

#include "dataplane/lane.h"

/* Bounds, tags, offsets, five-tuple. In: data, len, rx_port, and tag = TAG_STRIPPED with tci when the
 * driver took a tag out. Out: ingress = rx_port, flags, ethertype, l3, l4, tag, tci.
 * Drops: runt, bad-source, port-shut. Malformed IP is marked PKT_L3_BAD, not dropped: a switch carries it.
 * A frame of an underlay port is not looked at beyond its Ethernet header: decap does that. */
void parse(struct lane *lane, struct burst *burst);

/* The same for one packet's frame at p->data; decap calls it for the inner frame. False: runt. */
bool parse_packet(struct packet *p);

/* Which network a frame of a port belongs to, by the port's VLAN map. A tag that the map consumed stays
 * in the frame (TAG_FRAME) so that a tagged egress only rewrites it; a priority tag (VID 0) is taken
 * out, its PCP kept in tci (TAG_STRIPPED). Packets that decap gave a network are left alone.
 * Drops: vlan-unmapped, untagged-unmapped, reserved-mac. */
void classify(struct lane *lane, struct burst *burst);

/* Source MAC unknown or elsewhere: an event to control. Known: its age is refreshed. Drops nothing. */
void learn(struct lane *lane, struct burst *burst);

/* Destination MAC: one port, one tunnel, or EGRESS_FLOOD.
 * Drops: same-port, tunnel-to-tunnel. */
void forward(struct lane *lane, struct burst *burst);

/* Flooding. Fills @copies (reset by the call) with copies of the packets of @burst whose egress is
 * EGRESS_FLOOD, one per target but the last, and returns whether there are any; call it until it
 * returns false. The last target takes the packet itself (its egress is set). Never back to the
 * ingress, never from tunnel to tunnel. A copy for which there is no frame is counted as copied and as
 * dropped (no-frame). Drops: no-target. */
bool replicate(struct lane *lane, struct burst *burst, struct burst *copies);

/* For packets that leave by a port: tags as its map says, and its MTU.
 * Drops: port-down, egress-vlan, too-big. */
void retag(struct lane *lane, struct burst *burst);

/* The hash that chooses the VXLAN source port: the descriptor's where it may be used, else ours, at most
 * one computation a packet (hash_kind remembers). Fragments: addresses and protocol only, so that all of
 * a datagram agree. Non-IP: MACs and ethertype. Counts hash_nic and hash_soft by rx_port. */
uint32_t packet_hash(struct lane *lane, struct packet *p);

/* Books a dropped packet: adds to its ingress port's cell. tx calls it, once per dropped packet. */
void count_drop(struct lane *lane, const struct packet *p);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stages of the data plane, in the order in which a packet meets them. tunnels/vxlan.h has
 * decap and encap, afxdp/ has rx and tx; afxdp/pipeline.c is the whole way on one screen.
 */
#ifndef DATAPLANE_STAGES_H
#define DATAPLANE_STAGES_H

#include "dataplane/lane.h"

/*
 * Bounds, tags, offsets, five-tuple. In: data, len, rx_port, hash, and tag = TAG_STRIPPED with tci
 * when the driver took a C-tag (0x8100) out; a service tag must be back in the frame. Out: all
 * fields but drop, detail and the hash. Malformed IP is marked PKT_L3_BAD, not dropped: a switch
 * carries it. A frame of an underlay port is not looked at beyond its Ethernet header: decap does
 * that.
 * Drops, each with its detail:
 *   port-shut        the port
 *   runt             length of the frame
 *   bad-source       the source MAC
 */
void parse(struct lane *lane, struct burst *burst);

/* The same for one packet's frame at p->data (in: data, len, tag, tci), without a look at the
 * source MAC; decap calls it for the inner frame and then says whose an inner tag is. False: the
 * frame ends inside its Ethernet header, or inside the tag behind it. */
bool parse_packet(struct packet *p);

/*
 * Which network a frame of a port belongs to, by the port's VLAN map. A tag that the map consumed
 * stays in the frame (TAG_FRAME) so that a tagged egress only rewrites it; a priority tag (VID 0)
 * is taken out, its PCP kept in tci (TAG_STRIPPED). A tag that goes to `rest` is the network's
 * (TAG_NONE), put back into the frame when the driver had it out; a service tag (0x88a8) is never
 * one that the map names. Packets that decap gave a network are left alone.
 * Drops, each with its detail:
 *   reserved-mac     the destination MAC
 *   vlan-unmapped    VLAN id; a service tag: 0x88a8 << 16 | VLAN id
 *   untagged-unmapped   the ethertype
 */
void classify(struct lane *lane, struct burst *burst);

/*
 * Which flow rule a packet meets, by its key as received (flow_key.h): sets rule and actions, and
 * counts the packet for the rule. Without rules it does nothing. Drops nothing.
 */
void match(struct lane *lane, struct burst *burst);

/*
 * What the rule says (flow_action.h). A list with one output is carried out on the packet itself:
 * afterwards it has an egress (or EGRESS_FLOOD), or none yet when it is to be switched. For each
 * output but the last of a longer list there is a copy, made when it is its turn; the call fills
 * @copies (reset by it) and returns whether there are any. Call it until it returns false, and
 * change nothing in @burst meanwhile. Copies are of the same kind as what is left in @burst: learn
 * and forward look at those without an egress.
 * A copy for which there is no frame is counted as copied and as dropped (no-frame).
 * Drops, each with its detail:
 *   flow-drop        the rule's id: its list has no output, or none that may be taken
 *   ttl-expired      the TTL or hop limit, 1 or 0
 *   no-frame         the network
 *   too-big          length with another tag << 32 | length: no room in front of the frame
 */
bool act(struct lane *lane, struct burst *burst, struct burst *copies);

/* Packets without an egress. Source MAC unknown or elsewhere: an event to control, at most one in
 * LEARN_REPEAT_NS for one MAC and place. Known here: its age is refreshed. Drops nothing. */
void learn(struct lane *lane, struct burst *burst);

/*
 * Packets without an egress, by their destination MAC: one port, one tunnel, or EGRESS_FLOOD
 * (groups, unknown, or known behind what is no longer in the network).
 * Drops, each with fdb_key() of the destination as detail: same-port (or same tunnel),
 * tunnel-to-tunnel.
 */
void forward(struct lane *lane, struct burst *burst);

/*
 * Flooding. Fills @copies (reset by the call) with copies of the packets of @burst whose egress is
 * EGRESS_FLOOD, one per target but the last, and returns whether there are any; call it until it
 * returns false, and change nothing in @burst meanwhile. The last target takes the packet itself
 * (its egress is set). Never back to the ingress, never from tunnel to tunnel, and a port that is
 * down or shut is no target. A copy for which there is no frame is counted as copied and as dropped
 * (no-frame).
 * Drops, each with the network as detail: no-target, no-frame.
 */
bool replicate(struct lane *lane, struct burst *burst, struct burst *copies);

/*
 * For packets that leave by a port: tags as its map says (retag.c has the rule), unless as_is is
 * set, and its MTU. Before encap, whose underlay ports are none of its business.
 * Drops, each with its detail:
 *   port-down        the egress port
 *   egress-vlan      egress port << 32 | TPID << 16 | TCI that the frame would begin with, or 0
 *   too-big          length << 32 | the longest that would do
 */
void retag(struct lane *lane, struct burst *burst);

/* The hash that chooses the VXLAN source port: the descriptor's where it may be used, else ours, at
 * most one computation a packet and its copies (hash_kind remembers). Fragments: addresses
 * only, so that all of a datagram agree. Non-IP: MACs and ethertype. Counts hash_nic and
 * hash_soft by rx_port: call it once for each source port. */
uint32_t packet_hash(struct lane *lane, struct packet *p);
/* Computes what packet_hash will need, and counts nothing: before a packet is copied. */
void packet_hash_prepare(struct packet *p);

/* Books a dropped packet: adds to its ingress port's cell. tx calls it, once per dropped packet. */
void count_drop(struct lane *lane, const struct packet *p);

#endif

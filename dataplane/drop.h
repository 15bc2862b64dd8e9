/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every way a packet can die. One list: the name that users see, and one sentence that says what
 * happened. A stage marks a packet with drop_packet(); only tx lets go of the frame.
 *
 * The order is the order in which a packet meets them.
 */
#ifndef DATAPLANE_DROP_H
#define DATAPLANE_DROP_H

#include <stdint.h>

/* clang-format off */
#define DROP_REASONS(X) \
	X(RUNT,           "runt",             "shorter than an Ethernet header") \
	X(BAD_SOURCE,     "bad-source",       "the source MAC is a group address or zero") \
	X(RESERVED,       "reserved-mac",     "an 802.1D reserved address that is never forwarded") \
	X(PORT_SHUT,      "port-shut",        "the port is disabled in the configuration or by command") \
	X(OUTER_BAD,      "outer-bad",        "the outer IP or UDP header is malformed or its checksum is wrong") \
	X(NOT_VXLAN,      "not-vxlan",        "on an underlay device, but not VXLAN to one of our addresses") \
	X(VTEP_LOCAL,     "vtep-not-ours",    "the outer destination is not one of our VTEP addresses") \
	X(VXLAN_SHORT,    "vxlan-truncated",  "the frame ends inside the UDP or VXLAN header, or before the length that it claims") \
	X(VXLAN_FLAGS,    "vxlan-no-vni",     "the VXLAN header has no valid VNI: its I flag is clear") \
	X(VNI_UNKNOWN,    "vni-unknown",      "no network has this VNI") \
	X(VTEP_REMOTE,    "vtep-unknown",     "the outer source is not a remote VTEP of this network") \
	X(ECN,            "ecn-illegal",      "congestion was marked outside, but the inner packet is not ECN-capable (RFC 6040)") \
	X(INNER_SHORT,    "inner-runt",       "the inner frame is shorter than an Ethernet header") \
	X(VLAN_UNMAPPED,  "vlan-unmapped",    "the port maps this VLAN to no network") \
	X(UNTAGGED,       "untagged-unmapped", "the port has no network for untagged frames") \
	X(FLOW,           "flow-drop",        "a flow rule says drop, or none of its outputs may be taken") \
	X(TTL,            "ttl-expired",      "a flow rule's dec_ttl met a TTL or hop limit of 1 or 0") \
	X(SAME_PORT,      "same-port",        "the destination is behind the port that the frame came from") \
	X(SPLIT_HORIZON,  "tunnel-to-tunnel", "from one tunnel to another: never forwarded") \
	X(NO_TARGET,      "no-target",        "nothing to flood to: no other port or tunnel in this network") \
	X(NO_FRAME,       "no-frame",         "no free frame for a copy of the packet") \
	X(EGRESS_TAG,     "egress-vlan",      "the egress port cannot carry this tag without it changing network") \
	X(PORT_DOWN,      "port-down",        "the egress port has no link, is disabled or is gone") \
	X(NO_ROUTE,       "no-route",         "the kernel has no route to the remote VTEP over an underlay device") \
	X(NO_NEIGHBOUR,   "no-neighbour",     "the next hop to the remote VTEP does not answer") \
	X(TOO_BIG,        "too-big",          "longer than the MTU of the egress port or tunnel") \
	X(TX_FULL,        "tx-full",          "the transmit ring of the egress port is full")
/* clang-format on */

enum drop_reason {
	DROP_NONE,
#define X(id, name, sentence) DROP_##id,
	DROP_REASONS(X)
#undef X
		DROP_REASON_COUNT
};

/* What users see; "none" for DROP_NONE. */
const char *drop_name(enum drop_reason reason);
const char *drop_sentence(enum drop_reason reason);

/* One cell per worker, ingress port and reason. */
struct drop_cell {
	/* worker writes, control reads */
	uint64_t packets;
	uint64_t last_ns;	/* clock_ns() of the newest */
	uint64_t detail;	/* of the newest: what `culvert drops` explains for the reason */
};

#endif

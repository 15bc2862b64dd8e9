/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet on its way through the stages, and the burst that it travels in.
 *
 * Invariants: data points into a frame of the lane's pool (pool.h); the frame belongs to this
 * packet alone until tx. No stage frees: it sets drop, and every later stage skips the packet.
 * rx_port never changes: the books are kept by it. Offsets count from data and are valid after
 * parse; whoever moves data keeps them right.
 * Threads: a burst is one worker's.
 */
#ifndef DATAPLANE_PACKET_H
#define DATAPLANE_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/drop.h"
#include "lib/bits.h"

#define BURST_MAX 64

#define ETH_BYTES 14
#define VLAN_BYTES 4

/*
 * Where a packet comes from and goes to: one number space. Below PORT_MAX: a port's index. From
 * EGRESS_TUNNEL0: a remote VTEP. The data plane knows no more about tunnels than this.
 */
#define PORT_MAX 256
#define TUNNEL_MAX 4096
#define EGRESS_TUNNEL0 PORT_MAX
#define EGRESS_MAX (PORT_MAX + TUNNEL_MAX)
#define EGRESS_FLOOD 0xfffe
#define EGRESS_NONE 0xffff

static inline bool egress_is_tunnel(uint16_t egress)
{
	return egress >= EGRESS_TUNNEL0 && egress < EGRESS_MAX;
}

/* Networks are numbered from 1. */
#define NETWORK_NONE 0
#define NETWORK_MAX 65536

/* What stands where the outermost VLAN tag would be. */
enum packet_tag {
	TAG_NONE,	/* untagged, or what tags there are belong to the network (QinQ) */
	TAG_FRAME,	/* the port's own 802.1Q tag, in the frame at offset 12; tci is its copy */
	TAG_STRIPPED,	/* the port's own tag, taken out by the driver or by classify: tci */
};

/* What is known of hash. Only the last two may choose a source port. */
enum packet_hash {
	HASH_NONE,
	HASH_NIC_L3,	/* the descriptor's, of addresses only */
	HASH_NIC_L4,	/* the descriptor's, of addresses and ports */
	HASH_SOFT,	/* ours: packet_hash() computed it */
};

enum packet_flags {
	PKT_IPV4 = 1 << 0,
	PKT_IPV6 = 1 << 1,
	PKT_FRAGMENT = 1 << 2,	/* any fragment, the first one too; not one that is all there is */
	PKT_L4 = 1 << 3,	/* TCP, UDP or SCTP, no fragment, both ports inside the frame */
	PKT_L3_BAD = 1 << 4,	/* says IP, but is malformed: switched as non-IP */
	PKT_GROUP = 1 << 5,	/* the destination MAC is broadcast or multicast */
	PKT_COPY = 1 << 6,	/* made by replicate or act, not received */
	PKT_LATER = 1 << 7,	/* a fragment that is not the first: no transport header in it */
};

struct packet {
	uint8_t *data;		/* first byte of the Ethernet header */
	uint16_t len;		/* bytes from data, without FCS */
	uint16_t rx_port;	/* the port the frame was received on */
	uint16_t ingress;	/* rx_port, or the tunnel's egress id after decap */
	uint16_t network;	/* set by classify or decap */
	uint16_t egress;	/* set by act or forward; EGRESS_NONE before */
	uint16_t ethertype;	/* behind all tags that parse understood, host order */
	uint16_t l3;		/* offset of the IP header */
	uint16_t l4;		/* IPV4 or IPV6 and not LATER: offset of the header of ip_proto; how
				 * much of it is there, only PKT_L4 says */
	uint16_t tci;		/* of the port's own tag: PCP, DEI, VID; host order */
	uint8_t tag;		/* enum packet_tag */
	uint8_t drop;		/* enum drop_reason */
	uint8_t flags;		/* enum packet_flags */
	uint8_t hash_kind;	/* enum packet_hash */
	uint8_t ip_proto;	/* when IPV4 or IPV6: the last header's number */
	uint8_t l3_tos;		/* when IPV4 or IPV6: TOS or traffic class */
	uint32_t hash;		/* see hash_kind */
	uint32_t rule;		/* set by match: the flow rule's id (flow_table.h); 0: none */
	uint32_t actions;	/* set by match: its list (flow_action.h); 0: normal */
	uint32_t vni;		/* set by act: for an output to a tunnel; 0: the network's */
	bool as_is;		/* set by act: output by a rule, leaves with the tags that it has */
	uint8_t tap;		/* set by taps: 1 + its place in the burst; 0: none saw it */
	bool no_frame;		/* set by copy_packet: a copy of it found none */
	uint8_t outer;		/* set by encap: bytes of the outer headers; 0: not encapsulated */
	uint16_t tunnel;	/* set by encap, when outer is: the tunnel that it goes by */
	union {
		uint64_t detail;	/* with drop: for the reason's row in `culvert drops` */
		uint64_t rx_time_ns;	/* without: by the NIC's clock; 0: it did not say */
	};
};
_Static_assert(sizeof(struct packet) <= CACHE_LINE, "a packet is at most one cache line");

struct burst {
	uint32_t n;
	struct packet packet[BURST_MAX] cache_aligned;
};

#define VID_OF(tci) ((uint16_t)((tci) & 0x0fff))

/* Marks @p as dead. The first reason stays. */
static inline void drop_packet(struct packet *p, enum drop_reason reason, uint64_t detail)
{
	if (p->drop)
		return;
	p->drop = (uint8_t)reason;
	p->detail = detail;
}

#endif

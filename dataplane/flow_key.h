/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a flow rule can look at, as 20 words: the key of a packet, and the key and mask of a rule.
 *
 * A field that a packet does not have is zero. Fields that no packet has together share words: IPv4
 * and ARP addresses lie in the first words of the IPv6 ones, ARP's hardware addresses in those of
 * nd_target. That is sound because a match on them always comes with the exact ethertype (and
 * protocol) that it needs; whoever builds a match sees to that (rules/).
 *
 * Invariants: no padding, all bytes are defined; in a rule key & ~mask is zero. Addresses and MACs
 * are in network order byte by byte, all other numbers in host order.
 * Threads: values.
 */
#ifndef DATAPLANE_FLOW_KEY_H
#define DATAPLANE_FLOW_KEY_H

#include <stdint.h>

#include "dataplane/packet.h"

struct lane;

/* vlan_tci: the tag is there. The place of the DEI bit, as in Open vSwitch. */
#define FLOW_TCI_PRESENT 0x1000

/* nw_frag, as in Open vSwitch: 0 no fragment, 1 the first one, 3 a later one. */
#define FLOW_FRAG_ANY 1
#define FLOW_FRAG_LATER 2

struct flow_key {
	/* A five-tuple of IPv4 is words 0, 3, 4 and 8. */
	uint16_t dl_type;	/* behind all tags; 0x5ff: a length */
	uint8_t nw_proto;	/* ARP: the opcode; IPv6: 44 in fragments but the first */
	uint8_t nw_tos;		/* DSCP and ECN; also the traffic class */
	uint16_t in_port;	/* egress id of the ingress: a port or a tunnel */
	uint16_t vlan_tci;	/* the outermost tag's, FLOW_TCI_PRESENT set; 0: no tag */
	uint32_t tun_id;	/* VNI; 0: did not come by a tunnel */
	uint16_t tp_src;	/* also ICMP's type */
	uint16_t tp_dst;	/* also ICMP's code */
	uint8_t src[16];	/* nw_src, arp_spa: the first four bytes; ipv6_src */
	uint8_t dst[16];	/* nw_dst, arp_tpa: the first four bytes; ipv6_dst */
	uint16_t tcp_flags;	/* 12 bits */
	uint8_t nw_frag;
	uint8_t nw_ttl;
	uint8_t dl_dst[6];
	uint8_t dl_src[6];
	union {
		uint8_t nd_target[16];
		struct {
			uint8_t arp_sha[6];
			uint8_t arp_tha[6];
			uint8_t arp_zero[4];
		};
	};
};

#define FLOW_KEY_WORDS 20
_Static_assert(sizeof(struct flow_key) == FLOW_KEY_WORDS * 4, "no padding");

/* The key of @p, which has a network and is not dropped. Reads the frame within its bounds: what is
 * malformed or cut off leaves its fields zero. A first fragment has its ports, a later one has
 * none. */
void flow_key_of(const struct lane *lane, const struct packet *p, struct flow_key *key);

#endif

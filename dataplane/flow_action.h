/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a flow rule does with a packet: a list, carried out in order. An empty list drops.
 *
 * Lists are shared: rules with the same list have the same id (flow_table.h). Id 0 is the list
 * "normal" alone, which is also what happens without a rule; id 1 is the empty list.
 * Threads: immutable once published.
 */
#ifndef DATAPLANE_FLOW_ACTION_H
#define DATAPLANE_FLOW_ACTION_H

#include <stdint.h>

#include "dataplane/packet.h"

enum flow_action_type {
	/* outputs: the packet as it is at this point of the list */
	FLOW_NORMAL,		/* to the stages that follow: learn, forward, ... */
	FLOW_FLOOD,		/* to all of the network but the ingress */
	FLOW_ALL,		/* the same here: there are no ports that opted out of flooding */
	FLOW_IN_PORT,		/* back to where it came from */
	FLOW_OUTPUT,		/* arg: egress id; does nothing to where the packet came from
				 * (OpenFlow), and to an underlay port, which sends only VXLAN */
	/* changes of the frame */
	FLOW_PUSH_VLAN,		/* arg: TPID; a tag without VLAN and priority, as in Open vSwitch */
	FLOW_POP_VLAN,		/* the outermost tag, if there is one */
	FLOW_SET_VLAN_VID,	/* arg: VLAN id; adds a tag if there is none (mod_vlan_vid) */
	FLOW_SET_VLAN_PCP,	/* arg: 0..7; adds a priority tag if there is none */
	FLOW_SET_TUNNEL,	/* value[0]: VNI of outputs to tunnels that follow */
	FLOW_DEC_TTL,		/* IPv4 TTL, IPv6 hop limit; at 1 or 0 the list ends: ttl-expired */
	FLOW_SET_DL_SRC,	/* value: bytes */
	FLOW_SET_DL_DST,
	/* the rest does nothing to a packet that has no such field; checksums are kept right */
	FLOW_SET_NW_SRC,	/* value: 4 bytes */
	FLOW_SET_NW_DST,
	FLOW_SET_IPV6_SRC,	/* value: 16 bytes */
	FLOW_SET_IPV6_DST,
	FLOW_SET_NW_DSCP,	/* arg: 0..63 */
	FLOW_SET_NW_ECN,	/* arg: 0..3 */
	FLOW_SET_NW_TTL,	/* arg: 0..255 */
	FLOW_SET_TP_SRC,	/* arg: port, of TCP, UDP or SCTP, whichever it is */
	FLOW_SET_TP_DST,
	FLOW_SET_ICMP_TYPE,	/* arg; ICMP or ICMPv6, whichever it is */
	FLOW_SET_ICMP_CODE,
	FLOW_SET_ARP_OP,	/* arg */
	FLOW_SET_ARP_SPA,	/* value: 4 bytes */
	FLOW_SET_ARP_TPA,
	FLOW_SET_ARP_SHA,	/* value: 6 bytes */
	FLOW_SET_ARP_THA,
	FLOW_SET_ND_TARGET,	/* value: 16 bytes, of neighbour solicitation or advertisement */
	FLOW_ACTION_TYPES
};

static inline int flow_action_is_output(uint16_t type)
{
	return type <= FLOW_OUTPUT;
}

/* All bytes are defined, unused ones zero: lists are compared with memcmp. */
struct flow_action {
	uint16_t type;		/* enum flow_action_type */
	uint16_t arg;
	union {
		uint32_t value[4];	/* host order where it is a number */
		uint8_t byte[16];	/* network order where it is an address */
	};
};
_Static_assert(sizeof(struct flow_action) == 20, "no padding");

#define FLOW_ACTIONS_MAX 64	/* of a list */

#define FLOW_LIST_NORMAL 0
#define FLOW_LIST_DROP 1

/* A published list. */
struct flow_actions {
	uint32_t n;
	struct flow_action action[];
};

#endif

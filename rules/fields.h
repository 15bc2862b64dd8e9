/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may stand in front of the actions: the fields of a packet, and what else says something of a
 * rule. One table; docs/flows.md is its manual.
 *
 * Threads: no state; a draft is its caller's.
 */
#ifndef RULES_FIELDS_H
#define RULES_FIELDS_H

#include "rules/rules.h"
#include "rules/scan.h"

enum field_id {
	/* of a packet */
	FIELD_IN_PORT,
	FIELD_TUN_ID,
	FIELD_DL_SRC,
	FIELD_DL_DST,
	FIELD_DL_TYPE,
	FIELD_DL_VLAN,
	FIELD_DL_VLAN_PCP,
	FIELD_VLAN_TCI,
	FIELD_VLAN_VID,
	FIELD_NW_SRC,
	FIELD_NW_DST,
	FIELD_IPV6_SRC,
	FIELD_IPV6_DST,
	FIELD_NW_PROTO,
	FIELD_NW_TOS,
	FIELD_IP_DSCP,
	FIELD_NW_ECN,
	FIELD_NW_TTL,
	FIELD_NW_FRAG,
	FIELD_TP_SRC,
	FIELD_TP_DST,
	FIELD_TCP_SRC,
	FIELD_TCP_DST,
	FIELD_UDP_SRC,
	FIELD_UDP_DST,
	FIELD_SCTP_SRC,
	FIELD_SCTP_DST,
	FIELD_TCP_FLAGS,
	FIELD_ICMP_TYPE,
	FIELD_ICMP_CODE,
	FIELD_ICMPV6_TYPE,
	FIELD_ICMPV6_CODE,
	FIELD_ND_TARGET,
	FIELD_ARP_OP,
	FIELD_ARP_SPA,
	FIELD_ARP_TPA,
	FIELD_ARP_SHA,
	FIELD_ARP_THA,
	/* an ethertype and perhaps a protocol, in one word */
	FIELD_IP,
	FIELD_IPV6,
	FIELD_ARP,
	FIELD_RARP,
	FIELD_ICMP,
	FIELD_TCP,
	FIELD_UDP,
	FIELD_SCTP,
	FIELD_ICMP6,
	FIELD_TCP6,
	FIELD_UDP6,
	FIELD_SCTP6,
	FIELD_MPLS,
	FIELD_MPLSM,
	/* of the rule */
	FIELD_PRIORITY,
	FIELD_COOKIE,
	FIELD_IDLE_TIMEOUT,
	FIELD_HARD_TIMEOUT,
	FIELD_TABLE,
	FIELD_COUNTER,	/* duration, n_packets, ...: with a value, read over */
	FIELD_FLAG,	/* reset_counts, ...: a word, read over */
	FIELD_ACTIONS,	/* the match ends here */
	FIELDS
};
_Static_assert(FIELDS <= 64, "sets of fields are words");

/* What a field needs beside it, bit by bit. */
enum field_need {
	NEED_IPV4 = 1 << 0,
	NEED_IPV6 = 1 << 1,
	NEED_ARP = 1 << 2,	/* or RARP */
	NEED_TCP = 1 << 3,	/* over either IP, and so are the next three */
	NEED_UDP = 1 << 4,
	NEED_SCTP = 1 << 5,
	NEED_ICMP = 1 << 6,
	NEED_ICMP6 = 1 << 7,
	NEED_ND = 1 << 8,	/* neighbour solicitation or advertisement */
	NEED_TAG = 1 << 9,
};

/* A rule while it is read. */
struct draft {
	struct scan scan;
	const struct rules_ports *ports;
	struct flow_spec *spec;
	struct rules_selector *selector;	/* NULL: a rule */
	uint64_t seen;		/* bit i: field i, */
	const char *where[FIELDS];	/* and here */
	uint32_t given;		/* enum field_need, for the actions */
};

struct field {
	const char *name;	/* as it is printed */
	/* Reads what is behind the name; false with the error filled in. */
	bool (*read)(struct draft *d, const struct field *f);
	uint8_t offset;		/* in struct flow_key */
	uint8_t bytes;
	uint8_t bits;		/* of a number, */
	uint8_t shift;		/* above this one */
	bool masks;		/* VALUE/MASK is allowed */
	uint8_t set;		/* enum flow_action_type; 0: cannot be set */
	uint16_t needs;		/* enum field_need, one of them; 0: nothing */
	uint16_t also;		/* one of these will do for a match */
	uint16_t plus;		/* bits that are set beside a number */
	uint16_t dl_type;	/* of one word */
	uint8_t nw_proto;
};

extern const struct field fields[FIELDS];

static inline enum field_id field_id(const struct field *f)
{
	return (enum field_id)(f - fields);
}

/* What the match of @spec gives to others, enum field_need. */
uint32_t field_given(const struct flow_spec *spec);
/* "tcp or udp" */
void field_needs_text(uint32_t needs, char *text, size_t bytes);

#endif

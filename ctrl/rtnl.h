/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtnetlink messages: what culvert reads from them and what it asks for.
 *
 * Pure: messages in, structs out. A message that is too short, or has an attribute that is, is
 * refused whole; one of another family or type is too.
 * Threads: any.
 */
#ifndef CTRL_RTNL_H
#define CTRL_RTNL_H

#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

struct rtnl_link {
	bool gone;		/* RTM_DELLINK */
	bool running;		/* can carry traffic */
	bool has_mac;
	bool peer_elsewhere;	/* the other end is in another network namespace */
	int ifindex;
	int peer_ifindex;	/* of a veth's other end; 0: unknown */
	uint32_t mtu;
	char name[IFNAMSIZ];
	struct mac mac;
};

struct rtnl_route {
	bool gone;		/* RTM_DELROUTE */
	uint8_t type;		/* RTN_* */
	uint8_t dst_bits;	/* of the 128-bit form of dst */
	int oif;		/* 0: not said */
	uint32_t mtu;		/* 0: the device's */
	struct ip dst;
	struct ip gateway;	/* none: on link */
};

struct rtnl_neigh {
	bool gone;		/* RTM_DELNEIGH */
	bool has_mac;
	uint16_t state;		/* NUD_* */
	int ifindex;
	struct ip address;
	struct mac mac;
};

bool rtnl_parse_link(const struct nlmsghdr *m, struct rtnl_link *link);
bool rtnl_parse_route(const struct nlmsghdr *m, struct rtnl_route *route);
bool rtnl_parse_neigh(const struct nlmsghdr *m, struct rtnl_neigh *neigh);

/* Whether a packet may be sent to a neighbour in @state without asking first. */
static inline bool rtnl_neigh_usable(uint16_t state)
{
	return state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT |
			NUD_NOARP);
}

/* Whether the first @bits of @a and @b are the same. */
bool rtnl_prefix_covers(const struct ip *a, uint8_t bits, const struct ip *b);

/* Requests, written to @buffer of RTNL_REQUEST_BYTES, 4-aligned. The sequence number is the
 * sender's. */
#define RTNL_REQUEST_BYTES 128

void rtnl_get_links(void *buffer);
/* Which way a packet from @src (none: not said) to @dst would go: the route that won, not the
 * table's entry. */
void rtnl_get_route(void *buffer, const struct ip *dst, const struct ip *src);
void rtnl_get_neigh(void *buffer, int ifindex, const struct ip *address);
/* Makes the kernel resolve @address. @managed: and keep it resolved until told otherwise (5.16). */
void rtnl_use_neigh(void *buffer, int ifindex, const struct ip *address, bool managed);

#endif

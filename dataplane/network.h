/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Networks (L2 segments) and the ports' maps into them, as the workers see them.
 *
 * Invariants: every struct here is immutable once published; control builds a new one and swaps the
 * pointer (rcu_assign_pointer), the old one is freed after a grace period.
 * A port carries a network at most once: untagged, with one VLAN id, or as its `rest`.
 * Threads: control publishes; workers read under RCU.
 */
#ifndef DATAPLANE_NETWORK_H
#define DATAPLANE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/packet.h"

/* Whom an unknown destination, a broadcast or a multicast goes to. */
struct flood_list {
	uint32_t n;
	uint16_t egress[];	/* ports first, then tunnels; no duplicates */
};

/* Which remote VTEPs belong to a network: its replication list and its static entries. Networks
 * with the same list share one set. */
struct tunnel_set {
	uint64_t bits[TUNNEL_MAX / 64];
};

static inline bool tunnel_set_has(const struct tunnel_set *set, uint16_t egress)
{
	unsigned int i = egress - EGRESS_TUNNEL0;

	return set && (set->bits[i / 64] >> (i % 64) & 1);
}

enum network_learn {
	LEARN_ALL,
	LEARN_LOCAL,	/* from ports; MACs behind tunnels only as given */
	LEARN_OFF,
};

struct network {
	uint16_t id;
	uint8_t learn;		/* enum network_learn */
	uint32_t vni;		/* 0: local only */
	const struct tunnel_set *tunnels; /* NULL: none */
	const struct flood_list *flood;	/* never NULL */
};

/* vid_of_network: how a network leaves by this port. Real VLAN ids are 1..4094. */
#define VID_UNTAGGED 0
#define VID_REST 0xfffe		/* with the tags that the frame has, none added */
#define VID_NONE 0xffff		/* not at all */

/* A port as the stages see it. */
struct port_view {
	bool up;		/* can send */
	bool underlay;		/* carries VXLAN and nothing else to us */
	bool shut;		/* disabled: all that still comes in is dropped */
	uint16_t frame_max;	/* longest frame, Ethernet header and tag included, bytes */
	uint16_t untagged;	/* of untagged and priority-tagged frames, or NETWORK_NONE */
	uint16_t rest;		/* network of VLANs not named, or NETWORK_NONE */
	uint16_t *network_of_vid;	/* [1..4094] of 4096; NULL when nothing is tagged here */
	uint16_t *vid_of_network;	/* NETWORK_MAX entries or fewer, see n_networks */
	uint32_t n_networks;	/* entries of vid_of_network; ids from here on are VID_NONE */
};

/* The network that @port's map names for VLAN @vid (1..4095), or NETWORK_NONE: `rest`, if there is
 * one. */
static inline uint16_t port_view_named(const struct port_view *port, uint16_t vid)
{
	return port->network_of_vid ? port->network_of_vid[vid] : NETWORK_NONE;
}

/* How @network leaves by @port: a VLAN id, VID_UNTAGGED, VID_REST or VID_NONE. */
static inline uint16_t port_view_vid(const struct port_view *port, uint16_t network)
{
	return network < port->n_networks ? port->vid_of_network[network] : VID_NONE;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way to every remote VTEP, as the kernel knows it: route, next hop, its MAC address.
 *
 * For each tunnel the kernel is asked which way a packet from our VTEP address would go; the answer
 * has to leave by an underlay device of ours. The next hop's neighbour entry is created managed
 * (the kernel keeps it fresh although it never sees our traffic), or used again and again where a
 * kernel cannot do that. Multicast events mark what they may have changed; marked work is done one
 * request at a time, so that a storm of events costs no more than one more round.
 *
 * Invariants: every tunnel's published path follows from its way and its hop; a hop is shared by
 * the tunnels that go through it and is given up when none does.
 * Threads: control only.
 */
#ifndef CTRL_UNDERLAY_H
#define CTRL_UNDERLAY_H

#include <stdint.h>

#include "ctrl/netlink.h"

struct gateway;
struct underlay;

/* @g has tunnels, all of which are added already. -ENOMEM. */
int underlay_create(struct gateway *g, struct underlay **underlay);
/* Before netlink_destroy: gives the neighbour entries back to the kernel's own judgement. */
void underlay_release(struct underlay *u);
/* After netlink_destroy. Accepts NULL. */
void underlay_destroy(struct underlay *u);

/* Everything is asked again, as soon as possible: a port or an address changed, or events were
 * lost. */
void underlay_refresh(struct underlay *u);

/* A worker found no way for a packet to tunnel @egress. */
void underlay_wanted(struct underlay *u, uint16_t egress);

/* Any message of the groups of netlink.h that is not a link's. */
void underlay_event(struct underlay *u, const struct nlmsghdr *m);

void underlay_every_second(struct underlay *u);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a flow rule changes in a frame.
 *
 * Invariants: a field that the packet does not have is left alone, and so is every byte outside of
 * the frame, and outside of the IP packet in it. Checksums change by what the field changed by: one
 * that was right stays right, a wrong one stays wrong. The packet's offsets, flags and l3_tos
 * follow; its hash stays that of the packet as received.
 * Threads: as for the packet.
 */
#ifndef DATAPLANE_REWRITE_H
#define DATAPLANE_REWRITE_H

#include "dataplane/flow_action.h"

struct pool;

/* Carries out @action, which is not an output. Drops: ttl-expired (the TTL that the packet has);
 * too-big when there is no room for a tag in front of the frame. */
void rewrite(const struct pool *pool, struct packet *p, const struct flow_action *action);

#endif

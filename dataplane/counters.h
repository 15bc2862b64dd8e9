/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one worker counts. Counters only grow and are never cleared; control adds the workers up.
 *
 * The books. Over all ports of a worker:   rx + copied + generated = tx + drops
 * and by the port that a frame came in by:  rx + copied = forwarded + drops
 * Threads: the worker writes, control reads with load_relaxed(); a sum taken while packets move may
 * be a burst apart, a sum taken at rest is exact.
 */
#ifndef DATAPLANE_COUNTERS_H
#define DATAPLANE_COUNTERS_H

#include <stdint.h>

#include "dataplane/drop.h"
#include "dataplane/packet.h"
#include "lib/bits.h"

struct port_counters {
	/* by ingress */
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t copied;	/* copies that flooding and flow rules made of what came in here */
	uint64_t generated;	/* packets of our own in answer to what came in here */
	uint64_t forwarded;	/* packets and copies submitted to some TX ring */
	uint64_t hash_nic;	/* source ports chosen from the descriptor's hash */
	uint64_t hash_soft;	/* ... from a hash computed in software */
	/* by egress */
	uint64_t tx_packets;	/* submitted to this port's TX ring */
	uint64_t tx_bytes;
	uint64_t tx_full;	/* the part of drops that this port's full TX ring caused */
	/* by ingress and reason */
	struct drop_cell drop[DROP_REASON_COUNT];
} cache_aligned;

struct tunnel_counters {
	uint64_t rx_packets;	/* decapsulated from this VTEP, inner frames */
	uint64_t rx_bytes;
	uint64_t tx_packets;	/* encapsulated to it, inner frames */
	uint64_t tx_bytes;
	uint64_t lost;		/* meant for it and dropped: no route, no neighbour, too big */
};

struct counters {
	struct port_counters port[PORT_MAX];
	struct tunnel_counters tunnel[TUNNEL_MAX];
	uint64_t learn_overflow;	/* learn events that found the ring to control full */
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lane: one worker's view of tables, frames and counters. It has no sockets and makes no system
 * call, so tests and fuzzers run the real stages on memory.
 *
 * A stage is void stage(struct lane *, struct burst *): one plain loop over the burst that skips
 * packets already marked as dropped. afxdp/pipeline.c calls them in order.
 *
 * Threads: a lane is one worker's; struct tables is shared, control writes its pointers under RCU.
 */
#ifndef DATAPLANE_LANE_H
#define DATAPLANE_LANE_H

#include <stdint.h>

#include "dataplane/counters.h"
#include "dataplane/fdb.h"
#include "dataplane/network.h"
#include "dataplane/packet.h"
#include "dataplane/pool.h"
#include "lib/bits.h"
#include "lib/spsc.h"

_Static_assert(BURST_MAX <= FDB_BURST, "a burst is looked up at once");

struct tunnels;			/* tunnels/tunnel.h; opaque to the data plane */
struct flow_table;		/* flow_table.h */
struct flow_cache;		/* flow_cache.h */
struct flow_cell;
struct tap_set;			/* capture/tap.h; opaque to the data plane */

/* Everything that is shared between control and the workers. */
struct tables {
	/* control publishes, workers read with rcu_dereference */
	struct port_view *port[PORT_MAX];
	struct network *network[NETWORK_MAX];
	struct fdb *fdb;	/* set once; it swaps its own memory */
	struct tunnels *tunnels;	/* set once, or NULL without tunnels */
	struct flow_table *flows;	/* set once, or NULL: no flow rules at all (tests) */
	const struct tap_set *taps;	/* NULL: no captures */
};

/* What a worker tells control. */
struct learn_event {
	uint64_t key;		/* fdb_key() */
	uint16_t egress;	/* where it was seen: a port or a tunnel */
	uint16_t unused;
	uint32_t seen_s;
};

/* The newest events, so that a burst of one flow tells control once and not 64 times. */
#define LEARN_FILTER_SLOTS 256
#define LEARN_REPEAT_NS (20 * 1000000ull)

struct learn_filter {
	struct {
		uint64_t key;
		uint64_t sent_ns;
		uint64_t egress;
	} slot[LEARN_FILTER_SLOTS];
};

struct lane {
	uint32_t index;		/* the worker's */
	struct tables *tables;
	const struct tap_set *taps;	/* tables->taps as it was at the beginning of the burst */
	struct pool *pool;
	struct counters *counters;
	struct spsc *learn_events;	/* of struct learn_event; control pops */
	struct spsc *resolve_events;	/* of uint16_t: id of a tunnel that had no next hop */
	struct flow_cache *flow_cache;	/* not NULL when tables->flows is not */
	struct flow_cell *flow_cells;	/* this worker's, of tables->flows */
	uint64_t now_ns;	/* refreshed once a loop */
	uint32_t now_s;
	/* where act stopped; zero between two bursts */
	uint32_t act_packet;
	uint32_t act_action;
	/* where replicate stopped; zero between two bursts */
	uint32_t flood_packet;
	uint32_t flood_target;
	const struct flood_list *flood_list;
	struct learn_filter learn_filter;
};

#endif

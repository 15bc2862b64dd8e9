/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lane on memory, with whatever ports, networks and flow rules a test gives it.
 */
#ifndef TESTS_UNIT_LANE_H
#define TESTS_UNIT_LANE_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/flow_cache.h"
#include "dataplane/stages.h"
#include "dataplane/vlan.h"

struct bed {
	struct tables tables;
	struct pool pool;
	struct spsc learn_events;
	struct lane lane;
	struct counters *counters;
	uint8_t *area;
	struct burst burst;
	struct burst copies;
};

static inline struct bed *bed_create(uint32_t n_frames)
{
	struct bed *bed = aligned_alloc(CACHE_LINE, (sizeof(*bed) + 63) / 64 * 64);

	assert(bed);
	memset(bed, 0, sizeof(*bed));
	bed->counters = aligned_alloc(CACHE_LINE, (sizeof(*bed->counters) + 63) / 64 * 64);
	bed->area = aligned_alloc(FRAME_BYTES, (size_t)n_frames * FRAME_BYTES);
	assert(bed->counters && bed->area);
	memset(bed->counters, 0, sizeof(*bed->counters));
	assert(pool_init(&bed->pool, bed->area, n_frames) == 0);
	assert(spsc_init(&bed->learn_events, 64, sizeof(struct learn_event)) == 0);
	bed->tables.fdb = fdb_create(64);
	assert(bed->tables.fdb);
	bed->lane.tables = &bed->tables;
	bed->lane.pool = &bed->pool;
	bed->lane.counters = bed->counters;
	bed->lane.learn_events = &bed->learn_events;
	bed->lane.now_ns = 1000000000000ull;
	bed->lane.now_s = 1000;
	return bed;
}

static inline struct port_view *bed_port(struct bed *bed, uint16_t port)
{
	struct port_view *view = bed->tables.port[port];

	if (view)
		return view;
	view = calloc(1, sizeof(*view));
	assert(view);
	view->up = true;
	view->frame_max = 4000;
	view->n_networks = 64;
	view->vid_of_network = malloc(view->n_networks * sizeof(uint16_t));
	assert(view->vid_of_network);
	memset(view->vid_of_network, 0xff, view->n_networks * sizeof(uint16_t));
	bed->tables.port[port] = view;
	return view;
}

static inline void bed_untagged(struct bed *bed, uint16_t port, uint16_t network)
{
	struct port_view *view = bed_port(bed, port);

	view->untagged = network;
	view->vid_of_network[network] = VID_UNTAGGED;
}

static inline void bed_tagged(struct bed *bed, uint16_t port, uint16_t vid, uint16_t network)
{
	struct port_view *view = bed_port(bed, port);

	if (!view->network_of_vid)
		view->network_of_vid = calloc(4096, sizeof(uint16_t));
	assert(view->network_of_vid);
	view->network_of_vid[vid] = network;
	view->vid_of_network[network] = vid;
}

static inline void bed_rest(struct bed *bed, uint16_t port, uint16_t network)
{
	struct port_view *view = bed_port(bed, port);

	view->rest = network;
	view->vid_of_network[network] = VID_REST;
}

static inline void bed_port_gone(struct bed *bed, uint16_t port)
{
	struct port_view *view = bed->tables.port[port];

	if (!view)
		return;
	free(view->network_of_vid);
	free(view->vid_of_network);
	free(view);
	bed->tables.port[port] = NULL;
}

static inline void bed_network(struct bed *bed, uint16_t id, const uint16_t *egress, uint32_t n)
{
	struct network *network = calloc(1, sizeof(*network));
	struct flood_list *flood = malloc(sizeof(*flood) + n * sizeof(*egress));

	assert(network && flood && !bed->tables.network[id]);
	flood->n = n;
	if (n)
		memcpy(flood->egress, egress, n * sizeof(*egress));
	network->id = id;
	network->flood = flood;
	bed->tables.network[id] = network;
}

/* A table of flow rules, for a test that is a registered QSBR thread. */
static inline struct flow_table *bed_flows(struct bed *bed)
{
	bed->tables.flows = flow_table_create(1);
	bed->lane.flow_cache = flow_cache_create();
	assert(bed->tables.flows && bed->lane.flow_cache);
	bed->lane.flow_cells = flow_table_cells(bed->tables.flows, 0);
	return bed->tables.flows;
}

/* A received frame, as rx leaves it. */
static inline struct packet *bed_receive(struct bed *bed, uint16_t port, const void *frame,
					 uint16_t len)
{
	uint32_t index = pool_take(&bed->pool);
	struct packet *p = &bed->burst.packet[bed->burst.n++];

	assert(index != FRAME_NONE && bed->burst.n <= BURST_MAX);
	memset(p, 0, sizeof(*p));
	p->data = pool_data(&bed->pool, index);
	p->len = len;
	p->rx_port = port;
	p->ingress = port;
	p->egress = EGRESS_NONE;
	memcpy(p->data, frame, len);
	counter_add(&bed->counters->port[port].rx_packets, 1);
	return p;
}

/* What tx does: every frame goes home, every packet into the books. */
static inline void bed_transmit(struct bed *bed, struct burst *burst)
{
	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (p->drop)
			count_drop(&bed->lane, p);
		else
			counter_add(&bed->counters->port[p->rx_port].forwarded, 1);
		pool_give(&bed->pool, pool_frame_of(&bed->pool, p->data));
	}
	burst->n = 0;
}

static inline uint64_t bed_drops(const struct bed *bed, uint16_t port)
{
	uint64_t sum = 0;

	for (int reason = 0; reason < DROP_REASON_COUNT; reason++)
		sum += bed->counters->port[port].drop[reason].packets;
	return sum;
}

static inline void bed_destroy(struct bed *bed)
{
	for (uint32_t i = 0; i < PORT_MAX; i++)
		bed_port_gone(bed, (uint16_t)i);
	for (uint32_t i = 0; i < NETWORK_MAX; i++) {
		if (!bed->tables.network[i])
			continue;
		free((void *)bed->tables.network[i]->flood);
		free(bed->tables.network[i]);
	}
	flow_cache_destroy(bed->lane.flow_cache);
	flow_table_destroy(bed->tables.flows);
	fdb_destroy(bed->tables.fdb);
	spsc_fini(&bed->learn_events);
	pool_fini(&bed->pool);
	free(bed->area);
	free(bed->counters);
	free(bed);
}

#endif

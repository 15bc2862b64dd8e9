/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/stages.h"

#include "dataplane/flow_cache.h"

/* What is looked up: bit i is packet i. */
struct wanted {
	uint64_t bits;
	uint32_t hash[BURST_MAX];
	struct flow_key key[BURST_MAX];
	struct flow_hit hit[BURST_MAX];
};

static void want(const struct lane *lane, struct burst *burst, struct wanted *w)
{
	w->bits = 0;
	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (p->drop || p->network == NETWORK_NONE)
			continue;
		packet_hash_prepare(p);
		w->hash[i] = p->hash;
		flow_key_of(lane, p, &w->key[i]);
		w->bits |= 1ull << i;
	}
}

/* The cells are on their way into the cache when the last one is known. */
static void take(struct flow_cell *cells, struct burst *burst, const struct wanted *w)
{
	for_each_bit(i, w->bits)
		__builtin_prefetch(&cells[w->hit[i].rule], 1);
	for_each_bit(i, w->bits) {
		struct packet *p = &burst->packet[i];
		const struct flow_hit *hit = &w->hit[i];

		p->rule = hit->rule;
		p->actions = hit->actions;
		if (hit->rule == FLOW_NONE)
			continue;
		counter_add(&cells[hit->rule].packets, 1);
		counter_add(&cells[hit->rule].bytes, p->len);
	}
}

void match(struct lane *lane, struct burst *burst)
{
	const struct flow_table *t = lane->tables->flows;
	struct flow_view view;
	struct wanted w;

	if (!t)
		return;
	flow_table_view(t, &view);
	if (!view.index)
		return;
	want(lane, burst, &w);
	flow_cache_lookup_burst(lane->flow_cache, t, &view, w.key, w.hash, w.bits, w.hit);
	take(lane->flow_cells, burst, &w);
}

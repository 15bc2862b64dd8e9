/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/stages.h"

#include "dataplane/flow_action.h"
#include "dataplane/mac.h"
#include "dataplane/wire.h"
#include "lib/hash.h"
#include "lib/rcu.h"

/* Whether @network wants to know of a MAC at @ingress. Asked only when there is something to tell,
 * so a known MAC costs no look at its network. */
static bool wants(const struct network *network, uint16_t ingress)
{
	if (!network || network->learn == LEARN_OFF)
		return false;
	return network->learn == LEARN_ALL || !egress_is_tunnel(ingress);
}

static void tell(struct lane *lane, uint64_t key, uint16_t ingress)
{
	struct learn_event event = {.key = key, .egress = ingress, .seen_s = lane->now_s};
	uint32_t slot = hash_u64(key, 0) % LEARN_FILTER_SLOTS;

	if (lane->learn_filter.slot[slot].key == key &&
	    lane->learn_filter.slot[slot].egress == ingress &&
	    lane->now_ns - lane->learn_filter.slot[slot].sent_ns < LEARN_REPEAT_NS)
		return;
	if (!spsc_push(lane->learn_events, &event)) {
		counter_add(&lane->counters->learn_overflow, 1);
		return;
	}
	lane->learn_filter.slot[slot].key = key;
	lane->learn_filter.slot[slot].egress = ingress;
	lane->learn_filter.slot[slot].sent_ns = lane->now_ns;
}

/* A rule may have put an address there that sends nothing. */
static bool has_source(const struct packet *p)
{
	return likely(p->actions == FLOW_LIST_NORMAL) || !mac_is_no_source(p->data + DL_SRC);
}

void learn(struct lane *lane, struct burst *burst)
{
	const struct tables *tables = lane->tables;
	uint64_t key[BURST_MAX], settled;
	uint16_t from[BURST_MAX];

	for (uint32_t i = 0; i < burst->n; i++) {
		const struct packet *p = &burst->packet[i];

		key[i] = 0;
		if (!p->drop && p->egress == EGRESS_NONE && has_source(p))
			key[i] = fdb_key_in_frame(p->network, p->data + DL_SRC);
		from[i] = p->ingress;
	}
	settled = fdb_seen_burst(tables->fdb, key, from, burst->n, lane->now_s);
	for (uint32_t i = 0; i < burst->n; i++) {
		const struct packet *p = &burst->packet[i];

		if (likely(settled >> i & 1) || !key[i])
			continue;
		if (wants(rcu_dereference(tables->network[p->network]), p->ingress))
			tell(lane, key[i], p->ingress);
	}
}

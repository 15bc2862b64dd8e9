/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tuple space search for a burst. The packets ask one subtable together: first all their buckets
 * are on the way into the cache, then they are looked at.
 */
#include "dataplane/flow_internal.h"

/* A key, as it is asked for in one subtable. */
struct question {
	struct flow_leaf *leaf;
	uint32_t tag;
};

/* -1 for no rule: below priority 0. */
static int32_t rank_of(const struct flow_hit *hit)
{
	return hit->rule ? (int32_t)hit->priority : -1;
}

/* @head is the first rule of a chain. */
static void take_visible(const struct flow_table *t, uint32_t head, uint32_t version,
			 struct flow_hit *hit)
{
	int32_t rank = rank_of(hit);

	for (uint32_t id = head; id;) {
		const struct flow_rule *rule = flow_rule_at(t, id);

		if ((int32_t)rule->priority <= rank)
			return;
		if (likely(flow_rule_in(rule, version))) {
			*hit = (struct flow_hit){id, load_relaxed(&rule->life), rule->actions,
						 rule->priority};
			return;
		}
		id = load_acquire(&rule->lower);
	}
}

/* Which of @pending have something to find in an entry; those for which nothing follows that could
 * beat what they have are taken out of it. */
static uint64_t who_asks(const struct flow_index_entry *entry, const uint64_t *since,
			 const struct flow_hit *hit, uint64_t *pending)
{
	int32_t beyond = load_relaxed(&entry->beyond);
	uint64_t changed = load_relaxed(&entry->changed), asking = 0;

	for_each_bit(i, *pending) {
		if (rank_of(&hit[i]) >= beyond)
			*pending &= ~(1ull << i);
		else if (changed > since[i])
			asking |= 1ull << i;
	}
	return asking;
}

static void ask(const struct flow_table *t, const struct flow_subtable *sub, uint32_t version,
		const struct flow_key *key, uint64_t asking, struct flow_hit *hit)
{
	struct question q[BURST_MAX];

	for_each_bit(i, asking) {
		q[i].tag = flow_subtable_tag(sub, &key[i], t->subtables.seed);
		q[i].leaf = flow_map_leaf(&sub->map, q[i].tag);
		__builtin_prefetch(&q[i].leaf->bucket[q[i].tag & q[i].leaf->mask]);
	}
	for_each_bit(i, asking) {
		struct flow_wanted wanted = {&t->slots, sub, &key[i]};
		uint32_t head;

		if (flow_leaf_find(q[i].leaf, q[i].tag, flow_is_wanted, &wanted, &head))
			take_visible(t, head, version, &hit[i]);
	}
}

/* Improves each hit by rules that appeared after its generation in @since. */
static void improve(const struct flow_table *t, const struct flow_view *view,
		    const struct flow_key *key, uint64_t pending, const uint64_t *since,
		    struct flow_hit *hit)
{
	const struct flow_index *index = view->index;
	uint32_t n = index ? load_acquire(&index->n) : 0;
	uint64_t oldest = UINT64_MAX;

	for_each_bit(i, pending)
		oldest = min_of(oldest, since[i]);
	for (uint32_t i = 0; i < n && pending; i++) {
		const struct flow_index_entry *entry = &index->entry[i];
		uint64_t asking;

		if (load_relaxed(&entry->changed) <= oldest)
			continue;
		asking = who_asks(entry, since, hit, &pending);
		if (asking)
			ask(t, entry->subtable, view->version, key, asking, hit);
	}
}

/* Whether @hit is still a rule, or still none. */
static bool is_there(const struct flow_table *t, const struct flow_view *view,
		     const struct flow_hit *hit)
{
	const struct flow_rule *rule = flow_rule_at(t, hit->rule);

	if (!hit->rule)
		return true;
	return hit->life && load_acquire(&rule->life) == hit->life &&
	       flow_rule_in(rule, view->version);
}

void flow_table_refresh_burst(const struct flow_table *t, const struct flow_view *view,
			      const uint64_t *generation, const struct flow_key *key,
			      uint64_t wanted, struct flow_hit *hit)
{
	uint64_t changed = view->index ? load_relaxed(&view->index->changed) : 0, pending = 0;
	uint64_t since[BURST_MAX];

	for_each_bit(i, wanted)
		if (hit[i].rule)
			__builtin_prefetch(flow_rule_at(t, hit[i].rule));
	for_each_bit(i, wanted) {
		since[i] = generation[i];
		if (!is_there(t, view, &hit[i])) {
			hit[i] = FLOW_HIT_NONE;
			since[i] = 0;
		}
		if (since[i] < changed)
			pending |= 1ull << i;
	}
	if (pending)
		improve(t, view, key, pending, since, hit);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/flow_internal.h"

#include <string.h>

uint32_t flow_rule_id(const struct flow_table *t, const struct flow_rule *rule)
{
	return (uint32_t)(rule - flow_rule_at(t, 0));
}

uint32_t flow_rule_life(const struct flow_rule *rule)
{
	return rule->life;
}

uint64_t flow_rule_created_ns(const struct flow_rule *rule)
{
	return rule->created_ns;
}

uint64_t flow_rule_cookie(const struct flow_rule *rule)
{
	return rule->cookie;
}

uint16_t flow_rule_priority(const struct flow_rule *rule)
{
	return rule->priority;
}

uint16_t flow_rule_idle_timeout_s(const struct flow_rule *rule)
{
	return rule->idle_timeout_s;
}

uint16_t flow_rule_hard_timeout_s(const struct flow_rule *rule)
{
	return rule->hard_timeout_s;
}

static const struct flow_subtable *subtable_of(const struct flow_table *t,
					       const struct flow_rule *rule)
{
	return t->subtables.by_number[rule->subtable];
}

const struct flow_key *flow_rule_mask(const struct flow_table *t, const struct flow_rule *rule)
{
	return &subtable_of(t, rule)->mask;
}

void flow_rule_key(const struct flow_table *t, const struct flow_rule *rule, struct flow_key *key)
{
	const struct flow_subtable *sub = subtable_of(t, rule);

	memset(key, 0, sizeof(*key));
	for (uint32_t i = 0; i < sub->n_words; i++) {
		uint32_t word = flow_rule_word(rule, i);

		memcpy((uint8_t *)key + sub->word[i] * sizeof(word), &word, sizeof(word));
	}
}

const struct flow_actions *flow_rule_actions(const struct flow_table *t,
					     const struct flow_rule *rule)
{
	return flow_table_actions(t, rule->actions);
}

bool flow_rule_within(const struct flow_table *t, const struct flow_rule *rule,
		      const struct flow_spec *match)
{
	const struct flow_key *mask = flow_rule_mask(t, rule);
	struct flow_key key;

	flow_rule_key(t, rule, &key);
	for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++) {
		uint32_t care = flow_key_word(&match->mask, i);

		if (care & ~flow_key_word(mask, i) ||
		    (flow_key_word(&key, i) & care) != flow_key_word(&match->key, i))
			return false;
	}
	return true;
}

void flow_rule_stats(const struct flow_table *t, const struct flow_rule *rule,
		     struct flow_stats *stats)
{
	uint32_t id = flow_rule_id(t, rule);

	*stats = (struct flow_stats){0};
	for (uint32_t i = 0; i < t->slots.n_workers; i++) {
		const struct flow_cell *cell = &flow_slots_cells(&t->slots, i)[id];

		stats->packets += load_relaxed(&cell->packets);
		stats->bytes += load_relaxed(&cell->bytes);
	}
}

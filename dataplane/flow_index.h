/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subtables of the flow table, one for each different mask: a map from masked keys to rules.
 *
 * Rules with the same match and different priorities are one entry of the map: the highest, and
 * from there on by `lower`. The index is what workers see: the subtables, in the order of their
 * highest priorities when it was last sorted. What must be right at any time are the three numbers
 * that go with each: a priority or a generation may rise in place, before the rule that makes it
 * rise is visible.
 *
 * Threads: control writes; workers read the index, and of a subtable what stands first.
 */
#ifndef DATAPLANE_FLOW_INDEX_H
#define DATAPLANE_FLOW_INDEX_H

#include <string.h>

#include "dataplane/flow_map.h"
#include "dataplane/flow_rule.h"
#include "dataplane/flow_slots.h"
#include "dataplane/flow_table.h"
#include "lib/hash.h"
#include "lib/rcu.h"

/* How many rules of a subtable have a priority. */
struct flow_priority {
	uint32_t priority;
	uint32_t n_rules;
};

struct flow_subtable {
	struct flow_map map;
	uint32_t n_words;
	uint8_t word[FLOW_KEY_WORDS];		/* the words that are looked at: their numbers */
	uint32_t word_mask[FLOW_KEY_WORDS];	/* ... and masks */
	/* control only */
	struct flow_key mask;
	uint32_t number;
	uint32_t place;			/* in the index */
	uint32_t n_rules;		/* visible or not */
	bool touched;			/* the staged change has rules here that are new */
	struct flow_priority *priority;	/* highest first; those that some rule has */
	uint32_t n_priorities;
	uint32_t priorities_max;
	struct rcu_head rcu;
};

struct flow_index_entry {
	struct flow_subtable *subtable;
	uint64_t changed;	/* generation of the last rule that appeared; 0: none ever did */
	int32_t beyond;		/* no rule here, or in what follows, has a higher priority */
};

struct flow_index {
	struct rcu_head rcu;
	uint64_t changed;	/* the highest of all */
	uint32_t words;
	uint32_t n;
	uint32_t n_max;
	struct flow_index_entry entry[];
};

struct flow_subtables {
	struct flow_index *index;
	uint64_t seed;
	/* control only */
	uint32_t n_masks;		/* that have rules */
	bool stale;			/* the order or the priorities could be better */
	struct flow_subtable *last;	/* that was taken; NULL: none */
	struct flow_subtable *by_number[FLOW_MASKS_MAX];
	uint16_t by_mask[2 * FLOW_MASKS_MAX];	/* number + 1 by hash of the mask; 0: empty */
};

/* -ENOMEM. */
int flow_subtables_init(struct flow_subtables *all, uint64_t seed);
/* No reader may be left. */
void flow_subtables_fini(struct flow_subtables *all);

/* The subtable of @mask, or NULL. */
struct flow_subtable *flow_subtables_find(const struct flow_subtables *all,
					  const struct flow_key *mask);
/* The same, made when it is not there. -ENOMEM, -ENOSPC: FLOW_MASKS_MAX. */
int flow_subtables_take(struct flow_subtables *all, const struct flow_key *mask,
			struct flow_subtable **sub);
/* A rule with @priority is about to be in @sub (-ENOMEM), or is not any more. */
int flow_subtables_add_rule(struct flow_subtables *all, struct flow_subtable *sub,
			    uint32_t priority);
void flow_subtables_del_rule(struct flow_subtables *all, struct flow_subtable *sub,
			     uint32_t priority);
/* A rule in @sub becomes visible with @generation; rules in all that were touched do. */
void flow_subtables_changed(struct flow_subtables *all, struct flow_subtable *sub,
			    uint64_t generation);
void flow_subtables_touched_changed(struct flow_subtables *all, uint64_t generation);
/* Brings the order of the index up to date and frees subtables without rules. */
void flow_subtables_tidy(struct flow_subtables *all);

static inline uint32_t flow_key_word(const struct flow_key *key, uint32_t i)
{
	uint32_t word;

	memcpy(&word, (const uint8_t *)key + i * sizeof(word), sizeof(word));
	return word;
}

static inline uint64_t flow_masked_word(const struct flow_subtable *sub,
					const struct flow_key *key, uint32_t i)
{
	return flow_key_word(key, sub->word[i]) & sub->word_mask[i];
}

/* Of what @sub looks at in @key. */
static inline uint32_t flow_subtable_tag(const struct flow_subtable *sub,
					 const struct flow_key *key, uint64_t seed)
{
	uint64_t h = seed;
	uint32_t i;

	for (i = 0; i + 1 < sub->n_words; i += 2)
		h = hash_mix(h ^ (flow_masked_word(sub, key, i) |
				  flow_masked_word(sub, key, i + 1) << 32), seed);
	if (i < sub->n_words)
		h = hash_mix(h ^ flow_masked_word(sub, key, i), seed);
	return (uint32_t)(hash_end(h) >> 32);
}

static inline bool flow_rule_matches(const struct flow_rule *rule, const struct flow_subtable *sub,
				     const struct flow_key *key)
{
	for (uint32_t i = 0; i < sub->n_words; i++)
		if (flow_rule_word(rule, i) != flow_masked_word(sub, key, i))
			return false;
	return true;
}

/* What flow_map_find looks for. */
struct flow_wanted {
	const struct flow_slots *slots;
	const struct flow_subtable *sub;
	const struct flow_key *key;
};

static inline bool flow_is_wanted(const void *arg, uint32_t id)
{
	const struct flow_wanted *w = arg;

	return flow_rule_matches(flow_slot(w->slots, id), w->sub, w->key);
}

#endif

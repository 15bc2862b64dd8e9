/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow rules: millions of them, matched by priority, counted per worker, changed and read
 * without a packet waiting.
 *
 * Rules with the same mask are a subtable: a hash table of masked keys. A lookup asks the subtables
 * in the order of their highest priorities and stops when what it has cannot be beaten (tuple space
 * search). Where there are several rules of the same priority that match, it is open which one is
 * taken, as in OpenFlow; a hit that is refreshed keeps the one it has.
 *
 * Rules lie in slots of one cache line, or two when their mask has more than five words, in memory
 * reserved once: a slot is a rule's id for life, so a walk with a cursor meets every rule that
 * stays exactly once, and a rule's counters are cells of per-worker arrays indexed by its id. A
 * subtable grows by leaves of bounded size, so that no change takes longer than the splitting of
 * one leaf (less than a millisecond), whatever the number of rules.
 *
 * Two numbers tell workers of changes. The generation moves with every publication; what a cache
 * remembers of an older one is brought up to date by asking only the subtables that had rules added
 * since (flow_table_refresh). The version moves when a staged change takes effect: rules that it
 * added become visible and rules that it removed vanish between two bursts, all at once.
 *
 * Threads: control is the only writer, a registered QSBR thread; workers read under RCU and write
 * only their own counter cells. Slots are used again after a grace period.
 */
#ifndef DATAPLANE_FLOW_TABLE_H
#define DATAPLANE_FLOW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataplane/flow_action.h"
#include "dataplane/flow_key.h"
#include "lib/bits.h"

#define FLOW_SLOTS_MAX (1u << 25)	/* 32 M: 32 M short rules, or 16 M long ones */
#define FLOW_MASKS_MAX 4096		/* different masks at a time */
#define FLOW_NONE 0			/* no rule's id */

struct flow_table;

/* A rule as people say it. */
struct flow_spec {
	struct flow_key key;		/* key & ~mask is zero */
	struct flow_key mask;
	uint64_t cookie;
	uint16_t priority;
	uint16_t idle_timeout_s;	/* 0: none */
	uint16_t hard_timeout_s;	/* 0: none */
	uint16_t n_actions;
	struct flow_action action[FLOW_ACTIONS_MAX];
};

/* Address space for FLOW_SLOTS_MAX rules and their counters of @n_workers workers is reserved;
 * memory is taken as rules come. NULL when the space is not there. */
struct flow_table *flow_table_create(uint32_t n_workers);
/* No reader may be left. Accepts NULL. */
void flow_table_destroy(struct flow_table *t);

/* Control. Live rules, and the different masks of all rules, staged ones too. */
uint32_t flow_table_count(const struct flow_table *t);
uint32_t flow_table_n_masks(const struct flow_table *t);

/*
 * Changes. At most one is staged at a time; what it stages is invisible until it takes effect, all
 * at once. Single adds and removals below go on meanwhile: they are seen at once, and then the
 * change takes effect as if it had been made at that moment. So a rule that a REPLACE keeps and
 * that is removed meanwhile comes back, with its counters.
 */
enum flow_change_kind {
	FLOW_CHANGE_ADD,	/* rules named are there afterwards; one with the same match and
				 * priority gives way, counters included, as in OpenFlow */
	FLOW_CHANGE_REPLACE,	/* rules named, and no others. One that is there already with the
				 * same match, priority, cookie, timeouts and actions stays, with
				 * counters and age; when it goes before the change takes effect, it
				 * comes back with the age of those that are added */
	FLOW_CHANGE_REMOVE,	/* flow_change_remove names rules that go */
};

struct flow_change;

/* What a change did, or is about to do. A rule named twice (match and priority): the later one
 * counts, the earlier one is in `repeated`. */
struct flow_change_counts {
	uint32_t added;
	uint32_t kept;
	uint32_t removed;
	uint32_t repeated;
};

/* -EBUSY: another one is staged. -ENOMEM. */
int flow_change_begin(struct flow_table *t, enum flow_change_kind kind,
		      struct flow_change **change);
/* ADD, REPLACE. -ENOMEM; -ENOSPC: FLOW_SLOTS_MAX or FLOW_MASKS_MAX reached. */
int flow_change_add(struct flow_change *change, const struct flow_spec *spec, uint64_t now_ns);
/* REMOVE. @id of a live rule, from a walk. */
void flow_change_remove(struct flow_change *change, uint32_t id);
/* Every step is bounded by about @budget rules. 1: call again, having been quiescent; 0: it has
 * taken effect and what it removed is gone; *@counts are final. It takes effect in one of the
 * steps, at once; when rules go, the next ones wait until no worker looks at them any more. */
int flow_change_commit(struct flow_change *change, uint32_t budget,
		       struct flow_change_counts *counts);
/* Takes back what was staged, before the first flow_change_commit. 1: call again; 0: done. */
int flow_change_abort(struct flow_change *change, uint32_t budget);
/* Frees it after commit or abort returned 0; right before flow_table_destroy at any time. Accepts
 * NULL. */
void flow_change_free(struct flow_change *change);

/* Single rules, at once. 1 added, 0 took the place of one with the same match and priority (whose
 * counters are gone), -ENOMEM, -ENOSPC. */
int flow_table_add(struct flow_table *t, const struct flow_spec *spec, uint64_t now_ns);
void flow_table_remove(struct flow_table *t, uint32_t id);

/* Control: gives slots whose grace period is over back for use, and memory of empty parts back to
 * the system, in bounded steps. Called regularly (the changes above call it too). True: there is
 * more to do now. */
bool flow_table_tidy(struct flow_table *t);

/* A rule as the table has it. */
struct flow_rule;

/* Control. The live rule with this match and priority, or NULL. */
const struct flow_rule *flow_table_find(const struct flow_table *t, const struct flow_spec *spec);
/* Control. NULL when @id is no live rule. */
const struct flow_rule *flow_table_get(const struct flow_table *t, uint32_t id);

/*
 * Control. Visits the live rules in up to @n_slots slots from *@cursor (0 at first) and sets
 * *@cursor to where to go on, or to 0 at the end. A rule that is there during the whole walk is
 * visited exactly once, whatever comes and goes meanwhile. @visit may remove the rule, and must not
 * change the table otherwise.
 */
void flow_table_walk(struct flow_table *t, uint32_t *cursor, uint32_t n_slots,
		     void (*visit)(struct flow_table *t, const struct flow_rule *rule, void *arg),
		     void *arg);

/* Of a rule, control. */
uint32_t flow_rule_id(const struct flow_table *t, const struct flow_rule *rule);
/* Changes when the slot gets another rule: (id, life) names a rule for ever. */
uint32_t flow_rule_life(const struct flow_rule *rule);
uint64_t flow_rule_created_ns(const struct flow_rule *rule);
uint64_t flow_rule_cookie(const struct flow_rule *rule);
uint16_t flow_rule_priority(const struct flow_rule *rule);
uint16_t flow_rule_idle_timeout_s(const struct flow_rule *rule);
uint16_t flow_rule_hard_timeout_s(const struct flow_rule *rule);
const struct flow_key *flow_rule_mask(const struct flow_table *t, const struct flow_rule *rule);
void flow_rule_key(const struct flow_table *t, const struct flow_rule *rule, struct flow_key *key);
const struct flow_actions *flow_rule_actions(const struct flow_table *t,
					     const struct flow_rule *rule);
/* Whether every packet that @rule matches is one that @match does (loose, as in ovs-ofctl);
 * priority, cookie and the rest of @match do not count. */
bool flow_rule_within(const struct flow_table *t, const struct flow_rule *rule,
		      const struct flow_spec *match);

struct flow_stats {
	uint64_t packets;
	uint64_t bytes;		/* frames as received, after decap, without FCS */
};
/* All workers added up. */
void flow_rule_stats(const struct flow_table *t, const struct flow_rule *rule,
		     struct flow_stats *stats);

/*
 * Workers, under RCU.
 */

/* A cell of a worker's array of counters, by rule id. */
struct flow_cell {
	uint64_t packets;
	uint64_t bytes;
};
struct flow_cell *flow_table_cells(struct flow_table *t, uint32_t worker);

/* The table as it is at one time, taken once a burst and good until the worker is quiescent. */
struct flow_index;
struct flow_view {
	const struct flow_index *index;	/* subtables by priority; NULL: there are no rules */
	uint64_t generation;
	uint32_t version;
	uint32_t words;		/* bit i: some rule looks at word i of the key */
};
void flow_table_view(const struct flow_table *t, struct flow_view *view);

/* What a lookup found: right for its key until the generation moves. */
struct flow_hit {
	uint32_t rule;		/* id; FLOW_NONE: no rule matches */
	uint32_t life;		/* flow_rule_life(); 0 without a rule */
	uint32_t actions;	/* id of its list; FLOW_LIST_NORMAL without a rule */
	uint32_t priority;	/* 0 without a rule */
};
#define FLOW_HIT_NONE ((struct flow_hit){.rule = FLOW_NONE, .actions = FLOW_LIST_NORMAL})

/* Brings hit[i], which was right for key[i] at generation[i], up to date with @view, for each bit i
 * of @wanted: a look at its rule, and at those subtables only that had rules added since and could
 * beat it. FLOW_HIT_NONE was right for any key at generation 0. The keys, BURST_MAX at most, ask
 * subtable after subtable together, so that their cache misses overlap. */
void flow_table_refresh_burst(const struct flow_table *t, const struct flow_view *view,
			      const uint64_t *generation, const struct flow_key *key,
			      uint64_t wanted, struct flow_hit *hit);

/* Looks keys up of which nothing is known. */
static inline void flow_table_lookup_burst(const struct flow_table *t,
					   const struct flow_view *view,
					   const struct flow_key *key, uint64_t wanted,
					   struct flow_hit *hit)
{
	static const uint64_t never[BURST_MAX];

	for_each_bit(i, wanted)
		hit[i] = FLOW_HIT_NONE;
	flow_table_refresh_burst(t, view, never, key, wanted, hit);
}

/* The list with this id: of a hit, or of a packet in the same burst. Never NULL. */
const struct flow_actions *flow_table_actions(const struct flow_table *t, uint32_t id);

#endif

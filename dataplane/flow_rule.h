/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow rule as it lies in its slot; of the flow table's files only.
 *
 * Only those words of the key that the mask looks at are there, in the order of the words: five in
 * the first cache line, the others in a second one.
 *
 * Versions are compared as serial numbers, so they may wrap: what was born long ago is made younger
 * in time (flow_table.c).
 *
 * Invariants: life is 0 unless the slot begins a rule that is there. What is never a rule's
 * beginning, a second line and an untouched page, has a zero there too. A rule's place, life and
 * words do not change while a reader may see it.
 * Threads: control writes; workers read life, born, died, actions, lower, priority and words.
 */
#ifndef DATAPLANE_FLOW_RULE_H
#define DATAPLANE_FLOW_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/flow_key.h"
#include "lib/bits.h"

#define FLOW_RULE_WORDS 5	/* in the first line */
#define FLOW_MORE_WORDS (FLOW_KEY_WORDS - FLOW_RULE_WORDS)

/* died: no change takes it away; the same, and the staged change names it. Neither these two nor 0
 * are a version. */
#define FLOW_ALIVE UINT32_MAX
#define FLOW_KEPT (UINT32_MAX - 1)

struct flow_rule {
	uint32_t life;
	uint32_t born;		/* the first version that has it */
	uint32_t died;		/* the first one that has it no more, or FLOW_ALIVE, FLOW_KEPT */
	uint32_t actions;
	uint32_t lower;		/* the rule with the same match and the next lower priority, or the
				 * same one in other versions; FLOW_NONE: the last */
	uint16_t subtable;
	uint16_t priority;
	uint64_t cookie;
	union {
		uint64_t created_ns;
		uint32_t next;	/* of one that is gone */
	};
	uint16_t idle_timeout_s;
	uint16_t hard_timeout_s;
	uint32_t word[FLOW_RULE_WORDS];
} cache_aligned;
_Static_assert(sizeof(struct flow_rule) == CACHE_LINE, "a slot is a cache line");

struct flow_rule_more {
	uint32_t no_life;
	uint32_t word[FLOW_MORE_WORDS];
} cache_aligned;
_Static_assert(sizeof(struct flow_rule_more) == CACHE_LINE, "a slot is a cache line");

static inline uint32_t flow_rule_word(const struct flow_rule *rule, uint32_t i)
{
	const struct flow_rule_more *more = (const struct flow_rule_more *)(rule + 1);

	return i < FLOW_RULE_WORDS ? rule->word[i] : more->word[i - FLOW_RULE_WORDS];
}

static inline bool flow_version_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline bool flow_rule_in(const struct flow_rule *rule, uint32_t version)
{
	uint32_t born = load_acquire(&rule->born), died = load_relaxed(&rule->died);

	return !flow_version_before(version, born) &&
	       (died >= FLOW_KEPT || flow_version_before(version, died));
}

#endif

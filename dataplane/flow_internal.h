/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What flow_table.c, flow_change.c, flow_lookup.c and flow_rule.c share.
 *
 * A rule is visible in the versions from `born` up to `died`. What a staged change adds is born in
 * the version that the change will make; what goes dies in it. Both are in the index together until
 * it has taken effect and no worker is left in the version before.
 */
#ifndef DATAPLANE_FLOW_INTERNAL_H
#define DATAPLANE_FLOW_INTERNAL_H

#include "dataplane/flow_index.h"
#include "dataplane/flow_lists.h"
#include "dataplane/flow_slots.h"
#include "dataplane/flow_table.h"
#include "lib/rcu.h"

/* Generation and version move together, at once, by another epoch; or the generation alone, in
 * place. */
struct flow_epoch {
	struct rcu_head rcu;
	uint64_t generation;
	uint32_t version;
};

struct flow_table {
	/* control publishes, workers read */
	struct flow_epoch *epoch;
	struct flow_subtables subtables;
	struct flow_slots slots;
	struct flow_lists lists;
	/* control only */
	uint32_t count;
	uint32_t old_at;		/* next slot to be looked at for its age */
	struct flow_change *change;	/* the staged one, or NULL */
};

/* Where a match and priority is in the table: the chain of its match, and what is in there. */
struct flow_spot {
	struct flow_subtable *sub;
	const struct flow_key *key;
	uint32_t tag;
	uint64_t *slot;			/* of the map; NULL: there is no such match */
	uint32_t above;			/* last rule of a higher priority, or FLOW_NONE */
	uint32_t staged;		/* of this priority: of the staged change, or FLOW_NONE */
	uint32_t live;			/* ... visible now */
};

/* When a rule is there. */
struct flow_span {
	uint32_t born;
	uint32_t died;
	uint64_t created_ns;
};

static inline struct flow_rule *flow_rule_at(const struct flow_table *t, uint32_t id)
{
	return flow_slot(&t->slots, id);
}

/* What is neither visible now nor staged is of no interest: it is about to be taken out. */
void flow_spot_find(const struct flow_table *t, struct flow_subtable *sub,
		    const struct flow_key *key, uint32_t priority, struct flow_spot *spot);
/* Puts a rule as @spec says at @spot, in its chain behind `above`. -ENOSPC, -ENOMEM. */
int flow_spot_fill(struct flow_table *t, const struct flow_spot *spot,
		   const struct flow_spec *spec, const struct flow_span *span, uint32_t *id);
/* @id is going to be taken out soon. */
void flow_table_prefetch(const struct flow_table *t, uint32_t id);
/* No lookup that begins now finds @id any more. */
void flow_table_take_out(struct flow_table *t, uint32_t id);

/*
 * What single changes have to know of the staged one. @change NULL: there is none.
 */

/* The version in which the staged rules are born; 0: the change has taken effect, or will not. */
uint32_t flow_change_version(const struct flow_change *change);
/* When a single rule dies that is going to be at @spot. */
uint32_t flow_change_death(const struct flow_change *change, const struct flow_spot *spot);
/* It is there. */
void flow_change_note(struct flow_change *change, uint32_t id);
/* Whether the change keeps a single rule that has to go now: instead of being taken out it is
 * hidden until the change takes effect. */
bool flow_change_keeps(const struct flow_change *change, const struct flow_rule *rule);
void flow_change_hide(struct flow_change *change, struct flow_rule *rule);
/* A single rule is about to be taken out. */
void flow_change_lose(struct flow_change *change, const struct flow_rule *rule);

#endif

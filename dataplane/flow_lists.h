/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lists of actions that flow rules share: each different list once, by id.
 *
 * Invariants: FLOW_LIST_NORMAL and FLOW_LIST_DROP are always there. Whoever puts a list back for a
 * rule has waited until no reader knows the rule: so the last one frees at once.
 * Threads: control is the only writer; workers read lists of rules that they found, under RCU.
 */
#ifndef DATAPLANE_FLOW_LISTS_H
#define DATAPLANE_FLOW_LISTS_H

#include "dataplane/flow_action.h"
#include "dataplane/flow_map.h"
#include "lib/rcu.h"
#include "lib/reserve.h"

struct flow_list {
	uint32_t n_users;
	uint32_t tag;
	struct flow_actions actions;
};

/* In the place of an id: its list, or the next free id. */
union flow_list_place {
	struct flow_list *list;
	uintptr_t next;
};

struct flow_lists {
	struct reserve memory;
	struct flow_map by_hash;
	uint64_t seed;
	uint32_t n_ids;		/* ever used */
	uint32_t free;		/* 0: none */
};

/* -ENOMEM. */
int flow_lists_init(struct flow_lists *lists, uint32_t n_max, uint64_t seed);
void flow_lists_fini(struct flow_lists *lists);

/* The id of the list of these @n actions, one more user. -ENOMEM. */
int flow_lists_take(struct flow_lists *lists, const struct flow_action *action, uint32_t n,
		    uint32_t *id);
void flow_lists_put(struct flow_lists *lists, uint32_t id);

static inline union flow_list_place *flow_list_place(const struct flow_lists *lists, uint32_t id)
{
	return (union flow_list_place *)lists->memory.base + id;
}

#endif

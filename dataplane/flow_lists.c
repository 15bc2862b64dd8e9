/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/flow_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

struct wanted {
	const struct flow_lists *lists;
	const struct flow_action *action;
	uint32_t n;
};

static uint32_t tag_of(const struct flow_lists *lists, const struct flow_action *action,
		       uint32_t n)
{
	uint64_t h = hash_u64(n, lists->seed);

	for (uint32_t i = 0; i < n; i++) {
		h = hash_mix(h ^ ((uint32_t)action[i].type << 16 | action[i].arg), lists->seed);
		for (int k = 0; k < 4; k++)
			h = hash_mix(h ^ action[i].value[k], lists->seed);
	}
	return (uint32_t)(hash_end(h) >> 32);
}

static bool is_wanted(const void *arg, uint32_t place)
{
	const struct wanted *w = arg;
	const struct flow_actions *have = &flow_list_place(w->lists, place - 1)->list->actions;

	return have->n == w->n && !memcmp(have->action, w->action, w->n * sizeof(*w->action));
}

static struct flow_list *list_create(const struct flow_action *action, uint32_t n, uint32_t tag)
{
	struct flow_list *list = malloc(sizeof(*list) + n * sizeof(*action));

	if (!list)
		return NULL;
	*list = (struct flow_list){.n_users = 1, .tag = tag, .actions.n = n};
	if (n)
		memcpy(list->actions.action, action, n * sizeof(*action));
	return list;
}

/* The map knows no 0, so it has ids plus one. */
static int publish(struct flow_lists *lists, struct flow_list *list, uint32_t *id)
{
	uint32_t new = lists->free ? lists->free : lists->n_ids;
	uint32_t next = 0;

	if (reserve_grow(&lists->memory, (new + 1) * sizeof(union flow_list_place)) ||
	    flow_map_insert(&lists->by_hash, list->tag, new + 1))
		return -ENOMEM;
	if (lists->free)
		next = (uint32_t)flow_list_place(lists, new)->next;
	else
		lists->n_ids++;
	lists->free = next;
	rcu_assign_pointer(flow_list_place(lists, new)->list, list);
	*id = new;
	return 0;
}

int flow_lists_take(struct flow_lists *lists, const struct flow_action *action, uint32_t n,
		    uint32_t *id)
{
	struct wanted w = {lists, action, n};
	uint32_t tag = tag_of(lists, action, n);
	struct flow_list *list;

	if (flow_map_find(&lists->by_hash, tag, is_wanted, &w, id)) {
		--*id;
		flow_list_place(lists, *id)->list->n_users++;
		return 0;
	}
	list = list_create(action, n, tag);
	if (!list)
		return -ENOMEM;
	if (!publish(lists, list, id))
		return 0;
	free(list);
	return -ENOMEM;
}

void flow_lists_put(struct flow_lists *lists, uint32_t id)
{
	struct flow_list *list = flow_list_place(lists, id)->list;
	struct wanted w = {lists, list->actions.action, list->actions.n};
	uint32_t place;

	if (--list->n_users)
		return;
	flow_map_remove(&lists->by_hash,
			flow_map_find(&lists->by_hash, list->tag, is_wanted, &w, &place));
	free(list);
	flow_list_place(lists, id)->next = lists->free;
	lists->free = id;
}

int flow_lists_init(struct flow_lists *lists, uint32_t n_max, uint64_t seed)
{
	static const struct flow_action normal = {.type = FLOW_NORMAL};
	uint32_t id;

	*lists = (struct flow_lists){.seed = seed};
	if (flow_map_init(&lists->by_hash))
		return -ENOMEM;
	if (!reserve_init(&lists->memory, (size_t)n_max * sizeof(union flow_list_place), false) &&
	    !flow_lists_take(lists, &normal, 1, &id) && !flow_lists_take(lists, NULL, 0, &id))
		return 0;
	flow_lists_fini(lists);
	return -ENOMEM;
}

/* Both kinds of places have to be told apart: the free ones are taken out first. */
void flow_lists_fini(struct flow_lists *lists)
{
	while (lists->free) {
		union flow_list_place *place = flow_list_place(lists, lists->free);

		lists->free = (uint32_t)place->next;
		place->list = NULL;
	}
	for (uint32_t id = 0; id < lists->n_ids; id++)
		free(flow_list_place(lists, id)->list);
	flow_map_fini(&lists->by_hash);
	reserve_fini(&lists->memory);
}

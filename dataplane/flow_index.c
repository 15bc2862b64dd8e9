/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/flow_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_MASK_PLACES (2 * FLOW_MASKS_MAX)
#define ENTRIES_MIN 16
#define PRIORITIES_MIN 4

static void index_free(struct rcu_head *rcu)
{
	free(container_of(rcu, struct flow_index, rcu));
}

static struct flow_index *index_create(uint32_t n_max)
{
	struct flow_index *index = calloc(1, sizeof(*index) + n_max * sizeof(index->entry[0]));

	if (index)
		index->n_max = n_max;
	return index;
}

static void subtable_free(struct flow_subtable *sub)
{
	flow_map_fini(&sub->map);
	free(sub->priority);
	free(sub);
}

static void subtable_free_rcu(struct rcu_head *rcu)
{
	subtable_free(container_of(rcu, struct flow_subtable, rcu));
}

static struct flow_subtable *subtable_create(const struct flow_key *mask, uint32_t number)
{
	struct flow_subtable *sub = aligned_alloc(CACHE_LINE, (sizeof(*sub) + CACHE_LINE - 1) /
								      CACHE_LINE * CACHE_LINE);

	if (!sub)
		return NULL;
	*sub = (struct flow_subtable){.mask = *mask, .number = number};
	for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++) {
		uint32_t word = flow_key_word(mask, i);

		if (!word)
			continue;
		sub->word[sub->n_words] = (uint8_t)i;
		sub->word_mask[sub->n_words++] = word;
	}
	if (!flow_map_init(&sub->map))
		return sub;
	free(sub);
	return NULL;
}

int flow_subtables_init(struct flow_subtables *all, uint64_t seed)
{
	*all = (struct flow_subtables){.seed = seed};
	all->index = index_create(ENTRIES_MIN);
	return all->index ? 0 : -ENOMEM;
}

void flow_subtables_fini(struct flow_subtables *all)
{
	for (uint32_t i = 0; i < FLOW_MASKS_MAX; i++)
		if (all->by_number[i])
			subtable_free(all->by_number[i]);
	free(all->index);
}

/* The place in by_mask where @mask is, or would be. */
static uint32_t mask_place(const struct flow_subtables *all, const struct flow_key *mask)
{
	uint64_t h = all->seed;
	uint32_t at;

	for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++)
		h = hash_mix(h ^ flow_key_word(mask, i), all->seed);
	at = (uint32_t)hash_end(h) % N_MASK_PLACES;
	for (; all->by_mask[at]; at = (at + 1) % N_MASK_PLACES)
		if (!memcmp(&all->by_number[all->by_mask[at] - 1]->mask, mask, sizeof(*mask)))
			break;
	return at;
}

struct flow_subtable *flow_subtables_find(const struct flow_subtables *all,
					  const struct flow_key *mask)
{
	uint32_t at;

	if (all->last && !memcmp(&all->last->mask, mask, sizeof(*mask)))
		return all->last;
	at = mask_place(all, mask);
	return all->by_mask[at] ? all->by_number[all->by_mask[at] - 1] : NULL;
}

static int32_t priority_max(const struct flow_subtable *sub)
{
	return sub->n_priorities ? (int32_t)sub->priority[0].priority : -1;
}

static void index_publish(struct flow_subtables *all, struct flow_index *new)
{
	struct flow_index *old = all->index;

	rcu_assign_pointer(all->index, new);
	call_rcu(&old->rcu, index_free);
}

static int index_grow(struct flow_subtables *all)
{
	const struct flow_index *old = all->index;
	struct flow_index *new = index_create(2 * old->n_max);

	if (!new)
		return -ENOMEM;
	new->n = old->n;
	new->words = old->words;
	new->changed = old->changed;
	memcpy(new->entry, old->entry, old->n * sizeof(old->entry[0]));
	index_publish(all, new);
	return 0;
}

/* At the end, where the order is wrong until the index is sorted. */
static void index_append(struct flow_index *index, struct flow_subtable *sub)
{
	sub->place = index->n;
	index->entry[index->n] = (struct flow_index_entry){.subtable = sub, .beyond = -1};
	for (uint32_t i = 0; i < sub->n_words; i++)
		store_relaxed(&index->words, index->words | 1u << sub->word[i]);
	store_release(&index->n, index->n + 1);
}

static int find_number(struct flow_subtables *all, uint32_t *number)
{
	for (int round = 0; round < 2; round++) {
		for (*number = 0; *number < FLOW_MASKS_MAX; ++*number)
			if (!all->by_number[*number])
				return 0;
		flow_subtables_tidy(all);
	}
	return -ENOSPC;
}

int flow_subtables_take(struct flow_subtables *all, const struct flow_key *mask,
			struct flow_subtable **sub)
{
	uint32_t number;

	*sub = all->last = flow_subtables_find(all, mask);
	if (*sub)
		return 0;
	if (find_number(all, &number))
		return -ENOSPC;
	if (all->index->n == all->index->n_max && index_grow(all))
		return -ENOMEM;
	*sub = subtable_create(mask, number);
	if (!*sub)
		return -ENOMEM;
	all->by_mask[mask_place(all, mask)] = (uint16_t)(number + 1);
	all->by_number[number] = all->last = *sub;
	index_append(all->index, *sub);
	all->stale = true;
	return 0;
}

/* Where @priority is, or would be. */
static uint32_t priority_place(const struct flow_subtable *sub, uint32_t priority)
{
	uint32_t from = 0, to = sub->n_priorities;

	while (from < to) {
		uint32_t middle = (from + to) / 2;

		if (sub->priority[middle].priority > priority)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static int priorities_grow(struct flow_subtable *sub)
{
	uint32_t n = sub->priorities_max ? 2 * sub->priorities_max : PRIORITIES_MIN;
	struct flow_priority *priority = realloc(sub->priority, n * sizeof(*priority));

	if (!priority)
		return -ENOMEM;
	sub->priority = priority;
	sub->priorities_max = n;
	return 0;
}

/* Nothing before @place may promise less than @priority. */
static void index_raise(struct flow_index *index, uint32_t place, int32_t priority)
{
	for (uint32_t i = place + 1; i-- && index->entry[i].beyond < priority;)
		store_relaxed(&index->entry[i].beyond, priority);
}

int flow_subtables_add_rule(struct flow_subtables *all, struct flow_subtable *sub,
			    uint32_t priority)
{
	uint32_t at = priority_place(sub, priority);

	if (at == sub->n_priorities || sub->priority[at].priority != priority) {
		if (sub->n_priorities == sub->priorities_max && priorities_grow(sub))
			return -ENOMEM;
		memmove(&sub->priority[at + 1], &sub->priority[at],
			(sub->n_priorities - at) * sizeof(*sub->priority));
		sub->priority[at] = (struct flow_priority){.priority = priority};
		sub->n_priorities++;
		if (!at) {
			index_raise(all->index, sub->place, (int32_t)priority);
			all->stale = true;
		}
	}
	sub->priority[at].n_rules++;
	if (!sub->n_rules++)
		all->n_masks++;
	return 0;
}

void flow_subtables_del_rule(struct flow_subtables *all, struct flow_subtable *sub,
			     uint32_t priority)
{
	uint32_t at = priority_place(sub, priority);

	if (!--sub->n_rules)
		all->n_masks--;
	if (--sub->priority[at].n_rules)
		return;
	sub->n_priorities--;
	memmove(&sub->priority[at], &sub->priority[at + 1],
		(sub->n_priorities - at) * sizeof(*sub->priority));
	if (!at)
		all->stale = true;
}

void flow_subtables_changed(struct flow_subtables *all, struct flow_subtable *sub,
			    uint64_t generation)
{
	store_relaxed(&all->index->entry[sub->place].changed, generation);
	store_relaxed(&all->index->changed, generation);
}

void flow_subtables_touched_changed(struct flow_subtables *all, uint64_t generation)
{
	for (uint32_t i = 0; i < all->index->n; i++) {
		struct flow_subtable *sub = all->index->entry[i].subtable;

		if (sub->touched)
			flow_subtables_changed(all, sub, generation);
		sub->touched = false;
	}
}

static int by_priority(const void *a, const void *b)
{
	const struct flow_subtable *x = ((const struct flow_index_entry *)a)->subtable;
	const struct flow_subtable *y = ((const struct flow_index_entry *)b)->subtable;

	if (priority_max(x) != priority_max(y))
		return priority_max(x) > priority_max(y) ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Those entries of the index whose subtables have rules. */
static struct flow_index *index_sorted(const struct flow_index *old)
{
	struct flow_index *new = index_create(max_of(old->n, (uint32_t)ENTRIES_MIN));
	int32_t beyond = -1;

	if (!new)
		return NULL;
	new->changed = old->changed;
	for (uint32_t i = 0; i < old->n; i++)
		if (old->entry[i].subtable->n_rules)
			new->entry[new->n++] = old->entry[i];
	qsort(new->entry, new->n, sizeof(new->entry[0]), by_priority);
	for (uint32_t i = new->n; i--;) {
		struct flow_subtable *sub = new->entry[i].subtable;

		sub->place = i;
		beyond = max_of(beyond, priority_max(sub));
		new->entry[i].beyond = beyond;
		for (uint32_t k = 0; k < sub->n_words; k++)
			new->words |= 1u << sub->word[k];
	}
	return new;
}

static void free_empty(struct flow_subtables *all)
{
	memset(all->by_mask, 0, sizeof(all->by_mask));
	all->last = NULL;
	for (uint32_t i = 0; i < FLOW_MASKS_MAX; i++) {
		struct flow_subtable *sub = all->by_number[i];

		if (!sub)
			continue;
		if (sub->n_rules) {
			all->by_mask[mask_place(all, &sub->mask)] = (uint16_t)(i + 1);
			continue;
		}
		all->by_number[i] = NULL;
		call_rcu(&sub->rcu, subtable_free_rcu);
	}
}

void flow_subtables_tidy(struct flow_subtables *all)
{
	uint32_t n = all->index->n;
	struct flow_index *new;

	if (!all->stale)
		return;
	new = index_sorted(all->index);
	if (!new)
		return;
	all->stale = false;
	index_publish(all, new);
	if (new->n < n)
		free_empty(all);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/flow_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/flow_internal.h"

#define TIDY_RULES 4096		/* slots given back by one flow_table_tidy */
#define ADD_TIDY_RULES 2	/* ... for each rule that takes one */
#define TIDY_OLD_SLOTS 64	/* ... looked at for rules that are too old */
#define OLD_VERSIONS (1u << 30)
#define FIRST_VERSION (UINT32_MAX - 20)	/* so that no wrap is the first one */

struct flow_table *flow_table_create(uint32_t n_workers)
{
	struct flow_table *t = calloc(1, sizeof(*t));
	uint64_t seed = hash_seed();

	if (!t)
		return NULL;
	t->epoch = calloc(1, sizeof(*t->epoch));
	if (!t->epoch)
		goto no_epoch;
	*t->epoch = (struct flow_epoch){.generation = 1, .version = FIRST_VERSION};
	if (flow_subtables_init(&t->subtables, seed))
		goto no_subtables;
	if (flow_slots_init(&t->slots, FLOW_SLOTS_MAX, n_workers))
		goto no_slots;
	if (flow_lists_init(&t->lists, FLOW_SLOTS_MAX + 2, seed))
		goto no_lists;
	return t;
no_lists:
	flow_slots_fini(&t->slots);
no_slots:
	flow_subtables_fini(&t->subtables);
no_subtables:
	free(t->epoch);
no_epoch:
	free(t);
	return NULL;
}

void flow_table_destroy(struct flow_table *t)
{
	if (!t)
		return;
	rcu_barrier();
	flow_lists_fini(&t->lists);
	flow_slots_fini(&t->slots);
	flow_subtables_fini(&t->subtables);
	free(t->epoch);
	free(t);
}

uint32_t flow_table_count(const struct flow_table *t)
{
	return t->count;
}

uint32_t flow_table_n_masks(const struct flow_table *t)
{
	return t->subtables.n_masks;
}

void flow_table_view(const struct flow_table *t, struct flow_view *view)
{
	const struct flow_epoch *epoch = rcu_dereference(t->epoch);
	const struct flow_index *index;

	/* The epoch first: an index that is newer than the generation says too much, not too
	 * little. */
	view->version = epoch->version;
	view->generation = load_acquire(&epoch->generation);
	index = rcu_dereference(t->subtables.index);
	view->index = load_acquire(&index->n) ? index : NULL;
	view->words = load_relaxed(&index->words);
}

struct flow_cell *flow_table_cells(struct flow_table *t, uint32_t worker)
{
	return flow_slots_cells(&t->slots, worker);
}

const struct flow_actions *flow_table_actions(const struct flow_table *t, uint32_t id)
{
	return &rcu_dereference(flow_list_place(&t->lists, id)->list)->actions;
}

/* What changed in place is for all to see. */
static void advance(struct flow_table *t, struct flow_subtable *with_new_rule)
{
	uint64_t generation = t->epoch->generation + 1;

	if (with_new_rule)
		flow_subtables_changed(&t->subtables, with_new_rule, generation);
	store_release(&t->epoch->generation, generation);
}

void flow_spot_find(const struct flow_table *t, struct flow_subtable *sub,
		    const struct flow_key *key, uint32_t priority, struct flow_spot *spot)
{
	struct flow_wanted wanted = {&t->slots, sub, key};
	uint32_t version = t->epoch->version, id, staged_in = flow_change_version(t->change);

	*spot = (struct flow_spot){.sub = sub, .key = key};
	spot->tag = flow_subtable_tag(sub, key, t->subtables.seed);
	spot->slot = flow_map_find(&sub->map, spot->tag, flow_is_wanted, &wanted, &id);
	if (!spot->slot)
		return;
	for (; id && flow_rule_at(t, id)->priority > priority; id = flow_rule_at(t, id)->lower)
		spot->above = id;
	for (; id && flow_rule_at(t, id)->priority == priority; id = flow_rule_at(t, id)->lower) {
		if (staged_in && flow_rule_at(t, id)->born == staged_in)
			spot->staged = id;
		else if (flow_rule_in(flow_rule_at(t, id), version))
			spot->live = id;
	}
}

/* False: these were the last, for now. */
static bool free_left(struct flow_table *t, uint32_t n)
{
	uint32_t id;

	for (; n; n--) {
		id = flow_slots_left(&t->slots);
		if (!id)
			return false;
		flow_lists_put(&t->lists, flow_rule_at(t, id)->actions);
		flow_slots_free(&t->slots, id);
	}
	return true;
}

static void write_rule(struct flow_rule *rule, const struct flow_subtable *sub,
		       const struct flow_spec *spec, const struct flow_span *span)
{
	struct flow_rule_more *more = (struct flow_rule_more *)(rule + 1);

	rule->born = span->born;
	rule->died = span->died;
	rule->subtable = (uint16_t)sub->number;
	rule->priority = spec->priority;
	rule->cookie = spec->cookie;
	rule->created_ns = span->created_ns;
	rule->idle_timeout_s = spec->idle_timeout_s;
	rule->hard_timeout_s = spec->hard_timeout_s;
	for (uint32_t i = 0; i < sub->n_words; i++) {
		uint32_t word = flow_key_word(&spec->key, sub->word[i]);

		if (i < FLOW_RULE_WORDS)
			rule->word[i] = word;
		else
			more->word[i - FLOW_RULE_WORDS] = word;
	}
}

/* A rule that nobody can see yet. */
static int make_rule(struct flow_table *t, struct flow_subtable *sub,
		     const struct flow_spec *spec, const struct flow_span *span, uint32_t *id)
{
	uint32_t actions;
	int err = flow_lists_take(&t->lists, spec->action, spec->n_actions, &actions);

	if (err)
		return err;
	free_left(t, ADD_TIDY_RULES);
	err = flow_slots_take(&t->slots, sub->n_words, id);
	if (err) {
		flow_lists_put(&t->lists, actions);
		return err;
	}
	write_rule(flow_rule_at(t, *id), sub, spec, span);
	flow_rule_at(t, *id)->actions = actions;
	return 0;
}

static int link_rule(struct flow_table *t, const struct flow_spot *spot, uint32_t id)
{
	struct flow_rule *rule = flow_rule_at(t, id), *above = flow_rule_at(t, spot->above);

	if (spot->above) {
		rule->lower = above->lower;
		store_release(&above->lower, id);
		return 0;
	}
	rule->lower = spot->slot ? (uint32_t)*spot->slot : FLOW_NONE;
	if (!spot->slot)
		return flow_map_insert(&spot->sub->map, spot->tag, id);
	flow_map_replace(spot->slot, id);
	return 0;
}

int flow_spot_fill(struct flow_table *t, const struct flow_spot *spot,
		   const struct flow_spec *spec, const struct flow_span *span, uint32_t *id)
{
	int err = make_rule(t, spot->sub, spec, span, id);

	if (err)
		return err;
	err = flow_subtables_add_rule(&t->subtables, spot->sub, spec->priority);
	if (err)
		goto no_subtable;
	err = link_rule(t, spot, *id);
	if (!err)
		return 0;
	flow_subtables_del_rule(&t->subtables, spot->sub, spec->priority);
no_subtable:
	flow_slots_retire(&t->slots, *id);
	return err;
}

static uint32_t tag_of(const struct flow_table *t, const struct flow_subtable *sub,
		       const struct flow_rule *rule, struct flow_key *key)
{
	flow_rule_key(t, rule, key);
	return flow_subtable_tag(sub, key, t->subtables.seed);
}

void flow_table_prefetch(const struct flow_table *t, uint32_t id)
{
	const struct flow_rule *rule = flow_rule_at(t, id);
	const struct flow_subtable *sub = t->subtables.by_number[rule->subtable];
	struct flow_key key;

	flow_map_prefetch(&sub->map, tag_of(t, sub, rule, &key));
}

static void unlink_rule(struct flow_table *t, struct flow_subtable *sub, uint32_t id)
{
	struct flow_rule *rule = flow_rule_at(t, id), *above;
	struct flow_key key;
	struct flow_wanted wanted = {&t->slots, sub, &key};
	uint32_t head;
	uint64_t *slot;

	slot = flow_map_find(&sub->map, tag_of(t, sub, rule, &key), flow_is_wanted, &wanted,
			     &head);
	if (head == id) {
		if (rule->lower)
			flow_map_replace(slot, rule->lower);
		else
			flow_map_remove(&sub->map, slot);
		return;
	}
	for (above = flow_rule_at(t, head); above->lower != id;)
		above = flow_rule_at(t, above->lower);
	store_release(&above->lower, rule->lower);
}

void flow_table_take_out(struct flow_table *t, uint32_t id)
{
	const struct flow_rule *rule = flow_rule_at(t, id);
	struct flow_subtable *sub = t->subtables.by_number[rule->subtable];

	unlink_rule(t, sub, id);
	flow_subtables_del_rule(&t->subtables, sub, rule->priority);
	flow_slots_retire(&t->slots, id);
}

static void remove_live(struct flow_table *t, uint32_t id)
{
	struct flow_rule *rule = flow_rule_at(t, id);

	if (flow_change_keeps(t->change, rule)) {
		flow_change_hide(t->change, rule);
	} else {
		flow_change_lose(t->change, rule);
		flow_table_take_out(t, id);
	}
	t->count--;
}

int flow_table_add(struct flow_table *t, const struct flow_spec *spec, uint64_t now_ns)
{
	struct flow_span span = {.born = t->epoch->version, .created_ns = now_ns};
	struct flow_subtable *sub;
	struct flow_spot spot;
	uint32_t id;
	int err = flow_subtables_take(&t->subtables, &spec->mask, &sub);

	if (err)
		return err;
	flow_spot_find(t, sub, &spec->key, spec->priority, &spot);
	span.died = flow_change_death(t->change, &spot);
	/* A lookup that comes to a rule just when it is hidden goes on from there. */
	if (spot.live && flow_change_keeps(t->change, flow_rule_at(t, spot.live)))
		spot.above = spot.live;
	err = flow_spot_fill(t, &spot, spec, &span, &id);
	if (err)
		return err;
	flow_change_note(t->change, id);
	t->count++;
	if (spot.live)
		remove_live(t, spot.live);
	advance(t, sub);
	return !spot.live;
}

void flow_table_remove(struct flow_table *t, uint32_t id)
{
	if (!flow_table_get(t, id))
		return;
	remove_live(t, id);
	advance(t, NULL);
}

/* All slots are looked at once in half a million calls, and every change that makes a version
 * calls: no rule gets so old that its version seems to be yet to come. */
static void rejuvenate(struct flow_table *t)
{
	uint32_t version = t->epoch->version, n = TIDY_OLD_SLOTS;

	t->old_at = flow_slots_skip(&t->slots, t->old_at, &n);
	for (; n && t->old_at < flow_slots_end(&t->slots); n--) {
		struct flow_rule *rule = flow_rule_at(t, t->old_at);

		if (rule->life && flow_version_before(rule->born, version - OLD_VERSIONS))
			store_relaxed(&rule->born, version - OLD_VERSIONS);
		t->old_at = flow_slots_skip(&t->slots, t->old_at + 1, &n);
	}
	if (t->old_at >= flow_slots_end(&t->slots))
		t->old_at = 0;
}

bool flow_table_tidy(struct flow_table *t)
{
	bool more = free_left(t, TIDY_RULES);

	rejuvenate(t);
	flow_subtables_tidy(&t->subtables);
	return more;
}

const struct flow_rule *flow_table_find(const struct flow_table *t, const struct flow_spec *spec)
{
	struct flow_subtable *sub = flow_subtables_find(&t->subtables, &spec->mask);
	struct flow_spot spot;

	if (!sub)
		return NULL;
	flow_spot_find(t, sub, &spec->key, spec->priority, &spot);
	return spot.live ? flow_rule_at(t, spot.live) : NULL;
}

const struct flow_rule *flow_table_get(const struct flow_table *t, uint32_t id)
{
	const struct flow_rule *rule = flow_rule_at(t, id);

	if (id >= flow_slots_end(&t->slots) || !rule->life)
		return NULL;
	return flow_rule_in(rule, t->epoch->version) ? rule : NULL;
}

void flow_table_walk(struct flow_table *t, uint32_t *cursor, uint32_t n_slots,
		     void (*visit)(struct flow_table *t, const struct flow_rule *rule, void *arg),
		     void *arg)
{
	uint32_t at = flow_slots_skip(&t->slots, *cursor, &n_slots);

	while (n_slots && at < flow_slots_end(&t->slots)) {
		const struct flow_rule *rule = flow_table_get(t, at);

		if (rule)
			visit(t, rule, arg);
		n_slots--;
		at = flow_slots_skip(&t->slots, at + 1, &n_slots);
	}
	*cursor = at < flow_slots_end(&t->slots) ? at : 0;
}

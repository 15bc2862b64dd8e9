/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A staged change. Its new rules go into the index at once, born in the version that the change
 * will make; the rules that go die in that version. When all is marked the version moves, and what
 * died is taken out when no worker is left that looks at the version before.
 *
 * Which rules those are, a list remembers as long as they are few. When they are many, or when the
 * change is about all rules anyway, all slots are looked at instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/flow_internal.h"

#define LIST_MIN 64
#define LIST_MAX (256 * 1024)
#define AHEAD 8		/* slots that a sweep looks ahead */

enum phase {
	STAGING,
	MARKING,	/* REPLACE: the rules that were not named */
	WAITING,	/* it has taken effect */
	SWEEPING,
	ABORTING,
	DONE,
};

struct flow_change {
	struct flow_table *t;
	enum flow_change_kind kind;
	enum phase phase;
	uint32_t version;		/* that it makes */
	uint32_t n_born;		/* rules that will be visible, and are not */
	uint32_t n_leaving;		/* visible rules that will not be */
	struct flow_change_counts counts;
	uint64_t now_ns;		/* when its rules are made */
	struct flow_epoch *epoch;	/* the next one; NULL: in effect */
	struct grace grace;
	uint32_t at;			/* next one of the list, or of all slots */
	bool all_slots;
	uint32_t *list;
	uint32_t n_listed;
	uint32_t list_max;
};

static bool is_open(const struct flow_change *change)
{
	return change && (change->phase == STAGING || change->phase == MARKING);
}

uint32_t flow_change_version(const struct flow_change *change)
{
	return is_open(change) ? change->version : 0;
}

static uint32_t next_version(uint32_t version)
{
	return version + 1 < FLOW_KEPT && version + 1 ? version + 1 : 1;
}

int flow_change_begin(struct flow_table *t, enum flow_change_kind kind,
		      struct flow_change **change)
{
	struct flow_change *c;

	if (t->change)
		return -EBUSY;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->epoch = malloc(sizeof(*c->epoch));
	if (!c->epoch) {
		free(c);
		return -ENOMEM;
	}
	c->t = t;
	c->kind = kind;
	c->version = next_version(t->epoch->version);
	c->all_slots = kind == FLOW_CHANGE_REPLACE;
	*change = t->change = c;
	return 0;
}

void flow_change_free(struct flow_change *change)
{
	if (!change)
		return;
	if (change->grace.started)
		rcu_barrier();
	if (change->t->change == change)
		change->t->change = NULL;
	free(change->epoch);
	free(change->list);
	free(change);
}

static bool list_grow(struct flow_change *change)
{
	uint32_t n = change->list_max ? 2 * change->list_max : LIST_MIN, *list;

	list = n > LIST_MAX ? NULL : realloc(change->list, n * sizeof(*list));
	if (!list)
		return false;
	change->list = list;
	change->list_max = n;
	return true;
}

static void remember(struct flow_change *change, uint32_t id)
{
	if (change->all_slots)
		return;
	if (change->n_listed == change->list_max && !list_grow(change)) {
		change->all_slots = true;
		return;
	}
	change->list[change->n_listed++] = id;
}

static bool is_leaving(const struct flow_change *change, const struct flow_rule *rule)
{
	return rule->died == change->version;
}

static void leave(struct flow_change *change, struct flow_rule *rule)
{
	if (is_leaving(change, rule))
		return;
	if (rule->died == FLOW_KEPT)
		change->counts.kept--;
	change->n_leaving++;
	store_relaxed(&rule->died, change->version);
	remember(change, flow_rule_id(change->t, rule));
}

static void keep(struct flow_change *change, struct flow_rule *rule)
{
	if (is_leaving(change, rule))
		change->n_leaving--;
	if (rule->died != FLOW_KEPT)
		change->counts.kept++;
	store_relaxed(&rule->died, FLOW_KEPT);
}

/* A rule that the change made, or hid, will not be. */
static void drop_born(struct flow_change *change, uint32_t id)
{
	if (flow_rule_at(change->t, id)->died == FLOW_KEPT)
		change->counts.kept--;
	else
		change->counts.added--;
	change->n_born--;
	flow_table_take_out(change->t, id);
}

uint32_t flow_change_death(const struct flow_change *change, const struct flow_spot *spot)
{
	if (!is_open(change))
		return FLOW_ALIVE;
	if (change->phase == MARKING || spot->staged ||
	    (spot->live && flow_change_keeps(change, flow_rule_at(change->t, spot->live))))
		return change->version;
	return FLOW_ALIVE;
}

void flow_change_note(struct flow_change *change, uint32_t id)
{
	if (!is_open(change) || !is_leaving(change, flow_rule_at(change->t, id)))
		return;
	change->n_leaving++;
	remember(change, id);
}

bool flow_change_keeps(const struct flow_change *change, const struct flow_rule *rule)
{
	return is_open(change) && rule->died == FLOW_KEPT;
}

/* As one that the change made it comes back: what watches over its age has lost sight of it. */
void flow_change_hide(struct flow_change *change, struct flow_rule *rule)
{
	rule->created_ns = change->now_ns;
	store_release(&rule->born, change->version);
	change->n_born++;
	change->t->subtables.by_number[rule->subtable]->touched = true;
}

void flow_change_lose(struct flow_change *change, const struct flow_rule *rule)
{
	if (is_open(change) && is_leaving(change, rule))
		change->n_leaving--;
}

static bool says_the_same(const struct flow_table *t, const struct flow_rule *rule,
			  const struct flow_spec *spec)
{
	const struct flow_actions *actions = flow_rule_actions(t, rule);

	return rule->cookie == spec->cookie && rule->idle_timeout_s == spec->idle_timeout_s &&
	       rule->hard_timeout_s == spec->hard_timeout_s && actions->n == spec->n_actions &&
	       !memcmp(actions->action, spec->action, actions->n * sizeof(spec->action[0]));
}

static int stage(struct flow_change *change, const struct flow_spot *spot,
		 const struct flow_spec *spec, uint64_t now_ns)
{
	struct flow_span span = {change->version, FLOW_ALIVE, now_ns};
	uint32_t id;
	int err = flow_spot_fill(change->t, spot, spec, &span, &id);

	if (err)
		return err;
	spot->sub->touched = true;
	change->counts.added++;
	change->n_born++;
	remember(change, id);
	return 0;
}

int flow_change_add(struct flow_change *change, const struct flow_spec *spec, uint64_t now_ns)
{
	struct flow_table *t = change->t;
	struct flow_subtable *sub;
	struct flow_rule *live;
	struct flow_spot spot;
	bool keeps, again;
	int err = flow_subtables_take(&t->subtables, &spec->mask, &sub);

	if (err)
		return err;
	change->now_ns = now_ns;
	flow_spot_find(t, sub, &spec->key, spec->priority, &spot);
	live = spot.live ? flow_rule_at(t, spot.live) : NULL;
	again = spot.staged || (live && live->died == FLOW_KEPT);
	keeps = live && change->kind == FLOW_CHANGE_REPLACE && says_the_same(t, live, spec);
	err = keeps ? 0 : stage(change, &spot, spec, now_ns);
	if (err)
		return err;
	if (spot.staged)
		drop_born(change, spot.staged);
	if (keeps)
		keep(change, live);
	else if (live)
		leave(change, live);
	change->counts.repeated += again;
	return 0;
}

void flow_change_remove(struct flow_change *change, uint32_t id)
{
	if (flow_table_get(change->t, id))
		leave(change, flow_rule_at(change->t, id));
}

/* Hands up to @budget of the rules that the change is about, and others, to @what. False: these
 * were the last. */
static bool next_rules(struct flow_change *change, uint32_t budget,
		       void (*what)(struct flow_change *change, uint32_t id))
{
	struct flow_table *t = change->t;
	uint32_t end = change->all_slots ? flow_slots_end(&t->slots) : change->n_listed;

	while (budget && change->at < end) {
		uint32_t id = change->all_slots ? change->at : change->list[change->at];

		if (change->all_slots)
			id = change->at = flow_slots_skip(&t->slots, id, &budget);
		if (!budget || change->at >= end)
			break;
		if (flow_rule_at(t, id)->life)
			what(change, id);
		change->at++;
		budget--;
	}
	return change->at < end;
}

static void mark(struct flow_change *change, uint32_t id)
{
	struct flow_rule *rule = flow_rule_at(change->t, id);

	if (rule->died == FLOW_ALIVE && rule->born != change->version)
		leave(change, rule);
}

/* Slots lie one after the other, what they need in the index does not. */
static void look_ahead(const struct flow_change *change, uint32_t id)
{
	const struct flow_table *t = change->t;
	const struct flow_rule *rule = flow_rule_at(t, id + AHEAD);

	if (id + AHEAD < flow_slots_end(&t->slots) && rule->life && is_leaving(change, rule))
		flow_table_prefetch(t, id + AHEAD);
}

static void sweep(struct flow_change *change, uint32_t id)
{
	struct flow_rule *rule = flow_rule_at(change->t, id);

	look_ahead(change, id);
	if (is_leaving(change, rule))
		flow_table_take_out(change->t, id);
	else if (rule->died == FLOW_KEPT)
		store_relaxed(&rule->died, FLOW_ALIVE);
}

static void undo(struct flow_change *change, uint32_t id)
{
	struct flow_rule *rule = flow_rule_at(change->t, id);

	if (rule->born == change->version)
		flow_table_take_out(change->t, id);
	else if (is_leaving(change, rule) || rule->died == FLOW_KEPT)
		store_relaxed(&rule->died, FLOW_ALIVE);
}

static void epoch_free(struct rcu_head *rcu)
{
	free(container_of(rcu, struct flow_epoch, rcu));
}

static void enter(struct flow_change *change, enum phase phase)
{
	change->phase = phase;
	change->at = 0;
	if (phase == DONE)
		change->t->change = NULL;
}

/* All that is staged becomes visible, and what leaves invisible, by one store. */
static void take_effect(struct flow_change *change)
{
	struct flow_table *t = change->t;
	struct flow_epoch *old = t->epoch;

	change->epoch->generation = old->generation + 1;
	change->epoch->version = change->version;
	flow_subtables_touched_changed(&t->subtables, change->epoch->generation);
	t->count += change->n_born - change->n_leaving;
	change->counts.removed = change->n_leaving;
	rcu_assign_pointer(t->epoch, change->epoch);
	change->epoch = NULL;
	call_rcu(&old->rcu, epoch_free);
}

static void all_is_marked(struct flow_change *change)
{
	if (!change->n_born && !change->n_leaving) {
		enter(change, change->counts.kept ? SWEEPING : DONE);
		return;
	}
	take_effect(change);
	if (change->n_leaving) {
		enter(change, WAITING);
		grace_start(&change->grace);
	} else {
		enter(change, change->counts.kept ? SWEEPING : DONE);
	}
}

int flow_change_commit(struct flow_change *change, uint32_t budget,
		       struct flow_change_counts *counts)
{
	if (change->phase == STAGING && change->kind == FLOW_CHANGE_REPLACE)
		enter(change, MARKING);
	else if (change->phase == STAGING)
		all_is_marked(change);
	else if (change->phase == WAITING && grace_over(&change->grace))
		enter(change, SWEEPING);

	if (change->phase == MARKING && !next_rules(change, budget, mark))
		all_is_marked(change);
	else if (change->phase == SWEEPING && !next_rules(change, budget, sweep))
		enter(change, DONE);
	flow_table_tidy(change->t);
	*counts = change->counts;
	return change->phase != DONE;
}

int flow_change_abort(struct flow_change *change, uint32_t budget)
{
	if (change->phase == STAGING)
		enter(change, ABORTING);
	if (change->phase == ABORTING && !next_rules(change, budget, undo))
		enter(change, DONE);
	flow_table_tidy(change->t);
	return change->phase != DONE;
}

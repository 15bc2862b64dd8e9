/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow table against a list, with single and staged changes of all kinds between each other;
 * hits that got old; walks while rules come and go; counters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "dataplane/flow_internal.h"
#include "dataplane/flow_table.h"
#include "lib/rcu.h"
#include "tests/unit/flow_list.h"

#define N_OLD BURST_MAX	/* hits that are kept and refreshed */
#define N_WORKERS 3

/* The table, what is in it, and what is staged. */
struct world {
	struct flow_table *t;
	struct list live;
	struct flow_change *change;
	enum flow_change_kind kind;
	bool committing, in_effect;
	uint32_t version;		/* before it takes effect */
	struct list named;		/* REMOVE: what goes */
	struct flow_change_counts counts;
	bool disturbed;			/* single changes may have made rules come back */
	uint64_t now_ns;
	/* hits of packets, and when they were right */
	struct flow_key old_key[N_OLD];
	struct flow_hit old[N_OLD];
	uint64_t old_generation[N_OLD];
};

static struct world w;

static void start(const char *what)
{
	random_init(what);
	memset(&w, 0, sizeof(w));
	list_init_masks();
	w.t = flow_table_create(N_WORKERS);
	assert_non_null(w.t);
	for (uint32_t i = 0; i < N_OLD; i++)
		w.old_key[i] = list_random_key();
}

static void stop(void)
{
	flow_change_free(w.change);
	flow_table_destroy(w.t);
}

/* Grace periods end, slots and lists are used again. */
static void let_go(void)
{
	rcu_barrier();
	flow_table_tidy(w.t);
	rcu_barrier();
	flow_table_tidy(w.t);
}

/* The list's rule that the table has as @id. */
static struct list_rule *rule_of(uint32_t id)
{
	const struct flow_rule *rule = flow_table_get(w.t, id);
	struct list_rule *r;

	assert_non_null(rule);
	assert_int_equal(flow_rule_id(w.t, rule), id);
	r = list_find_cookie(&w.live, flow_rule_cookie(rule));
	assert_non_null(r);
	return r;
}

/* @hit says what the list says of @key. */
static void check_hit(const struct flow_key *key, const struct flow_hit *hit)
{
	int best = list_best(&w.live, key);
	const struct flow_actions *actions = flow_table_actions(w.t, hit->actions);
	struct list_rule *r;
	struct flow_spec spec;

	if (best < 0) {
		assert_int_equal(hit->rule, FLOW_NONE);
		assert_int_equal(hit->life, 0);
		assert_int_equal(hit->actions, FLOW_LIST_NORMAL);
		assert_int_equal(hit->priority, 0);
		return;
	}
	r = rule_of(hit->rule);
	assert_int_equal(hit->priority, best);
	assert_int_equal(r->priority, best);
	assert_true(list_matches(r, key));
	assert_int_equal(hit->life, flow_rule_life(flow_table_get(w.t, hit->rule)));
	list_spec(r, &spec);
	assert_int_equal(actions->n, spec.n_actions);
	assert_memory_equal(actions->action, spec.action, spec.n_actions * sizeof(spec.action[0]));
	if (!spec.n_actions)
		assert_int_equal(hit->actions, FLOW_LIST_DROP);
	else if (spec.action[0].type == FLOW_NORMAL)
		assert_int_equal(hit->actions, FLOW_LIST_NORMAL);
}

static void check_burst(void)
{
	struct flow_key key[BURST_MAX];
	struct flow_hit hit[BURST_MAX];
	struct flow_view view;
	uint64_t wanted = random_u64() | random_u64();

	flow_table_view(w.t, &view);
	for (uint32_t i = 0; i < BURST_MAX; i++)
		key[i] = list_packet(&w.live);
	memset(hit, 0xaa, sizeof(hit));
	flow_table_lookup_burst(w.t, &view, key, wanted, hit);
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		if (wanted >> i & 1)
			check_hit(&key[i], &hit[i]);
		else
			assert_int_equal(hit[i].rule, 0xaaaaaaaa);
	}
}

/* Some of the old hits now, so that others get older. One whose rule is there and cannot be beaten
 * stays what it is. */
static void check_old(void)
{
	uint64_t some = random_u64() & random_u64();
	struct flow_hit before[N_OLD];
	struct flow_view view;

	memcpy(before, w.old, sizeof(before));
	flow_table_view(w.t, &view);
	flow_table_refresh_burst(w.t, &view, w.old_generation, w.old_key, some, w.old);
	for (uint32_t i = 0; i < N_OLD; i++) {
		const struct flow_rule *rule = flow_table_get(w.t, before[i].rule);

		if (!(some >> i & 1))
			continue;
		check_hit(&w.old_key[i], &w.old[i]);
		if (rule && flow_rule_life(rule) == before[i].life &&
		    w.old[i].priority == before[i].priority)
			assert_int_equal(w.old[i].rule, before[i].rule);
		w.old_generation[i] = view.generation;
		if (random_below(8) == 0) {
			w.old_key[i] = list_packet(&w.live);
			flow_table_lookup_burst(w.t, &view, &w.old_key[i], 1, &w.old[i]);
		}
	}
}

/* Everything that can be asked about each rule. */
static void check_rules(void)
{
	assert_int_equal(flow_table_count(w.t), w.live.n);
	for (uint32_t i = 0; i < w.live.n; i++) {
		struct list_rule *r = &w.live.rule[i];
		struct flow_stats stats;
		struct flow_spec spec;
		struct flow_key key;
		const struct flow_rule *rule;

		list_spec(r, &spec);
		rule = flow_table_find(w.t, &spec);
		assert_non_null(rule);
		assert_int_equal(flow_rule_cookie(rule), r->cookie);
		assert_int_equal(flow_rule_priority(rule), r->priority);
		assert_int_equal(flow_rule_idle_timeout_s(rule), r->idle_timeout_s);
		assert_int_equal(flow_rule_hard_timeout_s(rule), 0);
		assert_memory_equal(flow_rule_mask(w.t, rule), &r->mask, sizeof(r->mask));
		flow_rule_key(w.t, rule, &key);
		assert_memory_equal(&key, &r->key, sizeof(key));
		if (r->life) {
			assert_int_equal(flow_rule_id(w.t, rule), r->id);
			assert_int_equal(flow_rule_life(rule), r->life);
		}
		flow_rule_stats(w.t, rule, &stats);
		assert_int_equal(stats.packets, r->packets);
		assert_int_equal(stats.bytes, 100 * r->packets);
	}
}

/* Remembers where the rule is, and counts some packets for it. */
static void use_rule(struct list_rule *r)
{
	struct flow_spec spec;
	const struct flow_rule *rule;

	list_spec(r, &spec);
	rule = flow_table_find(w.t, &spec);
	assert_non_null(rule);
	r->id = flow_rule_id(w.t, rule);
	r->life = flow_rule_life(rule);
	for (uint32_t worker = 0; worker < N_WORKERS; worker++) {
		struct flow_cell *cell = &flow_table_cells(w.t, worker)[r->id];
		uint32_t n = random_below(3);

		cell->packets += n;
		cell->bytes += 100 * n;
		r->packets += n;
	}
}

static bool names(const struct list_rule *r)
{
	return w.change && w.kind == FLOW_CHANGE_REPLACE &&
	       list_find_cookie(&w.named, r->cookie) == list_find(&w.named, r) &&
	       list_find(&w.named, r);
}

static void add_one(void)
{
	struct list_rule new = list_random_rule(), *old = list_find(&w.live, &new);
	struct flow_spec spec;

	if (w.live.n == LIST_RULES)
		return;
	if (old && names(old))
		w.disturbed = true;
	list_spec(&new, &spec);
	assert_int_equal(flow_table_add(w.t, &spec, ++w.now_ns), !old);
	list_add(&w.live, &new);
	use_rule(list_find(&w.live, &new));
}

static void remove_one(void)
{
	struct list_rule *r;
	struct flow_spec spec;

	if (!w.live.n)
		return;
	r = &w.live.rule[random_below(w.live.n)];
	if (names(r))
		w.disturbed = true;
	list_spec(r, &spec);
	flow_table_remove(w.t, flow_rule_id(w.t, flow_table_find(w.t, &spec)));
	assert_null(flow_table_find(w.t, &spec));
	list_remove(&w.live, r);
}

static void begin(void)
{
	struct flow_change *other;
	struct flow_view view;

	w.kind = (enum flow_change_kind)random_below(3);
	assert_int_equal(flow_change_begin(w.t, w.kind, &w.change), 0);
	assert_int_equal(flow_change_begin(w.t, w.kind, &other), -EBUSY);
	flow_table_view(w.t, &view);
	w.version = view.version;
	w.committing = w.in_effect = w.disturbed = false;
	w.named.n = 0;
	w.counts = (struct flow_change_counts){0};
}

/* New rules, rules that take another one's place, and some that are there. */
static void name_one(void)
{
	struct list_rule new = list_random_rule();
	struct flow_spec spec;

	if (w.named.n == LIST_RULES || w.live.n == LIST_RULES)
		return;
	if (w.live.n && random_below(3)) {
		new = w.live.rule[random_below(w.live.n)];
		if (random_below(4) == 0)
			new = (struct list_rule){.key = new.key, .mask = new.mask,
						 .priority = new.priority,
						 .cookie = list_random_rule().cookie};
		else if (w.kind == FLOW_CHANGE_ADD)
			new.packets = new.life = 0;
	}
	list_spec(&new, &spec);
	assert_int_equal(flow_change_add(w.change, &spec, ++w.now_ns), 0);
	w.counts.repeated += list_add(&w.named, &new);
}

static void name_removed(void)
{
	struct list_rule *r = w.live.n ? &w.live.rule[random_below(w.live.n)] : NULL;
	struct flow_spec spec;

	if (!r)
		return;
	list_spec(r, &spec);
	flow_change_remove(w.change, flow_rule_id(w.t, flow_table_find(w.t, &spec)));
	list_add(&w.named, r);
}

/* The list after the change; where rules are that stay is known, of the others later. */
static void take_effect(void)
{
	uint32_t n_before = w.live.n, n_kept = 0;

	if (w.kind == FLOW_CHANGE_REPLACE) {
		for (uint32_t i = 0; i < w.named.n; i++) {
			struct list_rule *r = &w.named.rule[i];
			struct list_rule *was = list_find(&w.live, r);

			if (was && was->cookie == r->cookie) {
				*r = *was;
				n_kept++;
			} else {
				r->packets = r->life = 0;
			}
		}
		w.live = w.named;
	}
	for (uint32_t i = 0; w.kind == FLOW_CHANGE_ADD && i < w.named.n; i++)
		list_add(&w.live, &w.named.rule[i]);
	for (uint32_t i = 0; w.kind == FLOW_CHANGE_REMOVE && i < w.named.n; i++) {
		struct list_rule *r = list_find_cookie(&w.live, w.named.rule[i].cookie);

		if (r)
			list_remove(&w.live, r);
	}
	if (w.kind != FLOW_CHANGE_REMOVE) {
		w.counts.added = w.named.n - n_kept;
		w.counts.kept = n_kept;
	}
	w.counts.removed = n_before + w.counts.added - w.live.n;
}

/* Where the rules are that the change made. Their counters start at zero, unless they were there
 * before, were kept, and hidden for a while. */
static void adopt(void)
{
	for (uint32_t i = 0; i < w.live.n; i++) {
		struct list_rule *r = &w.live.rule[i];
		struct flow_stats stats;
		struct flow_spec spec;

		if (r->life)
			continue;
		list_spec(r, &spec);
		flow_rule_stats(w.t, flow_table_find(w.t, &spec), &stats);
		if (!w.disturbed)
			assert_int_equal(stats.packets, 0);
		r->packets = stats.packets;
		use_rule(r);
	}
}

static void check_counts(const struct flow_change_counts *counts)
{
	assert_int_equal(counts->repeated, w.counts.repeated);
	assert_int_equal(counts->added + counts->kept, w.counts.added + w.counts.kept);
	if (w.disturbed)
		return;
	assert_int_equal(counts->added, w.counts.added);
	assert_int_equal(counts->removed, w.counts.removed);
}

static void commit_some(void)
{
	struct flow_change_counts counts;
	struct flow_view view;
	int more = flow_change_commit(w.change, 1 + random_below(40), &counts);

	w.committing = true;
	rcu_quiescent_state();
	flow_table_view(w.t, &view);
	if (!w.in_effect && (view.version != w.version || !more)) {
		take_effect();
		adopt();
		w.in_effect = true;
	}
	if (more)
		return;
	check_counts(&counts);
	flow_change_free(w.change);
	w.change = NULL;
}

static void abort_all(void)
{
	while (flow_change_abort(w.change, 1 + random_below(40))) {
		w.named.n = 0;
		if (random_below(2))
			add_one();
		else
			remove_one();
		check_burst();
	}
	flow_change_free(w.change);
	w.change = NULL;
	check_rules();
}

static void change_some(void)
{
	if (!w.change) {
		if (random_below(40) == 0)
			begin();
		return;
	}
	if (w.committing || random_below(60) == 0) {
		commit_some();
	} else if (random_below(200) == 0) {
		abort_all();
	} else if (w.kind == FLOW_CHANGE_REMOVE) {
		name_removed();
	} else {
		for (uint32_t n = random_below(20); n--;)
			name_one();
	}
}

/* Rules that are gone leave nothing: no slots, no subtables, no lists. */
static void check_all_gone(void)
{
	uint32_t n_free = 0;

	while (w.change)
		commit_some();
	while (w.live.n)
		remove_one();
	let_go();
	let_go();
	for (uint32_t i = 0; i < w.t->slots.n_chunks; i++)
		assert_int_equal(w.t->slots.chunk[i].used, 0);
	for (uint32_t id = w.t->lists.free; id; n_free++)
		id = (uint32_t)flow_list_place(&w.t->lists, id)->next;
	assert_int_equal(n_free + 2, w.t->lists.n_ids);
	assert_int_equal(w.t->subtables.index->n, 0);
	assert_int_equal(flow_table_n_masks(w.t), 0);
}

static void against_list(void **state)
{
	start("flow_table against_list");
	for (uint32_t step = 0; step < 30000; step++) {
		/* The table swells and shrinks. */
		if (random_below(100) < 40 + 20 * (step / 3000 % 2))
			add_one();
		else
			remove_one();
		change_some();
		if (step % 4 == 0)
			check_old();
		if (step % 16 == 0)
			check_burst();
		if (step % 256 == 0)
			check_rules();
		if (step % 512 == 0)
			let_go();
		rcu_quiescent_state();
	}
	check_rules();
	check_all_gone();
	stop();
}

/* By id: the life that a walk saw there. */
static uint32_t seen[1 << 17];

static void visit(struct flow_table *t, const struct flow_rule *rule, void *arg)
{
	uint32_t id = flow_rule_id(t, rule), *n_visited = arg;
	struct list_rule *r = rule_of(id);

	assert_int_not_equal(seen[id], flow_rule_life(rule));
	seen[id] = flow_rule_life(rule);
	++*n_visited;
	if (random_below(30))
		return;
	if (names(r))
		w.disturbed = true;
	flow_table_remove(t, id);
	list_remove(&w.live, r);
}

static void walk_once(void)
{
	static struct list before;
	uint32_t cursor = 0, n_visited = 0, n_stayed = 0;

	before = w.live;
	memset(seen, 0, sizeof(seen));
	do {
		flow_table_walk(w.t, &cursor, 1 + random_below(200), visit, &n_visited);
		for (uint32_t n = random_below(4); n--;) {
			if (random_below(2))
				add_one();
			else
				remove_one();
		}
		change_some();
		if (random_below(30) == 0)
			let_go();
	} while (cursor);
	for (uint32_t i = 0; i < before.n; i++) {
		const struct list_rule *r = &before.rule[i];
		const struct flow_rule *rule = flow_table_get(w.t, r->id);

		if (!rule || flow_rule_life(rule) != r->life)
			continue;
		n_stayed++;
		if (!w.disturbed)
			assert_int_equal(seen[r->id], r->life);
	}
	assert_true(n_visited >= n_stayed || w.disturbed);
}

static void walks(void **state)
{
	start("flow_table walks");
	for (uint32_t i = 0; i < 1500; i++)
		add_one();
	for (uint32_t round = 0; round < 150; round++) {
		for (uint32_t i = 0; i < 60; i++)
			add_one();
		walk_once();
	}
	check_rules();
	stop();
}

/* A rule that is kept, and removed before the change takes effect, is back then, for those too who
 * have seen that it is gone. */
static void comes_back(void **state)
{
	struct flow_change_counts counts;
	struct flow_key key = list_random_key();
	uint64_t generation;
	struct flow_view view;
	struct flow_hit hit;
	struct flow_spec spec;

	start("flow_table comes_back");
	list_spec(&(struct list_rule){.output = 5}, &spec);
	assert_int_equal(flow_table_add(w.t, &spec, 1), 1);
	assert_int_equal(flow_change_begin(w.t, FLOW_CHANGE_REPLACE, &w.change), 0);
	assert_int_equal(flow_change_add(w.change, &spec, 1), 0);
	flow_table_view(w.t, &view);
	flow_table_lookup_burst(w.t, &view, &key, 1, &hit);
	generation = view.generation;
	flow_table_remove(w.t, hit.rule);
	assert_int_equal(flow_table_count(w.t), 0);
	for (uint32_t there = 0; there < 2; there++) {
		flow_table_view(w.t, &view);
		assert_true(view.generation > generation);
		flow_table_refresh_burst(w.t, &view, &generation, &key, 1, &hit);
		assert_int_equal(hit.rule != FLOW_NONE, there);
		generation = view.generation;
		while (!there && flow_change_commit(w.change, 1, &counts))
			rcu_quiescent_state();
	}
	assert_int_equal(counts.kept, 1);
	assert_int_equal(counts.added + counts.removed, 0);
	assert_int_equal(flow_table_count(w.t), 1);
	stop();
}

/* Versions as they are after billions of changes. */
static void old_age(void **state)
{
	start("flow_table old_age");
	for (uint32_t i = 0; i < 500; i++)
		add_one();
	for (uint32_t round = 0; round < 10; round++) {
		w.t->epoch->version += 1u << 29;
		for (uint32_t n = 0; n < 2 * FLOW_CHUNK_SLOTS / 64 + 2; n++)
			flow_table_tidy(w.t);
		check_rules();
		check_burst();
	}
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_list),
		cmocka_unit_test(walks),
		cmocka_unit_test(comes_back),
		cmocka_unit_test(old_age),
	};
	int failed;

	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return failed;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow table while others read it: what is there all the while is found at any time, the old
 * rule or the new one where one is replaced, and of a staged change all or nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "dataplane/flow_table.h"
#include "lib/bits.h"
#include "lib/rcu.h"
#include "tests/unit/random.h"

#define N_READERS 2
#define N_KEYS 2048		/* that are looked up */
#define N_CHURN 30000		/* that come and go */
#define N_STEPS 400000
#define N_SETS 60
#define BUDGET 200

/* A key's number tells which of the three masks its rules have: five words, all, one. */
static void set_masks(uint32_t i, struct flow_spec *spec)
{
	if (i % 3 == 1)
		memset(&spec->mask, 255, sizeof(spec->mask));
	else
		spec->mask.tun_id = UINT32_MAX;
	if (i % 3 == 0) {
		spec->mask.dl_type = UINT16_MAX;
		memset(spec->mask.src, 255, 8);
		memset(spec->mask.dst, 255, 4);
	}
}

static void set_key(uint32_t i, struct flow_key *key)
{
	memset(key, 0, sizeof(*key));
	key->dl_type = 0x800;
	key->tun_id = i;
	memcpy(key->src, &i, sizeof(i));
}

static struct flow_spec make_spec(uint32_t i, uint16_t priority, uint16_t output)
{
	struct flow_spec spec = {.priority = priority, .n_actions = 1};
	const uint8_t *mask = (const uint8_t *)&spec.mask;
	uint8_t *key = (uint8_t *)&spec.key;

	set_masks(i, &spec);
	set_key(i, &spec.key);
	for (size_t n = 0; n < sizeof(spec.key); n++)
		key[n] &= mask[n];
	spec.action[0].type = FLOW_OUTPUT;
	spec.action[0].arg = output;
	return spec;
}

struct reader {
	struct flow_table *t;
	void (*check)(struct reader *r, const struct flow_view *view);
	pthread_t thread;
	uint32_t stop;
	uint32_t n_views;
	uint32_t n_wrong;
	uint32_t seed;
	/* what it remembers of earlier views */
	struct flow_key key[N_KEYS];
	struct flow_hit hit[N_KEYS];
	uint64_t generation[N_KEYS];
};

static void *read_all_the_while(void *arg)
{
	struct reader *r = arg;
	struct flow_view view;

	rcu_register_thread();
	for (uint32_t i = 0; i < N_KEYS; i++)
		set_key(i, &r->key[i]);
	while (!load_acquire(&r->stop)) {
		flow_table_view(r->t, &view);
		r->check(r, &view);
		store_release(&r->n_views, r->n_views + 1);
		rcu_quiescent_state();
	}
	rcu_unregister_thread();
	return NULL;
}

static void start_readers(struct reader *r, struct flow_table *t,
			  void (*check)(struct reader *r, const struct flow_view *view))
{
	memset(r, 0, N_READERS * sizeof(*r));
	for (uint32_t i = 0; i < N_READERS; i++) {
		r[i].t = t;
		r[i].check = check;
		r[i].seed = i;
		assert_int_equal(
			pthread_create(&r[i].thread, NULL, read_all_the_while, &r[i]), 0);
	}
	/* A busy machine may run the writer to its end first. */
	for (uint32_t i = 0; i < N_READERS; i++)
		while (!load_acquire(&r[i].n_views))
			sched_yield();
}

static void stop_readers(struct reader *r)
{
	rcu_thread_offline();
	for (uint32_t i = 0; i < N_READERS; i++) {
		store_release(&r[i].stop, 1u);
		pthread_join(r[i].thread, NULL);
		assert_int_equal(r[i].n_wrong, 0);
	}
	rcu_thread_online();
}

/* Hits from the beginning for one half of the keys, old ones refreshed for the other, as a cache
 * does it: not when the generation is the same. */
static void look_up(struct reader *r, const struct flow_view *view, uint32_t first)
{
	uint64_t old = 0;

	if (r->seed++ % 2) {
		flow_table_lookup_burst(r->t, view, r->key + first, UINT64_MAX, r->hit + first);
	} else {
		for (uint32_t i = 0; i < BURST_MAX; i++)
			old |= (uint64_t)(r->generation[first + i] != view->generation) << i;
		flow_table_refresh_burst(r->t, view, r->generation + first, r->key + first, old,
					 r->hit + first);
	}
	for (uint32_t i = 0; i < BURST_MAX; i++)
		r->generation[first + i] = view->generation;
}

static uint32_t output_of(const struct reader *r, const struct flow_hit *hit)
{
	const struct flow_actions *actions = flow_table_actions(r->t, hit->actions);

	return hit->rule && actions->n == 1 ? actions->action[0].arg : UINT32_MAX;
}

/* Rules say which key they are for; some are replaced all the time, and say it in two ways. */
static void check_stable(struct reader *r, const struct flow_view *view)
{
	uint32_t first = r->seed * BURST_MAX % N_KEYS;

	look_up(r, view, first);
	for (uint32_t i = first; i < first + BURST_MAX; i++)
		r->n_wrong += output_of(r, &r->hit[i]) % N_KEYS != i;
}

/* A rule of a key that is looked up is replaced; one of them with a lower or higher priority comes
 * or goes, the others grow and shrink the maps. Higher ones say the same. */
static void churn_one(struct flow_table *t, uint32_t step)
{
	uint32_t i = random_below(1 + step / 10 % N_CHURN);
	uint16_t priority = (uint16_t)(100 + (i < N_KEYS ? random_below(3) : 1)) - 1;
	struct flow_spec spec =
		make_spec(i, priority, (uint16_t)(i % N_KEYS + N_KEYS * random_below(2)));
	const struct flow_rule *rule = flow_table_find(t, &spec);

	if (rule && priority == 99)
		flow_table_remove(t, flow_rule_id(t, rule));
	else if (rule && (i >= N_KEYS || priority == 101))
		flow_table_remove(t, flow_rule_id(t, rule));
	else
		flow_table_add(t, &spec, 1);
}

static void stable_rules(void **state)
{
	static struct reader reader[N_READERS];
	struct flow_table *t = flow_table_create(1);

	random_init("flow_table stable_rules");
	for (uint32_t i = 0; i < N_KEYS; i++) {
		struct flow_spec spec = make_spec(i, 100, (uint16_t)i);

		assert_int_equal(flow_table_add(t, &spec, 1), 1);
	}
	start_readers(reader, t, check_stable);
	for (uint32_t step = 0; step < N_STEPS; step++) {
		churn_one(t, step);
		if (step % 100 == 0) {
			flow_table_tidy(t);
			rcu_quiescent_state();
		}
	}
	stop_readers(reader);
	flow_table_destroy(t);
}

/* What set @n says of key @i. Some keys are in all sets alike, some in every other set. */
static bool is_kept(uint32_t i)
{
	return i % 16 == 5;
}

static bool is_in(uint32_t i, uint32_t n)
{
	return i % 16 != 7 || n % 2;
}

/* All that one view shows is of one set. */
static void check_set(struct reader *r, const struct flow_view *view)
{
	uint32_t set = UINT32_MAX;

	for (uint32_t first = 0; first < N_KEYS; first += BURST_MAX)
		look_up(r, view, first);
	for (uint32_t i = 0; i < N_KEYS; i++) {
		uint32_t output = output_of(r, &r->hit[i]);

		if (is_kept(i)) {
			r->n_wrong += output != N_SETS;
			continue;
		}
		if (set == UINT32_MAX)
			set = output;
		r->n_wrong += output != (is_in(i, set) ? set : UINT32_MAX);
	}
}

static void stage_set(struct flow_table *t, struct flow_change *change, uint32_t n)
{
	for (uint32_t i = 0; i < N_KEYS; i++) {
		struct flow_spec spec =
			make_spec(i, (uint16_t)(is_kept(i) ? 7 : 7 + n % 3),
				  (uint16_t)(is_kept(i) ? N_SETS : n));

		if (is_in(i, n))
			assert_int_equal(flow_change_add(change, &spec, 1), 0);
		/* somebody else's, that is replaced as well */
		spec = make_spec(N_KEYS + random_below(N_CHURN), 7, 1);
		if (i % 8 == 0)
			assert_true(flow_table_add(t, &spec, 1) >= 0);
		if (i % 64 == 0)
			rcu_quiescent_state();
	}
}

static void sets(void **state)
{
	static struct reader reader[N_READERS];
	struct flow_table *t = flow_table_create(1);

	random_init("flow_table sets");
	for (uint32_t n = 0; n < N_SETS; n++) {
		struct flow_change_counts counts;
		struct flow_change *change;

		assert_int_equal(flow_change_begin(t, FLOW_CHANGE_REPLACE, &change), 0);
		stage_set(t, change, n);
		if (n % 7 == 6) {
			while (flow_change_abort(change, BUDGET))
				rcu_quiescent_state();
		} else {
			while (flow_change_commit(change, BUDGET, &counts))
				rcu_quiescent_state();
			assert_true(!n || counts.kept >= N_KEYS / 16);
		}
		flow_change_free(change);
		if (!n)
			start_readers(reader, t, check_set);
	}
	stop_readers(reader);
	flow_table_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stable_rules),
		cmocka_unit_test(sets),
	};
	int failed;

	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return failed;
}

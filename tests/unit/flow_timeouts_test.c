/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timeouts of flow rules, on a real loop and a real table: the packets are written into a worker's
 * cells as match() does it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/flow_timeouts.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/rcu.h"

static struct loop *loop;
static struct flow_table *table;
static struct flow_timeouts *timeouts;

static int start(void **state)
{
	char why[256];

	rcu_register_thread();
	assert_int_equal(loop_create(&loop, why, sizeof(why)), 0);
	loop_set_rest(loop, rcu_thread_offline, rcu_thread_online);
	table = flow_table_create(1);
	timeouts = flow_timeouts_create(loop, table);
	assert_non_null(timeouts);
	return 0;
}

static int stop(void **state)
{
	flow_timeouts_destroy(timeouts);
	loop_destroy(loop);
	rcu_barrier();
	flow_table_destroy(table);
	rcu_unregister_thread();
	return 0;
}

static struct flow_spec spec_of(uint32_t n, uint16_t idle_s, uint16_t hard_s)
{
	struct flow_spec spec = {.idle_timeout_s = idle_s, .hard_timeout_s = hard_s};

	spec.key.tun_id = n;
	spec.mask.tun_id = UINT32_MAX;
	return spec;
}

static uint32_t add(uint32_t n, uint16_t idle_s, uint16_t hard_s, uint64_t created_ns)
{
	struct flow_spec spec = spec_of(n, idle_s, hard_s);
	const struct flow_rule *rule;

	assert_true(flow_table_add(table, &spec, created_ns) >= 0);
	rule = flow_table_find(table, &spec);
	flow_timeouts_watch(timeouts, rule);
	return flow_rule_id(table, rule);
}

static bool is_there(uint32_t n)
{
	struct flow_spec spec = spec_of(n, 0, 0);

	return flow_table_find(table, &spec);
}

/* Rules, and when each of them goes: from @from_ms to @to_ms, or not at all (0). */
static const struct {
	uint16_t idle_s;
	uint16_t hard_s;
	uint16_t age_s;		/* it was made in the past, and is known only now */
	uint16_t from_ms;
	uint16_t to_ms;
} rules[] = {
#define BUSY 0			/* has a packet every tick, and then none any more */
	{.idle_s = 2},
#define LASTING 1
	{.hard_s = 60000},
	{.hard_s = 1, .from_ms = 1000, .to_ms = 1500},
	{.hard_s = 2, .from_ms = 2000, .to_ms = 2500},
	{.hard_s = 7, .age_s = 6, .from_ms = 1000, .to_ms = 1500},
	{.hard_s = 7, .age_s = 9, .from_ms = 0, .to_ms = 500},
	{.idle_s = 2, .from_ms = 2000, .to_ms = 3000},
	{.idle_s = 1, .hard_s = 60, .from_ms = 1000, .to_ms = 2000},
	{.idle_s = 2, .hard_s = 1, .from_ms = 1000, .to_ms = 1500},
};

#define TICK_MS 20
#define WATCH_MS 3200		/* a busy rule was found busy by then, and the others went */

struct guest {
	struct loop_timer timer;
	uint64_t last_ns;	/* tick */
	uint64_t late_ns;	/* all ticks together */
	uint64_t end_ns;
	uint64_t gone_ns[ARRAY_SIZE(rules)];	/* when rule i was not there any more */
	uint32_t busy;		/* id of the rule that has packets, or 0 */
};

static void guest_tick(struct loop_timer *timer)
{
	struct guest *g = container_of(timer, struct guest, timer);
	uint64_t now_ns = clock_ns();

	if (now_ns > g->last_ns + TICK_MS * NS_PER_MS)
		g->late_ns += now_ns - g->last_ns - TICK_MS * NS_PER_MS;
	g->last_ns = now_ns;
	for (uint32_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (!g->gone_ns[i] && !is_there(i))
			g->gone_ns[i] = now_ns;
	if (g->busy && flow_table_get(table, g->busy))
		flow_table_cells(table, 0)[g->busy].packets++;
	if (now_ns >= g->end_ns + g->late_ns)
		loop_stop(timer->loop);
}

static void run_for(struct guest *g, uint64_t ms)
{
	g->last_ns = clock_ns();
	g->late_ns = 0;
	g->end_ns = g->last_ns + ms * NS_PER_MS;
	loop_timer_start(loop, &g->timer, TICK_MS, guest_tick);
	assert_int_equal(loop_run(loop), 0);
	loop_timer_stop(&g->timer);
}

/* Rule @i went @from_ms to @to_ms behind @start_ns, or as much later as the machine was busy with
 * other things. */
static void assert_gone(const struct guest *g, uint32_t i, uint64_t start_ns, uint64_t from_ms,
			uint64_t to_ms)
{
	assert_in_range(g->gone_ns[i], start_ns + from_ms * NS_PER_MS,
			start_ns + (to_ms + 2 * TICK_MS) * NS_PER_MS + g->late_ns);
}

static void ends(void **state)
{
	uint64_t now_ns = clock_ns();
	struct guest g = {0};

	for (uint32_t i = 0; i < ARRAY_SIZE(rules); i++) {
		uint32_t id = add(i, rules[i].idle_s, rules[i].hard_s,
				  now_ns - rules[i].age_s * NS_PER_S);

		if (i == BUSY)
			g.busy = id;
	}
	/* One goes in another way. */
	flow_table_remove(table, add(ARRAY_SIZE(rules), 0, 1, now_ns));
	assert_int_equal(flow_timeouts_count(timeouts), ARRAY_SIZE(rules) + 1);

	run_for(&g, WATCH_MS);
	for (uint32_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i].to_ms)
			assert_gone(&g, i, now_ns, rules[i].from_ms, rules[i].to_ms);
		else
			assert_int_equal(g.gone_ns[i], 0);
	}
	assert_int_equal(flow_timeouts_count(timeouts), 2);

	g.busy = 0;
	now_ns = clock_ns();
	run_for(&g, WATCH_MS);
	/* It was seen busy up to a second ago. */
	assert_gone(&g, BUSY, now_ns, 1000, 3000);
	assert_true(is_there(LASTING));
	assert_int_equal(flow_timeouts_count(timeouts), 1);
}

/* A rule that a staged change names ends before that takes effect: it comes back, as new. */
static void comes_back(void **state)
{
	struct flow_spec spec = spec_of(0, 0, 1);
	uint64_t now_ns = clock_ns(), staged_ns = now_ns + 1;
	struct flow_change_counts counts;
	struct flow_change *change;
	struct guest g = {0};

	add(0, 0, 1, now_ns);
	assert_int_equal(flow_change_begin(table, FLOW_CHANGE_REPLACE, &change), 0);
	assert_int_equal(flow_change_add(change, &spec, staged_ns), 0);
	run_for(&g, 1600);
	assert_int_not_equal(g.gone_ns[0], 0);
	while (flow_change_commit(change, 100, &counts))
		rcu_quiescent_state();
	flow_change_free(change);
	assert_true(is_there(0));
	assert_int_equal(flow_rule_created_ns(flow_table_find(table, &spec)), staged_ns);
}

struct pulse {
	struct loop_timer timer;
	uint32_t all;		/* rules at first */
	unsigned int between;	/* ticks when some were gone and some were not */
	uint64_t end_ns;
};

static void pulse_tick(struct loop_timer *timer)
{
	struct pulse *p = container_of(timer, struct pulse, timer);
	uint32_t n = flow_table_count(table);

	p->between += n && n < p->all;
	if (!n || clock_ns() > p->end_ns)
		loop_stop(timer->loop);
}

/* A hundred thousand end in the same second: piece by piece, and others have their turn. */
static void many(void **state)
{
	uint64_t now_ns = clock_ns();
	struct pulse p = {.all = 100000, .end_ns = now_ns + 30 * NS_PER_S};

	for (uint32_t i = 0; i < p.all; i++)
		add(i, i % 2 ? 0 : 600, 1, now_ns);
	loop_timer_start(loop, &p.timer, 1, pulse_tick);
	assert_int_equal(loop_run(loop), 0);
	loop_timer_stop(&p.timer);
	assert_int_equal(flow_table_count(table), 0);
	assert_true(p.between >= 5);
}

#define TIMEOUTS_TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TIMEOUTS_TEST(ends),
		TIMEOUTS_TEST(comes_back),
		TIMEOUTS_TEST(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

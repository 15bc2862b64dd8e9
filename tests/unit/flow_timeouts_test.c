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

struct guest {
	struct loop_timer timer;
	void (*tick)(struct guest *guest);
	uint64_t end_ns;
	uint64_t gone_ns[4];	/* when rule i was not there any more */
	uint32_t id;		/* of a rule that has a packet every tick */
};

static void guest_tick(struct loop_timer *timer)
{
	struct guest *g = container_of(timer, struct guest, timer);
	uint64_t now_ns = clock_ns();

	for (uint32_t i = 0; i < ARRAY_SIZE(g->gone_ns); i++)
		if (!g->gone_ns[i] && !is_there(i))
			g->gone_ns[i] = now_ns;
	if (g->id && flow_table_get(table, g->id))
		flow_table_cells(table, 0)[g->id].packets++;
	if (now_ns >= g->end_ns)
		loop_stop(timer->loop);
}

static void run_for(struct guest *g, uint64_t ms)
{
	g->end_ns = clock_ns() + ms * NS_PER_MS;
	loop_timer_start(loop, &g->timer, 20, guest_tick);
	assert_int_equal(loop_run(loop), 0);
	loop_timer_stop(&g->timer);
}

/* @ns is where it may be, with a second for a machine that has other things to do. */
static void assert_about(uint64_t ns, uint64_t from_ns, uint64_t to_ns)
{
	assert_in_range(ns, from_ns, to_ns + NS_PER_S);
}

static void hard(void **state)
{
	uint64_t now_ns = clock_ns();
	struct guest g = {0};

	add(0, 0, 1, now_ns);
	add(1, 0, 2, now_ns);
	add(2, 0, 7, now_ns - 6 * NS_PER_S);	/* made in the past, and known only now */
	add(3, 0, 7, now_ns - 9 * NS_PER_S);
	/* In between one goes in another way, and its place is taken. */
	flow_table_remove(table, add(4, 0, 1, now_ns));
	add(5, 0, 60000, now_ns);
	assert_int_equal(flow_timeouts_count(timeouts), 6);
	run_for(&g, 3500);
	assert_about(g.gone_ns[0], now_ns + NS_PER_S, now_ns + 3 * NS_PER_S / 2);
	assert_about(g.gone_ns[1], now_ns + 2 * NS_PER_S, now_ns + 5 * NS_PER_S / 2);
	assert_about(g.gone_ns[2], now_ns + NS_PER_S, now_ns + 3 * NS_PER_S / 2);
	assert_about(g.gone_ns[3], now_ns, now_ns + NS_PER_S / 2);
	assert_true(is_there(5));
	assert_int_equal(flow_timeouts_count(timeouts), 1);
}

static void idle(void **state)
{
	uint64_t now_ns = clock_ns();
	struct guest g = {0};

	add(0, 2, 0, now_ns);
	g.id = add(1, 2, 0, now_ns);
	add(2, 2, 1, now_ns);
	add(3, 1, 60, now_ns);
	run_for(&g, 4500);
	assert_about(g.gone_ns[0], now_ns + 2 * NS_PER_S, now_ns + 3 * NS_PER_S);
	assert_int_equal(g.gone_ns[1], 0);
	assert_about(g.gone_ns[2], now_ns + NS_PER_S, now_ns + 3 * NS_PER_S / 2);
	assert_about(g.gone_ns[3], now_ns + NS_PER_S, now_ns + 2 * NS_PER_S);
	/* Now it has none any more. */
	g.id = 0;
	now_ns = clock_ns();
	run_for(&g, 4500);
	assert_about(g.gone_ns[1], now_ns + NS_PER_S, now_ns + 7 * NS_PER_S / 2);
	assert_int_equal(flow_table_count(table), 0);
	assert_int_equal(flow_timeouts_count(timeouts), 0);
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
	run_for(&g, 2000);
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
		add(i, i % 2 ? 0 : 600, 2, now_ns);
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
		TIMEOUTS_TEST(hard),
		TIMEOUTS_TEST(idle),
		TIMEOUTS_TEST(comes_back),
		TIMEOUTS_TEST(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

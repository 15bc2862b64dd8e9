/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow table where much of something is in it: priorities of a match, masks, rules; and where
 * there is no more room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "dataplane/flow_internal.h"
#include "lib/rcu.h"

#define DATA_BYTES (256ull << 20)	/* memory in no_memory */

/* One match, priorities in any order: one after the other is the one that counts. */
static void many_priorities(void **state)
{
	struct flow_table *t = flow_table_create(1);
	struct flow_spec spec = {.mask = {.tun_id = UINT32_MAX}, .key = {.tun_id = 7}};
	struct flow_key key = {.tun_id = 7};
	struct flow_view view;
	struct flow_hit hit;

	for (uint32_t i = 0; i < 10000; i++) {
		spec.cookie = spec.priority = (uint16_t)(i * 7919 % 10000);
		assert_int_equal(flow_table_add(t, &spec, 1), 1);
	}
	assert_int_equal(flow_table_n_masks(t), 1);
	flow_table_view(t, &view);
	assert_int_equal(view.words, 1 << 2);
	for (uint32_t i = 10000; i--;) {
		flow_table_view(t, &view);
		flow_table_lookup_burst(t, &view, &key, 1, &hit);
		assert_int_equal(hit.priority, i);
		assert_int_equal(flow_rule_cookie(flow_table_get(t, hit.rule)), i);
		flow_table_remove(t, hit.rule);
	}
	flow_table_view(t, &view);
	flow_table_lookup_burst(t, &view, &key, 1, &hit);
	assert_int_equal(hit.rule, FLOW_NONE);
	assert_int_equal(flow_table_n_masks(t), 0);
	flow_table_tidy(t);
	flow_table_view(t, &view);
	assert_null(view.index);
	assert_int_equal(view.words, 0);
	flow_table_destroy(t);
}

static struct flow_spec spec_of_number(uint32_t i)
{
	struct flow_spec spec = {.n_actions = 0};

	spec.mask = (struct flow_key){.dl_type = UINT16_MAX, .nw_proto = UINT8_MAX,
				      .tp_src = UINT16_MAX, .tp_dst = UINT16_MAX};
	memset(spec.mask.src, 255, 4);
	memset(spec.mask.dst, 255, 4);
	spec.key = (struct flow_key){.dl_type = 0x800, .nw_proto = 6, .tp_dst = 80};
	memcpy(spec.key.src, &i, 4);
	return spec;
}

/* As many different masks as there may be, and room for others when one is gone. */
static void too_many_masks(void **state)
{
	struct flow_table *t = flow_table_create(1);
	struct flow_spec spec = spec_of_number(1);
	struct flow_change *change;
	uint32_t first;

	for (uint32_t i = 0; i < FLOW_MASKS_MAX; i++) {
		spec.mask.tun_id = i;
		assert_int_equal(flow_table_add(t, &spec, 1), 1);
	}
	first = flow_rule_id(t, flow_table_find(t, &spec));
	assert_int_equal(flow_table_n_masks(t), FLOW_MASKS_MAX);
	spec.mask.tun_id = FLOW_MASKS_MAX;
	assert_int_equal(flow_table_add(t, &spec, 1), -ENOSPC);
	assert_int_equal(flow_change_begin(t, FLOW_CHANGE_ADD, &change), 0);
	assert_int_equal(flow_change_add(change, &spec, 1), -ENOSPC);
	assert_int_equal(flow_change_abort(change, 1), 0);
	flow_change_free(change);
	flow_table_remove(t, first);
	assert_int_equal(flow_table_add(t, &spec, 1), 1);
	assert_int_equal(flow_table_count(t), FLOW_MASKS_MAX);
	flow_table_destroy(t);
}

/* Two chunks: short and long rules do not share one, and memory that is given back can be used by
 * the other kind. */
static void too_many_slots(void **state)
{
	static uint32_t id[2 * FLOW_CHUNK_SLOTS];
	struct flow_slots s;
	uint32_t other;

	assert_int_equal(flow_slots_init(&s, 2 * FLOW_CHUNK_SLOTS, 1), 0);
	for (uint32_t words = 4; words < 20; words += 10) {
		uint32_t n = (2 * FLOW_CHUNK_SLOTS - 1) / (words > FLOW_RULE_WORDS ? 2 : 1);

		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(flow_slots_take(&s, words, &id[i]), 0);
			assert_int_not_equal(id[i], 0);
			assert_int_equal(flow_slots_cells(&s, 0)[id[i]].packets, 0);
			flow_slots_cells(&s, 0)[id[i]].packets = 1;
		}
		assert_int_equal(flow_slots_take(&s, words, &other), -ENOSPC);
		assert_int_equal(flow_slots_take(&s, 18 - words, &other), -ENOSPC);
		for (uint32_t i = 0; i < n; i++)
			flow_slots_retire(&s, id[i]);
		for (uint32_t left = n; left; rcu_barrier()) {
			while ((other = flow_slots_left(&s))) {
				flow_slots_free(&s, other);
				left--;
			}
		}
	}
	flow_slots_fini(&s);
}

/* A million rules in one table, in one change; then all but a few go. */
static void a_million(void **state)
{
	struct flow_table *t = flow_table_create(1);
	struct flow_change_counts counts;
	struct flow_change *change;
	struct flow_view view;

	assert_int_equal(flow_change_begin(t, FLOW_CHANGE_REPLACE, &change), 0);
	for (uint32_t i = 0; i < 1000000; i++) {
		struct flow_spec spec = spec_of_number(i);

		assert_int_equal(flow_change_add(change, &spec, 1), 0);
	}
	assert_int_equal(flow_table_count(t), 0);
	while (flow_change_commit(change, 4096, &counts))
		rcu_quiescent_state();
	flow_change_free(change);
	assert_int_equal(counts.added, 1000000);
	assert_int_equal(flow_table_count(t), 1000000);
	flow_table_view(t, &view);
	for (uint32_t i = 0; i < 1000000; i++) {
		struct flow_key key = spec_of_number(i).key;
		struct flow_hit hit;

		flow_table_lookup_burst(t, &view, &key, 1, &hit);
		assert_int_not_equal(hit.rule, FLOW_NONE);
		if (i % 1000)
			flow_table_remove(t, hit.rule);
	}
	/* slots and leaves are given back */
	for (uint32_t i = 0; i < 300; i++)
		flow_table_tidy(t);
	rcu_barrier();
	for (uint32_t i = 0; i < 300; i++)
		flow_table_tidy(t);
	assert_int_equal(flow_table_count(t), 1000);
	for (uint32_t i = 0; i < 1000000; i += 1000) {
		struct flow_spec spec = spec_of_number(i);

		assert_non_null(flow_table_find(t, &spec));
	}
	flow_table_destroy(t);
}

/* The address space of all rules is not memory. When there is none, rules are refused and what is
 * there stays, and when there is again, they are taken. */
static void no_memory(void **state)
{
	struct flow_table *t;
	struct rlimit limit, tight;
	struct flow_change *change;
	uint32_t n = 0, staged;

#ifdef __SANITIZE_ADDRESS__
	skip();	/* it dies when its own memory is refused */
#endif
	t = flow_table_create(64);
	assert_non_null(t);
	assert_int_equal(flow_change_begin(t, FLOW_CHANGE_ADD, &change), 0);
	assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
	tight = (struct rlimit){.rlim_cur = DATA_BYTES, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_DATA, &tight), 0);
	for (int err = 1; err != -ENOMEM; n += err == 1) {
		struct flow_spec spec = spec_of_number(n);

		err = flow_table_add(t, &spec, 1);
		assert_true(err == 1 || err == -ENOMEM);
	}
	assert_in_range(n, 10000, 3000000);
	for (staged = 0; staged < n; staged++) {
		struct flow_spec spec = spec_of_number(n + staged);

		if (flow_change_add(change, &spec, 1) == -ENOMEM)
			break;
	}
	assert_true(staged < n);
	while (flow_change_abort(change, 4096))
		;
	flow_change_free(change);
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
	assert_int_equal(flow_table_count(t), n);
	for (uint32_t i = 0; i < n + 100000; i++) {
		struct flow_spec spec = spec_of_number(i);

		assert_int_equal(!!flow_table_find(t, &spec), i < n);
		assert_int_equal(flow_table_add(t, &spec, 1), i >= n);
	}
	flow_table_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_priorities), cmocka_unit_test(too_many_masks),
		cmocka_unit_test(too_many_slots),  cmocka_unit_test(a_million),
		cmocka_unit_test(no_memory),
	};
	int failed;

	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return failed;
}

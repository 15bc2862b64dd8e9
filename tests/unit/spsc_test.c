/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "lib/spsc.h"

#define N_ELEMENTS 200000u

static void *produce(void *arg)
{
	struct spsc *r = arg;

	for (uint64_t i = 0; i < N_ELEMENTS; i++)
		while (!spsc_push(r, &i))
			sched_yield();
	return NULL;
}

/* Two threads, a ring that is nearly always full or empty: everything arrives once, in order. */
static void in_order(void **state)
{
	struct spsc r;
	pthread_t thread;
	uint64_t got;

	assert_int_equal(spsc_init(&r, 7, sizeof(got)), 0);
	assert_int_equal(r.capacity, 8);
	assert_int_equal(pthread_create(&thread, NULL, produce, &r), 0);
	for (uint64_t want = 0; want < N_ELEMENTS; want++) {
		while (!spsc_pop(&r, &got))
			sched_yield();
		assert_int_equal(got, want);
	}
	pthread_join(thread, NULL);
	assert_false(spsc_pending(&r));
	assert_false(spsc_pop(&r, &got));
	spsc_fini(&r);
}

static void full(void **state)
{
	struct spsc r;
	uint32_t v = 1;

	assert_int_equal(spsc_init(&r, 4, sizeof(v)), 0);
	for (int i = 0; i < 4; i++)
		assert_true(spsc_push(&r, &v));
	assert_false(spsc_push(&r, &v));
	assert_true(spsc_pop(&r, &v));
	assert_true(spsc_push(&r, &v));
	assert_false(spsc_push(&r, &v));
	spsc_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full),
		cmocka_unit_test(in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The FDB against an array: few networks and few MACs, so that keys come, go and come back, in
 * tables that grow from almost nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "dataplane/fdb.h"
#include "dataplane/packet.h"
#include "lib/bits.h"
#include "lib/rcu.h"
#include "tests/unit/random.h"

#define N_KEYS 4000

struct oracle {
	bool there;
	uint16_t egress;
	uint16_t flags;
	uint32_t seen_s;
	uint32_t visits;
};

static struct oracle oracle[N_KEYS];

static uint64_t key_of(uint32_t i)
{
	uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i};

	return fdb_key((uint16_t)(1 + i % 3), mac);
}

static uint32_t index_of(uint64_t key)
{
	struct mac mac = fdb_key_mac(key);

	return (uint32_t)mac.byte[4] << 8 | mac.byte[5];
}

static uint32_t oracle_count(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < N_KEYS; i++)
		n += oracle[i].there;
	return n;
}

/* Random keys, twice the same among them, and holes. */
static void compare_burst(const struct fdb *fdb)
{
	uint64_t key[FDB_BURST] = {0};
	uint16_t egress[FDB_BURST];
	uint32_t index[FDB_BURST], n = random_below(FDB_BURST + 1);

	for (uint32_t i = 0; i < n; i++) {
		index[i] = random_below(N_KEYS);
		key[i] = random_below(8) ? key_of(index[i]) : 0;
	}
	fdb_lookup_burst(fdb, key, n, egress);
	for (uint32_t i = 0; i < n; i++) {
		const struct oracle *o = &oracle[index[i]];

		assert_int_equal(egress[i], key[i] && o->there ? o->egress : EGRESS_NONE);
	}
}

static void compare_all(const struct fdb *fdb)
{
	struct fdb_entry e;

	assert_int_equal(fdb_count(fdb), oracle_count());
	for (uint32_t i = 0; i < 100; i++)
		compare_burst(fdb);
	for (uint32_t i = 0; i < N_KEYS; i++) {
		assert_int_equal(fdb_lookup(fdb, key_of(i), &e), oracle[i].there);
		if (!oracle[i].there)
			continue;
		assert_int_equal(e.key, key_of(i));
		assert_int_equal(e.egress, oracle[i].egress);
		assert_int_equal(e.flags, oracle[i].flags);
		assert_int_equal(e.seen_s, oracle[i].seen_s);
	}
}

static void set_one(struct fdb *fdb, uint32_t i, uint32_t now_s)
{
	uint16_t egress = (uint16_t)random_u64(), flags = random_below(2) ? FDB_STATIC : 0;

	assert_int_equal(fdb_set(fdb, key_of(i), egress, flags, now_s), !oracle[i].there);
	oracle[i] = (struct oracle){true, egress, flags, now_s, 0};
}

static void see_one(struct fdb *fdb, uint32_t i, uint32_t now_s)
{
	uint16_t from = random_below(2) ? oracle[i].egress : (uint16_t)random_u64();
	uint64_t key = key_of(i);
	bool here = oracle[i].there && from == oracle[i].egress;
	bool fixed = oracle[i].there && oracle[i].flags & FDB_STATIC;

	assert_int_equal(fdb_seen_burst(fdb, &key, &from, 1, now_s), here || fixed);
	if (here)
		oracle[i].seen_s = now_s;
}

static bool visit_even(const struct fdb_entry *e, void *arg)
{
	uint32_t i = index_of(e->key);
	bool remove = arg && e->egress % 2 == 0;

	assert_true(oracle[i].there);
	assert_int_equal(e->egress, oracle[i].egress);
	oracle[i].visits++;
	if (remove)
		oracle[i].there = false;
	return remove;
}

/* A whole walk in pieces: once each, and what says so goes. */
static void walk_all(struct fdb *fdb, bool remove)
{
	uint64_t cursor = 0;
	bool expected[N_KEYS];

	for (uint32_t i = 0; i < N_KEYS; i++) {
		expected[i] = oracle[i].there;
		oracle[i].visits = 0;
	}
	do
		fdb_walk(fdb, &cursor, 1 + random_below(20), visit_even, remove ? fdb : NULL);
	while (cursor);
	for (uint32_t i = 0; i < N_KEYS; i++)
		assert_int_equal(oracle[i].visits, expected[i]);
}

static void against_array(void **state)
{
	struct fdb *fdb = fdb_create(1);
	uint32_t generation = fdb_generation(fdb);

	random_init("fdb against_array");
	memset(oracle, 0, sizeof(oracle));
	for (uint32_t step = 0; step < 200000; step++) {
		/* The range widens, so that the table grows all the while. */
		uint32_t i = random_below(1 + step / 50 % N_KEYS), what = random_below(10);

		if (what < 4)
			set_one(fdb, i, step);
		else if (what < 7)
			see_one(fdb, i, step);
		else {
			assert_int_equal(fdb_del(fdb, key_of(i)), oracle[i].there ? 0 : -ENOENT);
			oracle[i].there = false;
		}
		if (step % 10000 == 0)
			compare_all(fdb);
		if (step % 25000 == 0)
			walk_all(fdb, step % 50000 == 0);
	}
	assert_int_not_equal(fdb_generation(fdb), generation);
	compare_all(fdb);
	fdb_destroy(fdb);
}

/* All go, and the chains that they left are gone too: a table full of holes would be slow or
 * lose. */
static void empties(void **state)
{
	struct fdb *fdb = fdb_create(N_KEYS);
	struct fdb_entry e;

	memset(oracle, 0, sizeof(oracle));
	for (int round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < N_KEYS; i++)
			set_one(fdb, i, 1);
		compare_all(fdb);
		for (uint32_t i = 0; i < N_KEYS; i++) {
			assert_int_equal(fdb_del(fdb, key_of(i)), 0);
			oracle[i].there = false;
		}
		compare_all(fdb);
		assert_true(fdb_cache_lines(fdb) == 1);
	}
	assert_int_equal(fdb_generation(fdb), 0);
	assert_int_equal(fdb_set(fdb, 0, 1, 0, 1), -EINVAL);
	assert_int_equal(fdb_del(fdb, 0), -ENOENT);
	assert_false(fdb_lookup(fdb, 0, &e));
	fdb_destroy(fdb);
}

static bool count_visits(const struct fdb_entry *e, void *arg)
{
	((uint32_t *)arg)[index_of(e->key)]++;
	return false;
}

/* Every table has a seed of its own, and under none do MAC addresses that count up crowd. */
static void seeds(void **state)
{
	for (int round = 0; round < 2000; round++) {
		struct fdb *fdb = fdb_create(N_KEYS);

		for (uint32_t i = 0; i < N_KEYS; i++)
			fdb_set(fdb, key_of(i), 1, 0, 1);
		assert_true(fdb_cache_lines(fdb) < 1.3);
		fdb_destroy(fdb);
	}
}

/* A walk during which the table grows begins again: nobody is missed. */
static void walk_over_resize(void **state)
{
	static uint32_t visits[N_KEYS];
	struct fdb *fdb = fdb_create(64);
	uint64_t cursor = 0;
	uint32_t n = 64;

	memset(visits, 0, sizeof(visits));
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fdb_set(fdb, key_of(i), 1, 0, 1), 1);
	fdb_walk(fdb, &cursor, 16, count_visits, visits);
	assert_int_not_equal(cursor, 0);
	for (; n < 1000; n++)
		assert_int_equal(fdb_set(fdb, key_of(n), 1, 0, 1), 1);
	while (cursor)
		fdb_walk(fdb, &cursor, 7, count_visits, visits);
	for (uint32_t i = 0; i < n; i++)
		assert_in_range(visits[i], 1, 2);
	fdb_destroy(fdb);
}

#define N_STABLE (5 * FDB_BURST)
#define N_CHURN 2000

static uint64_t stable_key(uint32_t i)
{
	return (uint64_t)9 << 48 | i;
}

static uint64_t churn_key(uint32_t i)
{
	return (uint64_t)10 << 48 | i;
}

/* An egress tells the key that it belongs to. */
static uint16_t egress_for(uint64_t key)
{
	return (uint16_t)hash_u64(key, 77);
}

struct reader {
	struct fdb *fdb;
	uint32_t stop;
	uint64_t n_lookups;
	uint64_t n_missed;	/* of what is there all the while */
	uint64_t n_wrong;
};

static void *read_all_the_while(void *arg)
{
	struct reader *r = arg;
	uint64_t key[FDB_BURST];
	uint16_t egress[FDB_BURST], from[FDB_BURST];
	struct fdb_entry e;

	rcu_register_thread();
	while (!load_acquire(&r->stop)) {
		for (uint32_t i = 0; i < N_STABLE; i++) {
			key[i % FDB_BURST] = stable_key(i);
			from[i % FDB_BURST] = egress_for(stable_key(i));
			if (i % FDB_BURST != FDB_BURST - 1)
				continue;
			fdb_lookup_burst(r->fdb, key, FDB_BURST, egress);
			for (uint32_t k = 0; k < FDB_BURST; k++) {
				r->n_missed += egress[k] == EGRESS_NONE;
				r->n_wrong += egress[k] != from[k];
			}
			if (fdb_seen_burst(r->fdb, key, from, FDB_BURST, i) != UINT64_MAX)
				r->n_missed++;
		}
		for (uint32_t i = 0; i < N_CHURN; i++)
			if (fdb_lookup(r->fdb, churn_key(i), &e) &&
			    e.egress != egress_for(churn_key(i)))
				r->n_wrong++;
		store_release(&r->n_lookups, r->n_lookups + N_STABLE + N_CHURN);
		rcu_quiescent_state();
	}
	rcu_unregister_thread();
	return NULL;
}

static void readers(void **state)
{
	struct reader reader = {.fdb = fdb_create(1)};
	uint32_t n_there = 0;
	bool *there = calloc(N_CHURN, sizeof(*there));
	pthread_t thread;

	random_init("fdb readers");
	rcu_register_thread();
	for (uint32_t i = 0; i < N_STABLE; i++)
		assert_int_equal(
			fdb_set(reader.fdb, stable_key(i), egress_for(stable_key(i)), 0, 1), 1);
	assert_int_equal(pthread_create(&thread, NULL, read_all_the_while, &reader), 0);
	/* A busy machine may run the writer to its end first. */
	while (!load_acquire(&reader.n_lookups))
		sched_yield();
	for (uint32_t step = 0; step < 400000; step++) {
		uint32_t i = random_below(1 + step / 100 % N_CHURN);
		uint64_t key = churn_key(i);

		if (there[i])
			assert_int_equal(fdb_del(reader.fdb, key), 0);
		else
			assert_int_equal(fdb_set(reader.fdb, key, egress_for(key), 0, 1), 1);
		there[i] = !there[i];
		rcu_quiescent_state();
	}
	store_release(&reader.stop, 1u);
	rcu_thread_offline();
	pthread_join(thread, NULL);
	rcu_thread_online();
	for (uint32_t i = 0; i < N_CHURN; i++)
		n_there += there[i];
	assert_int_equal(fdb_count(reader.fdb), N_STABLE + n_there);
	assert_int_equal(reader.n_missed, 0);
	assert_int_equal(reader.n_wrong, 0);
	fdb_destroy(reader.fdb);
	free(there);
	rcu_thread_offline();
	rcu_barrier();
	rcu_unregister_thread();
}

/* One million entries, as many as the design promises, and at about half full short ways to
 * them. */
static void a_million(void **state)
{
	struct fdb *fdb = fdb_create(1000);
	struct fdb_entry e;

	for (uint64_t i = 1; i <= 1000000; i++)
		assert_int_equal(fdb_set(fdb, i * 0x10001 | 1ull << 48, (uint16_t)i, 0, 1), 1);
	for (uint64_t i = 1; i <= 1000000; i += 7) {
		assert_true(fdb_lookup(fdb, i * 0x10001 | 1ull << 48, &e));
		assert_int_equal(e.egress, (uint16_t)i);
		assert_false(fdb_lookup(fdb, i * 0x10001 | 2ull << 48, &e));
	}
	assert_int_equal(fdb_count(fdb), 1000000);
	assert_true(fdb_cache_lines(fdb) < 1.2);
	print_message("cache lines a lookup: %.3f\n", fdb_cache_lines(fdb));
	fdb_destroy(fdb);
}

static void key_and_back(void **state)
{
	static const uint8_t mac[6] = {0x02, 0xfe, 0x80, 0x01, 0x7f, 0xff};
	uint64_t key = fdb_key(0xfedc, mac);
	struct mac back = fdb_key_mac(key);

	assert_int_equal(fdb_key_network(key), 0xfedc);
	assert_memory_equal(back.byte, mac, sizeof(mac));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key_and_back),	   cmocka_unit_test(against_array),
		cmocka_unit_test(empties),	   cmocka_unit_test(seeds),
		cmocka_unit_test(walk_over_resize),
		cmocka_unit_test(readers),	   cmocka_unit_test(a_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

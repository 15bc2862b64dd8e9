/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring of captured frames: against a naive queue, and between two threads with a checksum in
 * every record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/ring.h"
#include "lib/hash.h"
#include "tests/unit/random.h"

#define N_RECORDS 300000u
#define N_QUEUE 4096u	/* more records than the small ring holds */

static uint32_t round_up(uint32_t caplen)
{
	return (uint32_t)(sizeof(struct record) + caplen + 7) / 8 * 8;
}

/* What is in a frame follows from its number alone. */
static uint8_t byte_of(uint64_t number, uint32_t at)
{
	return (uint8_t)hash_mix(number * 65537 + at, 7);
}

static void fill(struct record *r, uint64_t number)
{
	r->time_ns = number;
	r->len = (uint16_t)(r->caplen + 1);
	r->where = (uint16_t)number;
	for (uint32_t i = 0; i < r->caplen; i++)
		r->frame[i] = byte_of(number, i);
}

static void check(const struct record *r, uint64_t number, uint32_t caplen)
{
	assert_int_equal(r->bytes, round_up(caplen));
	assert_int_equal(r->caplen, caplen);
	assert_int_equal(r->len, (uint16_t)(caplen + 1));
	assert_int_equal(r->time_ns, number);
	assert_int_equal(r->where, (uint16_t)number);
	for (uint32_t i = 0; i < caplen; i++)
		if (r->frame[i] != byte_of(number, i))
			fail_msg("record %llu of %u bytes: byte %u is torn",
				 (unsigned long long)number, caplen, i);
}

static const struct record *next_of(const struct record *r)
{
	return (const struct record *)((const uint8_t *)r + r->bytes);
}

static void sizes_are_powers_of_two(void **state)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t table[][2] = {
		{0, page},
		{1, page},
		{page, page},
		{page + 1, 2 * page},
		{3 * page, 4 * page},
		{1 << 20, 1 << 20},
	};
	struct ring ring = {0};

	ring_fini(&ring);
	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(ring_init(&ring, table[i][0]), 0);
		assert_int_equal(ring.bytes, table[i][1]);
		ring.memory[0] = 0x5a;
		ring.memory[ring.bytes - 1] = 0xa5;
		assert_int_equal(ring.memory[ring.bytes], 0x5a);
		assert_int_equal(ring.memory[2 * ring.bytes - 1], 0xa5);
		ring_fini(&ring);
		assert_null(ring.memory);
	}
	/* Nobody has so much room for addresses. */
	assert_true(ring_init(&ring, UINT64_MAX / 4) < 0);
	assert_null(ring.memory);
	ring_fini(&ring);
}

/* Of one size, until it is full; and again when one was taken out. */
static void full(void **state)
{
	static const uint16_t caplens[] = {0, 1, 8, 60, 61, 1514, 4000};
	const struct record *first, *end;
	struct ring ring;

	for (uint32_t i = 0; i < ARRAY_SIZE(caplens); i++) {
		uint64_t n = 0;

		assert_int_equal(ring_init(&ring, 4096), 0);
		while (ring_reserve(&ring, caplens[i]))
			n++;
		assert_int_equal(n, ring.bytes / round_up(caplens[i]));
		assert_false(ring_peek(&ring, &first, &end));
		ring_publish(&ring);
		assert_true(ring_peek(&ring, &first, &end));
		assert_ptr_equal((const uint8_t *)first + n * round_up(caplens[i]), end);
		assert_null(ring_reserve(&ring, caplens[i]));
		ring_release(&ring, first->bytes);
		assert_non_null(ring_reserve(&ring, caplens[i]));
		assert_null(ring_reserve(&ring, caplens[i]));
		ring_fini(&ring);
	}
}

/* Never room for it, and no harm done. */
static void larger_than_the_ring(void **state)
{
	struct record *r;
	struct ring ring;

	assert_int_equal(ring_init(&ring, 4096), 0);
	for (uint32_t i = 0; i < 10; i++) {
		assert_null(ring_reserve(&ring, (uint16_t)ring.bytes));
		assert_null(ring_reserve(&ring, UINT16_MAX));
		r = ring_reserve(&ring, 100);
		assert_non_null(r);
		fill(r, i);
	}
	ring_fini(&ring);
}

struct queue {
	uint32_t caplen[N_QUEUE];
	uint64_t first, published, reserved;	/* numbers of records */
	uint64_t bytes;				/* of those that were not released */
};

static void reserve_one(struct ring *ring, struct queue *q)
{
	uint32_t caplen = random_below(random_below(8) ? 200 : 4090);
	struct record *r = ring_reserve(ring, (uint16_t)caplen);

	assert_int_equal(r != NULL, q->bytes + round_up(caplen) <= ring->bytes);
	if (!r)
		return;
	assert_in_range(r, ring->memory, ring->memory + ring->bytes - 1);
	fill(r, q->reserved);
	q->caplen[q->reserved++ % N_QUEUE] = caplen;
	q->bytes += round_up(caplen);
}

/* All that were published are there, in one piece; some of them go. */
static void read_some(struct ring *ring, struct queue *q)
{
	const struct record *r, *end;
	uint64_t number = q->first, bytes = 0;
	uint32_t n;

	if (!ring_peek(ring, &r, &end)) {
		assert_int_equal(q->first, q->published);
		return;
	}
	for (; r < end; r = next_of(r), number++)
		check(r, number, q->caplen[number % N_QUEUE]);
	assert_ptr_equal(r, end);
	assert_int_equal(number, q->published);
	n = random_below((uint32_t)(q->published - q->first) + 1);
	while (n--)
		bytes += round_up(q->caplen[q->first++ % N_QUEUE]);
	ring_release(ring, bytes);
	q->bytes -= bytes;
}

static void like_a_queue(void **state)
{
	static struct queue q;
	struct ring ring;

	random_init("ring");
	assert_int_equal(ring_init(&ring, 8192), 0);
	for (uint32_t round = 0; round < 100000; round++) {
		for (uint32_t n = random_below(20); n; n--)
			reserve_one(&ring, &q);
		if (random_below(4)) {
			ring_publish(&ring);
			q.published = q.reserved;
		}
		if (random_below(2))
			read_some(&ring, &q);
	}
	print_message("%llu records, %llu times around\n", (unsigned long long)q.reserved,
		      (unsigned long long)(ring.reserved / ring.bytes));
	assert_true(ring.reserved / ring.bytes > 1000);
	ring_fini(&ring);
}

/*
 * Two threads
 */

struct race {
	struct ring ring;
	uint64_t seed;
	uint64_t produced, missed;
	bool done;
};

/* What both sides know of record @number. */
static uint32_t caplen_of(const struct race *race, uint64_t number)
{
	uint64_t random = hash_mix(number, race->seed);

	return random % 16 ? (uint32_t)(random >> 32) % 128 : (uint32_t)(random >> 32) % 1515;
}

/* Bursts; a record is amended after others were reserved. What does not fit is lost, or tried
 * again, so that both a waiting and a losing producer are seen. */
static void *produce(void *arg)
{
	struct race *race = arg;
	struct record *amend = NULL;

	for (uint64_t number = 0; number < N_RECORDS; number++) {
		uint16_t caplen = (uint16_t)caplen_of(race, number);
		struct record *r = ring_reserve(&race->ring, caplen);

		while (!r && number % 3) {
			ring_publish(&race->ring);
			amend = NULL;
			sched_yield();
			r = ring_reserve(&race->ring, caplen);
		}
		if (!r) {
			race->missed++;
			continue;
		}
		race->produced++;
		fill(r, number);
		r->drop = 0;
		if (!amend)
			amend = r;
		if (hash_mix(number, 3) % 32)
			continue;
		amend->drop = 1;
		amend = NULL;
		ring_publish(&race->ring);
	}
	ring_publish(&race->ring);
	store_release(&race->done, true);
	return NULL;
}

static void nothing_is_lost_or_torn(void **state)
{
	static struct race race;
	uint64_t got = 0, next = 0;
	pthread_t thread;

	race.seed = random_u64();
	assert_int_equal(ring_init(&race.ring, 16384), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, &race), 0);
	for (bool done = false;;) {
		const struct record *r, *end;

		if (!ring_peek(&race.ring, &r, &end)) {
			if (done)
				break;
			done = load_acquire(&race.done);
			sched_yield();
			continue;
		}
		while (r < end) {
			uint32_t bytes = r->bytes;

			assert_true(r->time_ns >= next && r->time_ns < N_RECORDS);
			next = r->time_ns + 1;
			check(r, r->time_ns, caplen_of(&race, r->time_ns));
			assert_in_range(r->drop, 0, 1);
			got++;
			r = next_of(r);
			ring_release(&race.ring, bytes);
		}
	}
	pthread_join(thread, NULL);
	print_message("%llu records, %llu missed, %llu times around\n", (unsigned long long)got,
		      (unsigned long long)race.missed,
		      (unsigned long long)(race.ring.reserved / race.ring.bytes));
	assert_int_equal(got, race.produced);
	assert_int_equal(got + race.missed, N_RECORDS);
	assert_int_equal(race.ring.tail, race.ring.head);
	ring_fini(&race.ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_powers_of_two),
		cmocka_unit_test(full),
		cmocka_unit_test(larger_than_the_ring),
		cmocka_unit_test(like_a_queue),
		cmocka_unit_test(nothing_is_lost_or_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/lane.h"

#define T0 EGRESS_TUNNEL0

static const uint8_t source[6] = {2, 0, 0, 0, 0, 7};

static void send_from(struct bed *bed, uint16_t ingress, uint32_t n)
{
	uint8_t frame[60] = {2, 0, 0, 0, 0, 1};

	memcpy(frame + 6, source, sizeof(source));
	for (uint32_t i = 0; i < n; i++) {
		struct packet *p = bed_receive(bed, 0, frame, sizeof(frame));

		p->ingress = ingress;
		p->network = 1;
	}
	learn(&bed->lane, &bed->burst);
	bed_transmit(bed, &bed->burst);
}

static void when_to_tell(void **state)
{
	static const struct {
		const char *what;
		uint8_t learn;
		uint16_t ingress;
		uint16_t known;	/* EGRESS_NONE: not */
		uint16_t flags;
		bool tells;
		bool refreshes;
	} rows[] = {
		{"unknown", LEARN_ALL, 1, EGRESS_NONE, 0, true, false},
		{"known here", LEARN_ALL, 1, 1, 0, false, true},
		{"moved", LEARN_ALL, 1, 2, 0, true, false},
		{"moved to a tunnel", LEARN_ALL, T0, 1, 0, true, false},
		{"from one tunnel to another", LEARN_ALL, T0, T0 + 1, 0, true, false},
		{"static, elsewhere", LEARN_ALL, 1, 2, FDB_STATIC, false, false},
		{"static, here", LEARN_ALL, 1, 1, FDB_STATIC, false, true},
		{"local: unknown, port", LEARN_LOCAL, 1, EGRESS_NONE, 0, true, false},
		{"local: unknown, tunnel", LEARN_LOCAL, T0, EGRESS_NONE, 0, false, false},
		{"local: moved to a tunnel", LEARN_LOCAL, T0, 1, 0, false, false},
		{"local: moved from a tunnel", LEARN_LOCAL, 1, T0, 0, true, false},
		{"off: unknown", LEARN_OFF, 1, EGRESS_NONE, 0, false, false},
		{"off: moved", LEARN_OFF, 1, 2, 0, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed *bed = bed_create(8);
		struct learn_event event;
		struct fdb_entry entry;
		uint64_t key = fdb_key(1, source);

		bed_network(bed, 1, NULL, 0);
		bed->tables.network[1]->learn = rows[i].learn;
		if (rows[i].known != EGRESS_NONE)
			fdb_set(bed->tables.fdb, key, rows[i].known, rows[i].flags, 5);
		send_from(bed, rows[i].ingress, 1);
		if (spsc_pop(&bed->learn_events, &event) != rows[i].tells)
			fail_msg("%s: %s", rows[i].what, rows[i].tells ? "silent" : "told");
		if (rows[i].tells) {
			assert_int_equal(event.key, key);
			assert_int_equal(event.egress, rows[i].ingress);
			assert_int_equal(event.seen_s, bed->lane.now_s);
		}
		if (rows[i].known != EGRESS_NONE) {
			assert_true(fdb_lookup(bed->tables.fdb, key, &entry));
			assert_int_equal(entry.seen_s, rows[i].refreshes ? bed->lane.now_s : 5);
			assert_int_equal(entry.egress, rows[i].known);
		}
		assert_false(spsc_pop(&bed->learn_events, &event));
		bed_destroy(bed);
	}
}

static uint32_t n_events(struct bed *bed)
{
	struct learn_event event;
	uint32_t n = 0;

	while (spsc_pop(&bed->learn_events, &event))
		n++;
	return n;
}

/* A burst tells once; again after a while, and at once when the place is another. */
static void told_once(void **state)
{
	struct bed *bed = bed_create(BURST_MAX);

	bed_network(bed, 1, NULL, 0);
	send_from(bed, 1, BURST_MAX);
	assert_int_equal(n_events(bed), 1);
	bed->lane.now_ns += LEARN_REPEAT_NS - 1;
	send_from(bed, 1, 10);
	assert_int_equal(n_events(bed), 0);
	bed->lane.now_ns += 1;
	send_from(bed, 1, 10);
	assert_int_equal(n_events(bed), 1);
	send_from(bed, 2, 10);
	assert_int_equal(n_events(bed), 1);
	bed_destroy(bed);
}

/* A full ring is counted, nothing waits, and what was not told is told later. */
static void full_ring(void **state)
{
	struct bed *bed = bed_create(BURST_MAX);
	uint32_t capacity = bed->learn_events.capacity;

	bed_network(bed, 1, NULL, 0);
	for (uint32_t i = 0; i < capacity; i++)
		assert_true(spsc_push(&bed->learn_events, &(struct learn_event){0}));
	send_from(bed, 1, 3);
	assert_int_equal(bed->counters->learn_overflow, 3);
	assert_int_equal(n_events(bed), capacity);
	send_from(bed, 1, 3);
	assert_int_equal(n_events(bed), 1);
	bed_destroy(bed);
}

/* No network, no event; nor from a packet that is dropped, that a rule sends somewhere, or that a
 * rule gave a source which sends nothing. */
static void nothing_to_learn(void **state)
{
	struct bed *bed = bed_create(4);
	uint8_t frame[60] = {2, 0, 0, 0, 0, 1, 2};

	send_from(bed, 1, 1);
	assert_int_equal(n_events(bed), 0);
	bed_network(bed, 1, NULL, 0);
	for (int i = 0; i < 4; i++) {
		/* With a source of its own each, the last one's is a group. */
		frame[6] = i == 3 ? 3 : 2;
		frame[11] = (uint8_t)i;
		bed_receive(bed, 0, frame, sizeof(frame))->network = 1;
	}
	drop_packet(&bed->burst.packet[0], DROP_VLAN_UNMAPPED, 0);
	bed->burst.packet[1].egress = 2;
	bed->burst.packet[2].egress = EGRESS_FLOOD;
	bed->burst.packet[3].actions = 2;
	learn(&bed->lane, &bed->burst);
	assert_int_equal(n_events(bed), 0);
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_to_tell),
		cmocka_unit_test(told_once),
		cmocka_unit_test(full_ring),
		cmocka_unit_test(nothing_to_learn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

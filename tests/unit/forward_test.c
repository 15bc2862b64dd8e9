/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forward and replicate in random topologies against sets: who is to get a frame, who got it, and
 * whether every frame and every count came home.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define N_PORTS 10
#define N_TUNNELS 6
#define N_PLACES (N_PORTS + N_TUNNELS)
#define N_NETWORKS 3
#define N_MACS 12
#define FRAME_LEN 60

/* Places: first the ports, then the tunnels. */
static uint16_t egress_of(uint32_t place)
{
	return (uint16_t)(place < N_PORTS ? place : EGRESS_TUNNEL0 + place - N_PORTS);
}

static uint32_t place_of(uint16_t egress)
{
	return egress < PORT_MAX ? egress : N_PORTS + egress - EGRESS_TUNNEL0;
}

/* What the test knows. */
struct world {
	bool member[N_NETWORKS + 1][N_PLACES];
	bool floods[N_NETWORKS + 1][N_PLACES];
	bool can_send[N_PLACES];
	int behind[N_NETWORKS + 1][N_MACS]; /* place, or -1 */
	struct tunnel_set set[N_NETWORKS + 1];
};

static void make_ports(struct bed *bed, struct world *w)
{
	for (uint16_t i = 0; i < N_PORTS; i++) {
		struct port_view *port;
		uint32_t state = random_below(8);

		w->can_send[i] = state > 2;
		if (state == 0)
			continue; /* gone */
		port = bed_port(bed, i);
		port->up = state != 1;
		port->shut = state == 2;
		for (uint16_t n = 1; n <= N_NETWORKS; n++) {
			w->member[n][i] = random_below(3) > 0;
			if (w->member[n][i])
				bed_tagged(bed, i, 100 + n, n);
		}
	}
}

static void make_tunnels(struct world *w)
{
	for (uint32_t i = N_PORTS; i < N_PLACES; i++) {
		w->can_send[i] = true;
		for (uint16_t n = 1; n <= N_NETWORKS; n++) {
			w->member[n][i] = random_below(2);
			if (w->member[n][i])
				w->set[n].bits[0] |= 1ull << (i - N_PORTS);
		}
	}
}

static void make_networks(struct bed *bed, struct world *w)
{
	for (uint16_t n = 1; n <= N_NETWORKS; n++) {
		uint16_t list[N_PLACES];
		uint32_t len = 0, sparse = random_below(6);

		for (uint32_t i = 0; i < N_PLACES; i++) {
			w->floods[n][i] = w->member[n][i] && random_below(6) >= sparse;
			if (w->floods[n][i])
				list[len++] = egress_of(i);
		}
		bed_network(bed, n, list, len);
		bed->tables.network[n]->tunnels = &w->set[n];
	}
}

static void mac_of(uint8_t mac[6], uint32_t i)
{
	const uint8_t m[6] = {2, 0, 0, 0, 1, (uint8_t)i};

	memcpy(mac, m, sizeof(m));
}

static void make_fdb(struct bed *bed, struct world *w)
{
	for (uint16_t n = 1; n <= N_NETWORKS; n++)
		for (uint32_t i = 0; i < N_MACS; i++) {
			uint8_t mac[6];

			w->behind[n][i] = random_below(4) ? (int)random_below(N_PLACES) : -1;
			if (w->behind[n][i] < 0)
				continue;
			mac_of(mac, i);
			fdb_set(bed->tables.fdb, fdb_key(n, mac),
				egress_of((uint32_t)w->behind[n][i]), 0, 1);
		}
}

struct expected {
	uint8_t drop;
	uint32_t n_targets;
	bool target[N_PLACES];
};

static void expect_flood(const struct world *w, uint16_t network, uint32_t from,
			 struct expected *e)
{
	for (uint32_t i = 0; i < N_PLACES; i++) {
		e->target[i] = w->floods[network][i] && w->can_send[i] && i != from &&
			       !(from >= N_PORTS && i >= N_PORTS);
		e->n_targets += e->target[i];
	}
	e->drop = e->n_targets ? 0 : DROP_NO_TARGET;
}

static void expect_one(uint32_t to, struct expected *e)
{
	e->target[to] = true;
	e->n_targets = 1;
}

/* @mac: N_MACS for a group. */
static struct expected expect(const struct world *w, uint16_t network, uint32_t from, uint32_t mac)
{
	struct expected e = {0};
	int to = mac < N_MACS ? w->behind[network][mac] : -1;

	if (to < 0 || !w->member[network][to])
		expect_flood(w, network, from, &e);
	else if ((uint32_t)to == from)
		e.drop = DROP_SAME_PORT;
	else if (to >= N_PORTS && from >= N_PORTS)
		e.drop = DROP_SPLIT_HORIZON;
	else
		expect_one((uint32_t)to, &e);
	return e;
}

static void make_packet(struct bed *bed, const struct world *w, struct expected *e)
{
	uint16_t network = (uint16_t)(1 + random_below(N_NETWORKS));
	uint32_t from = random_below(N_PLACES), mac = random_below(N_MACS + 1);
	uint8_t frame[FRAME_LEN];
	struct packet *p;

	random_bytes(frame, sizeof(frame));
	mac_of(frame, mac);
	frame[0] |= mac == N_MACS;
	frame[20] = (uint8_t)bed->burst.n;
	p = bed_receive(bed, from < N_PORTS ? (uint16_t)from : N_PORTS, frame, sizeof(frame));
	p->ingress = egress_of(from);
	p->network = network;
	p->egress = EGRESS_NONE;
	p->flags = mac == N_MACS ? PKT_GROUP : 0;
	p->ethertype = 0x1234;
	p->tci = (uint16_t)random_u64();
	p->l3 = 14;
	/* As decap leaves it, or a tag that was put back: data is not where it was. */
	if (random_below(3) == 0) {
		p->data = memmove(p->data + (random_below(2) ? 50 : -4), p->data, p->len);
		p->hash_kind = HASH_NIC_L3;
	}
	*e = expect(w, network, from, mac);
}

struct outcome {
	uint8_t original[BURST_MAX][FRAME_LEN];
	struct packet packet[BURST_MAX];
	bool got[BURST_MAX][N_PLACES];
	uint32_t n_got[BURST_MAX];
};

static void deliver(struct bed *bed, struct outcome *o, const struct packet *p)
{
	uint32_t i = p->data[20], to = place_of(p->egress);
	const struct packet *original = &o->packet[i];

	assert_int_equal(p->len, FRAME_LEN);
	assert_memory_equal(p->data, o->original[i], FRAME_LEN);
	assert_in_range(pool_headroom(&bed->pool, p->data), 252, FRAME_HEADROOM + 50);
	assert_int_equal(p->rx_port, original->rx_port);
	assert_int_equal(p->ingress, original->ingress);
	assert_int_equal(p->network, original->network);
	assert_int_equal(p->tci, original->tci);
	assert_int_equal(p->l3, original->l3);
	assert_true(to < N_PLACES);
	assert_false(o->got[i][to]);
	o->got[i][to] = true;
	o->n_got[i]++;
}

/* All copies, then the packets themselves. Half the time the copies' frames come home at once, else
 * at the end, as from a TX ring. */
static void run(struct bed *bed, struct outcome *o)
{
	static struct burst held[64];
	uint32_t n_held = 0;
	bool hold = random_below(2);

	for (uint32_t i = 0; i < bed->burst.n; i++) {
		o->packet[i] = bed->burst.packet[i];
		memcpy(o->original[i], bed->burst.packet[i].data, FRAME_LEN);
	}
	forward(&bed->lane, &bed->burst);
	while (replicate(&bed->lane, &bed->burst, &bed->copies)) {
		assert_in_range(bed->copies.n, 1, BURST_MAX);
		for (uint32_t i = 0; i < bed->copies.n; i++) {
			assert_int_equal(bed->copies.packet[i].drop, DROP_NONE);
			assert_true(bed->copies.packet[i].flags & PKT_COPY);
			deliver(bed, o, &bed->copies.packet[i]);
		}
		if (hold && n_held < ARRAY_SIZE(held))
			held[n_held++] = bed->copies;
		else
			bed_transmit(bed, &bed->copies);
	}
	for (uint32_t i = 0; i < bed->burst.n; i++)
		if (!bed->burst.packet[i].drop)
			deliver(bed, o, &bed->burst.packet[i]);
	while (n_held)
		bed_transmit(bed, &held[--n_held]);
}

static uint64_t sum_of_drops(const struct bed *bed, enum drop_reason reason)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < PORT_MAX; i++)
		sum += bed->counters->port[i].drop[reason].packets;
	return sum;
}

static void check(struct bed *bed, const struct outcome *o, const struct expected *e)
{
	uint64_t n_missing = 0;

	for (uint32_t i = 0; i < bed->burst.n; i++) {
		const struct packet *p = &bed->burst.packet[i];

		assert_int_equal(p->drop, e[i].drop);
		assert_false(p->flags & PKT_COPY);
		assert_true(o->n_got[i] <= e[i].n_targets);
		n_missing += e[i].n_targets - o->n_got[i];
		for (uint32_t to = 0; to < N_PLACES; to++)
			assert_false(o->got[i][to] && !e[i].target[to]);
		/* The packet itself always gets through. */
		assert_true(e[i].drop || o->n_got[i] > 0);
	}
	assert_int_equal(n_missing, sum_of_drops(bed, DROP_NO_FRAME));
}

static void check_books(const struct bed *bed)
{
	for (uint16_t i = 0; i < PORT_MAX; i++) {
		const struct port_counters *c = &bed->counters->port[i];

		assert_int_equal(c->rx_packets + c->copied, c->forwarded + bed_drops(bed, i));
	}
	assert_int_equal(bed->pool.n_free, bed->pool.n_frames);
}

static void random_topologies(void **state)
{
	random_init("forward random_topologies");
	for (int round = 0; round < 500; round++) {
		struct bed *bed = bed_create(BURST_MAX + random_below(2) * 10 +
					     random_below(2) * BURST_MAX * N_PLACES);
		struct world w = {0};
		struct outcome o = {0};
		struct expected e[BURST_MAX];
		uint32_t n = 1 + random_below(BURST_MAX);

		make_ports(bed, &w);
		make_tunnels(&w);
		make_networks(bed, &w);
		make_fdb(bed, &w);
		for (uint32_t i = 0; i < n; i++)
			make_packet(bed, &w, &e[i]);
		run(bed, &o);
		check(bed, &o, e);
		bed_transmit(bed, &bed->burst);
		check_books(bed);
		bed_destroy(bed);
	}
}

/* The network goes away, or its list changes, while a burst is being copied. */
static void changes_underway(void **state)
{
	static const uint16_t wide[] = {1, 2, 3}, narrow[] = {2};
	struct bed *bed = bed_create(512);
	uint8_t frame[FRAME_LEN] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 9};
	struct network *before, *later;
	uint64_t n_copies;

	for (uint16_t port = 0; port < 4; port++)
		bed_untagged(bed, port, 1);
	bed_network(bed, 1, wide, ARRAY_SIZE(wide));
	before = bed->tables.network[1];
	bed->tables.network[1] = NULL;
	bed_network(bed, 1, narrow, ARRAY_SIZE(narrow));
	later = bed->tables.network[1];
	bed->tables.network[1] = before;
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		struct packet *p = bed_receive(bed, 0, frame, sizeof(frame));

		p->network = i == BURST_MAX - 1 ? 2 : 1; /* no such network */
		p->egress = EGRESS_FLOOD;
	}
	/* 63 packets, 2 copies each: the burst of copies is full in the middle. */
	assert_true(replicate(&bed->lane, &bed->burst, &bed->copies));
	n_copies = bed->copies.n;
	assert_int_equal(n_copies, BURST_MAX);
	bed_transmit(bed, &bed->copies);
	bed->tables.network[1] = later;
	while (replicate(&bed->lane, &bed->burst, &bed->copies)) {
		n_copies += bed->copies.n;
		bed_transmit(bed, &bed->copies);
	}
	assert_int_equal(bed->counters->port[0].copied, n_copies);
	assert_int_equal(bed->burst.packet[BURST_MAX - 1].drop, DROP_NO_TARGET);
	assert_int_equal(bed->burst.packet[0].egress, 3);
	assert_int_equal(bed->burst.packet[BURST_MAX - 2].egress, 2);
	bed_transmit(bed, &bed->burst);
	check_books(bed);
	free((void *)before->flood);
	free(before);
	bed_destroy(bed);
}

/* The longest frame there is, with a tag put back: its copy fits, too. */
static void longest_copy(void **state)
{
	static const uint16_t list[] = {1, 2};
	static uint8_t frame[FRAME_BYTES];
	struct bed *bed = bed_create(2);
	uint16_t len = FRAME_BYTES - FRAME_HEADROOM;
	struct packet *p;

	memset(frame, 0xa5, sizeof(frame));
	for (uint16_t port = 0; port < 3; port++)
		bed_rest(bed, port, 1);
	bed_network(bed, 1, list, ARRAY_SIZE(list));
	p = bed_receive(bed, 0, frame, len);
	p->network = 1;
	p->egress = EGRESS_FLOOD;
	vlan_push(p, TPID_C, 5);
	assert_true(replicate(&bed->lane, &bed->burst, &bed->copies));
	assert_int_equal(bed->copies.packet[0].len, len + 4);
	assert_memory_equal(bed->copies.packet[0].data, p->data, len + 4);
	assert_ptr_equal(bed->copies.packet[0].data + len + 4,
			 bed->area + (pool_frame_of(&bed->pool, bed->copies.packet[0].data) + 1) *
					     (size_t)FRAME_BYTES);
	bed_transmit(bed, &bed->copies);
	assert_false(replicate(&bed->lane, &bed->burst, &bed->copies));
	bed_transmit(bed, &bed->burst);
	check_books(bed);
	bed_destroy(bed);
}

/* One hash for a packet and all its copies to tunnels. */
static void copies_share_hash(void **state)
{
	static const uint16_t list[] = {1, EGRESS_TUNNEL0, EGRESS_TUNNEL0 + 1};
	uint8_t frame[FRAME_LEN] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 9, 8, 6};
	struct bed *bed = bed_create(8);
	struct packet *p;

	bed_untagged(bed, 0, 1);
	bed_untagged(bed, 1, 1);
	bed_network(bed, 1, list, ARRAY_SIZE(list));
	bed_receive(bed, 0, frame, sizeof(frame));
	parse(&bed->lane, &bed->burst);
	classify(&bed->lane, &bed->burst);
	forward(&bed->lane, &bed->burst);
	assert_true(replicate(&bed->lane, &bed->burst, &bed->copies));
	p = &bed->copies.packet[1];
	assert_int_equal(p->egress, EGRESS_TUNNEL0);
	assert_int_equal(p->hash_kind, HASH_SOFT);
	assert_int_equal(packet_hash(&bed->lane, p),
			 packet_hash(&bed->lane, &bed->burst.packet[0]));
	assert_int_equal(bed->counters->port[0].hash_soft, 2);
	bed_transmit(bed, &bed->copies);
	assert_false(replicate(&bed->lane, &bed->burst, &bed->copies));
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

/* What a rule gave an egress keeps it, whatever the FDB knows. */
static void rules_come_first(void **state)
{
	static const uint16_t egress[] = {0, 7, EGRESS_TUNNEL0, EGRESS_FLOOD, EGRESS_NONE};
	const uint8_t frame[FRAME_LEN] = {2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2};
	struct bed *bed = bed_create(8);

	bed_untagged(bed, 5, 1);
	fdb_set(bed->tables.fdb, fdb_key(1, frame), 5, 0, 1);
	for (size_t i = 0; i < ARRAY_SIZE(egress); i++) {
		struct packet *p = bed_receive(bed, 0, frame, sizeof(frame));

		p->network = 1;
		p->egress = egress[i];
	}
	forward(&bed->lane, &bed->burst);
	for (size_t i = 0; i < ARRAY_SIZE(egress); i++) {
		assert_int_equal(bed->burst.packet[i].drop, DROP_NONE);
		assert_int_equal(bed->burst.packet[i].egress,
				 egress[i] == EGRESS_NONE ? 5 : egress[i]);
	}
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_topologies), cmocka_unit_test(changes_underway),
		cmocka_unit_test(longest_copy),	     cmocka_unit_test(copies_share_hash),
		cmocka_unit_test(rules_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

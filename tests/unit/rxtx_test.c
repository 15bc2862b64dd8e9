/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rx and tx against rings in plain memory, with a stand-in for the kernel's end: first the cases
 * one by one, then at random, where no frame may ever be lost and the books must balance.
 */
#include "afxdp/rx.h"
#include "afxdp/tx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "afxdp/meta.h"

#define FRAMES 256
#define RING 32
#define COOKIE 0x5eed1234

/* A queue and the kernel's view of its four rings. */
struct kernel_queue {
	struct port_queue q;
	uint32_t producer[4], consumer[4], flags[4];
	struct xdp_desc rx[RING], tx[RING];
	uint64_t fill[2 * RING], completion[2 * RING];
	uint64_t taken[2 * RING]; /* TX frames taken and not yet completed */
	uint32_t n_taken;
};

enum { RX, TX, FILL, COMPLETION };

struct bench {
	struct pool pool;
	struct lane lane;
	struct tx_ports ports;
	struct burst burst;
	struct kernel_queue *k[2];
	uint8_t *area;
};

static void ring_cons(struct xsk_ring_cons *r, struct kernel_queue *k, int which, uint32_t size,
		      void *ring)
{
	*r = (struct xsk_ring_cons){.mask = size - 1,
					.size = size,
					.producer = &k->producer[which],
					.consumer = &k->consumer[which],
					.ring = ring,
					.flags = &k->flags[which]};
}

static void ring_prod(struct xsk_ring_prod *r, struct kernel_queue *k, int which, uint32_t size,
		      void *ring)
{
	*r = (struct xsk_ring_prod){.cached_cons = size,
					.mask = size - 1,
					.size = size,
					.producer = &k->producer[which],
					.consumer = &k->consumer[which],
					.ring = ring,
					.flags = &k->flags[which]};
}

static struct kernel_queue *kernel_queue(uint16_t port)
{
	struct kernel_queue *k = aligned_alloc(CACHE_LINE, sizeof(*k));

	assert_non_null(k);
	memset(k, 0, sizeof(*k));
	k->q.kind = QUEUE_XSK;
	k->q.need_wakeup = true; /* and never asked for: no system call is made */
	k->q.port = port;
	k->q.fd = -1;
	k->q.ring = RING;
	k->q.polled = true;
	k->q.fill_missing = 2 * RING;
	ring_cons(&k->q.rx, k, RX, RING, k->rx);
	ring_prod(&k->q.tx, k, TX, RING, k->tx);
	ring_prod(&k->q.fill, k, FILL, 2 * RING, k->fill);
	ring_cons(&k->q.completion, k, COMPLETION, 2 * RING, k->completion);
	return k;
}

static int setup(void **state)
{
	struct bench *b = aligned_alloc(CACHE_LINE, (sizeof(*b) + 63) / 64 * 64);
	unsigned int i;

	assert_non_null(b);
	memset(b, 0, sizeof(*b));
	b->area = aligned_alloc(FRAME_BYTES, FRAMES * FRAME_BYTES);
	assert_non_null(b->area);
	memset(b->area, 0, FRAMES * FRAME_BYTES);
	assert_int_equal(pool_init(&b->pool, b->area, FRAMES), 0);
	b->lane.pool = &b->pool;
	b->lane.counters = aligned_alloc(CACHE_LINE, sizeof(struct counters) + CACHE_LINE);
	assert_non_null(b->lane.counters);
	memset(b->lane.counters, 0, sizeof(struct counters));
	for (i = 0; i < 2; i++) {
		b->k[i] = kernel_queue((uint16_t)i);
		tx_add(&b->ports, &b->k[i]->q);
	}
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	pool_fini(&b->pool);
	free(b->area);
	free(b->lane.counters);
	free(b->k[0]);
	free(b->k[1]);
	free(b);
	return 0;
}

static unsigned int receive(struct bench *b, unsigned int port)
{
	return rx(&b->lane, &b->k[port]->q, COOKIE, &b->burst);
}

static void send_burst(struct bench *b)
{
	tx(&b->lane, &b->ports, &b->burst);
	tx_submit(&b->ports);
}

static bool deliver_at(struct kernel_queue *k, uint64_t addr, uint32_t len)
{
	if (k->producer[RX] - k->consumer[RX] == RING)
		return false;
	k->rx[k->producer[RX]++ % RING] = (struct xdp_desc){.addr = addr, .len = len};
	return true;
}

/* The kernel receives a frame: false when it has no room for it or no buffer. */
static bool deliver(struct bench *b, unsigned int port, const struct rx_meta *meta, uint32_t len)
{
	struct kernel_queue *k = b->k[port];
	uint64_t frame;

	if (k->producer[FILL] == k->consumer[FILL] || k->producer[RX] - k->consumer[RX] == RING)
		return false;
	frame = k->fill[k->consumer[FILL]++ % (2 * RING)];
	assert_int_equal(frame % FRAME_BYTES, 0);
	assert_int_equal(b->pool.owner[frame / FRAME_BYTES], port);
	if (meta)
		memcpy(b->area + frame + FRAME_HEADROOM - sizeof(*meta), meta, sizeof(*meta));
	return deliver_at(k, frame + FRAME_HEADROOM, len);
}

/* The kernel takes one descriptor from the TX ring; frames complete later, in any order. */
static bool take(struct bench *b, unsigned int port)
{
	struct kernel_queue *k = b->k[port];
	struct xdp_desc d;

	if (k->producer[TX] == k->consumer[TX] || k->n_taken == 2 * RING)
		return false;
	d = k->tx[k->consumer[TX]++ % RING];
	assert_int_equal(b->pool.owner[d.addr / FRAME_BYTES], port);
	assert_true(d.addr % FRAME_BYTES + d.len <= FRAME_BYTES);
	k->taken[k->n_taken++] = d.addr;
	return true;
}

static bool finish(struct bench *b, unsigned int port, unsigned int which)
{
	struct kernel_queue *k = b->k[port];

	if (!k->n_taken || k->producer[COMPLETION] - k->consumer[COMPLETION] == 2 * RING)
		return false;
	which %= k->n_taken;
	k->completion[k->producer[COMPLETION]++ % (2 * RING)] = k->taken[which];
	k->taken[which] = k->taken[--k->n_taken];
	return true;
}

static void rx_fills_the_ring(void **state)
{
	struct bench *b = *state;

	assert_int_equal(receive(b, 0), 0);
	assert_int_equal(b->k[0]->producer[FILL], 2 * RING);
	assert_int_equal(b->k[0]->q.fill_missing, 0);
	assert_int_equal(b->pool.n_free, FRAMES - 2 * RING);
}

static void rx_makes_do_with_a_small_pool(void **state)
{
	struct bench *b = *state;

	b->pool.n_free = 5;
	receive(b, 0);
	assert_int_equal(b->k[0]->producer[FILL], 5);
	assert_int_equal(b->k[0]->q.fill_missing, 2 * RING - 5);
	b->pool.n_free = 100;
	receive(b, 0);
	assert_int_equal(b->k[0]->producer[FILL], 2 * RING);
}

static void rx_reads_metadata(void **state)
{
	static const struct {
		struct rx_meta meta;
		uint8_t hash_kind;
		uint8_t tag;
		uint16_t len;
	} table[] = {
		{{COOKIE, 7, META_HASH | META_HASH_L3 | META_HASH_L4, 0, 0, 0},
	     HASH_NIC_L4,
	     TAG_NONE,
	     60},
		{{COOKIE, 7, META_HASH | META_HASH_L4, 0, 0, 0}, HASH_NIC_L4, TAG_NONE, 60},
		{{COOKIE, 7, META_HASH | META_HASH_L3, 0, 0, 0}, HASH_NIC_L3, TAG_NONE, 60},
		{{COOKIE, 7, META_HASH, 0, 0, 0}, HASH_NONE, TAG_NONE, 60},
		{{COOKIE, 7, META_HASH_L4, 0, 0, 0}, HASH_NONE, TAG_NONE, 60},
		{{COOKIE, 0, META_VLAN, 0x2064, 0x8100, 0}, HASH_NONE, TAG_STRIPPED, 60},
		{{COOKIE, 0, META_VLAN, 0x2064, 0x88a8, 0}, HASH_NONE, TAG_NONE, 64},
		{{COOKIE - 1, 7, META_HASH | META_HASH_L4 | META_VLAN, 0x2064, 0x8100, 0},
	     HASH_NONE,
	     TAG_NONE,
	     60},
	};
	static const uint8_t tagged[] = {0, 1,  2,  3,    4,    5,    6,    7, 8,
					 9, 10, 11, 0x88, 0xa8, 0x20, 0x64, 12};
	struct bench *b = *state;
	unsigned int i, j;

	receive(b, 0);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		assert_true(deliver(b, 0, &table[i].meta, 60));
		for (j = 0; j < 60; j++)
			(b->area + b->k[0]->rx[i].addr)[j] = (uint8_t)j;
	}
	assert_int_equal(receive(b, 0), ARRAY_SIZE(table));
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		const struct packet *p = &b->burst.packet[i];
		struct rx_meta left;

		assert_int_equal(p->hash_kind, table[i].hash_kind);
		assert_int_equal(p->tag, table[i].tag);
		assert_int_equal(p->len, table[i].len);
		if (p->hash_kind)
			assert_int_equal(p->hash, 7);
		if (p->tag == TAG_STRIPPED)
			assert_int_equal(p->tci, 0x2064);
		if (p->len == 64) {
			assert_memory_equal(p->data, tagged, sizeof(tagged));
			continue;
		}
		memcpy(&left, p->data - sizeof(left), sizeof(left));
		assert_int_not_equal(left.cookie, COOKIE);
	}
	assert_int_equal(b->lane.counters->port[0].rx_packets, ARRAY_SIZE(table));
	assert_int_equal(b->lane.counters->port[0].rx_bytes, 60 * ARRAY_SIZE(table));
}

/* No driver here knows the time; what the program would write is written by hand. */
static void rx_reads_the_time(void **state)
{
	static const struct {
		struct rx_meta_timed timed;
		uint64_t rx_time_ns;
		uint16_t len;
	} table[] = {
		{{0x1122334455667788, {COOKIE, 0, META_TIME, 0, 0, 0}}, 0x1122334455667788, 60},
		{{UINT64_MAX, {COOKIE, 7, META_TIME | META_HASH | META_HASH_L4, 0, 0, 0}},
		 UINT64_MAX, 60},
		{{5, {COOKIE, 0, META_TIME | META_VLAN, 0x2064, 0x88a8, 0}}, 5, 64},
		{{5, {COOKIE, 0, META_TIME | META_VLAN, 0x2064, 0x8100, 0}}, 5, 60},
		{{5, {COOKIE, 7, META_HASH | META_HASH_L4, 0, 0, 0}}, 0, 60},
		{{5, {COOKIE - 1, 7, META_TIME, 0, 0, 0}}, 0, 60},
	};
	struct bench *b = *state;

	receive(b, 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_true(deliver(b, 0, &table[i].timed.meta, 60));
		memcpy(b->area + b->k[0]->rx[i].addr - sizeof(struct rx_meta_timed),
		       &table[i].timed.time_ns, sizeof(table[i].timed.time_ns));
	}
	assert_int_equal(receive(b, 0), ARRAY_SIZE(table));
	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(b->burst.packet[i].rx_time_ns, table[i].rx_time_ns);
		assert_int_equal(b->burst.packet[i].len, table[i].len);
	}
}

static void rx_survives_bad_descriptors(void **state)
{
	static const struct {
		uint64_t addr;
		uint32_t len;
	} table[] = {
		{(uint64_t)FRAMES * FRAME_BYTES + FRAME_HEADROOM, 60},
		{UINT64_MAX, 60},
		{(uint64_t)1 << 40, 0},
		{16, 60}, /* no room for metadata in front */
		{FRAME_BYTES + FRAME_HEADROOM, FRAME_BYTES - FRAME_HEADROOM + 1},
		{2 * FRAME_BYTES + FRAME_HEADROOM, UINT32_MAX},
	};
	struct bench *b = *state;
	unsigned int i;

	b->pool.n_free = FRAMES - 10; /* ten frames are with the kernel, three of them come below */
	b->k[0]->q.fill_missing = 0;
	for (i = 0; i < ARRAY_SIZE(table); i++)
		assert_true(deliver_at(b->k[0], table[i].addr, table[i].len));
	assert_true(
	    deliver_at(b->k[0], 3 * FRAME_BYTES + FRAME_HEADROOM, FRAME_BYTES - FRAME_HEADROOM));
	assert_int_equal(receive(b, 0), 1);
	assert_int_equal(b->burst.packet[0].len, FRAME_BYTES - FRAME_HEADROOM);
	assert_int_equal(b->k[0]->q.bad_descriptors, ARRAY_SIZE(table));
	assert_int_equal(b->lane.counters->port[0].rx_packets, 1);
	/* Three of the bad ones lay in a real frame, which came home; FILL was topped up by all
	 * seven. */
	assert_int_equal(b->pool.n_free, FRAMES - 10 + 3 - 7);
	assert_int_equal(b->k[0]->consumer[RX], 7);
}

static void tx_counts_a_full_ring(void **state)
{
	struct bench *b = *state;
	const struct port_counters *in = &b->lane.counters->port[0],
				   *out = &b->lane.counters->port[1];
	unsigned int i;

	b->burst.n = BURST_MAX;
	for (i = 0; i < BURST_MAX; i++)
		b->burst.packet[i] =
			(struct packet){.data = pool_data(&b->pool, pool_take(&b->pool)),
					.len = 100,
					.rx_port = 0,
					.egress = 1};
	send_burst(b);
	assert_int_equal(in->forwarded, RING);
	assert_int_equal(out->tx_packets, RING);
	assert_int_equal(out->tx_bytes, RING * 100);
	assert_int_equal(out->tx_full, BURST_MAX - RING);
	assert_int_equal(in->drop[DROP_TX_FULL].packets, BURST_MAX - RING);
	assert_int_equal(b->pool.n_free, FRAMES - RING);
	assert_int_equal(b->k[1]->producer[TX], RING);

	assert_int_equal(tx_progress(&b->ports, &b->pool).waiting, RING);
	for (i = 0; i < RING; i++)
		assert_true(take(b, 1));
	for (i = 0; i < RING; i++)
		assert_true(finish(b, 1, i));
	assert_int_equal(tx_progress(&b->ports, &b->pool).completed, RING);
	assert_int_equal(b->pool.n_free, FRAMES);
	assert_int_equal(b->ports.n_active, 0);
}

static void tx_to_nowhere_is_port_down(void **state)
{
	static const uint16_t nowhere[] = {2, PORT_MAX - 1, EGRESS_TUNNEL0, EGRESS_FLOOD,
					   EGRESS_NONE};
	struct bench *b = *state;
	unsigned int i;

	b->burst.n = ARRAY_SIZE(nowhere);
	for (i = 0; i < ARRAY_SIZE(nowhere); i++)
		b->burst.packet[i] =
			(struct packet){.data = pool_data(&b->pool, pool_take(&b->pool)),
					.len = 100,
					.egress = nowhere[i]};
	send_burst(b);
	assert_int_equal(b->lane.counters->port[0].drop[DROP_PORT_DOWN].packets,
			 ARRAY_SIZE(nowhere));
	assert_int_equal(b->pool.n_free, FRAMES);
}

/* A queue that leaves with frames under way, and comes back. */
static void tx_survives_removal(void **state)
{
	struct bench *b = *state;

	b->burst.n = 1;
	b->burst.packet[0] = (struct packet){
		.data = pool_data(&b->pool, pool_take(&b->pool)), .len = 60, .egress = 1};
	send_burst(b);
	tx_remove(&b->ports, &b->k[1]->q);
	assert_int_equal(b->ports.n_active, 0);
	assert_true(take(b, 1));
	assert_true(finish(b, 1, 0));
	tx_add(&b->ports, &b->k[1]->q);
	assert_int_equal(tx_progress(&b->ports, &b->pool).completed, 1);
	assert_int_equal(b->pool.n_free, FRAMES);
}

static uint64_t sum_drops(const struct port_counters *c)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < DROP_REASON_COUNT; i++)
		sum += c->drop[i].packets;
	return sum;
}

static void forward_at_random(struct bench *b)
{
	unsigned int i;

	for (i = 0; i < b->burst.n; i++) {
		b->burst.packet[i].egress = (uint16_t)(random() % 3); /* 2: no such port */
		if (random() % 8 == 0)
			drop_packet(&b->burst.packet[i], DROP_SAME_PORT, 0);
	}
}

static void check_frames(const struct bench *b)
{
	uint64_t with_kernel = 0;
	unsigned int port;

	for (port = 0; port < 2; port++) {
		const struct kernel_queue *k = b->k[port];
		int ring;

		for (ring = RX; ring <= COMPLETION; ring++)
			with_kernel += k->producer[ring] - k->consumer[ring];
		with_kernel += k->n_taken;
	}
	assert_int_equal(b->pool.n_free + with_kernel, FRAMES);
}

static void nothing_is_lost_at_random(void **state)
{
	const char *given = getenv("SEED");
	unsigned int seed =
	    given ? (unsigned int)strtoul(given, NULL, 0) : (unsigned int)time(NULL);
	struct bench *b = *state;
	uint64_t delivered[2] = {0};
	unsigned int round, port, i;

	print_message("SEED=%u\n", seed);
	srandom(seed);
	for (round = 0; round < 50000; round++) {
		port = (unsigned int)random() % 2;
		for (i = (unsigned int)random() % 80; i; i--)
			delivered[port] += deliver(b, port, NULL, 60 + (uint32_t)random() % 3000);
		receive(b, port);
		forward_at_random(b);
		send_burst(b);
		for (i = (unsigned int)random() % 40; i; i--)
			take(b, (unsigned int)random() % 2);
		for (i = (unsigned int)random() % 40; i; i--)
			finish(b, (unsigned int)random() % 2, (unsigned int)random());
		tx_progress(&b->ports, &b->pool);
		check_frames(b);
	}
	for (port = 0; port < 2; port++) {
		const struct port_counters *c = &b->lane.counters->port[port];

		while (receive(b, port))
			send_burst(b);
		assert_int_equal(c->rx_packets, delivered[port]);
		assert_int_equal(c->rx_packets, c->forwarded + sum_drops(c));
		assert_true(c->tx_full > 0);
		assert_int_equal(b->k[port]->q.bad_descriptors, 0);
	}
	check_frames(b);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(rx_fills_the_ring),     CASE(rx_makes_do_with_a_small_pool),
	    CASE(rx_reads_metadata),     CASE(rx_survives_bad_descriptors),
	    CASE(tx_counts_a_full_ring), CASE(tx_to_nowhere_is_port_down),
	    CASE(tx_survives_removal),   CASE(nothing_is_lost_at_random),
	    CASE(rx_reads_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

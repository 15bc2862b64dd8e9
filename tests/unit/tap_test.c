/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taps on memory: bursts of random frames that come in, are decapsulated, copied, encapsulated,
 * sent and dropped at random, captures of random options, against an oracle that looks through
 * every capture's sources for every frame.
 *
 *     ports 0..3, of networks 1..3     port 4 (underlay): tunnels A and B
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capture/tap.h"
#include "dataplane/copy.h"
#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define N_PORTS 5
#define UNDERLAY 4
#define TUNNEL_A EGRESS_TUNNEL0
#define N_NETWORKS 3
#define N_WORKERS 3
#define WORKER 1		/* whose bursts these are */
#define ROUNDS 150
#define BURSTS 30
#define FRAME_MAX 1600
#define OUTER 50
#define FRAME_ROOM (FRAME_MAX + VLAN_BYTES + OUTER)	/* as it leaves */
#define WANTS_MAX 4096

/* A record that has to be there. */
struct want {
	uint8_t frame[FRAME_ROOM];
	uint16_t caplen, len, where;
	uint8_t dir, drop, flags;
	uint64_t nic_time_ns;
	uint32_t packet;	/* 1 + its place in the burst while its fate is open */
};

struct subject {
	struct tap_options options;
	const struct filter *filter;
	struct pcap_filter *program;
	struct tap *taps;
	/* the oracle's */
	struct want *want;	/* a ring of WANTS_MAX */
	uint64_t first, n, published;
	uint64_t bytes;		/* in the ring */
	bool gap;		/* something was missed since the last record */
	uint64_t matched, captured, missed;
};

/* What happened in all rounds: each of these has to. */
static struct {
	uint64_t captured, missed, skipped, cut, tags, fates, inner, dropped, no_frame, nic_times;
	uint64_t gaps, woken;
} seen;

static struct subject subject[CAPTURE_MAX];
static struct bed *bed;

/*
 * Filters, and what they mean
 */

static bool is_any(const uint8_t *frame, uint32_t len)
{
	return true;
}

static bool is_none(const uint8_t *frame, uint32_t len)
{
	return false;
}

static bool is_quarter(const uint8_t *frame, uint32_t len)
{
	return len && (frame[0] & 3) == 1;
}

static bool is_long(const uint8_t *frame, uint32_t len)
{
	return len >= 300;
}

static bool is_vlan_5(const uint8_t *frame, uint32_t len)
{
	return len >= 16 && vlan_is_tpid(get_be16(frame + 12)) && VID_OF(get_be16(frame + 14)) == 5;
}

static const struct pcap_insn forty_bytes[] = {{BPF_RET | BPF_K, 0, 0, 40}};

static const struct filter {
	const char *text;	/* NULL: none; "": forty_bytes */
	bool (*is)(const uint8_t *frame, uint32_t len);
	uint32_t bytes;
} filters[] = {
	{NULL, is_any, UINT32_MAX},
	{"", is_any, 40},
	{"ether[0] & 3 = 1", is_quarter, UINT32_MAX},
	{"greater 300", is_long, UINT32_MAX},
	{"vlan 5", is_vlan_5, UINT32_MAX},
	{"ether[6:4] = 0x12345678 and ether[10] = 7", is_none, UINT32_MAX},
};

/*
 * The oracle
 */

static bool names(const struct subject *c, uint16_t egress)
{
	for (uint32_t i = 0; i < c->options.n_sources; i++)
		if (c->options.source[i].egress == egress && egress != EGRESS_NONE)
			return true;
	return false;
}

static bool names_network(const struct subject *c, uint16_t network)
{
	for (uint32_t i = 0; i < c->options.n_sources; i++)
		if (c->options.source[i].egress == EGRESS_NONE &&
		    c->options.source[i].network == network)
			return true;
	return false;
}

/* The frame of @p from @offset on, its stripped tag in its place. Returns its length. */
static uint32_t whole_frame(const struct packet *p, uint32_t offset, uint8_t *frame)
{
	const uint8_t *from = p->data + offset;
	uint32_t len = p->len - offset;

	if (p->tag != TAG_STRIPPED || len < 12) {
		memcpy(frame, from, len);
		return len;
	}
	memcpy(frame, from, 12);
	put_be16(frame + 12, TPID_C);
	put_be16(frame + 14, p->tci);
	memcpy(frame + 16, from + 12, len - 12);
	return len + 4;
}

static bool sees(const struct subject *c, enum capture_dir dir, bool drops)
{
	return c->options.dir & dir && c->options.drops == drops;
}

/* @c has to take @p: it is the frame at @offset, at @where. */
static struct want *expect(struct subject *c, const struct packet *p, uint32_t offset,
			   enum capture_dir dir, uint16_t where, uint8_t flags)
{
	struct want *w = &c->want[c->n % WANTS_MAX];
	const struct tap_options *o = &c->options;
	uint32_t caplen, bytes;

	*w = (struct want){.dir = (uint8_t)dir, .where = where, .flags = flags};
	w->len = (uint16_t)whole_frame(p, offset, w->frame);
	if (!c->filter->is(w->frame, w->len))
		return NULL;
	if (c->matched++ % o->sample) {
		seen.skipped++;
		return NULL;
	}
	caplen = min_of(min_of((uint32_t)w->len, (uint32_t)o->snaplen), c->filter->bytes);
	bytes = (uint32_t)(sizeof(struct record) + caplen + 7) / 8 * 8;
	if (c->bytes + bytes > c->taps[WORKER].ring.bytes) {
		c->missed++;
		c->gap = true;
		seen.missed++;
		return NULL;
	}
	w->flags |= c->gap ? RECORD_GAP : 0;
	seen.gaps += c->gap;
	c->gap = false;
	w->caplen = (uint16_t)caplen;
	c->bytes += bytes;
	c->captured++;
	c->n++;
	assert_true(c->n - c->first < WANTS_MAX);
	seen.captured++;
	seen.cut += caplen < w->len;
	seen.inner += flags & RECORD_INNER;
	return w;
}

static void expect_in(struct subject *c, const struct packet *p, uint32_t i, uint16_t where,
		      uint8_t flags)
{
	struct want *w = expect(c, p, 0, CAPTURE_IN, where, flags);

	if (!w)
		return;
	w->packet = i + 1;
	w->nic_time_ns = p->drop ? 0 : p->rx_time_ns;
	seen.nic_times += w->nic_time_ns != 0;
	seen.tags += p->tag == TAG_STRIPPED;
}

static void oracle_rx(struct subject *c, const struct packet *p, uint32_t i)
{
	if (sees(c, CAPTURE_IN, false) && names(c, p->rx_port))
		expect_in(c, p, i, p->rx_port, 0);
}

static void oracle_in(struct subject *c, const struct packet *p, uint32_t i)
{
	if (p->drop || !sees(c, CAPTURE_IN, false))
		return;
	if (p->ingress == p->rx_port) {
		if (names_network(c, p->network) && !names(c, p->rx_port))
			expect_in(c, p, i, p->rx_port, 0);
	} else if (c->options.inner && names(c, p->rx_port)) {
		expect_in(c, p, i, p->rx_port, RECORD_INNER);
	} else if (names(c, p->ingress) || names_network(c, p->network)) {
		expect_in(c, p, i, p->ingress, 0);
	}
}

static void oracle_sent(struct subject *c, const struct packet *p)
{
	bool of_port = names(c, p->egress);

	if (!sees(c, CAPTURE_OUT, false))
		return;
	if (of_port)
		expect(c, p, 0, CAPTURE_OUT, p->egress, 0);
	if (!p->outer) {
		if (names_network(c, p->network) && !of_port)
			expect(c, p, 0, CAPTURE_OUT, p->egress, 0);
	} else if (of_port && c->options.inner) {
		expect(c, p, p->outer, CAPTURE_OUT, p->egress, RECORD_INNER);
	} else if (names(c, p->tunnel) || names_network(c, p->network)) {
		expect(c, p, p->outer, CAPTURE_OUT, p->tunnel, 0);
	}
}

static void oracle_fate(struct subject *c, const struct packet *p, uint32_t i, uint8_t drop)
{
	for (uint64_t n = c->first; n < c->n; n++) {
		struct want *w = &c->want[n % WANTS_MAX];

		if (w->packet != i + 1 || w->drop)
			continue;
		w->drop = drop;
		seen.fates++;
	}
}

static struct want *oracle_drop(struct subject *c, const struct packet *p, uint8_t drop)
{
	uint16_t inside = p->outer ? p->tunnel : p->egress;

	if (sees(c, CAPTURE_IN, true)) {
		if (names(c, p->ingress) || names_network(c, p->network))
			return expect(c, p, p->outer, CAPTURE_IN, p->ingress, 0);
		if (names(c, p->rx_port))
			return expect(c, p, p->outer, CAPTURE_IN, p->rx_port, RECORD_INNER);
	}
	if (!sees(c, CAPTURE_OUT, true) || p->egress >= EGRESS_MAX || drop == DROP_NO_FRAME)
		return NULL;
	if (names(c, p->egress))
		return expect(c, p, 0, CAPTURE_OUT, p->egress, 0);
	if (names(c, inside) || names_network(c, p->network))
		return expect(c, p, p->outer, CAPTURE_OUT, inside, 0);
	return NULL;
}

static void oracle_died(struct subject *c, const struct packet *p, uint32_t i, uint8_t drop)
{
	struct want *w;

	if (p->tap)
		oracle_fate(c, p, i, drop);
	w = oracle_drop(c, p, drop);
	if (!w)
		return;
	w->drop = drop;
	seen.dropped++;
	seen.no_frame += drop == DROP_NO_FRAME;
}

/* @i: the place in the burst that a packet came in with, its own or its original's. */
static void oracle_out(struct subject *c, const struct packet *p, uint32_t i)
{
	if (p->no_frame)
		oracle_died(c, p, i, DROP_NO_FRAME);
	if (p->drop)
		oracle_died(c, p, i, p->drop);
	else
		oracle_sent(c, p);
}

/*
 * The life of packets
 */

static void receive(uint16_t port)
{
	uint8_t frame[FRAME_MAX];
	uint32_t len = random_below(random_below(4) ? 200 : FRAME_MAX);
	struct packet *p;

	random_bytes(frame, min_of(len, 32u));
	memset(frame + 32, (int)random_below(256), sizeof(frame) - 32);
	p = bed_receive(bed, port, frame, (uint16_t)len);
	if (!random_below(3)) {
		p->tag = TAG_STRIPPED;
		p->tci = (uint16_t)(random_below(2) << 13 | (5 + random_below(2)));
	}
	p->l3 = 100;
	p->l4 = 200;
	if (!random_below(3))
		p->rx_time_ns = random_u64() | 1;
	if (!random_below(20))
		drop_packet(p, DROP_TOO_BIG, random_u64());
}

/* What parse, decap and classify may do. */
static void come_in(struct packet *p)
{
	p->network = (uint16_t)(1 + random_below(N_NETWORKS));
	if (p->rx_port == UNDERLAY && p->len > OUTER + 14) {
		p->data += OUTER;
		p->len -= OUTER;
		p->ingress = (uint16_t)(TUNNEL_A + random_below(2));
		p->tag = TAG_NONE;
	}
	if (!random_below(8) || p->len < 14)
		drop_packet(p, DROP_VLAN_UNMAPPED, random_u64());
}

/* What match, forward, retag, encap and tx may do. */
static void go_out(struct packet *p)
{
	uint16_t tunnel = (uint16_t)(TUNNEL_A + random_below(2));

	if (!p->drop && !random_below(6))
		drop_packet(p, DROP_FLOW, 1);
	if (p->drop)
		return;
	p->egress = (uint16_t)random_below(UNDERLAY);
	if (p->tag == TAG_STRIPPED || !random_below(4)) {
		vlan_push(p, TPID_C, 5);
		p->tag = TAG_FRAME;
	}
	if (!random_below(3)) {
		p->egress = tunnel;
		if (random_below(8)) {
			p->data -= OUTER;
			p->len += OUTER;
			memset(p->data, 0xcc, OUTER);
			p->outer = OUTER;
			p->tunnel = tunnel;
			p->egress = UNDERLAY;
		} else {
			drop_packet(p, DROP_NO_ROUTE, 1);
		}
	}
	if (!random_below(8))
		drop_packet(p, DROP_TX_FULL, 1);
}

static void copy_some(uint32_t origin[BURST_MAX])
{
	bed->copies.n = 0;
	for (uint32_t i = 0; i < bed->burst.n; i++) {
		struct packet *p = &bed->burst.packet[i];

		if (p->drop || random_below(3))
			continue;
		if (!random_below(10)) {
			p->no_frame = true;
			continue;
		}
		origin[bed->copies.n] = i;
		assert_non_null(copy_packet(&bed->lane, p, &bed->copies));
	}
	for (uint32_t i = 0; i < bed->copies.n; i++)
		go_out(&bed->copies.packet[i]);
}

/* Runs a tap's stage: it may change nothing but `tap`. */
static void run(void (*stage)(struct lane *lane, struct burst *burst), struct burst *burst)
{
	static uint8_t frame[BURST_MAX][FRAME_ROOM];
	static struct burst before;

	before = *burst;
	for (uint32_t i = 0; i < burst->n; i++)
		memcpy(frame[i], burst->packet[i].data, burst->packet[i].len);
	stage(&bed->lane, burst);
	for (uint32_t i = 0; i < burst->n; i++) {
		before.packet[i].tap = burst->packet[i].tap;
		assert_memory_equal(&before.packet[i], &burst->packet[i], sizeof(struct packet));
		assert_memory_equal(frame[i], burst->packet[i].data, burst->packet[i].len);
	}
}

#define for_each_subject(c) \
	for (struct subject *c = subject; c < subject + CAPTURE_MAX; c++) \
		if (c->taps)

static void run_out(struct burst *burst, const uint32_t *origin)
{
	run(tap_out, burst);
	for (uint32_t i = 0; i < burst->n; i++)
		for_each_subject(c)
			oracle_out(c, &burst->packet[i], origin ? origin[i] : i);
	bed_transmit(bed, burst);
}

/* Whoever sleeps is woken when there is something for it, and only then. */
static void publish(void)
{
	bool asleep[CAPTURE_MAX];
	uint64_t one;

	for_each_subject(c) {
		asleep[c - subject] = random_below(2);
		c->taps[WORKER].asleep = asleep[c - subject];
	}
	tap_publish(&bed->lane);
	for_each_subject(c) {
		bool news = c->n != c->published;

		assert_int_equal(c->taps[WORKER].asleep, asleep[c - subject] && !news);
		assert_int_equal(read(c->taps[WORKER].wake_fd, &one, sizeof(one)) > 0,
				 asleep[c - subject] && news);
		seen.woken += asleep[c - subject] && news;
		c->published = c->n;
		for (uint64_t i = c->first; i < c->n; i++)
			c->want[i % WANTS_MAX].packet = 0;
	}
}

static void run_burst(void)
{
	uint16_t port = (uint16_t)random_below(N_PORTS);
	uint32_t n = 1 + random_below(BURST_MAX), origin[BURST_MAX];

	while (n--)
		receive(port);
	run(tap_rx, &bed->burst);
	for (uint32_t i = 0; i < bed->burst.n; i++) {
		for_each_subject(c)
			oracle_rx(c, &bed->burst.packet[i], i);
		come_in(&bed->burst.packet[i]);
	}
	run(tap_in, &bed->burst);
	for (uint32_t i = 0; i < bed->burst.n; i++)
		for_each_subject(c)
			oracle_in(c, &bed->burst.packet[i], i);
	copy_some(origin);
	run_out(&bed->copies, origin);
	for (uint32_t i = 0; i < bed->burst.n; i++)
		go_out(&bed->burst.packet[i]);
	run_out(&bed->burst, NULL);
	assert_int_equal(bed->pool.n_free, bed->pool.n_frames);
	publish();
}

/*
 * Captures
 */

static void add_random_source(struct tap_options *o)
{
	struct capture_source *s = &o->source[o->n_sources++];
	uint32_t what = random_below(N_PORTS + 2 + N_NETWORKS);

	*s = (struct capture_source){.egress = (uint16_t)what};
	if (what >= N_PORTS)
		s->egress = (uint16_t)(TUNNEL_A + what - N_PORTS);
	if (what >= N_PORTS + 2)
		*s = (struct capture_source){EGRESS_NONE, (uint16_t)(what - N_PORTS - 1)};
}

static void make_filter(struct subject *c)
{
	char why[256];

	c->filter = &filters[random_below(ARRAY_SIZE(filters))];
	if (c->filter->text && *c->filter->text)
		assert_int_equal(pcap_filter_compile(c->filter->text, &c->program, why,
						     sizeof(why)), 0);
	else if (c->filter->text)
		assert_int_equal(pcap_filter_take(forty_bytes, 1, &c->program), 0);
	c->options.filter = c->program;
}

static void subject_init(struct subject *c)
{
	static const uint16_t snaplens[] = {1, 14, 96, 65535, 65535};
	static const uint32_t samples[] = {1, 1, 1, 2, 7};
	uint64_t ring_bytes = random_below(4) ? 256 << 10 : 8192;

	*c = (struct subject){0};
	for (uint32_t n = 1 + random_below(5); n; n--)
		add_random_source(&c->options);
	c->options.dir = (uint8_t)(1 + random_below(3));
	c->options.drops = !random_below(3);
	c->options.inner = random_below(2);
	c->options.snaplen = snaplens[random_below(ARRAY_SIZE(snaplens))];
	c->options.sample = samples[random_below(ARRAY_SIZE(samples))];
	make_filter(c);
	c->taps = aligned_alloc(CACHE_LINE, N_WORKERS * sizeof(*c->taps));
	c->want = malloc(WANTS_MAX * sizeof(*c->want));
	assert_true(c->taps && c->want);
	memset(c->taps, 0, N_WORKERS * sizeof(*c->taps));
	for (uint32_t i = 0; i < N_WORKERS; i++) {
		c->taps[i].options = &c->options;
		c->taps[i].wake_fd = eventfd(0, EFD_NONBLOCK);
		assert_int_equal(ring_init(&c->taps[i].ring, i == WORKER ? ring_bytes : 1), 0);
	}
}

static void subject_fini(struct subject *c)
{
	for (uint32_t i = 0; i < N_WORKERS; i++) {
		if (i != WORKER)
			assert_int_equal(c->taps[i].matched | c->taps[i].ring.reserved, 0);
		ring_fini(&c->taps[i].ring);
		close(c->taps[i].wake_fd);
	}
	free(c->taps);
	free(c->want);
	free(c->program);
	c->taps = NULL;
}

static void compare(const struct record *r, const struct want *w)
{
	assert_int_equal(r->caplen, w->caplen);
	assert_int_equal(r->len, w->len);
	assert_int_equal(r->where, w->where);
	assert_int_equal(r->dir, w->dir);
	assert_int_equal(r->drop, w->drop);
	assert_int_equal(r->flags, w->flags | (w->nic_time_ns ? RECORD_NIC_TIME : 0));
	assert_true(w->nic_time_ns ? r->time_ns == w->nic_time_ns : r->time_ns > 0);
	assert_memory_equal(r->frame, w->frame, w->caplen);
}

/* All that is in the ring, or the first half of it. */
static void read_ring(struct subject *c, bool half)
{
	const struct tap *tap = &c->taps[WORKER];
	const struct record *r, *end;
	uint64_t bytes = 0;
	bool some = ring_peek(&tap->ring, &r, &end);

	assert_int_equal(some, c->first != c->n);
	while (some && r < end && !(half && bytes > c->bytes / 2)) {
		assert_true(c->first < c->n);
		compare(r, &c->want[c->first++ % WANTS_MAX]);
		bytes += r->bytes;
		r = (const struct record *)((const uint8_t *)r + r->bytes);
	}
	if (!half)
		assert_int_equal(c->first, c->n);
	ring_release(&c->taps[WORKER].ring, bytes);
	c->bytes -= bytes;
	assert_int_equal(tap->matched, c->matched);
	assert_int_equal(tap->captured, c->captured);
	assert_int_equal(tap->missed, c->missed);
}

static void round_of_bursts(void)
{
	const struct tap_options *options[CAPTURE_MAX] = {0};
	struct tap *taps[CAPTURE_MAX] = {0};
	struct tap_set *set;

	for (uint32_t n = 1 + random_below(5); n; n--) {
		uint32_t i = random_below(CAPTURE_MAX);

		if (taps[i])
			continue;
		subject_init(&subject[i]);
		options[i] = &subject[i].options;
		taps[i] = subject[i].taps;
	}
	set = tap_set_create(options, taps);
	assert_non_null(set);
	bed->lane.taps = set;
	bed->lane.index = WORKER;
	for (uint32_t n = 0; n < BURSTS; n++) {
		run_burst();
		for_each_subject(c)
			if (random_below(3))
				read_ring(c, random_below(2));
	}
	for_each_subject(c) {
		read_ring(c, false);
		subject_fini(c);
	}
	tap_set_destroy(set);
}

static void like_the_oracle(void **state)
{
	random_init("tap");
	bed = bed_create(4 * BURST_MAX);
	for (uint32_t n = 0; n < ROUNDS; n++)
		round_of_bursts();
	bed_destroy(bed);
	print_message("%llu captured, of which %llu cut, %llu tags put back, %llu inner, %llu with "
		      "a fate, %llu drops; %llu missed, %llu skipped\n",
		      (unsigned long long)seen.captured, (unsigned long long)seen.cut,
		      (unsigned long long)seen.tags, (unsigned long long)seen.inner,
		      (unsigned long long)seen.fates, (unsigned long long)seen.dropped,
		      (unsigned long long)seen.missed, (unsigned long long)seen.skipped);
	assert_true(seen.captured && seen.cut && seen.tags && seen.inner && seen.fates &&
		    seen.dropped && seen.no_frame && seen.nic_times && seen.missed &&
		    seen.skipped && seen.gaps && seen.woken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_the_oracle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

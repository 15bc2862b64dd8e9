/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify and retag against an oracle that knows a frame as a list of tags: every stack of up to
 * three tags, with or without one that the driver took out, from every kind of port to every kind
 * of port.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/lane.h"

#define TAGS_MAX 5
#define N_NETWORKS 4
#define IN 1
#define OUT 2

static const uint8_t macs[12] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
static const uint8_t payload[] = {8, 0, 0x45, 0, 0, 24, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0,
				  0, 1, 10,   0, 0, 2,	1, 2, 3, 4};

/* TPID and TCI; each one for what it can be on some port. */
static const uint32_t tag_kinds[] = {
	0x8100a000, /* priority */
	0x8100b064, /* 100, with DEI */
	0x810060c8, /* 200 */
	0x810023e7, /* 999: nowhere named */
	0x81000fff, /* reserved */
	0x88a8e064, /* service tag 100 */
};

static const struct map {
	const char *name;
	uint16_t untagged;
	uint16_t vlan_100;
	uint16_t vlan_200;
	uint16_t rest;
} maps[] = {
	{"nothing", 0, 0, 0, 0},
	{"access", 1, 0, 0, 0},
	{"other access", 2, 0, 0, 0},
	{"trunk", 0, 1, 2, 0},
	{"translating trunk", 0, 2, 1, 0},
	{"native", 2, 1, 0, 0},
	{"rest", 0, 0, 0, 1},
	{"access and rest", 2, 0, 0, 1},
	{"rest and access", 1, 0, 0, 2},
	{"all", 3, 1, 2, 4},
	{"all, otherwise", 1, 4, 3, 2},
};

/* A frame, and what the oracle knows of it. */
struct model {
	uint32_t tag[TAGS_MAX];
	int n;
	uint16_t network;
	uint16_t priority;
	uint8_t drop;
};

static uint16_t vid_in(uint32_t tag)
{
	return tag & 0xfff;
}

static bool is_c(uint32_t tag)
{
	return tag >> 16 == 0x8100;
}

static uint16_t named(const struct map *map, uint16_t vid)
{
	return vid == 100 ? map->vlan_100 : vid == 200 ? map->vlan_200 : 0;
}

static void shift(struct model *m)
{
	m->n--;
	memmove(m->tag, m->tag + 1, sizeof(m->tag[0]) * (size_t)m->n);
}

static void oracle_in(const struct map *map, struct model *m)
{
	uint32_t outer = m->tag[0];

	m->priority = m->n ? outer & 0xf000 : 0;
	if (m->n == 0 || (is_c(outer) && vid_in(outer) == 0)) {
		m->network = map->untagged;
		m->drop = map->untagged ? 0 : DROP_UNTAGGED;
		if (m->n)
			shift(m);
	} else if (is_c(outer) && named(map, vid_in(outer))) {
		m->network = named(map, vid_in(outer));
		shift(m);
	} else {
		m->network = is_c(outer) && vid_in(outer) == 4095 ? 0 : map->rest;
		m->drop = m->network ? 0 : DROP_VLAN_UNMAPPED;
	}
}

/* Which network somebody with @map finds the frame in: 0 none, -1 not to be told. */
static int heard_as(const struct map *map, const struct model *m, bool behind_priority)
{
	int i = 0;

	while (behind_priority && i < m->n && is_c(m->tag[i]) && vid_in(m->tag[i]) == 0)
		i++;
	if (i > 3)
		return -1;
	if (i == m->n || (is_c(m->tag[i]) && vid_in(m->tag[i]) == 0))
		return map->untagged;
	if (is_c(m->tag[i]) && named(map, vid_in(m->tag[i])))
		return named(map, vid_in(m->tag[i]));
	return map->rest;
}

static void oracle_out(const struct map *map, struct model *m)
{
	uint16_t vid = map->vlan_100 == m->network ? 100 : map->vlan_200 == m->network ? 200 : 0;
	int heard;

	if (vid) {
		memmove(m->tag + 1, m->tag, sizeof(m->tag[0]) * (size_t)m->n++);
		m->tag[0] = 0x81000000u | m->priority | vid;
	} else if (map->untagged == m->network) {
		heard = heard_as(map, m, true);
		if (heard && heard != m->network)
			m->drop = DROP_EGRESS_TAG;
	} else if (map->rest == m->network) {
		heard = heard_as(map, m, false);
		if (heard != m->network || (is_c(m->tag[0]) && vid_in(m->tag[0]) == 4095))
			m->drop = DROP_EGRESS_TAG;
	} else {
		m->drop = DROP_EGRESS_TAG;
	}
}

static uint16_t write_frame(const struct model *m, uint8_t *frame)
{
	uint16_t at = sizeof(macs);

	memcpy(frame, macs, sizeof(macs));
	for (int i = 0; i < m->n; i++, at += 4) {
		put_be16(frame + at, (uint16_t)(m->tag[i] >> 16));
		put_be16(frame + at + 2, (uint16_t)m->tag[i]);
	}
	memcpy(frame + at, payload, sizeof(payload));
	return at + sizeof(payload);
}

static void set_map(struct bed *bed, uint16_t port, const struct map *map)
{
	bed_port_gone(bed, port);
	bed_port(bed, port);
	if (map->untagged)
		bed_untagged(bed, port, map->untagged);
	if (map->vlan_100)
		bed_tagged(bed, port, 100, map->vlan_100);
	if (map->vlan_200)
		bed_tagged(bed, port, 200, map->vlan_200);
	if (map->rest)
		bed_rest(bed, port, map->rest);
}

static void check_offsets(const struct packet *p)
{
	if (!(p->flags & PKT_IPV4))
		return;
	assert_memory_equal(p->data + p->l3, payload + 2, sizeof(payload) - 2);
	assert_true(p->flags & PKT_L4);
	assert_memory_equal(p->data + p->l4, payload + 22, 4);
}

static bool one_frame(struct bed *bed, const struct map *in, const struct map *out,
		      uint32_t stripped, const struct model *received)
{
	uint8_t frame[128];
	uint16_t len = write_frame(received, frame);
	struct packet *p = bed_receive(bed, IN, frame, len);
	struct model m = {0};
	bool good;

	if (stripped) {
		p->tag = TAG_STRIPPED;
		p->tci = (uint16_t)stripped;
		m.tag[m.n++] = stripped;
	}
	memcpy(m.tag + m.n, received->tag, sizeof(m.tag[0]) * (size_t)received->n);
	m.n += received->n;
	parse(&bed->lane, &bed->burst);
	classify(&bed->lane, &bed->burst);
	oracle_in(in, &m);
	good = p->drop == m.drop && (m.drop || p->network == m.network);
	if (good && !m.drop) {
		check_offsets(p);
		p->egress = OUT;
		retag(&bed->lane, &bed->burst);
		oracle_out(out, &m);
		good = p->drop == m.drop;
	}
	if (good && !m.drop) {
		len = write_frame(&m, frame);
		good = p->len == len && memcmp(p->data, frame, len) == 0;
		check_offsets(p);
	}
	bed_transmit(bed, &bed->burst);
	return good;
}

static void all_stacks(struct bed *bed, const struct map *in, const struct map *out,
		       uint32_t stripped)
{
	const uint32_t kinds = ARRAY_SIZE(tag_kinds);

	for (int n = 0; n <= 3; n++) {
		uint32_t combinations = n == 0 ? 1 : n == 1 ? kinds : n == 2 ? kinds * kinds
									    : kinds * kinds * kinds;

		for (uint32_t c = 0; c < combinations; c++) {
			struct model m = {.n = n};
			uint32_t digits = c;

			for (int i = 0; i < n; i++, digits /= kinds)
				m.tag[i] = tag_kinds[digits % kinds];
			if (!one_frame(bed, in, out, stripped, &m))
				fail_msg("%s -> %s, stripped %#x, tags %#x %#x %#x", in->name,
					 out->name, stripped, m.tag[0], m.tag[1], m.tag[2]);
		}
	}
}

static void every_combination(void **state)
{
	struct bed *bed = bed_create(8);

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		for (size_t o = 0; o < ARRAY_SIZE(maps); o++) {
			set_map(bed, IN, &maps[i]);
			set_map(bed, OUT, &maps[o]);
			all_stacks(bed, &maps[i], &maps[o], 0);
			for (size_t s = 0; s < ARRAY_SIZE(tag_kinds); s++)
				if (is_c(tag_kinds[s]))
					all_stacks(bed, &maps[i], &maps[o], tag_kinds[s]);
		}
	assert_int_equal(bed->pool.n_free, bed->pool.n_frames);
	bed_destroy(bed);
}

/* The point of the rule, said once without an oracle: two tags do not hop into another network. */
static void no_hopping(void **state)
{
	static const struct map native = {"native", 1, 2, 0, 0};
	struct bed *bed = bed_create(8);
	struct model m = {.tag = {0x81000000, 0x81000064}, .n = 2};
	uint8_t frame[128];
	struct packet *p = bed_receive(bed, IN, frame, write_frame(&m, frame));

	set_map(bed, IN, &native);
	set_map(bed, OUT, &native);
	parse(&bed->lane, &bed->burst);
	classify(&bed->lane, &bed->burst);
	assert_int_equal(p->network, 1);
	p->egress = OUT;
	retag(&bed->lane, &bed->burst);
	assert_int_equal(p->drop, DROP_EGRESS_TAG);
	assert_int_equal(p->detail, (uint64_t)OUT << 32 | 0x81000064);
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

static void reserved_macs(void **state)
{
	static const struct {
		uint8_t mac[6];
		bool reserved;
	} rows[] = {
		{{0x01, 0x80, 0xc2, 0, 0, 0x00}, true},	 {{0x01, 0x80, 0xc2, 0, 0, 0x0e}, true},
		{{0x01, 0x80, 0xc2, 0, 0, 0x0f}, true},	 {{0x01, 0x80, 0xc2, 0, 0, 0x10}, false},
		{{0x01, 0x80, 0xc2, 0, 1, 0x00}, false}, {{0x00, 0x80, 0xc2, 0, 0, 0x00}, false},
		{{0x01, 0x00, 0x5e, 0, 0, 0x01}, false},
	};
	struct bed *bed = bed_create(64);
	uint8_t frame[64] = {[6] = 2, [12] = 8, [13] = 6};

	bed_untagged(bed, IN, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		memcpy(frame, rows[i].mac, 6);
		bed_receive(bed, IN, frame, sizeof(frame));
	}
	parse(&bed->lane, &bed->burst);
	classify(&bed->lane, &bed->burst);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(bed->burst.packet[i].drop,
				 rows[i].reserved ? DROP_RESERVED : DROP_NONE);
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

/* What decap put into a network is not classified again, and loses no tag. */
static void decapsulated(void **state)
{
	struct bed *bed = bed_create(8);
	struct model m = {.tag = {0x81000064}, .n = 1};
	uint8_t frame[128];
	uint16_t len = write_frame(&m, frame);
	struct packet *p = bed_receive(bed, IN, frame, len);

	bed_untagged(bed, IN, 3);
	bed_untagged(bed, OUT, 1);
	parse(&bed->lane, &bed->burst);
	p->tag = TAG_NONE;
	p->network = 1;
	classify(&bed->lane, &bed->burst);
	assert_int_equal(p->network, 1);
	p->egress = OUT;
	retag(&bed->lane, &bed->burst);
	assert_int_equal(p->drop, DROP_NONE);
	assert_int_equal(p->len, len);
	assert_memory_equal(p->data, frame, len);
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

/* Length counts as it leaves: with the tag that the port adds, without the one that it takes. */
static void egress_limits(void **state)
{
	static const struct {
		uint16_t len;
		uint16_t port;
		bool up, shut;
		uint8_t drop;
	} rows[] = {
		{1518, 2, true, false, DROP_NONE},     {1519, 2, true, false, DROP_TOO_BIG},
		{1514, 3, true, false, DROP_NONE},     {1515, 3, true, false, DROP_TOO_BIG},
		{64, 2, false, false, DROP_PORT_DOWN}, {64, 2, true, true, DROP_PORT_DOWN},
		{64, 4, true, false, DROP_PORT_DOWN},
	};
	struct bed *bed = bed_create(8);
	static uint8_t frame[2000] = {[5] = 1, [11] = 2, [12] = 8, [13] = 6};

	bed_untagged(bed, IN, 1);
	bed_untagged(bed, 2, 1);
	bed_tagged(bed, 3, 100, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct packet *p = bed_receive(bed, IN, frame, rows[i].len);

		for (uint16_t port = 2; port <= 3; port++) {
			bed_port(bed, port)->frame_max = 1518;
			bed_port(bed, port)->up = rows[i].up;
			bed_port(bed, port)->shut = rows[i].shut;
		}
		parse(&bed->lane, &bed->burst);
		classify(&bed->lane, &bed->burst);
		p->egress = rows[i].port;
		retag(&bed->lane, &bed->burst);
		assert_int_equal(p->drop, rows[i].drop);
		if (p->drop == DROP_TOO_BIG)
			assert_int_equal(p->detail, 1519ull << 32 | 1518);
		bed_transmit(bed, &bed->burst);
	}
	bed_destroy(bed);
}

/* What a rule sends to a port by name: any tags, whatever the port's map, but not any length. */
static void as_is(void **state)
{
	struct model m = {.tag = {0x8100b064, 0x88a82005}, .n = 2};
	struct bed *bed = bed_create(2);
	uint8_t frame[128];
	uint16_t len = write_frame(&m, frame);

	for (size_t i = 0; i <= ARRAY_SIZE(maps) + 1; i++) {
		struct packet *p = bed_receive(bed, IN, frame, len);

		set_map(bed, OUT, &maps[i % ARRAY_SIZE(maps)]);
		if (i == ARRAY_SIZE(maps))
			bed_port(bed, OUT)->frame_max = len - 1;
		if (i > ARRAY_SIZE(maps))
			bed_port(bed, OUT)->up = false;
		p->network = 1;
		p->egress = OUT;
		p->as_is = true;
		retag(&bed->lane, &bed->burst);
		assert_int_equal(p->drop, i < ARRAY_SIZE(maps)	  ? DROP_NONE
					  : i == ARRAY_SIZE(maps) ? DROP_TOO_BIG
								  : DROP_PORT_DOWN);
		assert_int_equal(p->len, len);
		assert_memory_equal(p->data, frame, len);
		bed_transmit(bed, &bed->burst);
	}
	bed_destroy(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_combination), cmocka_unit_test(no_hopping),
		cmocka_unit_test(reserved_macs),     cmocka_unit_test(decapsulated),
		cmocka_unit_test(egress_limits),
		cmocka_unit_test(as_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

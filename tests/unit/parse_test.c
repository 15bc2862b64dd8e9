/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every frame lies at the very end of its memory: before an unmapped page, and in an allocation of
 * its own for the sanitizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "dataplane/flow_table.h"
#include "tests/unit/frames.h"
#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define V4 PKT_IPV4
#define V6 PKT_IPV6
#define LATER (PKT_FRAGMENT | PKT_LATER)

static const struct row {
	const char *what;
	const uint8_t *frame;
	uint16_t len;
	uint8_t flags;
	uint8_t tag;
	uint16_t tci;
	uint16_t ethertype;
	uint16_t l3;
	uint16_t l4;
	uint8_t proto;
	bool runt;
} rows[] = {
	{"bare header", BYTES(MACS, 8, 6), .ethertype = 0x806, .l3 = 14},
	{"one byte less", BYTES(MACS, 8), .runt = true},
	{"one byte", BYTES(2), .runt = true},
	{"broadcast", BYTES(255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 2, 8, 6),
	 .flags = PKT_GROUP,
	 .ethertype = 0x806, .l3 = 14},
	{"length field (802.3)", BYTES(MACS, 0, 3, 0x42, 0x42, 3), .ethertype = 3, .l3 = 14},
	/* tags */
	{"tag", BYTES(MACS, TAG(0xb064), 8, 6), .tag = TAG_FRAME, .tci = 0xb064, .ethertype = 0x806,
	 .l3 = 18},
	{"priority tag", BYTES(MACS, TAG(0xe000), 8, 6), .tag = TAG_FRAME, .tci = 0xe000,
	 .ethertype = 0x806, .l3 = 18},
	{"tag, cut", BYTES(MACS, TAG(100), 8), .runt = true},
	{"tag, no TCI", BYTES(MACS, 0x81, 0), .runt = true},
	{"service tag", BYTES(MACS, STAG(7), 8, 6), .ethertype = 0x806, .l3 = 18},
	{"service tag, cut", BYTES(MACS, STAG(7), 8), .runt = true},
	{"service and customer tag", BYTES(MACS, STAG(7), TAG(8), 8, 6), .ethertype = 0x806,
	 .l3 = 22},
	{"two tags", BYTES(MACS, TAG(7), TAG(8), 8, 6), .tag = TAG_FRAME, .tci = 7,
	 .ethertype = 0x806, .l3 = 22},
	{"two tags, the second cut", BYTES(MACS, TAG(7), TAG(8), 8), .tag = TAG_FRAME, .tci = 7,
	 .ethertype = 0x8100, .l3 = 18},
	{"three tags", BYTES(MACS, TAG(7), STAG(8), TAG(9), 8, 6), .tag = TAG_FRAME, .tci = 7,
	 .ethertype = 0x806, .l3 = 26},
	{"four tags: IP unseen",
	 BYTES(MACS, TAG(7), TAG(8), TAG(9), TAG(10), 8, 0, IP4(0x45, 20, 0, 6)),
	 .tag = TAG_FRAME, .tci = 7, .ethertype = 0x8100, .l3 = 26},
	/* IPv4 */
	{"UDP", BYTES(MACS, 8, 0, IP4(0x45, 24, 0, 17), PORTS), .flags = V4 | PKT_L4,
	 .ethertype = 0x800, .l3 = 14, .l4 = 34, .proto = 17},
	{"UDP, DF and padding", BYTES(MACS, 8, 0, IP4(0x45, 24, 0x4000, 17), PORTS, 0, 0, 0),
	 .flags = V4 | PKT_L4, .ethertype = 0x800, .l3 = 14, .l4 = 34, .proto = 17},
	{"TCP behind options", BYTES(MACS, 8, 0, IP4(0x46, 28, 0, 6), 1, 1, 1, 1, PORTS),
	 .flags = V4 | PKT_L4, .ethertype = 0x800, .l3 = 14, .l4 = 38, .proto = 6},
	{"SCTP in two tags", BYTES(MACS, TAG(7), TAG(8), 8, 0, IP4(0x45, 24, 0, 132), PORTS),
	 .tag = TAG_FRAME, .tci = 7, .flags = V4 | PKT_L4, .ethertype = 0x800, .l3 = 22, .l4 = 42,
	 .proto = 132},
	{"ICMP", BYTES(MACS, 8, 0, IP4(0x45, 24, 0, 1), PORTS), .flags = V4, .ethertype = 0x800,
	 .l3 = 14, .l4 = 34, .proto = 1},
	{"UDP, ports cut by IP's length", BYTES(MACS, 8, 0, IP4(0x45, 23, 0, 17), PORTS),
	 .flags = V4,
	 .ethertype = 0x800, .l3 = 14, .l4 = 34, .proto = 17},
	{"nothing behind IPv4", BYTES(MACS, 8, 0, IP4(0x45, 20, 0, 17)), .flags = V4,
	 .ethertype = 0x800, .l3 = 14, .l4 = 34, .proto = 17},
	{"first fragment", BYTES(MACS, 8, 0, IP4(0x45, 24, 0x2000, 17), PORTS),
	 .flags = V4 | PKT_FRAGMENT, .ethertype = 0x800, .l3 = 14, .l4 = 34, .proto = 17},
	{"middle fragment", BYTES(MACS, 8, 0, IP4(0x45, 24, 0x2001, 17), PORTS),
	 .flags = V4 | LATER, .ethertype = 0x800, .l3 = 14, .proto = 17},
	{"last fragment", BYTES(MACS, 8, 0, IP4(0x45, 24, 1, 17), PORTS), .flags = V4 | LATER,
	 .ethertype = 0x800, .l3 = 14, .proto = 17},
	{"IPv4 with version 5", BYTES(MACS, 8, 0, IP4(0x55, 24, 0, 17), PORTS), .flags = PKT_L3_BAD,
	 .ethertype = 0x800, .l3 = 14},
	{"header length 4", BYTES(MACS, 8, 0, IP4(0x44, 24, 0, 17), PORTS), .flags = PKT_L3_BAD,
	 .ethertype = 0x800, .l3 = 14},
	{"header longer than total", BYTES(MACS, 8, 0, IP4(0x47, 24, 0, 17), PORTS, PORTS),
	 .flags = PKT_L3_BAD, .ethertype = 0x800, .l3 = 14},
	{"total longer than frame", BYTES(MACS, 8, 0, IP4(0x45, 25, 0, 17), PORTS),
	 .flags = PKT_L3_BAD, .ethertype = 0x800, .l3 = 14},
	{"total of 19", BYTES(MACS, 8, 0, IP4(0x45, 19, 0, 17), PORTS), .flags = PKT_L3_BAD,
	 .ethertype = 0x800, .l3 = 14},
	{"IPv4 header cut", BYTES(MACS, 8, 0, 0x45, 0, 0, 24, 0, 0, 0, 0, 64, 17),
	 .flags = PKT_L3_BAD,
	 .ethertype = 0x800, .l3 = 14},
	{"no IPv4 header", BYTES(MACS, 8, 0), .flags = PKT_L3_BAD, .ethertype = 0x800, .l3 = 14},
	/* IPv6 */
	{"UDP over IPv6", BYTES(MACS, 0x86, 0xdd, IP6(4, 17), PORTS), .flags = V6 | PKT_L4,
	 .ethertype = 0x86dd, .l3 = 14, .l4 = 54, .proto = 17},
	{"IPv6 payload cut", BYTES(MACS, 0x86, 0xdd, IP6(5, 17), PORTS), .flags = PKT_L3_BAD,
	 .ethertype = 0x86dd, .l3 = 14},
	{"IPv6 header cut", BYTES(MACS, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 0), .flags = PKT_L3_BAD,
	 .ethertype = 0x86dd, .l3 = 14},
	{"IPv6 with version 4", BYTES(MACS, 0x86, 0xdd, 0x40, 0, 0, 0, 0, 4, 17, 64, ADDRESS6(1),
				      ADDRESS6(2), PORTS),
	 .flags = PKT_L3_BAD, .ethertype = 0x86dd, .l3 = 14},
	{"no payload", BYTES(MACS, 0x86, 0xdd, IP6(0, 59)),
	 .flags = V6, .ethertype = 0x86dd, .l3 = 14, .l4 = 54,
	 .proto = 59},
	{"no header where one is said to be", BYTES(MACS, 0x86, 0xdd, IP6(0, 0)),
	 .flags = PKT_L3_BAD,
	 .ethertype = 0x86dd, .l3 = 14},
	{"half a header", BYTES(MACS, 0x86, 0xdd, IP6(1, 0), 17), .flags = PKT_L3_BAD,
	 .ethertype = 0x86dd, .l3 = 14},
	{"hop-by-hop, TCP", BYTES(MACS, 0x86, 0xdd, IP6(12, 0), EXT(6, 0), PORTS),
	 .flags = V6 | PKT_L4, .ethertype = 0x86dd, .l3 = 14, .l4 = 62, .proto = 6},
	{"long routing header", BYTES(MACS, 0x86, 0xdd, IP6(20, 43), EXT(17, 1), EXT(0, 0), PORTS),
	 .flags = V6 | PKT_L4, .ethertype = 0x86dd, .l3 = 14, .l4 = 70, .proto = 17},
	{"AH counts in fours", BYTES(MACS, 0x86, 0xdd, IP6(16, 51), EXT(17, 1), 0, 0, 0, 0, PORTS),
	 .flags = V6 | PKT_L4, .ethertype = 0x86dd, .l3 = 14, .l4 = 66, .proto = 17},
	{"header over the end", BYTES(MACS, 0x86, 0xdd, IP6(12, 0), EXT(6, 1), PORTS),
	 .flags = PKT_L3_BAD, .ethertype = 0x86dd, .l3 = 14},
	{"header behind the end", BYTES(MACS, 0x86, 0xdd, IP6(4, 0), EXT(6, 0)),
	 .flags = PKT_L3_BAD,
	 .ethertype = 0x86dd, .l3 = 14},
	{"mobility is no header on the way", BYTES(MACS, 0x86, 0xdd, IP6(8, 135), EXT(59, 0)),
	 .flags = V6, .ethertype = 0x86dd, .l3 = 14, .l4 = 54, .proto = 135},
	{"IPv6 first fragment", BYTES(MACS, 0x86, 0xdd, IP6(12, 44), FRAG(17, 1), PORTS),
	 .flags = V6 | PKT_FRAGMENT, .ethertype = 0x86dd, .l3 = 14, .l4 = 62, .proto = 17},
	{"IPv6 middle fragment", BYTES(MACS, 0x86, 0xdd, IP6(12, 44), FRAG(17, 9), PORTS),
	 .flags = V6 | LATER, .ethertype = 0x86dd, .l3 = 14, .proto = 17},
	{"IPv6 last fragment", BYTES(MACS, 0x86, 0xdd, IP6(12, 44), FRAG(17, 8), PORTS),
	 .flags = V6 | LATER, .ethertype = 0x86dd, .l3 = 14, .proto = 17},
	{"the only fragment", BYTES(MACS, 0x86, 0xdd, IP6(12, 44), FRAG(17, 0), PORTS),
	 .flags = V6 | PKT_L4, .ethertype = 0x86dd, .l3 = 14, .l4 = 62, .proto = 17},
	{"first fragment, options", BYTES(MACS, 0x86, 0xdd, IP6(20, 44), FRAG(60, 1), EXT(17, 0),
					  PORTS),
	 .flags = V6 | PKT_FRAGMENT, .ethertype = 0x86dd, .l3 = 14, .l4 = 70, .proto = 17},
	{"last fragment, options before it", BYTES(MACS, 0x86, 0xdd, IP6(12, 44), FRAG(60, 8),
						   PORTS),
	 .flags = V6 | LATER, .ethertype = 0x86dd, .l3 = 14, .proto = 60},
	{"first fragment ends in options", BYTES(MACS, 0x86, 0xdd, IP6(16, 44), FRAG(60, 1),
						 EXT(17, 1)),
	 .flags = V6 | PKT_FRAGMENT, .ethertype = 0x86dd, .l3 = 14, .l4 = 62, .proto = 60},
	{"fragment header cut", BYTES(MACS, 0x86, 0xdd, IP6(4, 44), 17, 0, 0, 8),
	 .flags = PKT_L3_BAD, .ethertype = 0x86dd, .l3 = 14},
	{"eight headers, then UDP", BYTES(MACS, 0x86, 0xdd, IP6(68, 60), EXT(60, 0), EXT(60, 0),
					  EXT(60, 0), EXT(60, 0), EXT(60, 0), EXT(60, 0),
					  EXT(60, 0), EXT(17, 0), PORTS),
	 .flags = V6 | PKT_L4, .ethertype = 0x86dd, .l3 = 14, .l4 = 118, .proto = 17},
	{"nine headers", BYTES(MACS, 0x86, 0xdd, IP6(76, 60), EXT(60, 0), EXT(60, 0), EXT(60, 0),
			       EXT(60, 0), EXT(60, 0), EXT(60, 0), EXT(60, 0), EXT(60, 0),
			       EXT(17, 0), PORTS),
	 .flags = V6, .ethertype = 0x86dd, .l3 = 14, .l4 = 118, .proto = 60},
};

/* The same, twice: @frame at the end of a page, and in an allocation. */
static bool parse_at_end(struct packet *p, const uint8_t *frame, uint16_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct packet other = *p;
	bool good, other_good;

	assert_non_null(copy);
	p->data = memcpy(guarded_end - len, frame, len);
	other.data = memcpy(copy, frame, len);
	p->len = other.len = len;
	good = parse_packet(p);
	other_good = parse_packet(&other);
	assert_int_equal(good, other_good);
	if (good) {
		packet_hash_prepare(p);
		packet_hash_prepare(&other);
		assert_int_equal(p->hash, other.hash);
	}
	free(copy);
	other.data = p->data;
	assert_memory_equal(p, &other, sizeof(other));
	return good;
}

static void known_frames(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct packet p = {0};
		bool good = parse_at_end(&p, r->frame, r->len);
		bool is_ip = r->flags & (PKT_IPV4 | PKT_IPV6);

		if (good == r->runt || (good && (p.flags != r->flags || p.tag != r->tag ||
						 p.tci != r->tci || p.ethertype != r->ethertype ||
						 p.l3 != r->l3 || p.l4 != r->l4 ||
						 p.ip_proto != r->proto ||
						 p.l3_tos != (is_ip ? 0xb8 : 0))))
			fail_msg("%s: good %d flags %#x tag %d tci %#x type %#x l3 %d l4 %d "
				 "proto %d tos %#x",
				 r->what, good, p.flags, p.tag, p.tci, p.ethertype, p.l3, p.l4,
				 p.ip_proto, p.l3_tos);
	}
}

/* A tag that the driver took out is the port's; a tag in the frame is then none of the port's. */
static void stripped(void **state)
{
	static const uint8_t frame[] = {MACS, TAG(8), 8, 6};
	struct packet p = {.tag = TAG_STRIPPED, .tci = 0x2007};

	assert_true(parse_at_end(&p, frame, sizeof(frame)));
	assert_int_equal(p.tag, TAG_STRIPPED);
	assert_int_equal(p.tci, 0x2007);
	assert_int_equal(p.ethertype, 0x806);
	assert_int_equal(p.l3, 18);
}

static void check_offsets(const struct packet *p)
{
	bool ip = p->flags & (PKT_IPV4 | PKT_IPV6);

	assert_in_range(p->l3, ETH_BYTES, p->len);
	assert_false((p->flags & PKT_IPV4) && (p->flags & PKT_IPV6));
	assert_false(ip && p->flags & PKT_L3_BAD);
	assert_false(!ip && p->flags & (PKT_FRAGMENT | PKT_L4));
	assert_false(p->flags & PKT_FRAGMENT && p->flags & PKT_L4);
	assert_false(p->flags & PKT_LATER && !(p->flags & PKT_FRAGMENT));
	if (ip && !(p->flags & PKT_LATER))
		assert_in_range(p->l4, p->l3 + 20, p->len - (p->flags & PKT_L4 ? 4 : 0));
	else
		assert_int_equal(p->l4, 0);
}

/* Known frames with bytes changed and cut at every length, and noise with a plausible beginning. */
static void hostile_frames(void **state)
{
	static const uint16_t types[] = {0x800, 0x86dd, 0x8100, 0x88a8, 0x806};
	uint8_t frame[200];

	random_init("parse hostile_frames");
	for (int round = 0; round < 200000; round++) {
		const struct row *r = &rows[random_below(ARRAY_SIZE(rows))];
		struct packet p = {.tag = random_below(8) ? TAG_NONE : TAG_STRIPPED};
		uint32_t len = r->len;

		memcpy(frame, r->frame, len);
		if (random_below(4) == 0) {
			len = random_below(sizeof(frame) + 1);
			random_bytes(frame, len);
			if (len >= ETH_BYTES)
				put_be16(frame + 12, types[random_below(ARRAY_SIZE(types))]);
			if (len > ETH_BYTES)
				frame[14] = random_below(2) ? 0x45 : 0x60;
		}
		for (uint32_t n = random_below(4); n > 0 && len > 0; n--)
			frame[random_below(len)] = (uint8_t)random_u64();
		len = random_below(2) ? len : random_below(len + 1);
		if (parse_at_end(&p, frame, (uint16_t)len))
			check_offsets(&p);
		else
			assert_true(len < ETH_BYTES + VLAN_BYTES);
	}
}

static void stage(void **state)
{
	const struct {
		uint16_t port;
		const uint8_t *frame;
		uint16_t len;
		uint8_t drop;
		uint64_t detail;
	} cases[] = {
		{1, BYTES(MACS, 8, 6), DROP_NONE, 0},
		{1, BYTES(MACS, 8), DROP_RUNT, 13},
		{1, BYTES(MACS, TAG(5)), DROP_RUNT, 16},
		{1, BYTES(2, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 2, 8, 6), DROP_BAD_SOURCE,
		 0x030000000002},
		{1, BYTES(2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 8, 6), DROP_BAD_SOURCE, 0},
		{1, BYTES(2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 8, 6), DROP_NONE, 0},
		{1, BYTES(2, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 8, 6), DROP_NONE, 0},
		{2, BYTES(MACS, 8, 6), DROP_PORT_SHUT, 2},
		{3, BYTES(MACS, 8, 6), DROP_PORT_SHUT, 3}, /* no such port */
	};
	struct bed *bed = bed_create(64);

	bed_port(bed, 1);
	bed_port(bed, 2)->shut = true;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		bed_receive(bed, cases[i].port, cases[i].frame, cases[i].len);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bed->burst.packet[i].rule = bed->burst.packet[i].actions = 7;
		bed->burst.packet[i].vni = 7;
		bed->burst.packet[i].as_is = true;
	}
	parse(&bed->lane, &bed->burst);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(bed->burst.packet[i].rule, FLOW_NONE);
		assert_int_equal(bed->burst.packet[i].actions, FLOW_LIST_NORMAL);
		assert_int_equal(bed->burst.packet[i].vni, 0);
		assert_false(bed->burst.packet[i].as_is);
		assert_int_equal(bed->burst.packet[i].drop, cases[i].drop);
		assert_int_equal(bed->burst.packet[i].detail, cases[i].detail);
		assert_int_equal(bed->burst.packet[i].ingress, cases[i].port);
	}
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

/* Nothing behind the Ethernet header is touched, nor taken for a tag of ours. */
static void underlay(void **state)
{
	static const uint8_t frame[] = {MACS, TAG(8), 8, 0};
	struct bed *bed = bed_create(4);
	struct packet *p = bed_receive(bed, 1, frame, sizeof(frame));

	bed_port(bed, 1)->underlay = true;
	parse(&bed->lane, &bed->burst);
	assert_int_equal(p->drop, DROP_NONE);
	assert_int_equal(p->ethertype, TPID_C);
	assert_int_equal(p->tag, TAG_NONE);
	assert_int_equal(p->l3, ETH_BYTES);
	assert_int_equal(p->flags, 0);
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

static void drop_texts(void **state)
{
	assert_string_equal(drop_name(DROP_NONE), "none");
	assert_string_equal(drop_name(DROP_TX_FULL), "tx-full");
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		assert_true(*drop_name((enum drop_reason)i) && *drop_sentence((enum drop_reason)i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_frames), cmocka_unit_test(stripped),
		cmocka_unit_test(hostile_frames), cmocka_unit_test(stage),
		cmocka_unit_test(underlay),	  cmocka_unit_test(drop_texts),
	};

	return cmocka_run_group_tests(tests, map_guard, NULL);
}

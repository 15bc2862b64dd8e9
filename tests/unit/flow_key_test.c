/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of known frames, and of the same frames cut at every length. flow_key_ovs_test.c has random
 * ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "dataplane/flow_key.h"
#include "tests/unit/frames.h"
#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define TCP_REST 0, 0, 0, 1, 0, 0, 0, 2, 0x5f, 0x12, 16, 0, 0, 0, 0, 0
#define UDP_REST 0, 8, 0, 0
#define ICMP(type, code) type, code, 0, 0, 0, 0, 0, 0
#define TARGET6 ADDRESS6(0x77)
#define ARP(hlen, plen, op) 0, 1, 8, 0, hlen, plen, U16(op), 2, 0, 0, 0, 0, 2, 10, 0, 0, 1, \
	2, 0, 0, 0, 0, 3, 10, 0, 0, 2

#define KEY_MACS .dl_dst = {2, 0, 0, 0, 0, 1}, .dl_src = {2, 0, 0, 0, 0, 2}
#define KEY_IP .nw_tos = 0xb8, .nw_ttl = 64, KEY_MACS
#define KEY4 .dl_type = 0x800, .src = {10, 0, 0, 1}, .dst = {10, 0, 0, 2}, KEY_IP
#define KEY6 .dl_type = 0x86dd, .src = {ADDRESS6(1)}, .dst = {ADDRESS6(2)}, KEY_IP
#define KEY_PORTS .tp_src = 0x1234, .tp_dst = 0x5678
#define KEY_ARP .src = {10, 0, 0, 1}, .dst = {10, 0, 0, 2}, .arp_sha = {2, 0, 0, 0, 0, 2}, \
	.arp_tha = {2, 0, 0, 0, 0, 3}, KEY_MACS

static const struct row {
	const char *what;
	const uint8_t *frame;
	uint16_t len;
	struct flow_key key;
} rows[] = {
	{"neither IP nor ARP", BYTES(MACS, 0x88, 0xb5), {.dl_type = 0x88b5, KEY_MACS}},
	{"a length", BYTES(MACS, 0, 3, 0x42, 0x42, 3), {.dl_type = 0x5ff, KEY_MACS}},
	{"the longest length", BYTES(MACS, 5, 0xff), {.dl_type = 0x5ff, KEY_MACS}},
	{"the first ethertype", BYTES(MACS, 6, 0), {.dl_type = 0x600, KEY_MACS}},
	/* tags */
	{"tag", BYTES(MACS, TAG(0xa064), 0x88, 0xb5),
	 {.dl_type = 0x88b5, .vlan_tci = 0xb064, KEY_MACS}},
	{"VLAN 0", BYTES(MACS, TAG(0), 0x88, 0xb5),
	 {.dl_type = 0x88b5, .vlan_tci = 0x1000, KEY_MACS}},
	{"service tag outside", BYTES(MACS, STAG(7), TAG(8), 0x88, 0xb5),
	 {.dl_type = 0x88b5, .vlan_tci = 0x1007, KEY_MACS}},
	{"UDP in two tags", BYTES(MACS, TAG(7), TAG(8), 8, 0, IP4(0x45, 28, 0, 17), PORTS,
				  UDP_REST),
	 {.vlan_tci = 0x1007, .nw_proto = 17, KEY_PORTS, KEY4}},
	/* IPv4 */
	{"UDP", BYTES(MACS, 8, 0, IP4(0x45, 28, 0, 17), PORTS, UDP_REST),
	 {.nw_proto = 17, KEY_PORTS, KEY4}},
	{"UDP, a byte less", BYTES(MACS, 8, 0, IP4(0x45, 27, 0, 17), PORTS, UDP_REST),
	 {.nw_proto = 17, KEY4}},
	{"TCP", BYTES(MACS, 8, 0, IP4(0x45, 40, 0, 6), PORTS, TCP_REST),
	 {.nw_proto = 6, .tcp_flags = 0xf12, KEY_PORTS, KEY4}},
	{"TCP, a byte less", BYTES(MACS, 8, 0, IP4(0x45, 39, 0, 6), PORTS, TCP_REST),
	 {.nw_proto = 6, KEY4}},
	{"SCTP behind options", BYTES(MACS, 8, 0, IP4(0x46, 36, 0, 132), 1, 1, 1, 1, PORTS, PORTS,
				      PORTS),
	 {.nw_proto = 132, KEY_PORTS, KEY4}},
	{"SCTP, a byte less", BYTES(MACS, 8, 0, IP4(0x45, 31, 0, 132), PORTS, PORTS, PORTS),
	 {.nw_proto = 132, KEY4}},
	{"ICMP", BYTES(MACS, 8, 0, IP4(0x45, 28, 0, 1), ICMP(8, 3)),
	 {.nw_proto = 1, .tp_src = 8, .tp_dst = 3, KEY4}},
	{"ICMP, a byte less", BYTES(MACS, 8, 0, IP4(0x45, 27, 0, 1), ICMP(8, 3)),
	 {.nw_proto = 1, KEY4}},
	{"GRE", BYTES(MACS, 8, 0, IP4(0x45, 28, 0, 47), PORTS, PORTS), {.nw_proto = 47, KEY4}},
	{"first fragment", BYTES(MACS, 8, 0, IP4(0x45, 28, 0x2000, 17), PORTS, UDP_REST),
	 {.nw_proto = 17, .nw_frag = 1, KEY_PORTS, KEY4}},
	{"later fragment", BYTES(MACS, 8, 0, IP4(0x45, 28, 0x2001, 17), PORTS, UDP_REST),
	 {.nw_proto = 17, .nw_frag = 3, KEY4}},
	{"IPv4 longer than its frame", BYTES(MACS, 8, 0, IP4(0x45, 29, 0, 17), PORTS, UDP_REST),
	 {.dl_type = 0x800, KEY_MACS}},
	/* IPv6 */
	{"UDP over IPv6", BYTES(MACS, 0x86, 0xdd, IP6(8, 17), PORTS, UDP_REST),
	 {.nw_proto = 17, KEY_PORTS, KEY6}},
	{"TCP over IPv6, padding no header", BYTES(MACS, 0x86, 0xdd, IP6(19, 6), PORTS, TCP_REST),
	 {.nw_proto = 6, KEY6}},
	{"TCP behind options", BYTES(MACS, 0x86, 0xdd, IP6(28, 0), EXT(6, 0), PORTS, TCP_REST),
	 {.nw_proto = 6, .tcp_flags = 0xf12, KEY_PORTS, KEY6}},
	{"IPv6 first fragment", BYTES(MACS, 0x86, 0xdd, IP6(24, 44), FRAG(60, 1), EXT(17, 0), PORTS,
				      UDP_REST),
	 {.nw_proto = 17, .nw_frag = 1, KEY_PORTS, KEY6}},
	{"IPv6 later fragment", BYTES(MACS, 0x86, 0xdd, IP6(16, 44), FRAG(17, 9), PORTS, UDP_REST),
	 {.nw_proto = 44, .nw_frag = 3, KEY6}},
	{"IPv6 only fragment", BYTES(MACS, 0x86, 0xdd, IP6(16, 44), FRAG(17, 0), PORTS, UDP_REST),
	 {.nw_proto = 17, KEY_PORTS, KEY6}},
	{"echo request", BYTES(MACS, 0x86, 0xdd, IP6(8, 58), ICMP(128, 0)),
	 {.nw_proto = 58, .tp_src = 128, KEY6}},
	{"solicitation", BYTES(MACS, 0x86, 0xdd, IP6(24, 58), ICMP(135, 0), TARGET6),
	 {.nw_proto = 58, .tp_src = 135, .nd_target = {TARGET6}, KEY6}},
	{"advertisement", BYTES(MACS, 0x86, 0xdd, IP6(24, 58), ICMP(136, 0), TARGET6),
	 {.nw_proto = 58, .tp_src = 136, .nd_target = {TARGET6}, KEY6}},
	{"solicitation, target cut", BYTES(MACS, 0x86, 0xdd, IP6(23, 58), ICMP(135, 0), TARGET6),
	 {.nw_proto = 58, .tp_src = 135, KEY6}},
	{"solicitation, code 1", BYTES(MACS, 0x86, 0xdd, IP6(24, 58), ICMP(135, 1), TARGET6),
	 {.nw_proto = 58, .tp_src = 135, .tp_dst = 1, KEY6}},
	{"ICMP over IPv6 is none", BYTES(MACS, 0x86, 0xdd, IP6(8, 1), ICMP(8, 0)),
	 {.nw_proto = 1, KEY6}},
	{"ICMPv6 over IPv4 is none", BYTES(MACS, 8, 0, IP4(0x45, 28, 0, 58), ICMP(128, 0)),
	 {.nw_proto = 58, KEY4}},
	/* ARP */
	{"ARP request", BYTES(MACS, 8, 6, ARP(6, 4, 1)),
	 {.dl_type = 0x806, .nw_proto = 1, KEY_ARP}},
	{"ARP in a tag, padded", BYTES(MACS, TAG(5), 8, 6, ARP(6, 4, 2), 0, 0, 0),
	 {.dl_type = 0x806, .vlan_tci = 0x1005, .nw_proto = 2, KEY_ARP}},
	{"RARP", BYTES(MACS, 0x80, 0x35, ARP(6, 4, 3)),
	 {.dl_type = 0x8035, .nw_proto = 3, KEY_ARP}},
	{"opcode above 255", BYTES(MACS, 8, 6, ARP(6, 4, 0x101)), {.dl_type = 0x806, KEY_ARP}},
	{"ARP of other lengths", BYTES(MACS, 8, 6, ARP(8, 4, 1)), {.dl_type = 0x806, KEY_MACS}},
	{"ARP cut", BYTES(MACS, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 2, 10, 0, 0, 1),
	 {.dl_type = 0x806, KEY_MACS}},
};

static const struct tables tables;
static const struct lane lane = {.tables = (struct tables *)&tables};

/* At the end of a page. False: a runt. */
static bool key_at_end(const uint8_t *frame, uint32_t len, struct flow_key *key)
{
	struct packet p = {.len = (uint16_t)len};

	p.data = memcpy(guarded_end - len, frame, len);
	if (!parse_packet(&p))
		return false;
	memset(key, 0xff, sizeof(*key));
	flow_key_of(&lane, &p, key);
	return true;
}

static void known_frames(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_key key;

		assert_true(key_at_end(rows[i].frame, rows[i].len, &key));
		if (memcmp(&key, &rows[i].key, sizeof(key)) != 0)
			print_message("%s:\n", rows[i].what);
		assert_memory_equal(&key, &rows[i].key, sizeof(key));
	}
}

/* All lengths; and however long the frame says that it is. */
static void hostile_frames(void **state)
{
	uint8_t frame[200];
	struct flow_key key;

	random_init("flow_key hostile_frames");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint32_t len = 0; len <= rows[i].len; len++)
			key_at_end(rows[i].frame, len, &key);
	for (int round = 0; round < 200000; round++) {
		const struct row *r = &rows[random_below(ARRAY_SIZE(rows))];

		memcpy(frame, r->frame, r->len);
		for (uint32_t n = 1 + random_below(4); n > 0; n--)
			frame[random_below(r->len)] = (uint8_t)random_u64();
		key_at_end(frame, random_below(2) ? r->len : random_below(r->len + 1), &key);
	}
}

/* What is not in the frame: where it came in, and a tag that is not there any more. */
static void from_packet(void **state)
{
	static const uint8_t tagged[] = {MACS, TAG(0x6008), 0x88, 0xb5};
	static const struct {
		uint16_t ingress;
		uint16_t network;
		uint8_t tag;
		uint16_t tci;
		uint16_t vlan_tci;
		uint32_t tun_id;
	} cases[] = {
		{3, 1, TAG_NONE, 0, 0x7008, 0},
		{3, 1, TAG_STRIPPED, 0x2005, 0x3005, 0},
		{3, 1, TAG_FRAME, 0x6008, 0x7008, 0},
		{EGRESS_TUNNEL0 + 7, 1, TAG_NONE, 0, 0x7008, 5001},
		{EGRESS_TUNNEL0 + 7, 2, TAG_NONE, 0, 0x7008, 0}, /* gone meanwhile */
	};
	struct bed *bed = bed_create(1);

	bed_network(bed, 1, NULL, 0);
	bed->tables.network[1]->vni = 5001;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t frame[sizeof(tagged)];
		struct packet p = {.data = memcpy(frame, tagged, sizeof(tagged)),
				   .len = sizeof(tagged)};
		struct flow_key key;

		assert_true(parse_packet(&p));
		p.ingress = cases[i].ingress;
		p.network = cases[i].network;
		p.tag = cases[i].tag;
		p.tci = cases[i].tci;
		flow_key_of(&bed->lane, &p, &key);
		assert_int_equal(key.in_port, cases[i].ingress);
		assert_int_equal(key.tun_id, cases[i].tun_id);
		assert_int_equal(key.vlan_tci, cases[i].vlan_tci);
		assert_int_equal(key.dl_type, 0x88b5);
	}
	bed_destroy(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_frames),
		cmocka_unit_test(hostile_frames),
		cmocka_unit_test(from_packet),
	};

	return cmocka_run_group_tests(tests, map_guard, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define N_FLOWS 1000
#define N_PORTS 16384		/* 49152 to 65535 */

enum family { V4, V6, NOT_IP };

struct flow {
	enum family family;
	uint32_t source;
	uint32_t destination;
	uint16_t source_port;
	uint16_t destination_port;
	uint8_t proto;
	uint16_t fragment;	/* 0: none; else the field of the header, in its family's form */
};

static uint16_t write_ip(uint8_t *ip, const struct flow *f, uint8_t first_byte_behind)
{
	bool v6 = f->family == V6;
	uint32_t header = v6 ? f->fragment ? 48 : 40 : 20;
	uint32_t total = header + 40;

	memset(ip, first_byte_behind, total);
	memset(ip, 0, header);
	if (v6) {
		ip[0] = 0x60;
		put_be16(ip + 4, (uint16_t)(total - 40));
		ip[6] = f->fragment ? 44 : f->proto;
		ip[8] = ip[24] = 0x20;
		memcpy(ip + 20, &f->source, 4);
		memcpy(ip + 36, &f->destination, 4);
		if (f->fragment) {
			ip[40] = f->proto;
			put_be16(ip + 42, f->fragment);
		}
	} else {
		ip[0] = 0x45;
		put_be16(ip + 2, (uint16_t)total);
		put_be16(ip + 6, f->fragment);
		ip[9] = f->proto;
		memcpy(ip + 12, &f->source, 4);
		memcpy(ip + 16, &f->destination, 4);
	}
	put_be16(ip + header, f->source_port);
	put_be16(ip + header + 2, f->destination_port);
	return (uint16_t)total;
}

static struct packet make(uint8_t *frame, const struct flow *f, uint8_t filler)
{
	static const uint16_t types[] = {0x800, 0x86dd, 0x88b5};
	struct packet p = {.data = frame, .rx_port = 5, .len = 60};

	memset(frame, 0, 200);
	frame[0] = frame[6] = 2;
	put_be16(frame + 12, types[f->family]);
	memcpy(frame + 2, &f->destination, 4);
	memcpy(frame + 8, &f->source, 4);
	if (f->family != NOT_IP)
		p.len = ETH_BYTES + write_ip(frame + ETH_BYTES, f, filler);
	assert_true(parse_packet(&p));
	return p;
}

static uint32_t soft_hash(const struct flow *f, uint8_t filler)
{
	uint8_t frame[200];
	struct packet p = make(frame, f, filler);

	packet_hash_prepare(&p);
	assert_int_equal(p.hash_kind, HASH_SOFT);
	return p.hash;
}

static struct flow random_flow(void)
{
	return (struct flow){
		.family = (enum family)random_below(3),
		.source = (uint32_t)random_u64(),
		.destination = (uint32_t)random_u64(),
		.source_port = (uint16_t)random_u64(),
		.destination_port = (uint16_t)random_u64(),
		.proto = random_below(2) ? 6 : 17,
	};
}

/* What is the same flow has the same hash, whatever it carries; each part of the tuple counts. */
static void tuple(void **state)
{
	random_init("packet_hash tuple");
	for (int i = 0; i < 2000; i++) {
		struct flow f = random_flow(), g = f;
		uint32_t h = soft_hash(&f, 1);

		assert_int_equal(soft_hash(&f, 2), h);
		g.source ^= 1u << random_below(32);
		assert_int_not_equal(soft_hash(&g, 1), h);
		g = f;
		g.destination ^= 1u << random_below(32);
		assert_int_not_equal(soft_hash(&g, 1), h);
		if (f.family == NOT_IP)
			continue;
		g = f;
		g.source_port ^= 1u << random_below(16);
		assert_int_not_equal(soft_hash(&g, 1), h);
		g = f;
		g.destination_port ^= 1u << random_below(16);
		assert_int_not_equal(soft_hash(&g, 1), h);
		g = f;
		g.proto = f.proto == 6 ? 17 : 6;
		assert_int_not_equal(soft_hash(&g, 1), h);
	}
}

/* First, middle and last fragment: different bytes where the ports would be, and one hash. */
static void fragments_agree(void **state)
{
	static const uint16_t places[2][3] = {
		[V4] = {0x2000, 0x2010, 0x0020},
		[V6] = {1, 8 * 16 + 1, 8 * 32},
	};

	random_init("packet_hash fragments_agree");
	for (int i = 0; i < 1000; i++) {
		struct flow f = random_flow();
		uint32_t h = 0;

		f.family = (enum family)random_below(2);
		for (int k = 0; k < 3; k++) {
			f.fragment = places[f.family][k];
			f.source_port = (uint16_t)random_u64();
			f.destination_port = (uint16_t)random_u64();
			if (k == 0)
				h = soft_hash(&f, 1);
			assert_int_equal(soft_hash(&f, (uint8_t)k), h);
		}
	}
}

/* Headers of IPv6 that only the first fragment has. */
static void hidden_headers(void **state)
{
	const struct flow first = {.family = V6, .source = 1, .destination = 2, .proto = 60,
				   .fragment = 1, .source_port = 17 << 8};
	struct flow last = first;

	last.fragment = 8;
	last.source_port = 0x1234;
	assert_int_equal(soft_hash(&first, 0), soft_hash(&last, 0));
}

static void nic_or_soft(void **state)
{
	static const struct {
		const char *what;
		enum family family;
		uint8_t proto;
		uint16_t fragment;
		uint8_t kind;
		bool nic;
	} rows[] = {
		{"TCP, L4", V4, 6, 0, HASH_NIC_L4, true},
		{"UDP over IPv6, L4", V6, 17, 0, HASH_NIC_L4, true},
		{"TCP, L3 only", V4, 6, 0, HASH_NIC_L3, false},
		{"TCP, none", V4, 6, 0, HASH_NONE, false},
		{"ICMP, L3", V4, 1, 0, HASH_NIC_L3, true},
		{"ICMPv6, L3", V6, 58, 0, HASH_NIC_L3, true},
		{"ICMP, L4 as veth says", V4, 1, 0, HASH_NIC_L4, true},
		{"ICMP, none", V4, 1, 0, HASH_NONE, false},
		{"first fragment, L4", V4, 17, 0x2000, HASH_NIC_L4, false},
		{"last fragment, L3", V4, 17, 8, HASH_NIC_L3, false},
		{"IPv6 fragment, L4", V6, 17, 1, HASH_NIC_L4, false},
		{"IPv6 fragment, L3", V6, 17, 1, HASH_NIC_L3, false},
		{"not IP, L4", NOT_IP, 0, 0, HASH_NIC_L4, false},
		{"not IP, L3", NOT_IP, 0, 0, HASH_NIC_L3, false},
	};
	struct bed *bed = bed_create(1);
	const struct port_counters *c = &bed->counters->port[5];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow f = {.family = rows[i].family, .source = 1, .destination = 2,
				 .proto = rows[i].proto, .fragment = rows[i].fragment};
		uint64_t nic = c->hash_nic, soft = c->hash_soft;
		uint8_t frame[200];
		struct packet p = make(frame, &f, 0);
		uint32_t h;

		p.hash = 0xcafe;
		p.hash_kind = rows[i].kind;
		h = packet_hash(&bed->lane, &p);
		if ((h == 0xcafe) != rows[i].nic || (p.hash_kind == HASH_SOFT) == rows[i].nic)
			fail_msg("%s", rows[i].what);
		assert_int_equal(c->hash_nic - nic, rows[i].nic);
		assert_int_equal(c->hash_soft - soft, !rows[i].nic);
		/* Not computed again: the frame is not looked at. */
		memset(frame, 0xff, sizeof(frame));
		assert_int_equal(packet_hash(&bed->lane, &p), h);
	}
	bed_destroy(bed);
}

/* A retagged packet is the same flow. */
static void tags_do_not_count(void **state)
{
	uint8_t space[300];
	struct flow f = {.family = V4, .source = 7, .destination = 8, .proto = 6,
			 .source_port = 1, .destination_port = 2};
	struct packet p = make(space + 64, &f, 0);

	vlan_push(&p, TPID_C, 100);
	packet_hash_prepare(&p);
	assert_int_equal(p.hash, soft_hash(&f, 0));
}

/* 1000 flows that differ as little as real ones do, on the ports of the default range: by chance
 * 970 different ones. */
static void spread(void **state)
{
	for (int family = V4; family <= NOT_IP; family++)
		for (int what = 0; what < 3; what++) {
			uint8_t used[N_PORTS] = {0};
			uint32_t n = 0;

			if (family == NOT_IP && what == 2)
				continue;
			for (uint32_t i = 0; i < N_FLOWS; i++) {
				struct flow f = {.family = (enum family)family, .proto = 17,
						 .source = 0x0a000001, .destination = 0x0a000002,
						 .source_port = 1024, .destination_port = 53};
				uint32_t port;

				if (what == 0)
					f.source = htobe32(f.source + i);
				else if (what == 1)
					f.destination = htobe32(f.destination + i);
				else
					f.source_port = (uint16_t)(f.source_port + i);
				port = (uint32_t)((uint64_t)soft_hash(&f, 0) * N_PORTS >> 32);
				n += !used[port];
				used[port] = 1;
			}
			if (n < 940)
				fail_msg("family %d, varying %d: %u ports", family, what, n);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tuple),	     cmocka_unit_test(fragments_agree),
		cmocka_unit_test(hidden_headers),    cmocka_unit_test(nic_or_soft),
		cmocka_unit_test(tags_do_not_count), cmocka_unit_test(spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/vxlan_oracle.h"

/* Everything one packet needs; the packet's block of memory ends where it ends. */
struct bench {
	struct world *w;
	struct ip remote_v4, remote_v6, stranger;
	uint16_t id_v4, id_v6;
	uint8_t *block;
};

static struct bench bench_begin(void)
{
	struct tunnel_options o = default_options();
	struct bench b = {.w = world_create(&o)};

	b.remote_v4 = ip_of("192.0.2.2");
	b.remote_v6 = ip_of("2001:db8::2");
	b.stranger = ip_of("192.0.2.3");
	b.id_v4 = world_tunnel(b.w, &b.remote_v4, NULL);
	b.id_v6 = world_tunnel(b.w, &b.remote_v6, NULL);
	/* A VTEP of some other network. */
	tunnels_add(b.w->tables.tunnels, &b.stranger);
	return b;
}

static void bench_end(struct bench *b)
{
	free(b->block);
	world_destroy(b->w);
}

static struct packet *run(struct bench *b, const uint8_t *bytes, size_t n)
{
	struct packet *p = &b->w->burst.packet[0];

	free(b->block);
	b->block = malloc(n);
	memcpy(b->block, bytes, n);
	memset(p, 0, sizeof(*p));
	p->data = b->block;
	p->len = (uint16_t)n;
	p->rx_port = p->ingress = PORT_UNDERLAY;
	p->hash = 0x12345678;
	p->hash_kind = HASH_NIC_L4;
	b->w->burst.n = 1;
	decap(&b->w->lane, &b->w->burst);
	return p;
}

static struct slow_outer outer_of(const struct bench *b, bool v4)
{
	return (struct slow_outer){
		.destination_mac = {{2, 0, 0, 0, 0, 1}}, .source_mac = {{2, 0, 0, 0, 0, 2}},
		.source = v4 ? b->remote_v4 : b->remote_v6,
		.destination = b->w->tables.tunnels->options.local[!v4],
		.ttl = 3, .df = random_below(2), .checksum = random_below(2),
		.ip_id = (uint16_t)random_u64(), .source_port = (uint16_t)random_u64(),
		.udp_port = 4789, .vni = VNI_BLUE,
	};
}

static void put_ipv4_checksum(uint8_t *ip)
{
	uint32_t sum;

	ip[10] = ip[11] = 0;
	sum = 0xffff - slow_sum(ip, (ip[0] & 15) * 4u, 0);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* What goes in by the slow encapsulation comes out as it was, with padding behind it or not. */
static void round_trip(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();
	uint64_t packets = 0, bytes = 0;

	for (unsigned int i = 0; i < 2000; i++) {
		bool v4 = i % 2;
		struct slow_outer outer = outer_of(&b, v4);
		uint8_t packet[2200];
		struct packet *p;
		size_t n;

		make_inner(&f, i / 2 % INNER_KINDS, random_below(1400));
		outer.tos = (uint8_t)(random_below(64) << 2);	/* Not-ECT */
		n = slow_encap(&outer, f.byte, f.n, packet);
		random_bytes(packet + n, 20);
		p = run(&b, packet, n + (i % 3 ? 0 : random_below(20)));
		assert_string_equal(drop_name(p->drop), "none");
		assert_int_equal(p->len, f.n);
		assert_memory_equal(p->data, f.byte, f.n);
		assert_int_equal(p->rx_port, PORT_UNDERLAY);
		assert_int_equal(p->ingress, v4 ? b.id_v4 : b.id_v6);
		assert_int_equal(p->network, NETWORK_BLUE);
		assert_int_equal(p->hash_kind, HASH_NONE);
		assert_int_equal(p->tag, TAG_NONE);
		if (f.ip) {
			assert_int_equal(p->l3, f.l3);
			assert_int_equal(p->l3_tos, f.tos);
			assert_int_equal(p->flags & (PKT_IPV4 | PKT_IPV6),
					 f.v6 ? PKT_IPV6 : PKT_IPV4);
		}
		packets += v4;
		bytes += v4 ? f.n : 0;
	}
	assert_int_equal(b.w->counters.tunnel[b.id_v4 - EGRESS_TUNNEL0].rx_packets, packets);
	assert_int_equal(b.w->counters.tunnel[b.id_v4 - EGRESS_TUNNEL0].rx_bytes, bytes);
	bench_end(&b);
}

/* Every way to be wrong, by name. Bytes at offsets of the outer packet are changed; for IPv4 the
 * header checksum is made right again unless it is what is wrong. */
struct wrong {
	const char *what;
	bool v4;
	const char *drop;
	uint64_t detail;
	bool keep_checksum;
	struct {
		uint8_t at, value;
	} set[4];
};

#define UDP4 34
#define UDP6 54
#define VXLAN4 42
#define VXLAN6 62

static const struct wrong wrongs[] = {
	{"nothing", true, "none", 0, true, {{0}}},
	{"nothing", false, "none", 0, true, {{0}}},
	{"ethertype ARP", true, "not-vxlan", 0x0806ull << 32, true, {{13, 0x06}}},
	{"ethertype VLAN", true, "not-vxlan", 0x8100ull << 32, true, {{12, 0x81}}},
	{"version 6 in IPv4", true, "outer-bad", 14, false, {{14, 0x65}}},
	{"version 4 in IPv6", false, "outer-bad", 14, true, {{14, 0x40}}},
	{"IHL 4", true, "outer-bad", 14, false, {{14, 0x44}}},
	{"IHL 0", true, "outer-bad", 14, true, {{14, 0x40}}},
	{"checksum", true, "outer-bad", 14, true, {{24, 0}, {25, 0}}},
	{"TTL changed, checksum not", true, "outer-bad", 14, true, {{22, 99}}},
	{"total length 19", true, "outer-bad", 14, false, {{16, 0}, {17, 19}}},
	{"total length 20", true, "vxlan-truncated", 8ull << 32, false, {{16, 0}, {17, 20}}},
	{"total length 27", true, "vxlan-truncated", 8ull << 32 | 7, false, {{16, 0}, {17, 27}}},
	{"total length less than UDP's", true, "vxlan-truncated", 118ull << 32 | 117, false,
	 {{16, 0}, {17, 137}}},
	{"total length over the frame", true, "vxlan-truncated", 139ull << 32 | 138, false,
	 {{16, 0}, {17, 139}}},
	{"total length 65535", true, "vxlan-truncated", 65535ull << 32 | 138, false,
	 {{16, 255}, {17, 255}}},
	{"first fragment", true, "outer-bad", 14, false, {{20, 0x20}}},
	{"last fragment", true, "outer-bad", 14, false, {{20, 0}, {21, 1}}},
	{"reserved flag", true, "none", 0, false, {{20, 0x80}}},
	{"do not fragment", true, "none", 0, false, {{20, 0x40}}},
	{"TCP", true, "not-vxlan", 6 << 16, false, {{23, 6}}},
	{"a fragment of TCP", true, "not-vxlan", 6 << 16, false, {{23, 6}, {20, 0x20}}},
	{"TCP", false, "not-vxlan", 6 << 16, true, {{20, 6}}},
	{"IPv6 hop-by-hop options", false, "not-vxlan", 0, true, {{20, 0}}},
	{"IPv6 fragment header", false, "not-vxlan", 44 << 16, true, {{20, 44}}},
	{"payload length 0", false, "vxlan-truncated", 8ull << 32, true, {{18, 0}, {19, 0}}},
	{"payload length less than UDP's", false, "vxlan-truncated", 118ull << 32 | 117, true,
	 {{18, 0}, {19, 117}}},
	{"payload length over the frame", false, "vxlan-truncated", 159ull << 32 | 158, true,
	 {{18, 0}, {19, 119}}},
	{"port 4790", true, "not-vxlan", 17 << 16 | 4790, true, {{UDP4 + 3, 0xb6}}},
	{"port 4790", false, "not-vxlan", 17 << 16 | 4790, true, {{UDP6 + 3, 0xb6}}},
	{"not to us", true, "vtep-not-ours", 0xc0000207, false, {{33, 7}}},
	{"not to us", false, "vtep-not-ours", 0xff, true, {{53, 0xff}}},
	{"UDP length 0", true, "outer-bad", UDP4, true, {{UDP4 + 4, 0}, {UDP4 + 5, 0}}},
	{"UDP length 7", false, "outer-bad", UDP6, true, {{UDP6 + 4, 0}, {UDP6 + 5, 7}}},
	{"UDP length 8", true, "vxlan-truncated", 8ull << 32, true, {{UDP4 + 4, 0}, {UDP4 + 5, 8}}},
	{"UDP length 15", false, "vxlan-truncated", 8ull << 32 | 7, true,
	 {{UDP6 + 4, 0}, {UDP6 + 5, 15}}},
	{"UDP length over IP's", true, "vxlan-truncated", 119ull << 32 | 118, true,
	 {{UDP4 + 4, 0}, {UDP4 + 5, 119}}},
	{"UDP length over the frame", false, "vxlan-truncated", 0x1076ull << 32 | 118, true,
	 {{UDP6 + 4, 0x10}}},
	{"UDP length 16", true, "inner-runt", 0, true, {{UDP4 + 4, 0}, {UDP4 + 5, 16}}},
	{"UDP length 29", true, "inner-runt", 13, true, {{UDP4 + 4, 0}, {UDP4 + 5, 29}}},
	{"I flag clear", true, "vxlan-no-vni", 0, true, {{VXLAN4, 0}}},
	{"all flags but I", false, "vxlan-no-vni", 0xf7000000, true, {{VXLAN6, 0xf7}}},
	{"all flags, reserved bytes", true, "none", 0, true,
	 {{VXLAN4, 0xff}, {VXLAN4 + 1, 1}, {VXLAN4 + 3, 2}, {VXLAN4 + 7, 3}}},
	{"VNI", true, "vni-unknown", 0x00cdef, true, {{VXLAN4 + 4, 0}}},
	{"VNI 0", false, "vni-unknown", 0, true,
	 {{VXLAN6 + 4, 0}, {VXLAN6 + 5, 0}, {VXLAN6 + 6, 0}}},
	{"a stranger", true, "vtep-unknown", (uint64_t)VNI_BLUE << 32 | 0xc0000209, false,
	 {{29, 9}}},
	{"a stranger", false, "vtep-unknown", (uint64_t)VNI_BLUE << 32 | 9, true, {{37, 9}}},
	{"a VTEP of another network", true, "vtep-unknown", (uint64_t)VNI_BLUE << 32 | 0xc0000203,
	 false, {{29, 3}}},
	{"inner source a group", true, "bad-source", 0x010000000005, true, {{VXLAN4 + 8 + 6, 1}}},
	{"inner source zero", true, "bad-source", 0, true,
	 {{VXLAN4 + 8 + 6, 0}, {VXLAN4 + 8 + 11, 0}}},
	{"zero UDP checksum over IPv6", false, "none", 0, true, {{UDP6 + 6, 0}, {UDP6 + 7, 0}}},
	{"wrong UDP checksum", false, "none", 0, true, {{UDP6 + 6, 1}, {UDP6 + 7, 2}}},
};

static void by_name(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();

	for (size_t i = 0; i < ARRAY_SIZE(wrongs); i++) {
		const struct wrong *row = &wrongs[i];
		struct slow_outer outer = outer_of(&b, row->v4);
		uint8_t packet[2200];
		struct packet *p;
		size_t n;

		make_inner(&f, INNER_V4, 60);
		assert_int_equal(f.n, 102);
		n = slow_encap(&outer, f.byte, f.n, packet);
		for (size_t k = 0; k < ARRAY_SIZE(row->set); k++)
			if (row->set[k].at)
				packet[row->set[k].at] = row->set[k].value;
		if (row->v4 && !row->keep_checksum)
			put_ipv4_checksum(packet + 14);
		p = run(&b, packet, n);
		if (strcmp(drop_name(p->drop), row->drop) || p->detail != row->detail)
			fail_msg("%s (IPv%d): %s, detail %#llx; should be %s, %#llx", row->what,
				 row->v4 ? 4 : 6, drop_name(p->drop), (unsigned long long)p->detail,
				 row->drop, (unsigned long long)row->detail);
	}
	bench_end(&b);
}

/* IPv4 options are skipped. */
static void ipv4_options(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();

	for (unsigned int words = 6; words < 16; words++) {
		struct slow_outer outer = outer_of(&b, true);
		uint8_t packet[2200];
		size_t n, more = (words - 5) * 4;
		struct packet *p;

		make_inner(&f, INNER_V4, 60);
		n = slow_encap(&outer, f.byte, f.n, packet);
		memmove(packet + 34 + more, packet + 34, n - 34);
		memset(packet + 34, 1, more);	/* no operation */
		packet[14] = (uint8_t)(0x40 | words);
		n += more;
		packet[16] = (uint8_t)((n - 14) >> 8);
		packet[17] = (uint8_t)(n - 14);
		put_ipv4_checksum(packet + 14);
		p = run(&b, packet, n);
		assert_int_equal(p->drop, DROP_NONE);
		assert_int_equal(p->len, f.n);
		assert_memory_equal(p->data, f.byte, f.n);
		/* The header must be there as long as it says. */
		p = run(&b, packet, 34 + more - 1);
		assert_int_equal(p->drop, DROP_OUTER_BAD);
	}
	bench_end(&b);
}

/* The driver took a tag out: VLAN 0 is none, any other one is not where our address lives. */
static void outer_vlan(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();
	struct slow_outer outer = outer_of(&b, true);
	uint8_t packet[2200];
	size_t n;

	make_inner(&f, INNER_V4, 60);
	n = slow_encap(&outer, f.byte, f.n, packet);
	for (int vid = 0; vid < 2; vid++) {
		struct packet *p = run(&b, packet, 10);

		p->drop = DROP_NONE;
		free(b.block);
		p->data = b.block = malloc(n);
		memcpy(p->data, packet, n);
		p->len = (uint16_t)n;
		p->tag = TAG_STRIPPED;
		p->tci = (uint16_t)(0xe000 | vid);
		decap(&b.w->lane, &b.w->burst);
		assert_string_equal(drop_name(p->drop), vid ? "not-vxlan" : "none");
	}
	bench_end(&b);
}

static void inner_addresses(void **state)
{
	static struct inner_frame f;
	static const struct {
		uint8_t destination[6];
		const char *drop;
	} rows[] = {
		{{0x01, 0x80, 0xc2, 0, 0, 0x00}, "reserved-mac"},
		{{0x01, 0x80, 0xc2, 0, 0, 0x02}, "reserved-mac"},
		{{0x01, 0x80, 0xc2, 0, 0, 0x0e}, "reserved-mac"},
		{{0x01, 0x80, 0xc2, 0, 0, 0x0f}, "reserved-mac"},
		{{0x01, 0x80, 0xc2, 0, 0, 0x10}, "none"},
		{{0x01, 0x80, 0xc2, 0, 1, 0x00}, "none"},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "none"},
		{{0x33, 0x33, 0, 0, 0, 1}, "none"},
	};
	struct bench b = bench_begin();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct slow_outer outer = outer_of(&b, i % 2);
		uint8_t packet[2200];
		size_t n;

		make_inner(&f, INNER_V6, 60);
		memcpy(f.byte, rows[i].destination, 6);
		n = slow_encap(&outer, f.byte, f.n, packet);
		assert_string_equal(drop_name(run(&b, packet, n)->drop), rows[i].drop);
	}
	bench_end(&b);
}

/* Cut anywhere: the outer length is then too long. With lengths that agree, the end moves
 * inwards. */
static void truncated(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();

	for (int v4 = 0; v4 < 2; v4++) {
		struct slow_outer outer = outer_of(&b, v4);
		size_t udp = v4 ? UDP4 : UDP6, n;
		uint8_t packet[2200];

		make_inner(&f, INNER_V4, 40);
		n = slow_encap(&outer, f.byte, f.n, packet);
		for (size_t cut = 0; cut < n; cut++) {
			const char *want = cut < 14 ? "runt" :
					   cut < udp ? "outer-bad" : "vxlan-truncated";

			assert_string_equal(drop_name(run(&b, packet, cut)->drop), want);
		}
		for (size_t cut = udp; cut < n; cut++) {
			const char *want = cut < udp + 16 ? "vxlan-truncated" :
					   cut < udp + 30 ? "inner-runt" : "none";
			size_t ip_bytes = v4 ? cut - 14 : cut - 54;
			struct packet *p;

			packet[v4 ? 16 : 18] = (uint8_t)(ip_bytes >> 8);
			packet[v4 ? 17 : 19] = (uint8_t)ip_bytes;
			if (v4)
				put_ipv4_checksum(packet + 14);
			if (cut >= udp + 6) {
				packet[udp + 4] = (uint8_t)((cut - udp) >> 8);
				packet[udp + 5] = (uint8_t)(cut - udp);
			}
			if (cut == udp + 6 || cut == udp + 7)
				want = "vxlan-truncated";
			p = run(&b, packet, cut);
			assert_string_equal(drop_name(p->drop), want);
			if (!p->drop)
				assert_int_equal(p->len, cut - udp - 16);
		}
	}
	bench_end(&b);
}

/* Decapsulation read off the RFCs from the top, field by field, without any offset kept. The
 * network knows two VTEPs, see bench_begin. Returns the drop reason; sets where the inner
 * frame is. */
static const char *slow_decap(const struct bench *b, const uint8_t *f, size_t n, size_t *at,
			      size_t *bytes, unsigned int *ecn)
{
	struct ip from, to;
	size_t ip_bytes, header, udp_bytes;
	unsigned int protocol;
	uint32_t vni;

	if (n < 14)
		return "runt";
	if (f[12] == 0x08 && f[13] == 0x00) {
		if (n < 14 + 20 || f[14] / 16 != 4)
			return "outer-bad";
		header = f[14] % 16 * 4u;
		ip_bytes = f[16] * 256u + f[17];
		if (header < 20 || 14 + header > n || slow_sum(f + 14, header, 0) != 0xffff ||
		    ip_bytes < header)
			return "outer-bad";
		if (14 + ip_bytes > n)
			return "vxlan-truncated";
		protocol = f[23];
		if (protocol == 17 && (f[20] % 64 || f[21]))
			return "outer-bad";
		from = ip_from_v4(f + 26);
		to = ip_from_v4(f + 30);
		*ecn = f[15] % 4;
	} else if (f[12] == 0x86 && f[13] == 0xdd) {
		if (n < 14 + 40 || f[14] / 16 != 6)
			return "outer-bad";
		header = 40;
		ip_bytes = 40 + f[18] * 256u + f[19];
		if (14 + ip_bytes > n)
			return "vxlan-truncated";
		protocol = f[20];
		from = ip_from_v6(f + 22);
		to = ip_from_v6(f + 38);
		*ecn = f[15] / 16 % 4;
	} else {
		return "not-vxlan";
	}
	f += 14 + header;
	ip_bytes -= header;
	*at = 14 + header + 16;
	if (protocol != 17)
		return "not-vxlan";
	if (ip_bytes < 8)
		return "vxlan-truncated";
	if (f[2] * 256 + f[3] != 4789)
		return "not-vxlan";
	if (memcmp(&to, &b->w->tables.tunnels->options.local[0], 16) &&
	    memcmp(&to, &b->w->tables.tunnels->options.local[1], 16))
		return "vtep-not-ours";
	udp_bytes = f[4] * 256u + f[5];
	if (udp_bytes < 8)
		return "outer-bad";
	if (udp_bytes > ip_bytes || udp_bytes < 16)
		return "vxlan-truncated";
	if (f[8] / 8 % 2 == 0)
		return "vxlan-no-vni";
	vni = f[12] * 65536u + f[13] * 256u + f[14];
	if (vni != VNI_BLUE)
		return "vni-unknown";
	if (memcmp(&from, &b->remote_v4, 16) && memcmp(&from, &b->remote_v6, 16))
		return "vtep-unknown";
	*bytes = udp_bytes - 16;
	f += 16;
	if (*bytes < 14)
		return "inner-runt";
	if (f[6] % 2 || !memcmp(f + 6, "\0\0\0\0\0\0", 6))
		return "bad-source";
	if (!memcmp(f, "\x01\x80\xc2\0\0", 5) && f[5] < 16)
		return "reserved-mac";
	return "none";
}

/* Random bytes in random places of the outer header and the inner Ethernet header. IPv4 checksums
 * are mended half the time, or nothing else would ever be tested. */
static void flipped(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();

	for (unsigned int i = 0; i < 200000; i++) {
		bool v4 = i % 2;
		struct slow_outer outer = outer_of(&b, v4);
		uint8_t packet[2200];
		size_t n, at = 0, bytes = 0;
		unsigned int ecn = 0;
		const char *want;
		struct packet *p;

		make_inner(&f, INNER_ARP, random_below(60));
		n = slow_encap(&outer, f.byte, f.n, packet);
		for (unsigned int k = random_below(4); k; k--)
			packet[random_below(v4 ? 64 : 84)] ^= (uint8_t)(1 << random_below(8));
		if (random_below(8) == 0)
			packet[random_below((uint32_t)n)] = (uint8_t)random_u64();
		if (random_below(4) == 0)
			n = random_below((uint32_t)n + 1);
		else if (random_below(4) == 0)
			random_bytes(packet + n, 30), n += random_below(30);
		if (v4 && random_below(2) && n >= 14u + (packet[14] & 15) * 4u && packet[14] & 15)
			put_ipv4_checksum(packet + 14);
		want = slow_decap(&b, packet, n, &at, &bytes, &ecn);
		p = run(&b, packet, n);
		/* What the flips make of the inner frame may look like IP without ECN. */
		if (!strcmp(want, "none") && ecn == 3 && p->drop == DROP_ECN)
			continue;
		assert_string_equal(drop_name(p->drop), want);
		if (p->drop)
			continue;
		assert_int_equal(p->len, bytes);
		assert_ptr_equal(p->data, b.block + at);
	}
	bench_end(&b);
}

/* RFC 6040, figure 4. D: drop. */
static const char ecn_figure[4][5] = {
	/* outer: Not-ECT, ECT(1), ECT(0), CE as their numbers 0..3 */
	[0] = "000D",		/* inner Not-ECT */
	[1] = "1113",		/* inner ECT(1) */
	[2] = "2123",		/* inner ECT(0) */
	[3] = "3333",		/* inner CE */
};

static void set_inner_tos(struct inner_frame *f, unsigned int tos)
{
	uint8_t *ip = f->byte + f->l3;

	if (f->v6) {
		ip[0] = (uint8_t)(0x60 | tos >> 4);
		ip[1] = (uint8_t)((ip[1] & 15) | tos << 4);
	} else {
		ip[1] = (uint8_t)tos;
		put_ipv4_checksum(ip);
	}
	f->tos = (uint8_t)tos;
}

static void ecn_in(void **state)
{
	static const enum inner_kind kinds[] = {INNER_V4, INNER_V6, INNER_V4_TAGGED};
	static struct inner_frame f;
	struct bench b = bench_begin();

	for (unsigned int i = 0; i < 3 * 2 * 16 * 64; i++) {
		unsigned int outer_ecn = i % 4, inner_ecn = i / 4 % 4, dscp = i / 96;
		char want = ecn_figure[inner_ecn][outer_ecn];
		struct slow_outer outer = outer_of(&b, i / 16 % 2);
		uint8_t packet[2200];
		struct packet *p;
		size_t n;

		make_inner(&f, kinds[i / 32 % 3], 20);
		set_inner_tos(&f, dscp * 4 + inner_ecn);
		outer.tos = (uint8_t)((63 - dscp) * 4 + outer_ecn);
		n = slow_encap(&outer, f.byte, f.n, packet);
		p = run(&b, packet, n);
		if (want == 'D') {
			assert_string_equal(drop_name(p->drop), "ecn-illegal");
			assert_int_equal(p->detail, VNI_BLUE);
			continue;
		}
		assert_int_equal(p->drop, DROP_NONE);
		/* The same frame with that field, and for IPv4 a checksum computed from nothing. */
		set_inner_tos(&f, dscp * 4 + (unsigned int)(want - '0'));
		assert_int_equal(p->len, f.n);
		assert_memory_equal(p->data, f.byte, f.n);
		assert_int_equal(p->l3_tos, f.tos);
	}
	bench_end(&b);
}

/* No ECN field, no rule: congestion marks of the underlay do not kill ARP. */
static void ecn_without_ip(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();

	for (unsigned int i = 0; i < 16; i++) {
		struct slow_outer outer = outer_of(&b, i % 2);
		uint8_t packet[2200];
		struct packet *p;
		size_t n;

		make_inner(&f, i / 8 ? INNER_V4_BAD : INNER_ARP, 46);
		outer.tos = i / 2 % 4;
		n = slow_encap(&outer, f.byte, f.n, packet);
		p = run(&b, packet, n);
		assert_int_equal(p->drop, DROP_NONE);
		assert_memory_equal(p->data, f.byte, f.n);
	}
	bench_end(&b);
}

/* Access ports, ports that are gone and dead packets are not decap's business. */
static void others_untouched(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();
	struct packet before, *p;

	make_inner(&f, INNER_V4, 20);
	b.w->port[PORT_UNDERLAY].underlay = false;
	p = run(&b, f.byte, f.n);
	assert_int_equal(p->drop, DROP_NONE);
	assert_int_equal(p->hash_kind, HASH_NIC_L4);
	b.w->tables.port[PORT_UNDERLAY] = NULL;
	p = run(&b, f.byte, f.n);
	assert_int_equal(p->drop, DROP_NONE);
	b.w->tables.port[PORT_UNDERLAY] = &b.w->port[PORT_UNDERLAY];
	b.w->port[PORT_UNDERLAY].underlay = true;
	drop_packet(p, DROP_PORT_SHUT, 5);
	before = *p;
	decap(&b.w->lane, &b.w->burst);
	assert_memory_equal(p, &before, sizeof(before));
	bench_end(&b);
}

static void network_gone(void **state)
{
	static struct inner_frame f;
	struct bench b = bench_begin();
	struct slow_outer outer = outer_of(&b, true);
	uint8_t packet[2200];
	size_t n;

	make_inner(&f, INNER_V4, 20);
	n = slow_encap(&outer, f.byte, f.n, packet);
	b.w->network.tunnels = NULL;
	assert_int_equal(run(&b, packet, n)->drop, DROP_VTEP_REMOTE);
	b.w->tables.network[NETWORK_BLUE] = NULL;
	assert_int_equal(run(&b, packet, n)->drop, DROP_VNI_UNKNOWN);
	bench_end(&b);
}

/* A full burst in which every third packet is good. */
static void mixed_burst(void **state)
{
	static struct inner_frame f;
	static uint8_t packet[BURST_MAX][256];
	struct bench b = bench_begin();
	struct burst *burst = &b.w->burst;

	make_inner(&f, INNER_V4, 100);
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		struct slow_outer outer = outer_of(&b, i % 2);

		burst->packet[i] = (struct packet){.data = packet[i], .rx_port = PORT_UNDERLAY};
		burst->packet[i].len = (uint16_t)slow_encap(&outer, f.byte, f.n, packet[i]);
		if (i % 3 == 1)
			packet[i][12] = 0;
		if (i % 3 == 2)
			drop_packet(&burst->packet[i], DROP_PORT_SHUT, 0);
	}
	burst->n = BURST_MAX;
	decap(&b.w->lane, burst);
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		const struct packet *p = &burst->packet[i];
		static const uint8_t want[3] = {DROP_NONE, DROP_NOT_VXLAN, DROP_PORT_SHUT};

		assert_int_equal(p->drop, want[i % 3]);
		if (p->drop)
			continue;
		assert_int_equal(p->len, f.n);
		assert_memory_equal(p->data, f.byte, f.n);
	}
	bench_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(by_name),
		cmocka_unit_test(ipv4_options),
		cmocka_unit_test(outer_vlan),
		cmocka_unit_test(inner_addresses),
		cmocka_unit_test(truncated),
		cmocka_unit_test(flipped),
		cmocka_unit_test(ecn_in),
		cmocka_unit_test(ecn_without_ip),
		cmocka_unit_test(others_untouched),
		cmocka_unit_test(network_gone),
		cmocka_unit_test(mixed_burst),
	};

	random_seed();
	return cmocka_run_group_tests(tests, rcu_begin, rcu_end);
}

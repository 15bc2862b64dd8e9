/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every change that a flow rule can make, on random packets of every kind, against an oracle that
 * changes the description of the packet and writes it down again, all checksums computed anew and
 * slowly. Frames lie in blocks of exactly their size: the address sanitizer watches the bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "dataplane/rewrite.h"
#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define IPV4 4
#define IPV6 6
#define ARP 1
#define OTHER 0

#define TCP 6
#define UDP 17
#define SCTP 132
#define ICMP 1
#define ICMP6 58
#define GRE 47

#define FRAME_MAX 1024

enum { WHOLE, FIRST, LATER };
enum { SUM_RIGHT, SUM_WRONG, SUM_NONE };
enum { EXT_NONE, EXT_OPTIONS, EXT_AH, EXT_ROUTED, EXT_ARRIVED, EXT_KINDS };

/* A packet, described. */
struct desc {
	uint8_t kind;		/* IPV4, IPV6, ARP, OTHER */
	uint8_t n_tags;
	uint8_t macs[12];
	uint8_t tos;
	uint8_t ttl;
	uint8_t proto;
	uint8_t src[16];	/* ARP: sender */
	uint8_t dst[16];
	uint8_t last[16];	/* EXT_ROUTED: where the last segment ends */
	uint8_t ext[2];		/* IPv6: extension headers; IPv4: options when the first is not 0 */
	uint8_t inner_options;	/* IPv6 fragments: an extension header behind the fragment header */
	uint8_t fragment;
	uint8_t sum;
	uint16_t cut;		/* bytes behind the fragment header that the first fragment has */
	uint16_t tp_src;
	uint16_t tp_dst;
	uint8_t type;
	uint8_t code;
	uint8_t target[16];
	uint16_t arp_op;
	uint16_t arp_head;	/* anything but 1: not for Ethernet */
	uint8_t sha[6];
	uint8_t tha[6];
	uint32_t payload_bytes;
	uint32_t padding;
	uint64_t filler;
};

struct writer {
	uint8_t frame[FRAME_MAX];
	uint32_t n;
	uint32_t sum_at;	/* where the transport checksum landed, or 0 */
};

static void put(struct writer *w, const void *bytes, uint32_t n)
{
	assert_true(w->n + n <= FRAME_MAX);
	memcpy(w->frame + w->n, bytes, n);
	w->n += n;
}

static void put16(struct writer *w, uint32_t v)
{
	const uint8_t bytes[2] = {(uint8_t)(v >> 8), (uint8_t)v};

	put(w, bytes, 2);
}

static void fill(struct writer *w, const struct desc *d, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t byte = (uint8_t)hash_u64(d->filler, i);

		put(w, &byte, 1);
	}
}

/* RFC 1071, as slowly as it can be said. */
static uint32_t slow_sum(const uint8_t *bytes, uint32_t n, uint32_t sum)
{
	for (uint32_t i = 0; i < n; i++) {
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

/* RFC 9260, appendix A, bit by bit. */
static uint32_t slow_crc(const uint8_t *bytes, uint32_t n)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

/* Where the transport checksum is, or 0 */
static uint32_t sum_offset(const struct desc *d)
{
	switch (d->proto) {
	case TCP:
		return 16;
	case UDP:
		return 6;
	case SCTP:
		return 8;
	case ICMP:
		return d->kind == IPV4 ? 2 : 0;
	case ICMP6:
		return d->kind == IPV6 ? 2 : 0;
	default:
		return 0;
	}
}

static void store_crc(const struct desc *d, uint8_t *l4, uint32_t bytes)
{
	uint32_t crc = d->sum == SUM_WRONG ? 0x55aa1234 : 0;

	/* A fragment's is that of a datagram which nobody has. */
	crc ^= d->fragment ? (uint32_t)d->filler : slow_crc(l4, bytes);
	for (int i = 0; i < 4; i++)
		l4[8 + i] = (uint8_t)(crc >> 8 * i);
}

static bool is_routed(const struct desc *d)
{
	return d->ext[0] == EXT_ROUTED || d->ext[1] == EXT_ROUTED;
}

static void store_sum(const struct desc *d, uint8_t *l4, uint32_t bytes)
{
	uint32_t at = sum_offset(d), sum = 0;

	if (d->proto != ICMP) {
		uint32_t address = d->kind == IPV4 ? 4 : 16;

		sum = slow_sum(d->src, address, d->proto);
		sum = slow_sum(d->kind == IPV6 && is_routed(d) ? d->last : d->dst, address,
			       sum);
		sum += bytes;
	}
	if (d->sum == SUM_WRONG)
		sum += 0x1234;
	sum = 0xffff - slow_sum(l4, bytes, (sum & 0xffff) + (sum >> 16));
	if (d->proto == UDP && sum == 0)
		sum = 0xffff;
	if (d->proto == UDP && d->sum == SUM_NONE)
		sum = 0;
	l4[at] = (uint8_t)(sum >> 8);
	l4[at + 1] = (uint8_t)sum;
}

/* The whole transport packet, before it is cut. Of what a later fragment has nobody knows more than
 * that it stays. */
static uint32_t write_l4(const struct desc *d, struct writer *w)
{
	uint32_t header = d->proto == TCP ? 20 : d->proto == SCTP ? 12 : d->proto == ICMP6 ? 24 : 8;
	uint8_t *l4 = w->frame;

	w->n = 0;
	fill(w, d, header + d->payload_bytes);
	if (d->fragment == LATER)
		return w->n;
	if (d->proto == TCP || d->proto == UDP || d->proto == SCTP) {
		put_be16(l4, d->tp_src);
		put_be16(l4 + 2, d->tp_dst);
	} else if (d->proto == ICMP || d->proto == ICMP6) {
		l4[0] = d->type;
		l4[1] = d->code;
		if (d->proto == ICMP6)
			memcpy(l4 + 8, d->target, 16);
	}
	if (!sum_offset(d))
		return w->n;
	memset(l4 + sum_offset(d), 0, d->proto == SCTP ? 4 : 2);
	if (d->proto == SCTP)
		store_crc(d, l4, w->n);
	else
		store_sum(d, l4, w->n);
	return w->n;
}

/* An extension header with the next one's number. */
static void write_ext(const struct desc *d, struct writer *w, uint8_t ext, uint8_t next)
{
	uint8_t h[24] = {next, 0};

	if (ext == EXT_AH) {
		h[1] = 4; /* 24 bytes */
		put(w, h, 24);
	} else if (ext == EXT_OPTIONS) {
		h[1] = 1;
		put(w, h, 16);
	} else if (ext) {
		h[1] = 2;
		h[3] = ext == EXT_ROUTED;
		memcpy(h + 8, d->last, 16);
		put(w, h, 24);
	}
}

static uint8_t ext_number(uint8_t ext, uint8_t next)
{
	static const uint8_t number[EXT_KINDS] = {0, 60, 51, 43, 43};

	return ext ? number[ext] : next;
}

static void write_ipv6(const struct desc *d, struct writer *w, const struct writer *l4)
{
	static const uint8_t options[8] = {0, 0, 1, 4};
	uint32_t ip = w->n, from = 0, to = l4->n, ahead = d->fragment && d->inner_options ? 8 : 0;
	uint8_t inner = ahead ? 60 : d->proto, next = d->fragment ? 44 : inner;
	const uint8_t head[4] = {(uint8_t)(0x60 | d->tos >> 4), (uint8_t)(d->tos << 4 | 5), 6, 7};
	uint8_t second = ext_number(d->ext[1], next);
	uint8_t hop[2] = {ext_number(d->ext[0], second), d->ttl};

	put(w, head, 4);
	put16(w, 0);
	put(w, hop, 2);
	put(w, d->src, 16);
	put(w, d->dst, 16);
	write_ext(d, w, d->ext[0], second);
	write_ext(d, w, d->ext[1], next);
	if (d->fragment) {
		const uint8_t h[8] = {inner, 0, (uint8_t)(d->fragment == LATER ? d->cut >> 8 : 0),
				      (uint8_t)(d->fragment == LATER ? d->cut : 1), 1, 2, 3, 4};

		put(w, h, 8);
	}
	if (d->fragment == FIRST)
		to = min_of(to, d->cut - ahead);
	if (d->fragment == LATER)
		from = min_of(to, d->cut - ahead);
	if (ahead && d->fragment == FIRST) {
		put(w, options, 8);
		w->frame[w->n - 8] = d->proto;
	}
	w->sum_at = d->fragment == LATER ? 0 : w->n + sum_offset(d);
	put(w, l4->frame + from, to - from);
	put_be16(w->frame + ip + 4, (uint16_t)(w->n - ip - 40));
}

static void write_ipv4(const struct desc *d, struct writer *w, const struct writer *l4)
{
	uint32_t ip = w->n, header = d->ext[0] ? 28 : 20, from = 0, to = l4->n;
	uint32_t sum;

	if (d->fragment == FIRST)
		to = min_of(to, d->cut);
	if (d->fragment == LATER)
		from = min_of(to, d->cut);
	put16(w, 0x4000 | header / 4 << 8 | d->tos);
	put16(w, header + to - from);
	put16(w, 0x1234);
	put16(w, d->fragment == FIRST ? 0x2000 : d->fragment == LATER ? d->cut / 8u : 0x4000);
	put16(w, (uint32_t)d->ttl << 8 | d->proto);
	put16(w, 0);
	put(w, d->src, 4);
	put(w, d->dst, 4);
	fill(w, d, header - 20);
	sum = 0xffff - slow_sum(w->frame + ip, header, 0);
	put_be16(w->frame + ip + 10, (uint16_t)sum);
	w->sum_at = d->fragment == LATER ? 0 : w->n + sum_offset(d);
	put(w, l4->frame + from, to - from);
}

static void write_arp(const struct desc *d, struct writer *w)
{
	put16(w, d->arp_head);
	put16(w, 0x0800);
	put16(w, 0x0604);
	put16(w, d->arp_op);
	put(w, d->sha, 6);
	put(w, d->src, 4);
	put(w, d->tha, 6);
	put(w, d->dst, 4);
}

static void write_frame(const struct desc *d, struct writer *w)
{
	struct writer l4 = {.n = 0};

	w->n = w->sum_at = 0;
	put(w, d->macs, 12);
	for (int i = 0; i < d->n_tags; i++) {
		put16(w, 0x8100);
		put16(w, 0x2064);
	}
	put16(w, d->kind == IPV4   ? 0x0800
		 : d->kind == IPV6 ? 0x86dd
		 : d->kind == ARP  ? (d->filler % 2 ? 0x0806 : 0x8035)
				   : 0x88b5);
	if (d->kind == IPV4 || d->kind == IPV6)
		write_l4(d, &l4);
	if (d->kind == IPV4)
		write_ipv4(d, w, &l4);
	else if (d->kind == IPV6)
		write_ipv6(d, w, &l4);
	else if (d->kind == ARP)
		write_arp(d, w);
	fill(w, d, d->padding);
}

static void describe(struct desc *d)
{
	static const uint8_t kinds[] = {IPV4, IPV4, IPV6, IPV6, IPV6, ARP, OTHER};
	static const uint8_t protos[] = {TCP, UDP, UDP, SCTP, ICMP, ICMP6, ICMP6, GRE};

	memset(d, 0, sizeof(*d));
	random_bytes(d->macs, sizeof(d->macs));
	random_bytes(d->src, sizeof(d->src));
	random_bytes(d->dst, sizeof(d->dst));
	random_bytes(d->last, sizeof(d->last));
	random_bytes(d->target, sizeof(d->target));
	random_bytes(d->sha, sizeof(d->sha));
	random_bytes(d->tha, sizeof(d->tha));
	d->kind = kinds[random_below(ARRAY_SIZE(kinds))];
	d->proto = protos[random_below(ARRAY_SIZE(protos))];
	d->n_tags = (uint8_t)random_below(4);
	d->tos = (uint8_t)random_u64();
	d->ttl = (uint8_t)random_below(4);
	for (int i = 0; i < 2; i++)
		d->ext[i] = random_below(2) ? (uint8_t)random_below(EXT_KINDS) : EXT_NONE;
	d->fragment = random_below(3) ? WHOLE : (uint8_t)random_below(3);
	d->inner_options = (uint8_t)random_below(2);
	d->sum = (uint8_t)(random_below(3) ? SUM_RIGHT : random_below(3));
	d->payload_bytes = random_below(8) ? random_below(64) : random_below(500);
	d->cut = (uint16_t)(8 * (1 + random_below(4)));
	d->tp_src = (uint16_t)random_u64();
	d->tp_dst = (uint16_t)random_u64();
	d->type = (uint8_t)(random_below(4) ? 134 + random_below(3) : random_u64());
	d->code = (uint8_t)(random_below(4) ? 0 : random_u64());
	d->arp_op = (uint16_t)random_below(4);
	d->arp_head = random_below(4) ? 1 : 6;
	d->padding = random_below(2) ? random_below(30) : 0;
	d->filler = random_u64();
	/* Few bits, so that checksums of 0 and 0xffff come by. */
	if (random_below(4) == 0) {
		memset(d->src, 0, 16);
		memset(d->dst, random_below(2) ? 0 : 0xff, 16);
		d->tp_src = d->tp_dst = 0;
	}
}

static bool is_ip(const struct desc *d)
{
	return d->kind == IPV4 || d->kind == IPV6;
}

/* How much of the transport header there is to look at. */
static uint32_t visible(const struct desc *d)
{
	uint32_t ahead = d->kind == IPV6 && d->inner_options ? 8 : 0;

	if (!is_ip(d) || d->fragment == LATER)
		return 0;
	return d->fragment == FIRST ? d->cut - ahead : 1000;
}

static bool has_ports(const struct desc *d)
{
	return (d->proto == TCP && visible(d) >= 20) || (d->proto == UDP && visible(d) >= 8) ||
	       (d->proto == SCTP && visible(d) >= 12);
}

static bool has_icmp(const struct desc *d)
{
	return visible(d) >= 8 && d->proto == (d->kind == IPV4 ? ICMP : ICMP6);
}

static bool has_target(const struct desc *d)
{
	return has_icmp(d) && d->kind == IPV6 && visible(d) >= 24 &&
	       (d->type == 135 || d->type == 136) && d->code == 0;
}

static bool has_arp(const struct desc *d)
{
	return d->kind == ARP && d->arp_head == 1;
}

/* The same change, of the description. */
static void oracle(struct desc *d, const struct flow_action *a)
{
	struct {
		uint16_t type;
		bool there;
		void *field;
		uint32_t bytes;
	} fields[] = {
		{FLOW_SET_DL_SRC, true, d->macs + 6, 6},
		{FLOW_SET_DL_DST, true, d->macs, 6},
		{FLOW_SET_NW_SRC, d->kind == IPV4, d->src, 4},
		{FLOW_SET_NW_DST, d->kind == IPV4, d->dst, 4},
		{FLOW_SET_IPV6_SRC, d->kind == IPV6, d->src, 16},
		{FLOW_SET_IPV6_DST, d->kind == IPV6, d->dst, 16},
		{FLOW_SET_ARP_SPA, has_arp(d), d->src, 4},
		{FLOW_SET_ARP_TPA, has_arp(d), d->dst, 4},
		{FLOW_SET_ARP_SHA, has_arp(d), d->sha, 6},
		{FLOW_SET_ARP_THA, has_arp(d), d->tha, 6},
		{FLOW_SET_ND_TARGET, has_target(d), d->target, 16},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].type == a->type && fields[i].there)
			memcpy(fields[i].field, a->byte, fields[i].bytes);
	if (a->type == FLOW_POP_VLAN && d->n_tags)
		d->n_tags--;
	if (a->type == FLOW_SET_NW_DSCP)
		d->tos = (uint8_t)(a->arg * 4 + d->tos % 4);
	if (a->type == FLOW_SET_NW_ECN)
		d->tos = (uint8_t)(d->tos / 4 * 4 + a->arg);
	if (a->type == FLOW_SET_NW_TTL)
		d->ttl = (uint8_t)a->arg;
	if (a->type == FLOW_DEC_TTL && d->ttl > 1)
		d->ttl--;
	if (a->type == FLOW_SET_TP_SRC && has_ports(d))
		d->tp_src = a->arg;
	if (a->type == FLOW_SET_TP_DST && has_ports(d))
		d->tp_dst = a->arg;
	if (a->type == FLOW_SET_ICMP_TYPE && has_icmp(d))
		d->type = (uint8_t)a->arg;
	if (a->type == FLOW_SET_ICMP_CODE && has_icmp(d))
		d->code = (uint8_t)a->arg;
	if (a->type == FLOW_SET_ARP_OP && has_arp(d))
		d->arp_op = a->arg;
}

static void random_action(struct flow_action *a)
{
	static const uint16_t limit[FLOW_ACTION_TYPES] = {
		[FLOW_SET_NW_DSCP] = 64,    [FLOW_SET_NW_ECN] = 4,     [FLOW_SET_NW_TTL] = 256,
		[FLOW_SET_ICMP_TYPE] = 256, [FLOW_SET_ICMP_CODE] = 256};

	memset(a, 0, sizeof(*a));
	a->type = (uint16_t)(FLOW_DEC_TTL + random_below(FLOW_ACTION_TYPES - FLOW_DEC_TTL));
	if (random_below(10) == 0)
		a->type = FLOW_POP_VLAN;
	a->arg = (uint16_t)random_u64();
	if (limit[a->type])
		a->arg %= limit[a->type];
	if (random_below(4))
		random_bytes(a->byte, sizeof(a->byte));
	else
		memset(a->byte, random_below(2) ? 0 : 0xff, sizeof(a->byte));
}

/* A wrong checksum has two zeroes, as any number of one's complement. */
static void one_zero(const struct desc *d, uint8_t *frame, uint32_t sum_at, uint32_t n)
{
	if (d->sum == SUM_WRONG && d->proto != SCTP && sum_at && sum_at + 2 <= n &&
	    get_be16(frame + sum_at) == 0xffff)
		put_be16(frame + sum_at, 0);
}

static void parse_block(struct packet *p, uint8_t *block, uint32_t n)
{
	*p = (struct packet){.data = block, .len = (uint16_t)n};
	assert_true(parse_packet(p));
}

/* What is known of the packet is what parse would find now. */
static void check_knowledge(const struct packet *p)
{
	struct packet fresh;

	parse_block(&fresh, p->data, p->len);
	assert_int_equal(p->flags, fresh.flags);
	assert_int_equal(p->l3_tos, fresh.l3_tos);
	assert_int_equal(p->l3, fresh.l3);
	assert_int_equal(p->ethertype, fresh.ethertype);
	assert_int_equal(p->ip_proto, fresh.ip_proto);
	if (p->flags & (PKT_IPV4 | PKT_IPV6) && !(p->flags & PKT_LATER))
		assert_int_equal(p->l4, fresh.l4);
}

static void check_change(struct packet *p, struct desc *d, const struct flow_action *a)
{
	static struct writer expected;
	bool expires = a->type == FLOW_DEC_TTL && is_ip(d) && d->ttl <= 1;
	uint8_t ttl = d->ttl;

	oracle(d, a);
	write_frame(d, &expected);
	rewrite(NULL, p, a);
	one_zero(d, expected.frame, expected.sum_at, expected.n);
	one_zero(d, p->data, expected.sum_at, p->len);
	assert_int_equal(p->len, expected.n);
	for (uint32_t i = 0; i < p->len; i++)
		if (p->data[i] != expected.frame[i])
			fail_msg("action %u, kind %u, proto %u, fragment %u, ext %u %u, sum %u, "
				 "cut %u: byte %u (l3 %u, l4 %u) is %02x, not %02x",
				 a->type, d->kind, d->proto, d->fragment, d->ext[0], d->ext[1],
				 d->sum, d->cut, i, p->l3, p->l4, p->data[i],
				 expected.frame[i]);
	assert_int_equal(p->drop, expires ? DROP_TTL : DROP_NONE);
	if (expires)
		assert_int_equal(p->detail, ttl);
	check_knowledge(p);
}

static void every_change(void **state)
{
	static struct writer w;
	uint32_t done[FLOW_ACTION_TYPES] = {0};
	struct desc d;

	for (int i = 0; i < 100000; i++) {
		struct packet p;
		uint8_t *block;

		describe(&d);
		write_frame(&d, &w);
		block = malloc(w.n);
		assert_non_null(block);
		memcpy(block, w.frame, w.n);
		parse_block(&p, block, w.n);
		/* Changes follow each other. */
		for (int k = random_below(4) ? 1 : 8; k > 0 && !p.drop; k--) {
			struct flow_action a;

			random_action(&a);
			done[a.type]++;
			check_change(&p, &d, &a);
		}
		free(block);
	}
	for (int type = FLOW_DEC_TTL; type < FLOW_ACTION_TYPES; type++)
		assert_true(done[type] > 1000);
}

/* The checksum comes out as zero for one of them: UDP has none then, others do. */
static void every_port(void **state)
{
	for (uint8_t kind = IPV4; kind <= IPV6; kind += 2)
		for (int proto = TCP; proto <= UDP; proto += UDP - TCP) {
			struct desc d = {.kind = kind, .proto = (uint8_t)proto, .ttl = 9};
			struct flow_action a = {.type = FLOW_SET_TP_DST};
			static struct writer w;
			struct packet p;

			write_frame(&d, &w);
			parse_block(&p, w.frame, w.n);
			for (uint32_t port = 0; port < 65536; port++) {
				a.arg = (uint16_t)port;
				check_change(&p, &d, &a);
			}
		}
}

/* IP packets that end anywhere, and bytes that are anything: no access outside of the block, and
 * nothing changes outside of the IP packet. */
static void hostile(void **state)
{
	static struct writer w;
	struct desc d;

	for (int i = 0; i < 200000; i++) {
		uint32_t n, end;
		uint8_t *block, before[FRAME_MAX];
		struct packet p;

		describe(&d);
		write_frame(&d, &w);
		n = ETH_BYTES + VLAN_BYTES * d.n_tags + random_below(80);
		n = min_of(max_of(n, 18u), w.n);
		block = malloc(n);
		assert_non_null(block);
		memcpy(block, w.frame, n);
		for (uint32_t k = random_below(4); k > 0; k--)
			block[random_below(n)] = (uint8_t)random_u64();
		/* An IP header that agrees with where the frame ends, most of the time. */
		end = ETH_BYTES + VLAN_BYTES * d.n_tags;
		if (d.kind == IPV4 && n >= end + 20 && random_below(8))
			put_be16(block + end + 2, (uint16_t)(n - end - random_below(2)));
		if (d.kind == IPV6 && n >= end + 40 && random_below(8))
			put_be16(block + end + 4, (uint16_t)(n - end - 40));
		p = (struct packet){.data = block, .len = (uint16_t)n};
		if (parse_packet(&p)) {
			struct flow_action a;

			end = p.flags & PKT_IPV4   ? p.l3 + (uint32_t)get_be16(block + p.l3 + 2)
			      : p.flags & PKT_IPV6 ? p.l3 + 40u + get_be16(block + p.l3 + 4)
						   : n;
			random_action(&a);
			memcpy(before, block, n);
			rewrite(NULL, &p, &a);
			if (a.type != FLOW_POP_VLAN || p.data == block)
				assert_memory_equal(before + end, block + end, n - end);
			check_knowledge(&p);
		}
		free(block);
	}
}

/*
 * Tags: the model is the stack of tags, outermost first.
 */
#define TAGS_MAX 100

struct stack {
	uint32_t tag[TAGS_MAX];
	uint32_t n;
};

static void stack_push(struct stack *s, uint32_t tag)
{
	memmove(s->tag + 1, s->tag, s->n++ * sizeof(s->tag[0]));
	s->tag[0] = tag;
}

static void stack_pop(struct stack *s)
{
	if (s->n)
		memmove(s->tag, s->tag + 1, --s->n * sizeof(s->tag[0]));
}

static void stack_change(struct stack *s, const struct flow_action *a)
{
	uint32_t mask = a->type == FLOW_SET_VLAN_VID ? 0xfff : 0xe000;
	uint32_t value = a->type == FLOW_SET_VLAN_VID ? a->arg : (uint32_t)a->arg << 13;

	if (a->type == FLOW_PUSH_VLAN) {
		stack_push(s, (uint32_t)a->arg << 16);
	} else if (a->type == FLOW_POP_VLAN) {
		stack_pop(s);
	} else {
		if (!s->n)
			stack_push(s, 0x81000000);
		s->tag[0] = (s->tag[0] & ~mask) | value;
	}
}

static const uint8_t tail[] = {8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0,
			       0, 1, 10,   0, 0, 2,  1, 2, 3, 4, 0,  8,	 0, 0};

static void tag_action(struct flow_action *a)
{
	static const uint16_t types[] = {FLOW_PUSH_VLAN, FLOW_POP_VLAN, FLOW_POP_VLAN,
					 FLOW_SET_VLAN_VID, FLOW_SET_VLAN_PCP};

	memset(a, 0, sizeof(*a));
	a->type = types[random_below(ARRAY_SIZE(types))];
	a->arg = (uint16_t)random_below(a->type == FLOW_SET_VLAN_PCP ? 8 : 4096);
	if (a->type == FLOW_PUSH_VLAN)
		a->arg = random_below(2) ? TPID_C : TPID_S;
}

/* A frame with a random stack of tags, the port's own one stripped or in it or none of them. */
static struct packet *tagged_frame(struct bed *bed, struct stack *s)
{
	uint8_t frame[128];
	uint32_t n = 12, stripped = random_below(3) == 0;
	struct packet *p;

	s->n = 0;
	for (uint32_t i = random_below(4); i > 0; i--)
		stack_push(s, (random_below(3) ? 0x81000000 : 0x88a80000) | random_below(65536));
	random_bytes(frame, 12);
	for (uint32_t i = 0; i < s->n; i++, n += 4)
		put_be16(frame + n, (uint16_t)(s->tag[i] >> 16)),
		    put_be16(frame + n + 2, (uint16_t)s->tag[i]);
	memcpy(frame + n, tail, sizeof(tail));
	p = bed_receive(bed, 1, frame, (uint16_t)(n + sizeof(tail)));
	if (stripped) {
		p->tag = TAG_STRIPPED;
		p->tci = (uint16_t)random_u64();
		stack_push(s, 0x81000000u | p->tci);
	}
	assert_true(parse_packet(p));
	if (p->tag == TAG_FRAME && random_below(2))
		p->tag = TAG_NONE; /* the network's, as classify or decap says */
	return p;
}

static void check_tags(const struct packet *p, const struct stack *s, const uint8_t macs[12])
{
	const uint8_t *d = p->data;
	uint32_t at = 12, i = p->tag == TAG_STRIPPED;

	assert_memory_equal(d, macs, 12);
	if (i)
		assert_int_equal(p->tci, s->tag[0] & 0xffff);
	if (p->tag == TAG_FRAME)
		assert_int_equal(get_be32(d + 12), 0x81000000u | p->tci);
	for (; i < s->n; i++, at += 4)
		assert_int_equal(get_be32(d + at), s->tag[i]);
	assert_memory_equal(d + at, tail, sizeof(tail));
	assert_int_equal(p->len, at + sizeof(tail));
	assert_int_equal(p->l3, at + 2);
	if (p->flags & PKT_IPV4)
		assert_int_equal(p->l4, at + 22);
}

static void tags(void **state)
{
	struct bed *bed = bed_create(8);

	for (int i = 0; i < 50000; i++) {
		uint8_t macs[12];
		struct stack s;
		struct packet *p = tagged_frame(bed, &s);

		memcpy(macs, p->data, 12);
		check_tags(p, &s, macs);
		for (uint32_t k = random_below(12); k > 0; k--) {
			struct flow_action a;

			tag_action(&a);
			rewrite(&bed->pool, p, &a);
			stack_change(&s, &a);
			check_tags(p, &s, macs);
			/* Where a port's own tag would have its priority from. */
			if (a.type == FLOW_POP_VLAN)
				assert_int_equal(p->tci, 0);
			else if (a.type != FLOW_PUSH_VLAN)
				assert_int_equal(p->tci, s.tag[0] & 0xffff);
		}
		assert_int_equal(p->drop, DROP_NONE);
		vlan_disown(p);
		check_tags(p, &s, macs);
		bed_transmit(bed, &bed->burst);
	}
	bed_destroy(bed);
}

/* Never in front of the frame: there is room for 63 tags and the one that retag may add. */
static void no_room_for_a_tag(void **state)
{
	static const uint8_t frame[64] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	const struct flow_action push = {.type = FLOW_PUSH_VLAN, .arg = TPID_S};
	const struct flow_action set = {.type = FLOW_SET_VLAN_VID, .arg = 5};
	struct bed *bed = bed_create(2);
	struct packet *p = bed_receive(bed, 1, frame, sizeof(frame));
	int n = 0;

	assert_true(parse_packet(p));
	rewrite(&bed->pool, p, &set);
	for (; !p->drop; n++)
		rewrite(&bed->pool, p, &push);
	assert_int_equal(n, FRAME_HEADROOM / VLAN_BYTES - 1);
	assert_int_equal(p->drop, DROP_TOO_BIG);
	assert_int_equal(p->detail, (uint64_t)(p->len + 4) << 32 | p->len);
	assert_int_equal(pool_headroom(&bed->pool, p->data), VLAN_BYTES);
	bed_transmit(bed, &bed->burst);
	bed_destroy(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_change),
		cmocka_unit_test(every_port),
		cmocka_unit_test(hostile),
		cmocka_unit_test(tags),
		cmocka_unit_test(no_room_for_a_tag),
	};

	random_init("rewrite");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of encap and decap share: a small world to run the stages in, random inner frames,
 * and a VXLAN encapsulation written down from the RFCs, byte by byte and slow, to compare with.
 */
#ifndef TESTS_UNIT_VXLAN_ORACLE_H
#define TESTS_UNIT_VXLAN_ORACLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dataplane/lane.h"
#include "dataplane/stages.h"
#include "lib/rcu.h"
#include "tunnels/tunnel.h"
#include "tunnels/vxlan.h"

/* splitmix64, seeded from the environment or the clock. */
static uint64_t random_state;

static inline uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline uint32_t random_below(uint32_t n)
{
	return (uint32_t)(random_u64() % n);
}

static inline void random_bytes(uint8_t *p, size_t n)
{
	while (n--)
		*p++ = (uint8_t)random_u64();
}

static inline void random_seed(void)
{
	const char *seed = getenv("SEED");

	random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
	printf("SEED=%llu\n", (unsigned long long)random_state);
}

static inline struct ip ip_of(const char *text)
{
	struct ip ip;

	assert_true(ip_parse(text, &ip));
	return ip;
}

/* One underlay port (0), one access port (1), one network with a VNI. */
#define PORT_UNDERLAY 0
#define PORT_ACCESS 1
#define NETWORK_BLUE 7
#define VNI_BLUE 0xabcdef

struct world {
	struct tables tables;
	struct counters counters;
	struct lane lane;
	struct pool pool;
	struct port_view port[2];
	struct tunnel_set set;
	struct network network;
	struct spsc resolve_events;
	struct spsc learn_events;
	struct burst burst;
};

static inline struct tunnel_options default_options(void)
{
	struct tunnel_options o = {
		.n_local = 2, .udp_port = 4789, .source_port_min = 49152, .source_port_max = 65535,
		.ttl = 64, .df = DF_SET, .checksum = CHECKSUM_AUTO,
	};

	o.local[0] = ip_of("192.0.2.1");
	o.local[1] = ip_of("2001:db8::1");
	return o;
}

static inline struct world *world_create(const struct tunnel_options *o)
{
	static const struct flood_list nobody;
	struct world *w = aligned_alloc(CACHE_LINE, sizeof(*w));

	assert_non_null(w);
	memset(w, 0, sizeof(*w));
	for (int i = 0; i < 2; i++)
		w->tables.port[i] = &w->port[i];
	w->port[PORT_ACCESS] = (struct port_view){.up = true, .frame_max = 9018};
	w->port[PORT_UNDERLAY] = w->port[PORT_ACCESS];
	w->port[PORT_UNDERLAY].underlay = true;
	w->network = (struct network){
		.id = NETWORK_BLUE, .vni = VNI_BLUE, .tunnels = &w->set, .flood = &nobody};
	w->tables.network[NETWORK_BLUE] = &w->network;
	w->tables.tunnels = tunnels_create(o);
	assert_non_null(w->tables.tunnels);
	tunnels_set_vni(w->tables.tunnels, VNI_BLUE, NETWORK_BLUE);
	assert_int_equal(spsc_init(&w->resolve_events, 8, sizeof(uint16_t)), 0);
	assert_int_equal(spsc_init(&w->learn_events, 8, sizeof(struct learn_event)), 0);
	w->lane = (struct lane){
		.tables = &w->tables, .pool = &w->pool, .counters = &w->counters,
		.learn_events = &w->learn_events, .resolve_events = &w->resolve_events,
		.now_ns = 1000000000, .now_s = 1,
	};
	return w;
}

static inline void world_destroy(struct world *w)
{
	tunnels_destroy(w->tables.tunnels);
	spsc_fini(&w->resolve_events);
	spsc_fini(&w->learn_events);
	free(w);
}

/* A remote VTEP of NETWORK_BLUE, resolved when there is a path. */
static inline uint16_t world_tunnel(struct world *w, const struct ip *remote,
				    const struct tunnel_path *path)
{
	uint16_t id = tunnels_add(w->tables.tunnels, remote);

	assert_int_not_equal(id, EGRESS_NONE);
	if (path)
		assert_int_equal(tunnels_set_path(w->tables.tunnels, id, path), 0);
	w->set.bits[(id - EGRESS_TUNNEL0) / 64] |= 1ull << (id - EGRESS_TUNNEL0) % 64;
	return id;
}

static inline struct tunnel_path default_path(bool v4)
{
	return (struct tunnel_path){
		.state = TUNNEL_OK, .egress_port = PORT_UNDERLAY, .mtu = 2000,
		.source = ip_of(v4 ? "192.0.2.1" : "2001:db8::1"),
		.source_mac = {{2, 0, 0, 0, 0, 1}}, .next_hop_mac = {{2, 0, 0, 0, 0, 2}},
	};
}

/* call_rcu wants a registered thread, and what it frees should be gone before the leak checker
 * looks. */
static inline int rcu_begin(void **state)
{
	rcu_register_thread();
	return 0;
}

static inline int rcu_end(void **state)
{
	rcu_barrier();
	rcu_unregister_thread();
	return 0;
}

/* RFC 1071 over 16-bit words, one at a time, the carry at once. */
static inline uint32_t slow_sum(const uint8_t *p, size_t n, uint32_t sum)
{
	for (size_t i = 0; i < n; i++) {
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

static inline void put(uint8_t **at, const void *bytes, size_t n)
{
	memcpy(*at, bytes, n);
	*at += n;
}

static inline void put8(uint8_t **at, uint32_t v)
{
	*(*at)++ = (uint8_t)v;
}

static inline void put16(uint8_t **at, uint32_t v)
{
	put8(at, v >> 8);
	put8(at, v & 255);
}

/* What is to be wrapped around a frame. */
struct slow_outer {
	struct mac destination_mac, source_mac;
	struct ip source, destination;
	uint8_t tos, ttl;
	bool df, checksum;
	uint16_t ip_id, source_port, udp_port;
	uint32_t vni;
};

/* Returns the length of what was written to @out. */
static inline size_t slow_encap(const struct slow_outer *o, const uint8_t *frame, size_t n,
				uint8_t *out)
{
	bool v4 = ip_is_v4(&o->destination);
	uint8_t *at = out, *ip, *udp, pseudo[4];
	uint32_t sum;

	put(&at, &o->destination_mac, 6);
	put(&at, &o->source_mac, 6);
	put16(&at, v4 ? 0x0800 : 0x86dd);
	ip = at;
	if (v4) {
		put8(&at, 0x45);
		put8(&at, o->tos);
		put16(&at, (uint32_t)(20 + 8 + 8 + n));
		put16(&at, o->ip_id);
		put16(&at, o->df ? 1 << 14 : 0);	/* bit 1 of the flags: do not fragment */
		put8(&at, o->ttl);
		put8(&at, 17);
		put16(&at, 0);
		put(&at, o->source.byte + 12, 4);
		put(&at, o->destination.byte + 12, 4);
		sum = 0xffff - slow_sum(ip, 20, 0);
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
	} else {
		put16(&at, 6u << 12 | (uint32_t)o->tos << 4);
		put16(&at, 0);	/* flow label */
		put16(&at, (uint32_t)(8 + 8 + n));
		put8(&at, 17);
		put8(&at, o->ttl);
		put(&at, o->source.byte, 16);
		put(&at, o->destination.byte, 16);
	}
	udp = at;
	put16(&at, o->source_port);
	put16(&at, o->udp_port);
	put16(&at, (uint32_t)(8 + 8 + n));
	put16(&at, 0);
	put16(&at, 0x0800);	/* I */
	put16(&at, 0);
	put16(&at, o->vni >> 8);
	put16(&at, (o->vni & 255) << 8);
	put(&at, frame, n);
	if (o->checksum) {
		/* Pseudo header: addresses, protocol, UDP length. */
		pseudo[0] = 0;
		pseudo[1] = 17;
		pseudo[2] = udp[4];
		pseudo[3] = udp[5];
		sum = slow_sum(o->source.byte + (v4 ? 12 : 0), v4 ? 4 : 16, 0);
		sum = slow_sum(o->destination.byte + (v4 ? 12 : 0), v4 ? 4 : 16, sum);
		sum = slow_sum(pseudo, 4, sum);
		sum = 0xffff - slow_sum(udp, (size_t)(at - udp), sum);
		if (sum == 0)
			sum = 0xffff;
		udp[6] = (uint8_t)(sum >> 8);
		udp[7] = (uint8_t)sum;
	}
	return (size_t)(at - out);
}

/* An inner frame, and what of it shows outside. */
struct inner_frame {
	uint8_t byte[2048];
	size_t n;
	size_t l3;
	bool ip;		/* well-formed IP of either family */
	bool v6;
	bool df;
	uint8_t tos;
};

enum inner_kind { INNER_ARP, INNER_V4, INNER_V6, INNER_V4_BAD, INNER_V4_TAGGED, INNER_KINDS };

static inline void make_inner(struct inner_frame *f, enum inner_kind kind, size_t payload)
{
	static const struct mac destination = {{2, 0, 0, 0, 0, 0xd}};
	static const struct mac source = {{2, 0, 0, 0, 0, 0x5}};
	uint8_t *at = f->byte, *ip;
	uint32_t sum;

	memset(f, 0, sizeof(*f));
	put(&at, &destination, 6);
	put(&at, &source, 6);
	if (kind == INNER_V4_TAGGED) {
		put16(&at, 0x8100);
		put16(&at, 100);
	}
	put16(&at, kind == INNER_ARP ? 0x0806 : kind == INNER_V6 ? 0x86dd : 0x0800);
	ip = at;
	f->l3 = (size_t)(ip - f->byte);
	f->tos = (uint8_t)random_u64();
	f->ip = kind != INNER_ARP && kind != INNER_V4_BAD;
	if (kind == INNER_V6) {
		f->v6 = true;
		put16(&at, 6u << 12 | (uint32_t)f->tos << 4 | random_below(16));
		put16(&at, random_below(65536));
		put16(&at, (uint32_t)(8 + payload));
		put8(&at, 17);
		put8(&at, 1 + random_below(255));
		random_bytes(at, 32);
		at += 32;
	} else if (kind != INNER_ARP) {
		f->df = random_below(2);
		put8(&at, kind == INNER_V4_BAD ? 0x65 : 0x45);
		put8(&at, f->tos);
		put16(&at, (uint32_t)(20 + 8 + payload));
		put16(&at, random_below(65536));
		put16(&at, f->df ? 0x4000 : 0);
		put8(&at, 1 + random_below(255));
		put8(&at, 17);
		put16(&at, 0);
		random_bytes(at, 8);
		at += 8;
		sum = 0xffff - slow_sum(ip, 20, 0);
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
	}
	if (kind != INNER_ARP) {
		put16(&at, random_below(65536));
		put16(&at, random_below(65536));
		put16(&at, (uint32_t)(8 + payload));
		put16(&at, 0);
	}
	random_bytes(at, payload);
	f->n = (size_t)(at - f->byte) + payload;
}

#endif

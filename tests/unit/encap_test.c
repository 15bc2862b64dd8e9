/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/vxlan_oracle.h"

#include "lib/clock.h"

#define AREA_BYTES FRAME_BYTES

/* A packet whose last byte is the last one of its frame, which is a block of its own: whoever reads
 * on is caught. */
static struct packet *load_packet(struct world *w, const uint8_t *frame, size_t n, uint16_t egress)
{
	struct packet *p = &w->burst.packet[0];

	if (!w->pool.area)
		w->pool.area = aligned_alloc(FRAME_BYTES, AREA_BYTES);
	memset(p, 0, sizeof(*p));
	p->data = w->pool.area + AREA_BYTES - n;
	p->len = (uint16_t)n;
	memcpy(p->data, frame, n);
	p->rx_port = p->ingress = PORT_ACCESS;
	assert_true(parse_packet(p));
	p->rx_port = p->ingress = PORT_ACCESS;
	p->tag = TAG_NONE;
	p->tci = 0;
	p->network = NETWORK_BLUE;
	p->egress = egress;
	w->burst.n = 1;
	return p;
}

static void world_end(struct world *w)
{
	free(w->pool.area);
	world_destroy(w);
}

static uint16_t source_port_of(struct world *w, const struct tunnel_options *o)
{
	struct packet copy = w->burst.packet[0];

	return vxlan_source_port(o, packet_hash(&w->lane, &copy));
}

/* The frame with an 802.1Q tag as its port had it. */
static size_t tagged(const struct inner_frame *f, uint8_t *out)
{
	static const uint8_t tag[4] = {0x81, 0x00, 0x60, 0x64};

	memcpy(out, f->byte, 12);
	memcpy(out + 12, tag, 4);
	memcpy(out + 16, f->byte + 12, f->n - 12);
	return f->n + 4;
}

struct way {
	struct tunnel_options options;
	struct ip remote;
	struct tunnel_path path;
};

static void compare(struct world *w, const struct way *way, uint16_t id,
		    const struct inner_frame *f, bool own_tag)
{
	bool v4 = ip_is_v4(&way->remote);
	const struct tunnel_options *o = &way->options;
	struct slow_outer outer = {
		.destination_mac = way->path.next_hop_mac, .source_mac = way->path.source_mac,
		.source = way->path.source, .destination = way->remote, .ttl = o->ttl,
		.udp_port = o->udp_port, .vni = VNI_BLUE,
	};
	uint64_t sent = w->counters.tunnel[id - EGRESS_TUNNEL0].tx_packets;
	uint64_t sent_bytes = w->counters.tunnel[id - EGRESS_TUNNEL0].tx_bytes;
	uint8_t with_tag[2100], want[2200];
	struct packet *p;
	size_t n;

	p = load_packet(w, f->byte, f->n, id);
	outer.source_port = source_port_of(w, o);
	if (own_tag) {
		n = tagged(f, with_tag);
		p = load_packet(w, with_tag, n, id);
		p->tag = TAG_FRAME;
		p->tci = 0x6064;
	}
	outer.tos = (uint8_t)(o->dscp_inherit ? (f->ip ? f->tos : 0) :
						o->dscp * 4 + (f->ip ? f->tos % 4 : 0));
	outer.df = o->df == DF_SET || (o->df == DF_INHERIT && f->ip && (f->v6 || f->df));
	outer.checksum = o->checksum == CHECKSUM_ON || (o->checksum == CHECKSUM_AUTO && !v4);
	if (random_below(2))
		p->vni = outer.vni = 1 + random_below(VNI_MAX); /* a rule's word */
	encap(&w->lane, &w->burst);
	assert_int_equal(p->drop, DROP_NONE);
	if (v4)
		outer.ip_id = (uint16_t)(p->data[18] << 8 | p->data[19]);
	n = slow_encap(&outer, f->byte, f->n, want);
	assert_int_equal(p->len, n);
	assert_memory_equal(p->data, want, n);
	assert_int_equal(p->egress, PORT_UNDERLAY);
	assert_int_equal(p->tag, TAG_NONE);
	assert_int_equal(p->rx_port, PORT_ACCESS);
	assert_int_equal(w->counters.tunnel[id - EGRESS_TUNNEL0].tx_packets, sent + 1);
	assert_int_equal(w->counters.tunnel[id - EGRESS_TUNNEL0].tx_bytes, sent_bytes + f->n);
}

/* Every combination of the options, on random frames, byte for byte. */
static void all_options(void **state)
{
	static struct inner_frame f;

	for (unsigned int i = 0; i < 2 * 3 * 3 * 2; i++) {
		struct way way = {.options = default_options(), .path = default_path(i % 2)};
		struct world *w;
		uint16_t id;

		way.remote = ip_of(i % 2 ? "198.51.100.77" : "2001:db8:77::beef");
		way.options.df = i / 2 % 3;
		way.options.checksum = i / 6 % 3;
		way.options.dscp_inherit = i / 18 % 2;
		way.options.dscp = (uint8_t)random_below(64);
		way.options.ttl = (uint8_t)(1 + random_below(255));
		way.options.udp_port = (uint16_t)(1 + random_below(65535));
		way.options.source_port_min = (uint16_t)random_below(30000);
		way.options.source_port_max = (uint16_t)(30000 + random_below(35000));
		random_bytes(way.path.next_hop_mac.byte, 6);
		random_bytes(way.path.source_mac.byte, 6);
		w = world_create(&way.options);
		id = world_tunnel(w, &way.remote, &way.path);
		for (int n = 0; n < 60; n++) {
			make_inner(&f, n % INNER_KINDS, random_below(1400));
			compare(w, &way, id, &f, n % 2);
		}
		world_end(w);
	}
}

/* A checksum that comes out as zero goes out as all ones. */
static void checksum_zero(void **state)
{
	static struct inner_frame f;

	for (int v4 = 0; v4 < 2; v4++) {
		struct way way = {.options = default_options(), .path = default_path(v4)};
		size_t outer_bytes = v4 ? VXLAN_OVERHEAD_V4 : VXLAN_OVERHEAD_V6;
		struct world *w;
		struct packet *p;
		uint16_t id;

		way.remote = ip_of(v4 ? "192.0.2.9" : "2001:db8::9");
		way.options.checksum = CHECKSUM_ON;
		w = world_create(&way.options);
		id = world_tunnel(w, &way.remote, &way.path);
		make_inner(&f, INNER_V4, 64);
		f.byte[f.n - 2] = f.byte[f.n - 1] = 0;
		p = load_packet(w, f.byte, f.n, id);
		encap(&w->lane, &w->burst);
		/* Put into the data, the checksum makes the new one zero. */
		memcpy(f.byte + f.n - 2, p->data + outer_bytes - 10, 2);
		p = load_packet(w, f.byte, f.n, id);
		encap(&w->lane, &w->burst);
		assert_memory_equal(p->data + outer_bytes - 10, "\xff\xff", 2);
		compare(w, &way, id, &f, false);
		world_end(w);
	}
}

/* RFC 6040, 4.1, normal mode: the outer field is the inner one, CE included. */
static void ecn_out(void **state)
{
	static struct inner_frame f;

	for (unsigned int i = 0; i < 16; i++) {
		bool v4 = i / 8;
		struct tunnel_options o = default_options();
		struct tunnel_path path = default_path(v4);
		struct ip remote = ip_of(v4 ? "192.0.2.9" : "2001:db8::9");
		struct world *w = world_create(&o);
		uint16_t id = world_tunnel(w, &remote, &path);
		struct packet *p;
		uint8_t tos;

		make_inner(&f, i / 4 % 2 ? INNER_V6 : INNER_V4, 10);
		if (f.v6)
			f.byte[f.l3 + 1] = (uint8_t)((f.byte[f.l3 + 1] & 0xcf) | i % 4 << 4);
		else
			f.byte[f.l3 + 1] = (uint8_t)((f.byte[f.l3 + 1] & 0xfc) | i % 4);
		p = load_packet(w, f.byte, f.n, id);
		encap(&w->lane, &w->burst);
		assert_int_equal(p->drop, DROP_NONE);
		tos = v4 ? p->data[15] : (uint8_t)(p->data[14] << 4 | p->data[15] >> 4);
		assert_int_equal(tos, i % 4);
		world_end(w);
	}
}

static void ids_differ(void **state)
{
	static struct inner_frame f;
	struct tunnel_options o = default_options();
	struct tunnel_path path = default_path(true);
	struct ip remote = ip_of("192.0.2.9");
	struct world *w = world_create(&o);
	uint16_t id = world_tunnel(w, &remote, &path);
	uint16_t first = 0;

	make_inner(&f, INNER_V4, 10);
	for (int i = 0; i < 70000; i++) {
		struct packet *p = load_packet(w, f.byte, f.n, id);
		uint16_t ip_id;

		encap(&w->lane, &w->burst);
		ip_id = (uint16_t)(p->data[18] << 8 | p->data[19]);
		if (i == 0)
			first = ip_id;
		assert_int_equal(ip_id, (uint16_t)(first + i));
	}
	world_end(w);
}

static void too_big(void **state)
{
	static const struct {
		bool v4;
		uint16_t mtu, frame_max;
		uint32_t longest;
	} rows[] = {
		{true, 1500, 9018, 1464},
		{false, 1500, 9018, 1444},
		{true, 1500, 1400, 1350},
		{false, 1500, 1400, 1330},
		{true, 100, 60, 10},
		{true, 100, 20, 0},
		{false, 20, 9018, 0},
	};
	static struct inner_frame f;

	make_inner(&f, INNER_V4, 1900);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool v4 = rows[i].v4;
		struct tunnel_options o = default_options();
		struct tunnel_path path = default_path(v4);
		struct ip remote = ip_of(v4 ? "192.0.2.9" : "2001:db8::9");
		struct world *w = world_create(&o);
		struct tunnel_counters *c;
		struct packet *p;
		uint16_t id;

		path.mtu = rows[i].mtu;
		w->port[PORT_UNDERLAY].frame_max = rows[i].frame_max;
		id = world_tunnel(w, &remote, &path);
		c = &w->counters.tunnel[id - EGRESS_TUNNEL0];
		for (uint32_t n = 14; n < 1900; n += n + 1 == rows[i].longest ? 1 : 1 + n % 3) {
			p = load_packet(w, f.byte, n, id);
			encap(&w->lane, &w->burst);
			assert_int_equal(p->drop, n > rows[i].longest ? DROP_TOO_BIG : DROP_NONE);
			if (p->drop)
				assert_int_equal(p->detail, (uint64_t)n << 32 | rows[i].longest);
		}
		assert_true(c->lost > 0);
		/* The port's own tag is not counted: it does not travel. */
		if (rows[i].longest >= 18) {
			p = load_packet(w, f.byte, rows[i].longest + 4, id);
			p->tag = TAG_FRAME;
			encap(&w->lane, &w->burst);
			assert_int_equal(p->drop, DROP_NONE);
		}
		world_end(w);
	}
}

static void no_headroom(void **state)
{
	static struct inner_frame f;

	for (int v4 = 0; v4 < 2; v4++) {
		struct tunnel_options o = default_options();
		struct tunnel_path path = default_path(v4);
		struct ip remote = ip_of(v4 ? "192.0.2.9" : "2001:db8::9");
		struct world *w = world_create(&o);
		uint16_t id = world_tunnel(w, &remote, &path);

		make_inner(&f, INNER_V4, 10);
		for (uint32_t room = 0; room < 100; room++) {
			struct packet *p = load_packet(w, f.byte, f.n, id);

			p->data = w->pool.area + room;
			memcpy(p->data, f.byte, f.n);
			encap(&w->lane, &w->burst);
			assert_int_equal(p->drop, room < (v4 ? 50 : 70) ? DROP_TOO_BIG : DROP_NONE);
		}
		world_end(w);
	}
}

static uint32_t drain(struct world *w, uint16_t want)
{
	uint32_t n = 0;
	uint16_t id;

	while (spsc_pop(&w->resolve_events, &id)) {
		assert_int_equal(id, want);
		n++;
	}
	return n;
}

/* Two seconds of lost packets tell control a few times, not two thousand. */
static void resolve_events(void **state)
{
	static struct inner_frame f;
	struct tunnel_options o = default_options();
	struct tunnel_path path = default_path(true);
	struct ip remote = ip_of("192.0.2.9"), other = ip_of("192.0.2.8");
	struct world *w = world_create(&o);
	uint16_t id = world_tunnel(w, &remote, NULL);
	uint16_t other_id = world_tunnel(w, &other, NULL);
	uint32_t told = 0;

	make_inner(&f, INNER_V4, 10);
	for (int ms = 0; ms < 2000; ms++) {
		struct packet *p = load_packet(w, f.byte, f.n, id);

		encap(&w->lane, &w->burst);
		assert_int_equal(p->drop, DROP_NO_ROUTE);
		assert_int_equal(p->detail, 0xc0000209);
		assert_int_equal(p->egress, id);
		w->lane.now_ns += NS_PER_MS;
		told += drain(w, id);
		assert_true(ms || told == 1);
	}
	assert_int_equal(told, 8);
	assert_int_equal(w->counters.tunnel[id - EGRESS_TUNNEL0].lost, 2000);
	assert_int_equal(w->counters.tunnel[id - EGRESS_TUNNEL0].tx_packets, 0);

	/* Another tunnel has a right of its own. */
	load_packet(w, f.byte, f.n, other_id);
	encap(&w->lane, &w->burst);
	assert_int_equal(drain(w, other_id), 1);

	/* What did not fit the ring is said again. */
	w->lane.now_ns += NS_PER_S;
	while (spsc_push(&w->resolve_events, &id))
		;
	load_packet(w, f.byte, f.n, id);
	encap(&w->lane, &w->burst);
	drain(w, id);
	load_packet(w, f.byte, f.n, id);
	encap(&w->lane, &w->burst);
	assert_int_equal(drain(w, id), 1);

	path.state = TUNNEL_NO_NEIGHBOUR;
	assert_int_equal(tunnels_set_path(w->tables.tunnels, id, &path), 0);
	w->lane.now_ns += NS_PER_S;
	assert_int_equal(load_packet(w, f.byte, f.n, id)->drop, 0);
	encap(&w->lane, &w->burst);
	assert_int_equal(w->burst.packet[0].drop, DROP_NO_NEIGHBOUR);
	assert_int_equal(drain(w, id), 1);
	world_end(w);
}

static void refused(void **state)
{
	static struct inner_frame f;
	struct tunnel_options o = default_options();
	struct tunnel_path path = default_path(true);
	struct ip remote = ip_of("192.0.2.9");
	struct world *w = world_create(&o);
	uint16_t id = world_tunnel(w, &remote, &path);
	struct packet *p;

	make_inner(&f, INNER_V4, 10);
	w->port[PORT_UNDERLAY].up = false;
	p = load_packet(w, f.byte, f.n, id);
	encap(&w->lane, &w->burst);
	assert_int_equal(p->drop, DROP_PORT_DOWN);
	w->port[PORT_UNDERLAY].up = w->port[PORT_UNDERLAY].shut = true;
	load_packet(w, f.byte, f.n, id);
	encap(&w->lane, &w->burst);
	assert_int_equal(p->drop, DROP_PORT_DOWN);
	w->port[PORT_UNDERLAY].shut = false;
	w->tables.port[PORT_UNDERLAY] = NULL;
	load_packet(w, f.byte, f.n, id);
	encap(&w->lane, &w->burst);
	assert_int_equal(p->drop, DROP_PORT_DOWN);
	w->tables.port[PORT_UNDERLAY] = &w->port[PORT_UNDERLAY];

	w->network.vni = 0;
	load_packet(w, f.byte, f.n, id);
	encap(&w->lane, &w->burst);
	assert_int_equal(p->drop, DROP_NO_ROUTE);
	w->tables.network[NETWORK_BLUE] = NULL;
	load_packet(w, f.byte, f.n, id);
	encap(&w->lane, &w->burst);
	assert_int_equal(p->drop, DROP_NO_ROUTE);
	w->tables.network[NETWORK_BLUE] = &w->network;
	w->network.vni = VNI_BLUE;

	load_packet(w, f.byte, f.n, id + 1);
	encap(&w->lane, &w->burst);
	assert_int_equal(p->drop, DROP_NO_ROUTE);
	assert_false(spsc_pending(&w->resolve_events));
	world_end(w);
}

/* Packets for ports and dead ones are left alone. */
static void others_untouched(void **state)
{
	static struct inner_frame f;
	struct tunnel_options o = default_options();
	struct tunnel_path path = default_path(true);
	struct ip remote = ip_of("192.0.2.9");
	struct world *w = world_create(&o);
	uint16_t id = world_tunnel(w, &remote, &path);
	static const uint16_t egress[] = {PORT_ACCESS, EGRESS_FLOOD, EGRESS_NONE, EGRESS_MAX};
	struct packet before;

	make_inner(&f, INNER_V4, 10);
	for (size_t i = 0; i < ARRAY_SIZE(egress) + 1; i++) {
		struct packet *p = load_packet(w, f.byte, f.n, id);

		if (i < ARRAY_SIZE(egress))
			p->egress = egress[i];
		else
			drop_packet(p, DROP_SAME_PORT, 0);
		before = *p;
		encap(&w->lane, &w->burst);
		assert_memory_equal(p, &before, sizeof(before));
		assert_memory_equal(p->data, f.byte, f.n);
	}
	world_end(w);
}

/* A full burst in which ports, tunnels, dead packets and bad ways take turns: each gets its own
 * end. */
static void mixed_burst(void **state)
{
	static struct inner_frame f;
	struct tunnel_options o = default_options();
	struct tunnel_path v4 = default_path(true), v6 = default_path(false);
	struct ip remote[3] = {ip_of("192.0.2.9"), ip_of("2001:db8::9"), ip_of("192.0.2.10")};
	struct world *w = world_create(&o);
	const uint16_t egress[4] = {world_tunnel(w, &remote[0], &v4),
				    world_tunnel(w, &remote[1], &v6),
				    world_tunnel(w, &remote[2], NULL), PORT_ACCESS};
	uint8_t *area = aligned_alloc(FRAME_BYTES, BURST_MAX * FRAME_BYTES);

	make_inner(&f, INNER_V4, 100);
	load_packet(w, f.byte, f.n, 0);
	free(w->pool.area);
	w->pool.area = area;
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		struct packet *p = &w->burst.packet[i];

		*p = w->burst.packet[0];
		p->data = pool_data(&w->pool, i);
		memcpy(p->data, f.byte, f.n);
		p->egress = egress[i % 4];
		p->drop = i % 5 ? DROP_NONE : DROP_SAME_PORT;
	}
	w->burst.n = BURST_MAX;
	encap(&w->lane, &w->burst);
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		const struct packet *p = &w->burst.packet[i];
		size_t grown = i % 4 ? VXLAN_OVERHEAD_V6 : VXLAN_OVERHEAD_V4;

		if (i % 5 == 0 || i % 4 > 1)
			grown = 0;
		assert_int_equal(p->drop, i % 5 == 0 ? DROP_SAME_PORT :
					  i % 4 == 2 ? DROP_NO_ROUTE : DROP_NONE);
		assert_int_equal(p->len, f.n + grown);
		assert_int_equal(p->egress, grown ? PORT_UNDERLAY : egress[i % 4]);
		assert_int_equal(p->outer, grown);
		assert_int_equal(p->tunnel, grown ? egress[i % 4] : 0);
		assert_memory_equal(p->data + grown, f.byte, f.n);
	}
	assert_int_equal(drain(w, egress[2]), 1);
	world_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_options),
		cmocka_unit_test(checksum_zero),
		cmocka_unit_test(ecn_out),
		cmocka_unit_test(ids_differ),
		cmocka_unit_test(too_big),
		cmocka_unit_test(no_headroom),
		cmocka_unit_test(resolve_events),
		cmocka_unit_test(refused),
		cmocka_unit_test(others_untouched),
		cmocka_unit_test(mixed_burst),
	};

	random_seed();
	return cmocka_run_group_tests(tests, rcu_begin, rcu_end);
}

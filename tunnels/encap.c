/* SPDX-License-Identifier: BSD-2-Clause */
#include "tunnels/vxlan.h"

#include "dataplane/stages.h"
#include "dataplane/vlan.h"
#include "lib/bytes.h"
#include "lib/checksum.h"
#include "lib/hash.h"
#include "lib/rcu.h"
#include "tunnels/wire.h"

/* What the outer header takes over from the inner packet and from the worker. */
struct inner {
	uint32_t vni;
	uint16_t source_port;
	uint16_t ip_id;
	uint8_t tos;
	bool df;		/* when that is inherited */
};

/* A packet without a way. Control hears of it a few times a second, not for each one. */
static void drop_unreachable(struct lane *lane, struct packet *p, const struct tunnel *tunnel)
{
	uint64_t *sent_at = &lane->tables->tunnels->resolve_sent_ns[p->egress - EGRESS_TUNNEL0];
	uint64_t sent_ns = load_relaxed(sent_at);

	drop_packet(p, tunnel->state == TUNNEL_NO_ROUTE ? DROP_NO_ROUTE : DROP_NO_NEIGHBOUR,
		    get_be32(tunnel->remote.byte + 12));
	/* Another worker's clock may be a little ahead of ours. */
	if (sent_ns && lane->now_ns < sent_ns + RESOLVE_REPEAT_NS)
		return;
	if (spsc_push(lane->resolve_events, &p->egress))
		store_relaxed(sent_at, lane->now_ns);
}

/* Whether the frame fits the way and its headroom. */
static bool fits(const struct lane *lane, struct packet *p, const struct tunnel *tunnel,
		 const struct port_view *port)
{
	uint32_t longest = tunnel->inner_max;

	if (longest + tunnel->header_bytes > port->frame_max)
		longest = port->frame_max > tunnel->header_bytes ?
				  port->frame_max - tunnel->header_bytes : 0;
	if (pool_headroom(lane->pool, p->data) < tunnel->header_bytes)
		longest = 0;
	if (p->len <= longest)
		return true;
	drop_packet(p, DROP_TOO_BIG, (uint64_t)p->len << 32 | longest);
	return false;
}

static void read_inner(const struct tunnel_options *o, const struct packet *p, struct inner *inner)
{
	bool ip = p->flags & (PKT_IPV4 | PKT_IPV6);
	uint8_t tos = ip ? p->l3_tos : 0;

	inner->tos = o->dscp_inherit ? tos : (uint8_t)(o->dscp << 2 | (tos & ECN_MASK));
	inner->df = false;
	if (ip)
		inner->df = p->flags & PKT_IPV6 ||
			    get_be16(p->data + p->l3 + IPV4_FRAGMENT) & IPV4_DF;
}

static void fill_udp(const struct tunnel *tunnel, const struct inner *inner, uint8_t *header,
		     uint16_t inner_bytes)
{
	uint8_t *vxlan = header + tunnel->header_bytes - VXLAN_BYTES;
	uint8_t *udp = vxlan - UDP_BYTES;
	uint16_t length = inner_bytes + UDP_BYTES + VXLAN_BYTES;
	uint64_t sum;

	put_be16(udp + TP_SRC, inner->source_port);
	put_be16(udp + UDP_LENGTH, length);
	put_be32(vxlan + VXLAN_VNI, inner->vni << 8);
	if (!tunnel->checksum)
		return;
	/* The length counts twice: in the pseudo header and in UDP's own. */
	sum = tunnel->udp_sum + 2 * checksum_word(length) + checksum_word(inner->source_port);
	sum = checksum_add(vxlan + VXLAN_VNI, 4u + inner_bytes, sum);
	checksum_store_udp(udp + UDP_CHECKSUM, sum);
}

static void fill_ipv4(const struct tunnel_options *o, const struct tunnel *tunnel,
		      const struct inner *inner, uint8_t *header, uint16_t inner_bytes)
{
	uint8_t *ip = header + ETH_BYTES;
	uint16_t length = inner_bytes + VXLAN_OVERHEAD_V4 - ETH_BYTES;
	uint64_t sum = tunnel->ip_sum;

	memcpy(header, tunnel->header, VXLAN_OVERHEAD_V4);
	ip[IPV4_TOS] = inner->tos;
	put_be16(ip + IPV4_LENGTH, length);
	put_be16(ip + IPV4_ID, inner->ip_id);
	sum += checksum_word(inner->tos) + checksum_word(length) + checksum_word(inner->ip_id);
	if (o->df == DF_INHERIT && inner->df) {
		put_be16(ip + IPV4_FRAGMENT, IPV4_DF);
		sum += checksum_word(IPV4_DF);
	}
	checksum_store(ip + IPV4_CHECKSUM, sum);
}

static void fill_ipv6(const struct tunnel *tunnel, const struct inner *inner, uint8_t *header,
		      uint16_t inner_bytes)
{
	uint8_t *ip = header + ETH_BYTES;

	memcpy(header, tunnel->header, VXLAN_OVERHEAD_V6);
	ip[0] |= inner->tos >> 4;
	ip[1] = (uint8_t)(inner->tos << 4);
	put_be16(ip + IPV6_LENGTH, inner_bytes + UDP_BYTES + VXLAN_BYTES);
}

/* From here on @p is what it looks like on the underlay. */
static void describe_outer(struct packet *p, const struct tunnel *tunnel, uint8_t tos)
{
	bool v4 = tunnel->header_bytes == VXLAN_OVERHEAD_V4;

	p->data -= tunnel->header_bytes;
	p->len += tunnel->header_bytes;
	p->outer = tunnel->header_bytes;
	p->tunnel = p->egress;
	p->egress = tunnel->egress_port;
	p->ethertype = v4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;
	p->l3 = ETH_BYTES;
	p->l4 = ETH_BYTES + (v4 ? IPV4_BYTES : IPV6_BYTES);
	p->ip_proto = PROTO_UDP;
	p->l3_tos = tos;
	p->flags = (uint8_t)((p->flags & PKT_COPY) | PKT_L4 | (v4 ? PKT_IPV4 : PKT_IPV6));
	p->tag = TAG_NONE;
	p->tci = 0;
}

/* What the rule said, or the VNI of the packet's network, or 0. */
static uint32_t vni_of(const struct tables *tables, const struct packet *p)
{
	const struct network *network = rcu_dereference(tables->network[p->network]);

	if (p->vni)
		return p->vni;
	return network ? network->vni : 0;
}

/* True when the packet is ready for the underlay port. */
static bool encap_packet(struct lane *lane, struct packet *p, struct tunnel_counters *counters,
			 uint16_t id_offset)
{
	const struct tables *tables = lane->tables;
	const struct tunnel *tunnel =
		tables->tunnels ? tunnels_get(tables->tunnels, p->egress) : NULL;
	struct inner inner = {.vni = vni_of(tables, p)};
	const struct tunnel_options *options;
	const struct port_view *port;

	if (!tunnel || !inner.vni) {
		drop_packet(p, DROP_NO_ROUTE, 0);
		return false;
	}
	if (tunnel->state != TUNNEL_OK) {
		drop_unreachable(lane, p, tunnel);
		return false;
	}
	port = rcu_dereference(tables->port[tunnel->egress_port]);
	if (!port || !port->up || port->shut) {
		drop_packet(p, DROP_PORT_DOWN, tunnel->egress_port);
		return false;
	}
	/* The port's own tag stays behind. */
	if (p->tag == TAG_FRAME)
		vlan_pop(p);
	if (!fits(lane, p, tunnel, port))
		return false;

	options = &tables->tunnels->options;
	read_inner(options, p, &inner);
	inner.source_port = vxlan_source_port(options, packet_hash(lane, p));
	/* Never the same twice within a datagram's life: a router on the way may cut it in
	 * pieces. */
	inner.ip_id = (uint16_t)(id_offset + load_relaxed(&counters->tx_packets));
	counter_add(&counters->tx_packets, 1);
	counter_add(&counters->tx_bytes, p->len);
	if (tunnel->header_bytes == VXLAN_OVERHEAD_V4)
		fill_ipv4(options, tunnel, &inner, p->data - VXLAN_OVERHEAD_V4, p->len);
	else
		fill_ipv6(tunnel, &inner, p->data - VXLAN_OVERHEAD_V6, p->len);
	fill_udp(tunnel, &inner, p->data - tunnel->header_bytes, p->len);
	describe_outer(p, tunnel, inner.tos);
	return true;
}

void encap(struct lane *lane, struct burst *burst)
{
	/* Workers send to the same VTEP with one address: each begins somewhere else in the IDs. */
	uint64_t seed = lane->tables->tunnels ? lane->tables->tunnels->seed : 0;
	uint16_t id_offset = (uint16_t)hash_u64((uintptr_t)lane, seed);

	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];
		struct tunnel_counters *counters;

		if (p->drop || !egress_is_tunnel(p->egress))
			continue;
		counters = &lane->counters->tunnel[p->egress - EGRESS_TUNNEL0];
		if (!encap_packet(lane, p, counters, id_offset))
			counter_add(&counters->lost, 1);
	}
}

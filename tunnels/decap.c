/* SPDX-License-Identifier: BSD-2-Clause */
#include "tunnels/vxlan.h"

#include "dataplane/mac.h"
#include "dataplane/stages.h"
#include "lib/bytes.h"
#include "lib/checksum.h"
#include "lib/rcu.h"
#include "tunnels/wire.h"

/* The outer headers, as far as they were read. */
struct outer {
	struct ip source;
	struct ip destination;
	uint32_t vni;
	uint16_t udp;		/* offset of the UDP header */
	uint16_t vxlan;		/* ... of the VXLAN header */
	uint16_t end;		/* where the packet ends: first of IP, then of UDP */
	uint8_t protocol;
	uint8_t ecn;
};

static bool drop(struct packet *p, enum drop_reason reason, uint64_t detail)
{
	drop_packet(p, reason, detail);
	return false;
}

static bool drop_short(struct packet *p, uint32_t wanted_bytes, uint32_t bytes)
{
	return drop(p, DROP_VXLAN_SHORT, (uint64_t)wanted_bytes << 32 | bytes);
}

/* RFC 791, 3.1 */
static bool read_ipv4(struct packet *p, struct outer *o)
{
	const uint8_t *ip = p->data + ETH_BYTES;
	uint32_t room = p->len - ETH_BYTES, header_bytes, total;

	if (room < IPV4_BYTES || ip[0] >> 4 != 4)
		return drop(p, DROP_OUTER_BAD, ETH_BYTES);
	header_bytes = (ip[0] & 15) * 4u;
	total = get_be16(ip + IPV4_LENGTH);
	if (header_bytes < IPV4_BYTES || header_bytes > room || total < header_bytes ||
	    checksum_fold(checksum_add(ip, header_bytes, 0)) != 0xffff)
		return drop(p, DROP_OUTER_BAD, ETH_BYTES);
	if (total > room)
		return drop_short(p, total, room);
	o->protocol = ip[IPV4_PROTOCOL];
	/* RFC 7348, 4.3: a VTEP does not fragment; what routers cut in pieces is not put together
	 * here. */
	if (o->protocol == PROTO_UDP && get_be16(ip + IPV4_FRAGMENT) & (IPV4_MF | IPV4_OFFSET))
		return drop(p, DROP_OUTER_BAD, ETH_BYTES);
	o->ecn = ip[IPV4_TOS] & ECN_MASK;
	o->source = ip_from_v4(ip + IPV4_SRC);
	o->destination = ip_from_v4(ip + IPV4_DST);
	o->udp = (uint16_t)(ETH_BYTES + header_bytes);
	o->end = (uint16_t)(ETH_BYTES + total);
	return true;
}

/* RFC 8200, 3. Extension headers are not looked behind: no VTEP sends any, and a fragment is
 * one. */
static bool read_ipv6(struct packet *p, struct outer *o)
{
	const uint8_t *ip = p->data + ETH_BYTES;
	uint32_t room = p->len - ETH_BYTES, total;

	if (room < IPV6_BYTES || ip[0] >> 4 != 6)
		return drop(p, DROP_OUTER_BAD, ETH_BYTES);
	total = IPV6_BYTES + get_be16(ip + IPV6_LENGTH);
	if (total > room)
		return drop_short(p, total, room);
	o->protocol = ip[IPV6_NEXT_HEADER];
	o->ecn = ip[1] >> 4 & ECN_MASK;
	o->source = ip_from_v6(ip + IPV6_SRC);
	o->destination = ip_from_v6(ip + IPV6_DST);
	o->udp = ETH_BYTES + IPV6_BYTES;
	o->end = (uint16_t)(ETH_BYTES + total);
	return true;
}

static bool read_ip(struct packet *p, struct outer *o)
{
	uint16_t ethertype = get_be16(p->data + ETHERTYPE_AT);

	/* Our VTEP addresses are the device's, not those of a VLAN on it. A priority tag is no
	 * VLAN. */
	if (p->tag == TAG_STRIPPED && VID_OF(p->tci))
		return drop(p, DROP_NOT_VXLAN, (uint64_t)VID_OF(p->tci) << 48);
	if (ethertype == ETHERTYPE_IPV4)
		return read_ipv4(p, o);
	if (ethertype == ETHERTYPE_IPV6)
		return read_ipv6(p, o);
	return drop(p, DROP_NOT_VXLAN, (uint64_t)ethertype << 32);
}

/* RFC 768. Bytes of the IP packet behind the UDP length do not belong to it. */
static bool read_udp(const struct tunnels *t, struct packet *p, struct outer *o)
{
	const uint8_t *udp = p->data + o->udp;
	uint32_t room = (uint32_t)o->end - o->udp, length;
	uint16_t port;

	if (o->protocol != PROTO_UDP)
		return drop(p, DROP_NOT_VXLAN, (uint64_t)o->protocol << 16);
	if (room < UDP_BYTES)
		return drop_short(p, UDP_BYTES, room);
	port = get_be16(udp + TP_DST);
	if (port != t->options.udp_port)
		return drop(p, DROP_NOT_VXLAN, (uint64_t)PROTO_UDP << 16 | port);
	if (!tunnels_is_local(t, &o->destination))
		return drop(p, DROP_VTEP_LOCAL, get_be32(o->destination.byte + 12));
	length = get_be16(udp + UDP_LENGTH);
	if (length < UDP_BYTES)
		return drop(p, DROP_OUTER_BAD, o->udp);
	if (length > room)
		return drop_short(p, length, room);
	o->vxlan = o->udp + UDP_BYTES;
	o->end = (uint16_t)(o->udp + length);
	return true;
}

/* RFC 7348, 5: the I flag must be set, what is reserved is ignored. */
static bool read_vxlan(struct packet *p, struct outer *o)
{
	const uint8_t *vxlan = p->data + o->vxlan;
	uint32_t room = (uint32_t)o->end - o->vxlan;

	if (room < VXLAN_BYTES)
		return drop_short(p, VXLAN_BYTES, room);
	if (!(vxlan[0] & VXLAN_FLAG_I))
		return drop(p, DROP_VXLAN_FLAGS, get_be32(vxlan));
	o->vni = get_be32(vxlan + VXLAN_VNI) >> 8;
	return true;
}

/* Which network, and whether the sender may speak in it. */
static bool admit(const struct tables *tables, struct packet *p, const struct outer *o)
{
	const struct tunnels *t = tables->tunnels;
	const struct network *network;
	uint16_t id, from;

	id = load_relaxed(&t->network_of_vni[o->vni]);
	network = id == NETWORK_NONE ? NULL : rcu_dereference(tables->network[id]);
	if (!network)
		return drop(p, DROP_VNI_UNKNOWN, o->vni);
	from = tunnels_find(t, &o->source);
	if (from == EGRESS_NONE || !tunnel_set_has(network->tunnels, from))
		return drop(p, DROP_VTEP_REMOTE,
			    (uint64_t)o->vni << 32 | get_be32(o->source.byte + 12));
	p->network = id;
	p->ingress = from;
	return true;
}

/* The frame inside, with what parse would refuse at a port. */
static bool read_inner(struct packet *p, const struct outer *o)
{
	uint16_t ingress = p->ingress;
	uint32_t inner = o->vxlan + VXLAN_BYTES;
	const uint8_t *source;

	p->data += inner;
	p->len = (uint16_t)(o->end - inner);
	p->hash = 0;
	p->hash_kind = HASH_NONE;
	p->flags = 0;
	p->tag = TAG_NONE;
	p->tci = 0;
	if (p->len < ETH_BYTES || !parse_packet(p))
		return drop(p, DROP_INNER_SHORT, p->len);
	/* Tags inside belong to the network. */
	p->tag = TAG_NONE;
	p->tci = 0;
	p->ingress = ingress;
	source = p->data + sizeof(struct mac);
	if (mac_is_no_source(source))
		return drop(p, DROP_BAD_SOURCE, fdb_key(NETWORK_NONE, source));
	if (mac_is_reserved(p->data))
		return drop(p, DROP_RESERVED, fdb_key(NETWORK_NONE, p->data));
	return true;
}

static void set_ecn(struct packet *p, uint8_t ecn)
{
	uint8_t *ip = p->data + p->l3;
	uint16_t before = get_be16(ip);

	if (p->flags & PKT_IPV4) {
		ip[IPV4_TOS] = (uint8_t)((ip[IPV4_TOS] & ~ECN_MASK) | ecn);
		checksum_adjust(ip + IPV4_CHECKSUM, before, get_be16(ip));
	} else {
		ip[1] = (uint8_t)((ip[1] & ~(ECN_MASK << 4)) | ecn << 4);
	}
	p->l3_tos = (uint8_t)((p->l3_tos & ~ECN_MASK) | ecn);
}

/* RFC 6040, figure 4: what becomes of the inner field (row) under the outer one (column). */
#define ECN_DROP 0xff
static const uint8_t ecn_decap[4][4] = {
	[ECN_NOT_ECT] = {[ECN_NOT_ECT] = ECN_NOT_ECT, [ECN_ECT_0] = ECN_NOT_ECT,
			 [ECN_ECT_1] = ECN_NOT_ECT, [ECN_CE] = ECN_DROP},
	[ECN_ECT_0] = {[ECN_NOT_ECT] = ECN_ECT_0, [ECN_ECT_0] = ECN_ECT_0,
		       [ECN_ECT_1] = ECN_ECT_1, [ECN_CE] = ECN_CE},
	[ECN_ECT_1] = {[ECN_NOT_ECT] = ECN_ECT_1, [ECN_ECT_0] = ECN_ECT_1,
		       [ECN_ECT_1] = ECN_ECT_1, [ECN_CE] = ECN_CE},
	[ECN_CE] = {[ECN_NOT_ECT] = ECN_CE, [ECN_ECT_0] = ECN_CE,
		    [ECN_ECT_1] = ECN_CE, [ECN_CE] = ECN_CE},
};

/* A frame that is not IP has no place for a mark and goes on without. */
static bool carry_ecn_in(struct packet *p, const struct outer *o)
{
	uint8_t inner = p->l3_tos & ECN_MASK, after;

	if (!(p->flags & (PKT_IPV4 | PKT_IPV6)))
		return true;
	after = ecn_decap[inner][o->ecn];
	if (after == ECN_DROP)
		return drop(p, DROP_ECN, o->vni);
	if (after != inner)
		set_ecn(p, after);
	return true;
}

static void decap_packet(struct lane *lane, struct packet *p)
{
	const struct tables *tables = lane->tables;
	struct tunnel_counters *counters;
	struct outer outer;

	if (p->len < ETH_BYTES) {
		drop_packet(p, DROP_RUNT, p->len);
		return;
	}
	if (!tables->tunnels) {
		drop_packet(p, DROP_NOT_VXLAN, 0);
		return;
	}
	if (!read_ip(p, &outer) || !read_udp(tables->tunnels, p, &outer) ||
	    !read_vxlan(p, &outer) || !admit(tables, p, &outer) || !read_inner(p, &outer) ||
	    !carry_ecn_in(p, &outer))
		return;
	counters = &lane->counters->tunnel[p->ingress - EGRESS_TUNNEL0];
	counter_add(&counters->rx_packets, 1);
	counter_add(&counters->rx_bytes, p->len);
}

void decap(struct lane *lane, struct burst *burst)
{
	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];
		const struct port_view *port;

		if (p->drop)
			continue;
		port = rcu_dereference(lane->tables->port[p->rx_port]);
		if (port && port->underlay)
			decap_packet(lane, p);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every load is preceded by a comparison with what the frame has; every loop has a bound of its
 * own.
 */
#include "dataplane/stages.h"

#include "dataplane/flow_table.h"
#include "dataplane/mac.h"
#include "dataplane/vlan.h"
#include "dataplane/wire.h"
#include "lib/bytes.h"
#include "lib/rcu.h"

#define TAGS_MAX 3		/* in the frame; what lies deeper stays unseen */
#define IPV4_NO_OPTIONS 0x45	/* version and length of the header */
#define IPV6_HEADERS_MAX 8	/* extension headers; behind more the ports stay unseen */

/* RFC 8200, 4 */
#define IPV6_EXTENSION_MIN 8
#define IPV6_MF 1		/* of a fragment header */
#define IPV6_OFFSET 0xfff8

/* TCP, UDP and SCTP begin with their ports. @end: of the IP packet. */
static inline bool has_ports(uint8_t proto, uint32_t at, uint32_t end)
{
	if (unlikely(at + PORTS_BYTES > end))
		return false;
	return proto == PROTO_TCP || proto == PROTO_UDP || proto == PROTO_SCTP;
}

/* RFC 791, 3.1. False: malformed. */
static inline bool parse_ipv4(struct packet *p)
{
	const uint8_t *ip = p->data + p->l3;
	uint32_t room = (uint32_t)p->len - p->l3, header = IPV4_BYTES, total, flags = PKT_IPV4;
	uint8_t proto;

	if (room < IPV4_BYTES)
		return false;
	if (unlikely(ip[0] != IPV4_NO_OPTIONS)) {
		header = (ip[0] & 15) * 4u;
		if (ip[0] >> 4 != 4 || header < IPV4_BYTES)
			return false;
	}
	total = get_be16(ip + IPV4_LENGTH);
	if (unlikely(header > total) || unlikely(total > room))
		return false;
	proto = ip[IPV4_PROTOCOL];
	p->l3_tos = ip[IPV4_TOS];
	p->ip_proto = proto;
	if (unlikely(get_be16(ip + IPV4_FRAGMENT) & (IPV4_MF | IPV4_OFFSET)))
		flags |= get_be16(ip + IPV4_FRAGMENT) & IPV4_OFFSET ? PKT_FRAGMENT | PKT_LATER :
								      PKT_FRAGMENT;
	else if (has_ports(proto, header, total))
		flags |= PKT_L4;
	if (!(flags & PKT_LATER))
		p->l4 = (uint16_t)(p->l3 + header);
	p->flags |= (uint8_t)flags;
	return true;
}

/* Bytes of an extension header with the length field @length, 8 at least; 0: @proto is none. */
static uint32_t extension_bytes(uint8_t proto, uint8_t length)
{
	switch (proto) {
	case PROTO_HOP_BY_HOP:
	case PROTO_ROUTING:
	case PROTO_DESTINATION:
		return (length + 1u) * 8;
	case PROTO_AH:
		return (length + 2u) * 4; /* RFC 4302, 2.2 */
	case PROTO_FRAGMENT:
		return 8;
	default:
		return 0;
	}
}

/* RFC 8200, 4.5. All of a datagram in one fragment is none (RFC 6946). */
static uint8_t ipv6_fragment_flags(const uint8_t *h)
{
	uint16_t fragment = get_be16(h + 2);

	if (fragment & IPV6_OFFSET)
		return PKT_FRAGMENT | PKT_LATER;
	return fragment & IPV6_MF ? PKT_FRAGMENT : 0;
}

/* RFC 8200, 4. False: a header runs over the end of the packet. Behind the header of a first
 * fragment that only ends the search: what the later ones cannot see must not make it another kind
 * of packet. */
static bool parse_ipv6_headers(struct packet *p, uint32_t at, uint32_t end)
{
	for (int n = 0; n < IPV6_HEADERS_MAX && extension_bytes(p->ip_proto, 0); n++) {
		const uint8_t *h = p->data + at;
		uint8_t proto = p->ip_proto;

		if (at + IPV6_EXTENSION_MIN > end || at + extension_bytes(proto, h[1]) > end) {
			if (p->flags & PKT_FRAGMENT)
				break;
			return false;
		}
		p->ip_proto = h[0];
		at += extension_bytes(proto, h[1]);
		if (proto == PROTO_FRAGMENT)
			p->flags |= ipv6_fragment_flags(h);
		if (p->flags & PKT_LATER)
			return true;
	}
	p->l4 = (uint16_t)at;
	if (!(p->flags & PKT_FRAGMENT) && has_ports(p->ip_proto, at, end))
		p->flags |= PKT_L4;
	return true;
}

/* RFC 8200, 3. False: malformed. */
static __attribute__((noinline)) bool parse_ipv6(struct packet *p)
{
	const uint8_t *ip = p->data + p->l3;
	uint32_t room = (uint32_t)p->len - p->l3, total;

	if (room < IPV6_BYTES || ip[0] >> 4 != 6)
		return false;
	total = IPV6_BYTES + get_be16(ip + IPV6_LENGTH);
	if (total > room)
		return false;
	p->flags |= PKT_IPV6;
	p->l3_tos = (uint8_t)(ip[0] << 4 | ip[1] >> 4);
	p->ip_proto = ip[IPV6_NEXT_HEADER];
	return parse_ipv6_headers(p, p->l3 + IPV6_BYTES, p->l3 + total);
}

/* What is behind the tags that begin at ETHERTYPE_AT. The outermost is the port's own when it is a
 * C-tag and the driver has not taken one out. False: it is cut off. */
static bool parse_tags(struct packet *p, uint16_t *ethertype)
{
	const uint8_t *d = p->data;
	uint32_t at = ETHERTYPE_AT;
	uint16_t type = *ethertype;

	if (p->len < ETH_BYTES + VLAN_BYTES)
		return false;
	if (p->tag != TAG_STRIPPED && type == TPID_C) {
		p->tag = TAG_FRAME;
		p->tci = get_be16(d + at + 2);
	}
	for (int n = 0; n < TAGS_MAX && vlan_is_tpid(type); n++) {
		if (at + VLAN_BYTES + 2 > p->len)
			break;
		at += VLAN_BYTES;
		type = get_be16(d + at);
	}
	p->l3 = (uint16_t)(at + 2);
	*ethertype = type;
	return true;
}

static inline bool parse_frame(struct packet *p)
{
	const uint8_t *d = p->data;
	uint16_t type = get_be16(d + ETHERTYPE_AT);
	bool ip_good = true;

	p->flags = d[0] & 1 ? PKT_GROUP : 0;
	p->ip_proto = 0;
	p->l3_tos = 0;
	p->l4 = 0;
	p->l3 = ETH_BYTES;
	if (p->tag != TAG_STRIPPED) {
		p->tag = TAG_NONE;
		p->tci = 0;
	}
	if (vlan_is_tpid(type) && !parse_tags(p, &type))
		return false;
	p->ethertype = type;
	if (type == ETHERTYPE_IPV4)
		ip_good = parse_ipv4(p);
	else if (type == ETHERTYPE_IPV6)
		ip_good = parse_ipv6(p);
	if (unlikely(!ip_good)) {
		p->flags = (p->flags & PKT_GROUP) | PKT_L3_BAD;
		p->ip_proto = 0;
		p->l3_tos = 0;
	}
	return true;
}

bool parse_packet(struct packet *p)
{
	return p->len >= ETH_BYTES && parse_frame(p);
}

/* What decap needs of an underlay frame, which has no tags of ours. */
static void parse_ethernet(struct packet *p)
{
	p->flags = p->data[0] & 1 ? PKT_GROUP : 0;
	p->ethertype = get_be16(p->data + ETHERTYPE_AT);
	p->l3 = ETH_BYTES;
	p->l4 = 0;
	p->ip_proto = 0;
	p->l3_tos = 0;
	if (p->tag != TAG_STRIPPED) {
		p->tag = TAG_NONE;
		p->tci = 0;
	}
}

static void parse_one(const struct port_view *port, struct packet *p)
{
	p->ingress = p->rx_port;
	p->network = NETWORK_NONE;
	p->egress = EGRESS_NONE;
	p->rule = FLOW_NONE;
	p->actions = FLOW_LIST_NORMAL;
	p->vni = 0;
	p->as_is = false;
	if (unlikely(!port || port->shut)) {
		drop_packet(p, DROP_PORT_SHUT, p->rx_port);
		return;
	}
	if (unlikely(p->len < ETH_BYTES)) {
		drop_packet(p, DROP_RUNT, p->len);
		return;
	}
	if (unlikely(mac_is_no_source(p->data + DL_SRC))) {
		drop_packet(p, DROP_BAD_SOURCE, fdb_key(NETWORK_NONE, p->data + DL_SRC));
		return;
	}
	if (port->underlay)
		parse_ethernet(p);
	else if (unlikely(!parse_frame(p)))
		drop_packet(p, DROP_RUNT, p->len);
}

void parse(struct lane *lane, struct burst *burst)
{
	struct port_view *const *port = lane->tables->port;

	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (p->drop)
			continue;
		parse_one(rcu_dereference(port[p->rx_port]), p);
	}
}

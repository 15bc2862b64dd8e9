/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/rewrite.h"

#include "dataplane/pool.h"
#include "dataplane/vlan.h"
#include "dataplane/wire.h"
#include "lib/checksum.h"
#include "lib/crc32c.h"

#define ROUTING_SEGMENTS_LEFT 3	/* RFC 8200, 4.4 */

static void set_mac(struct packet *p, uint32_t at, const uint8_t *mac)
{
	memcpy(p->data + at, mac, MAC_BYTES);
	if (at == DL_DST)
		p->flags = (uint8_t)((p->flags & ~PKT_GROUP) | (mac[0] & 1 ? PKT_GROUP : 0));
}

/* One tag's room stays: retag may have to add the port's own. */
static void push_tag(const struct pool *pool, struct packet *p, uint16_t tpid, uint16_t tci)
{
	if (pool_headroom(pool, p->data) < 2 * VLAN_BYTES)
		drop_packet(p, DROP_TOO_BIG, (uint64_t)(p->len + VLAN_BYTES) << 32 | p->len);
	else
		vlan_push(p, tpid, tci);
}

/* As Open vSwitch: the new tag has neither VLAN nor priority. */
static void push_vlan(const struct pool *pool, struct packet *p, uint16_t tpid)
{
	vlan_disown(p);
	push_tag(pool, p, tpid, 0);
}

/* Its priority goes with it. */
static void pop_vlan(struct packet *p)
{
	if (p->tag != TAG_STRIPPED && vlan_in_frame(p))
		vlan_pop(p);
	p->tag = TAG_NONE;
	p->tci = 0;
}

/* The outermost tag, wherever it is. tci follows also when the tag is not the port's own: a port
 * that adds one takes the priority from it. */
static void set_tci(const struct pool *pool, struct packet *p, uint16_t mask, uint16_t value)
{
	bool in_frame = p->tag != TAG_STRIPPED && vlan_in_frame(p);
	uint16_t tci = in_frame ? get_be16(p->data + TCI_AT) : p->tag == TAG_NONE ? 0 : p->tci;

	p->tci = (uint16_t)((tci & ~mask) | value);
	if (in_frame)
		put_be16(p->data + TCI_AT, p->tci);
	else if (p->tag == TAG_NONE)
		push_tag(pool, p, TPID_C, p->tci);
}

/* The end of the IP packet: padding follows. */
static uint32_t ip_end(const struct packet *p)
{
	const uint8_t *ip = p->data + p->l3;

	if (p->flags & PKT_IPV4)
		return p->l3 + (uint32_t)get_be16(ip + IPV4_LENGTH);
	return p->l3 + (uint32_t)IPV6_BYTES + get_be16(ip + IPV6_LENGTH);
}

/* @bytes of the transport header from @at on, or NULL when they are not all there. */
static uint8_t *transport(const struct packet *p, uint32_t at, uint32_t bytes)
{
	if (!(p->flags & (PKT_IPV4 | PKT_IPV6)) || p->flags & PKT_LATER)
		return NULL;
	return p->l4 + at + bytes <= ip_end(p) ? p->data + p->l4 + at : NULL;
}

/* The pseudo header, or what lies behind it, changed by @change. */
static void follow_transport(const struct packet *p, uint64_t change)
{
	bool udp = p->ip_proto == PROTO_UDP;
	uint8_t *field = NULL;

	if (udp)
		field = transport(p, UDP_CHECKSUM, 2);
	else if (p->ip_proto == PROTO_TCP)
		field = transport(p, TCP_CHECKSUM, 2);
	else if (p->ip_proto == PROTO_ICMPV6 && p->flags & PKT_IPV6)
		field = transport(p, ICMP_CHECKSUM, 2);
	if (field && udp)
		checksum_apply_udp(field, change);
	else if (field)
		checksum_apply(field, change);
}

/* The first four bytes changed by @change (XOR). A fragment does not have all that is summed up. */
static void follow_sctp(const struct packet *p, uint32_t change)
{
	uint8_t *field = p->data + p->l4 + SCTP_CHECKSUM;
	uint32_t sum;

	if (p->flags & PKT_FRAGMENT)
		return;
	sum = get_u32(field) ^ htole32(crc32c_change(le32toh(change), ip_end(p) - p->l4));
	memcpy(field, &sum, sizeof(sum));
}

/* Whether the destination is only that of the next segment: the pseudo header has the last one
 * (RFC 8200, 8.1). parse saw that the headers up to l4 are there. */
static bool is_source_routed(const struct packet *p)
{
	uint8_t proto = p->data[p->l3 + IPV6_NEXT_HEADER];
	uint32_t at = p->l3 + IPV6_BYTES;

	while (at < p->l4) {
		const uint8_t *h = p->data + at;

		if (proto == PROTO_ROUTING && h[ROUTING_SEGMENTS_LEFT])
			return true;
		at += proto == PROTO_FRAGMENT ? 8u : proto == PROTO_AH ? (h[1] + 2u) * 4
								       : (h[1] + 1u) * 8;
		proto = h[0];
	}
	return false;
}

static void set_ipv4(struct packet *p, uint32_t at, const uint8_t *address)
{
	uint8_t *ip = p->data + p->l3;
	uint64_t change;

	if (!(p->flags & PKT_IPV4))
		return;
	change = checksum_change(ip + at, address, IPV4_ADDRESS_BYTES);
	memcpy(ip + at, address, IPV4_ADDRESS_BYTES);
	checksum_apply(ip + IPV4_CHECKSUM, change);
	follow_transport(p, change);
}

static void set_ipv6(struct packet *p, uint32_t at, const uint8_t *address)
{
	uint8_t *field = p->data + p->l3 + at;
	uint64_t change;

	if (!(p->flags & PKT_IPV6))
		return;
	change = checksum_change(field, address, IPV6_ADDRESS_BYTES);
	memcpy(field, address, IPV6_ADDRESS_BYTES);
	if (!(p->flags & PKT_LATER) && (at == IPV6_SRC || !is_source_routed(p)))
		follow_transport(p, change);
}

/* A byte of the IPv4 header. The checksum is of words. */
static void set_ipv4_byte(uint8_t *ip, uint32_t at, uint8_t value)
{
	uint16_t before = get_be16(ip + (at & ~1u));

	ip[at] = value;
	checksum_adjust(ip + IPV4_CHECKSUM, before, get_be16(ip + (at & ~1u)));
}

static void set_tos(struct packet *p, uint8_t mask, uint8_t value)
{
	uint8_t *ip = p->data + p->l3, tos = (uint8_t)((p->l3_tos & ~mask) | value);

	if (p->flags & PKT_IPV4) {
		set_ipv4_byte(ip, IPV4_TOS, tos);
	} else if (p->flags & PKT_IPV6) {
		ip[0] = (uint8_t)((ip[0] & 0xf0) | tos >> 4);
		ip[1] = (uint8_t)(tos << 4 | (ip[1] & 0x0f));
	} else {
		return;
	}
	p->l3_tos = tos;
}

static void set_ttl(struct packet *p, uint8_t ttl)
{
	uint8_t *ip = p->data + p->l3;

	if (p->flags & PKT_IPV4)
		set_ipv4_byte(ip, IPV4_TTL, ttl);
	else if (p->flags & PKT_IPV6)
		ip[IPV6_HOP_LIMIT] = ttl;
}

static void dec_ttl(struct packet *p)
{
	uint8_t ttl;

	if (!(p->flags & (PKT_IPV4 | PKT_IPV6)))
		return;
	ttl = p->data[p->l3 + (p->flags & PKT_IPV4 ? IPV4_TTL : IPV6_HOP_LIMIT)];
	if (ttl > 1)
		set_ttl(p, ttl - 1);
	else
		drop_packet(p, DROP_TTL, ttl);
}

/* A header that has ports counts when it is there as a whole, as in a match (flow_key.h). */
static uint8_t *ports_of(const struct packet *p)
{
	switch (p->ip_proto) {
	case PROTO_TCP:
		return transport(p, 0, TCP_BYTES);
	case PROTO_UDP:
		return transport(p, 0, UDP_BYTES);
	case PROTO_SCTP:
		return transport(p, 0, SCTP_BYTES);
	default:
		return NULL;
	}
}

static void set_port(struct packet *p, uint32_t at, uint16_t port)
{
	uint8_t *ports = ports_of(p), before[PORTS_BYTES];

	if (!ports)
		return;
	memcpy(before, ports, sizeof(before));
	put_be16(ports + at, port);
	if (p->ip_proto == PROTO_SCTP)
		follow_sctp(p, get_u32(before) ^ get_u32(ports));
	else
		follow_transport(p, checksum_change(before, ports, sizeof(before)));
}

/* Type (@at 0) or code (1). */
static void set_icmp(struct packet *p, uint32_t at, uint8_t value)
{
	uint8_t proto = p->flags & PKT_IPV4 ? PROTO_ICMP : PROTO_ICMPV6;
	uint8_t *icmp = transport(p, 0, ICMP_BYTES);
	uint16_t before;

	if (!icmp || p->ip_proto != proto)
		return;
	before = get_be16(icmp);
	icmp[at] = value;
	checksum_adjust(icmp + ICMP_CHECKSUM, before, get_be16(icmp));
}

static void set_nd_target(struct packet *p, const uint8_t *target)
{
	uint8_t *icmp = transport(p, 0, ND_BYTES);
	uint64_t change;

	if (!icmp || !(p->flags & PKT_IPV6) || p->ip_proto != PROTO_ICMPV6)
		return;
	if ((icmp[0] != ND_SOLICITATION && icmp[0] != ND_ADVERTISEMENT) || icmp[1] != 0)
		return;
	change = checksum_change(icmp + ND_TARGET, target, IPV6_ADDRESS_BYTES);
	memcpy(icmp + ND_TARGET, target, IPV6_ADDRESS_BYTES);
	checksum_apply(icmp + ICMP_CHECKSUM, change);
}

static void set_arp(struct packet *p, uint32_t at, const uint8_t *value, uint32_t bytes)
{
	uint8_t *arp = p->data + p->l3;

	if (p->ethertype != ETHERTYPE_ARP && p->ethertype != ETHERTYPE_RARP)
		return;
	if (p->l3 + ARP_BYTES <= p->len && get_be32(arp) == ARP_KINDS &&
	    get_be16(arp + ARP_LENGTHS_AT) == ARP_LENGTHS)
		memcpy(arp + at, value, bytes);
}

static void set_arp_op(struct packet *p, uint16_t op)
{
	uint8_t bytes[2];

	put_be16(bytes, op);
	set_arp(p, ARP_OP, bytes, sizeof(bytes));
}

/* Ethernet, and the tags. False: @a is about something else. */
static bool rewrite_frame(const struct pool *pool, struct packet *p, const struct flow_action *a)
{
	switch (a->type) {
	case FLOW_PUSH_VLAN:
		push_vlan(pool, p, a->arg);
		return true;
	case FLOW_POP_VLAN:
		pop_vlan(p);
		return true;
	case FLOW_SET_VLAN_VID:
		set_tci(pool, p, TCI_VID, a->arg);
		return true;
	case FLOW_SET_VLAN_PCP:
		set_tci(pool, p, TCI_PCP, (uint16_t)(a->arg << TCI_PCP_SHIFT));
		return true;
	case FLOW_SET_DL_SRC:
		set_mac(p, DL_SRC, a->byte);
		return true;
	case FLOW_SET_DL_DST:
		set_mac(p, DL_DST, a->byte);
		return true;
	default:
		return false;
	}
}

static bool rewrite_ip(struct packet *p, const struct flow_action *a)
{
	switch (a->type) {
	case FLOW_DEC_TTL:
		dec_ttl(p);
		return true;
	case FLOW_SET_NW_SRC:
		set_ipv4(p, IPV4_SRC, a->byte);
		return true;
	case FLOW_SET_NW_DST:
		set_ipv4(p, IPV4_DST, a->byte);
		return true;
	case FLOW_SET_IPV6_SRC:
		set_ipv6(p, IPV6_SRC, a->byte);
		return true;
	case FLOW_SET_IPV6_DST:
		set_ipv6(p, IPV6_DST, a->byte);
		return true;
	case FLOW_SET_NW_DSCP:
		set_tos(p, (uint8_t)~ECN_MASK, (uint8_t)(a->arg << DSCP_SHIFT));
		return true;
	case FLOW_SET_NW_ECN:
		set_tos(p, ECN_MASK, (uint8_t)a->arg);
		return true;
	case FLOW_SET_NW_TTL:
		set_ttl(p, (uint8_t)a->arg);
		return true;
	default:
		return false;
	}
}

static void rewrite_payload(struct packet *p, const struct flow_action *a)
{
	switch (a->type) {
	case FLOW_SET_TP_SRC:
		set_port(p, TP_SRC, a->arg);
		break;
	case FLOW_SET_TP_DST:
		set_port(p, TP_DST, a->arg);
		break;
	case FLOW_SET_ICMP_TYPE:
		set_icmp(p, 0, (uint8_t)a->arg);
		break;
	case FLOW_SET_ICMP_CODE:
		set_icmp(p, 1, (uint8_t)a->arg);
		break;
	case FLOW_SET_ND_TARGET:
		set_nd_target(p, a->byte);
		break;
	case FLOW_SET_ARP_OP:
		set_arp_op(p, a->arg);
		break;
	case FLOW_SET_ARP_SPA:
		set_arp(p, ARP_SPA, a->byte, IPV4_ADDRESS_BYTES);
		break;
	case FLOW_SET_ARP_TPA:
		set_arp(p, ARP_TPA, a->byte, IPV4_ADDRESS_BYTES);
		break;
	case FLOW_SET_ARP_SHA:
		set_arp(p, ARP_SHA, a->byte, MAC_BYTES);
		break;
	case FLOW_SET_ARP_THA:
		set_arp(p, ARP_THA, a->byte, MAC_BYTES);
		break;
	default:
		break;
	}
}

void rewrite(const struct pool *pool, struct packet *p, const struct flow_action *a)
{
	if (!rewrite_frame(pool, p, a) && !rewrite_ip(p, a))
		rewrite_payload(p, a);
}

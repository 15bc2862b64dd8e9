/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open vSwitch's flow_extract() is the model, also in what counts as cut off: a transport header
 * that is not there as a whole gives no ports. What it looks at and this does not: an ethertype
 * behind 802.2 SNAP, IGMP, options of neighbour discovery.
 */
#include "dataplane/flow_key.h"

#include "dataplane/lane.h"
#include "dataplane/vlan.h"
#include "dataplane/wire.h"
#include "lib/bytes.h"
#include "lib/rcu.h"

#define ETHERTYPE_NONE 0x5ff	/* what a rule says of a length */

static void ports_key(const uint8_t *l4, struct flow_key *key)
{
	key->tp_src = get_be16(l4 + TP_SRC);
	key->tp_dst = get_be16(l4 + TP_DST);
}

static void icmp_key(const uint8_t *l4, struct flow_key *key)
{
	key->tp_src = l4[0];
	key->tp_dst = l4[1];
}

static void icmpv6_key(const uint8_t *l4, uint32_t bytes, struct flow_key *key)
{
	icmp_key(l4, key);
	if ((l4[0] == ND_SOLICITATION || l4[0] == ND_ADVERTISEMENT) && l4[1] == 0 &&
	    bytes >= ND_BYTES)
		memcpy(key->nd_target, l4 + ND_TARGET, sizeof(key->nd_target));
}

/* @end: of the IP packet. */
static void transport_key(const struct packet *p, uint32_t end, struct flow_key *key)
{
	const uint8_t *l4 = p->data + p->l4;
	uint32_t bytes = end - p->l4;

	if (p->ip_proto == PROTO_TCP && bytes >= TCP_BYTES) {
		ports_key(l4, key);
		key->tcp_flags = get_be16(l4 + TCP_FLAGS) & 0xfff;
	} else if (p->ip_proto == PROTO_UDP && bytes >= UDP_BYTES) {
		ports_key(l4, key);
	} else if (p->ip_proto == PROTO_SCTP && bytes >= SCTP_BYTES) {
		ports_key(l4, key);
	} else if (p->ip_proto == PROTO_ICMP && p->flags & PKT_IPV4 && bytes >= ICMP_BYTES) {
		icmp_key(l4, key);
	} else if (p->ip_proto == PROTO_ICMPV6 && p->flags & PKT_IPV6 && bytes >= ICMP_BYTES) {
		icmpv6_key(l4, bytes, key);
	}
}

static void ip_key(const struct packet *p, struct flow_key *key)
{
	const uint8_t *ip = p->data + p->l3;
	uint32_t end = p->l3;

	key->nw_proto = p->ip_proto;
	key->nw_tos = p->l3_tos;
	if (p->flags & PKT_FRAGMENT)
		key->nw_frag = p->flags & PKT_LATER ? FLOW_FRAG_ANY | FLOW_FRAG_LATER
						    : FLOW_FRAG_ANY;
	if (p->flags & PKT_IPV4) {
		key->nw_ttl = ip[IPV4_TTL];
		memcpy(key->src, ip + IPV4_SRC, IPV4_ADDRESS_BYTES);
		memcpy(key->dst, ip + IPV4_DST, IPV4_ADDRESS_BYTES);
		end += get_be16(ip + IPV4_LENGTH);
	} else {
		key->nw_ttl = ip[IPV6_HOP_LIMIT];
		memcpy(key->src, ip + IPV6_SRC, IPV6_ADDRESS_BYTES);
		memcpy(key->dst, ip + IPV6_DST, IPV6_ADDRESS_BYTES);
		end += IPV6_BYTES + get_be16(ip + IPV6_LENGTH);
		/* Its own protocol may be hidden behind headers that only the first one has. */
		if (p->flags & PKT_LATER)
			key->nw_proto = PROTO_FRAGMENT;
	}
	if (!(p->flags & PKT_LATER))
		transport_key(p, end, key);
}

static void arp_key(const struct packet *p, struct flow_key *key)
{
	const uint8_t *arp = p->data + p->l3;
	uint16_t opcode;

	if (p->l3 + ARP_BYTES > p->len || get_be32(arp) != ARP_KINDS ||
	    get_be16(arp + ARP_LENGTHS_AT) != ARP_LENGTHS)
		return;
	opcode = get_be16(arp + ARP_OP);
	key->nw_proto = opcode < 256 ? (uint8_t)opcode : 0;
	memcpy(key->src, arp + ARP_SPA, IPV4_ADDRESS_BYTES);
	memcpy(key->dst, arp + ARP_TPA, IPV4_ADDRESS_BYTES);
	memcpy(key->arp_sha, arp + ARP_SHA, MAC_BYTES);
	memcpy(key->arp_tha, arp + ARP_THA, MAC_BYTES);
}

static uint16_t vlan_tci_of(const struct packet *p)
{
	if (p->tag != TAG_NONE)
		return p->tci | FLOW_TCI_PRESENT;
	if (likely(!vlan_is_tpid(get_be16(p->data + ETHERTYPE_AT))) ||
	    p->len < ETH_BYTES + VLAN_BYTES)
		return 0;
	return get_be16(p->data + ETHERTYPE_AT + 2) | FLOW_TCI_PRESENT;
}

static uint32_t tun_id_of(const struct lane *lane, const struct packet *p)
{
	const struct network *network;

	if (!egress_is_tunnel(p->ingress))
		return 0;
	network = rcu_dereference(lane->tables->network[p->network]);
	return network ? network->vni : 0;
}

void flow_key_of(const struct lane *lane, const struct packet *p, struct flow_key *key)
{
	*key = (struct flow_key){
		.dl_type = p->ethertype < ETHERTYPE_MIN ? ETHERTYPE_NONE : p->ethertype,
		.in_port = p->ingress,
		.vlan_tci = vlan_tci_of(p),
		.tun_id = tun_id_of(lane, p),
	};
	memcpy(key->dl_dst, p->data + DL_DST, MAC_BYTES);
	memcpy(key->dl_src, p->data + DL_SRC, MAC_BYTES);
	if (p->flags & (PKT_IPV4 | PKT_IPV6))
		ip_key(p, key);
	else if (p->ethertype == ETHERTYPE_ARP || p->ethertype == ETHERTYPE_RARP)
		arp_key(p, key);
}

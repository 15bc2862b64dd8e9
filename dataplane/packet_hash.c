/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/stages.h"

#include "dataplane/wire.h"
#include "lib/bytes.h"
#include "lib/hash.h"

/* A NIC's word is taken for IP that is no fragment: all fragments of a datagram must agree, and
 * only the first has ports. A hash of addresses alone would put all flows between two hosts on one
 * port, so it will do only where there are no ports. */
static bool nic_hash_will_do(const struct packet *p)
{
	if (!(p->flags & (PKT_IPV4 | PKT_IPV6)) || p->flags & PKT_FRAGMENT)
		return false;
	return p->hash_kind == HASH_NIC_L4 || (p->hash_kind == HASH_NIC_L3 && !(p->flags & PKT_L4));
}

static uint64_t hash_16_bytes(const uint8_t *p)
{
	return hash_mix(get_u64(p), get_u64(p + 8));
}

/* Fragments: addresses only. The first one of IPv6 may have further headers in front of the
 * protocol, which the others do not have. */
static uint32_t compute(const struct packet *p)
{
	const uint8_t *l3 = p->data + p->l3;
	uint64_t h, rest = p->flags & PKT_FRAGMENT ? 0 : p->ip_proto;

	if (p->flags & PKT_L4)
		rest |= (uint64_t)get_u32(p->data + p->l4) << 8;
	if (p->flags & PKT_IPV4)
		h = get_u64(l3 + IPV4_SRC);
	else if (p->flags & PKT_IPV6)
		h = hash_mix(hash_16_bytes(l3 + IPV6_SRC),
			     hash_16_bytes(l3 + IPV6_DST));
	else
		h = hash_mix(get_u64(p->data), (uint64_t)get_u32(p->data + 8) << 16 | p->ethertype);
	/* Twice: one multiplication leaves ports that count up in step. */
	return (uint32_t)(hash_mix(hash_mix(h, rest), 1) >> 32);
}

void packet_hash_prepare(struct packet *p)
{
	if (p->hash_kind == HASH_SOFT || nic_hash_will_do(p))
		return;
	p->hash = compute(p);
	p->hash_kind = HASH_SOFT;
}

uint32_t packet_hash(struct lane *lane, struct packet *p)
{
	struct port_counters *counters = &lane->counters->port[p->rx_port];

	packet_hash_prepare(p);
	counter_add(p->hash_kind == HASH_SOFT ? &counters->hash_soft : &counters->hash_nic, 1);
	return p->hash;
}

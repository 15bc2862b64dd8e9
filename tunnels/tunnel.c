/* SPDX-License-Identifier: BSD-2-Clause */
#include "tunnels/tunnel.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/aligned.h"
#include "lib/bytes.h"
#include "lib/checksum.h"
#include "lib/hash.h"
#include "lib/rcu.h"
#include "tunnels/wire.h"

#define INDEX_SLOTS_MIN 64
#define VNI_TABLE_BYTES ((VNI_MAX + 1) * sizeof(uint16_t))

/* What is allocated: the tunnel on two cache lines of its own, behind it what only call_rcu
 * touches. */
struct tunnel_block {
	struct tunnel tunnel cache_aligned;
	struct rcu_head rcu;
};

struct index_block {
	struct rcu_head rcu;
	struct tunnel_index index;
};

static void free_tunnel_rcu(struct rcu_head *head)
{
	free(container_of(head, struct tunnel_block, rcu));
}

static void free_index_rcu(struct rcu_head *head)
{
	free(container_of(head, struct index_block, rcu));
}

static void build_ipv4(const struct tunnel_options *o, const struct tunnel_path *path,
		       struct tunnel *t)
{
	uint8_t *ip = t->header + ETH_BYTES;

	put_be16(t->header + ETHERTYPE_AT, ETHERTYPE_IPV4);
	ip[0] = 4 << 4 | IPV4_BYTES / 4;
	put_be16(ip + IPV4_FRAGMENT, o->df == DF_SET ? IPV4_DF : 0);
	ip[IPV4_TTL] = o->ttl;
	ip[IPV4_PROTOCOL] = PROTO_UDP;
	memcpy(ip + IPV4_SRC, ip_v4_bytes(&path->source), 4);
	memcpy(ip + IPV4_DST, ip_v4_bytes(&t->remote), 4);
	t->ip_sum = checksum_fold(checksum_add(ip, IPV4_BYTES, 0));
	t->udp_sum = checksum_fold(checksum_add(ip + IPV4_SRC, 8, 0));
}

static void build_ipv6(const struct tunnel_options *o, const struct tunnel_path *path,
		       struct tunnel *t)
{
	uint8_t *ip = t->header + ETH_BYTES;

	put_be16(t->header + ETHERTYPE_AT, ETHERTYPE_IPV6);
	ip[0] = 6 << 4;
	ip[IPV6_NEXT_HEADER] = PROTO_UDP;
	ip[IPV6_HOP_LIMIT] = o->ttl;
	memcpy(ip + IPV6_SRC, path->source.byte, 16);
	memcpy(ip + IPV6_DST, t->remote.byte, 16);
	t->udp_sum = checksum_fold(checksum_add(ip + IPV6_SRC, 32, 0));
}

static void build_header(const struct tunnel_options *o, const struct tunnel_path *path, bool v4,
			 struct tunnel *t)
{
	uint8_t *vxlan, *udp;
	uint64_t sum;

	memcpy(t->header, path->next_hop_mac.byte, 6);
	memcpy(t->header + 6, path->source_mac.byte, 6);
	if (v4)
		build_ipv4(o, path, t);
	else
		build_ipv6(o, path, t);
	vxlan = t->header + t->header_bytes - VXLAN_BYTES;
	vxlan[0] = VXLAN_FLAG_I;
	udp = vxlan - UDP_BYTES;
	put_be16(udp + TP_DST, o->udp_port);
	sum = t->udp_sum + checksum_word(PROTO_UDP);
	t->udp_sum = checksum_fold(checksum_add(udp, UDP_BYTES + VXLAN_BYTES, sum));
}

/* An unpublished tunnel to @remote, or NULL. */
static struct tunnel *tunnel_create(const struct tunnel_options *o, const struct ip *remote,
				    const struct tunnel_path *path)
{
	struct tunnel_block *block = aligned_zalloc(sizeof(*block));
	bool v4 = ip_is_v4(remote);
	struct tunnel *t;
	uint32_t overhead;

	if (!block)
		return NULL;
	t = &block->tunnel;
	t->remote = *remote;
	t->state = path->state;
	t->checksum = o->checksum == CHECKSUM_ON || (o->checksum == CHECKSUM_AUTO && !v4);
	t->header_bytes = v4 ? VXLAN_OVERHEAD_V4 : VXLAN_OVERHEAD_V6;
	t->egress_port = EGRESS_NONE;
	if (t->state == TUNNEL_OK && ip_is_v4(&path->source) != v4)
		t->state = TUNNEL_NO_ROUTE;
	if (t->state != TUNNEL_OK)
		return t;
	t->egress_port = path->egress_port;
	overhead = t->header_bytes - ETH_BYTES;
	t->inner_max = path->mtu > overhead ? (uint16_t)(path->mtu - overhead) : 0;
	build_header(o, path, v4, t);
	return t;
}

static struct tunnel_index *index_create(uint32_t n_slots, uint64_t seed)
{
	struct index_block *block =
		calloc(1, sizeof(*block) + n_slots * sizeof(struct tunnel_slot));

	if (!block)
		return NULL;
	block->index.seed = seed;
	block->index.mask = n_slots - 1;
	return &block->index;
}

static uint32_t index_hash(const struct tunnel_index *index, const struct ip *remote)
{
	uint64_t word[2];

	memcpy(word, remote, sizeof(word));
	return (uint32_t)hash_end(hash_mix(word[0] ^ index->seed, word[1] + index->seed));
}

/* A reader that sees the id sees the address. */
static void index_insert(struct tunnel_index *index, const struct ip *remote, uint16_t id)
{
	uint32_t i = index_hash(index, remote) & index->mask;

	while (index->slot[i].id)
		i = (i + 1) & index->mask;
	index->slot[i].remote = *remote;
	store_release(&index->slot[i].id, id);
}

/* Makes room for one more entry. 0 or -ENOMEM. */
static int index_reserve(struct tunnels *t)
{
	struct tunnel_index *old = t->index, *grown;

	if (2 * (t->n_tunnels + 1) <= old->mask + 1)
		return 0;
	grown = index_create(2 * (old->mask + 1), t->seed);
	if (!grown)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_tunnels; i++)
		index_insert(grown, &t->tunnel[i]->remote, (uint16_t)(EGRESS_TUNNEL0 + i));
	rcu_assign_pointer(t->index, grown);
	call_rcu(&container_of(old, struct index_block, index)->rcu, free_index_rcu);
	return 0;
}

struct tunnels *tunnels_create(const struct tunnel_options *options)
{
	struct tunnels *t = calloc(1, sizeof(*t));
	void *table;

	if (!t)
		return NULL;
	t->options = *options;
	t->seed = hash_seed();
	t->index = index_create(INDEX_SLOTS_MIN, t->seed);
	if (!t->index)
		goto free_tunnels;
	/* Pages that nobody writes cost nothing: readers get the kernel's page of zeroes. */
	table = mmap(NULL, VNI_TABLE_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (table == MAP_FAILED)
		goto free_index;
	madvise(table, VNI_TABLE_BYTES, MADV_NOHUGEPAGE);
	t->network_of_vni = table;
	return t;

free_index:
	free(container_of(t->index, struct index_block, index));
free_tunnels:
	free(t);
	return NULL;
}

void tunnels_destroy(struct tunnels *t)
{
	if (!t)
		return;
	munmap(t->network_of_vni, VNI_TABLE_BYTES);
	for (uint32_t i = 0; i < t->n_tunnels; i++)
		free(container_of(t->tunnel[i], struct tunnel_block, tunnel));
	free(container_of(t->index, struct index_block, index));
	free(t);
}

uint16_t tunnels_add(struct tunnels *t, const struct ip *remote)
{
	static const struct tunnel_path no_path = {.state = TUNNEL_NO_ROUTE};
	uint16_t id = tunnels_find(t, remote);
	struct tunnel *tunnel;

	if (id != EGRESS_NONE)
		return id;
	if (t->n_tunnels == TUNNEL_MAX || index_reserve(t) < 0)
		return EGRESS_NONE;
	tunnel = tunnel_create(&t->options, remote, &no_path);
	if (!tunnel)
		return EGRESS_NONE;
	id = (uint16_t)(EGRESS_TUNNEL0 + t->n_tunnels);
	/* Whoever finds the id finds the tunnel. */
	rcu_assign_pointer(t->tunnel[t->n_tunnels], tunnel);
	index_insert(t->index, remote, id);
	t->n_tunnels++;
	return id;
}

int tunnels_set_path(struct tunnels *t, uint16_t id, const struct tunnel_path *path)
{
	struct tunnel **slot = &t->tunnel[id - EGRESS_TUNNEL0];
	struct tunnel *old = *slot;
	struct tunnel *tunnel = tunnel_create(&t->options, &old->remote, path);

	if (!tunnel)
		return -ENOMEM;
	rcu_assign_pointer(*slot, tunnel);
	call_rcu(&container_of(old, struct tunnel_block, tunnel)->rcu, free_tunnel_rcu);
	return 0;
}

void tunnels_set_vni(struct tunnels *t, uint32_t vni, uint16_t network)
{
	if (vni <= VNI_MAX)
		store_relaxed(&t->network_of_vni[vni], network);
}

bool tunnels_is_local(const struct tunnels *t, const struct ip *address)
{
	for (uint32_t i = 0; i < t->options.n_local; i++)
		if (ip_equal(&t->options.local[i], address))
			return true;
	return false;
}

uint16_t tunnels_find(const struct tunnels *t, const struct ip *remote)
{
	const struct tunnel_index *index = rcu_dereference(t->index);
	uint32_t i = index_hash(index, remote) & index->mask;
	uint16_t id;

	while ((id = load_acquire(&index->slot[i].id))) {
		if (ip_equal(&index->slot[i].remote, remote))
			return id;
		i = (i + 1) & index->mask;
	}
	return EGRESS_NONE;
}

const struct tunnel *tunnels_get(const struct tunnels *t, uint16_t id)
{
	return egress_is_tunnel(id) ? rcu_dereference(t->tunnel[id - EGRESS_TUNNEL0]) : NULL;
}

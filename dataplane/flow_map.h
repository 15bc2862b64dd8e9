/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a hash to ids: the hash table under the flow rules, one for each mask, and for the lists of
 * actions. It knows 32 bits of the hash (the tag) and a number (the id); what the id stands for and
 * whether it is the right one, the user knows.
 *
 * A directory of leaves by the tag's first bits, a leaf's buckets by its last ones. A leaf starts
 * with one bucket, a cache line, and doubles; one of FLOW_LEAF_BUCKETS splits in two instead, so no
 * insertion moves more than one leaf's entries (extendible hashing). A full bucket spills into the
 * next one and counts that, as in the FDB (fdb.c).
 *
 * Invariants: no id is 0. An entry does not move within a leaf, and a leaf that is replaced stays
 * as it was until its readers are quiescent: one who looks for an entry that is there all the while
 * finds it. He may find one that was taken out, or replaced, since he became quiescent.
 * Threads: control is the only writer, a registered QSBR thread; workers read under RCU.
 */
#ifndef DATAPLANE_FLOW_MAP_H
#define DATAPLANE_FLOW_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bits.h"
#include "lib/rcu.h"

#define FLOW_LEAF_BUCKETS 1024
#define FLOW_BUCKET_SLOTS 7

struct flow_bucket {
	uint64_t slot[FLOW_BUCKET_SLOTS];	/* tag, id; 0: empty */
	uint64_t spill;				/* entries that found this bucket full */
} cache_aligned;
_Static_assert(sizeof(struct flow_bucket) == CACHE_LINE, "a bucket is a cache line");

struct flow_leaf {
	uint32_t mask;		/* number of buckets - 1 */
	/* control only */
	uint32_t n;		/* entries */
	uint32_t depth;		/* how many first bits of the tag all its entries have in common */
	struct rcu_head rcu;
	struct flow_bucket bucket[];
};

struct flow_directory {
	struct rcu_head rcu;
	uint32_t depth;
	struct flow_leaf *leaf[];	/* 1 << depth */
};

struct flow_map {
	struct flow_directory *directory;
};

int flow_map_init(struct flow_map *map);
/* No reader may be left. */
void flow_map_fini(struct flow_map *map);

/* -ENOMEM. */
int flow_map_insert(struct flow_map *map, uint32_t tag, uint32_t id);
/* Both take what flow_map_find returned, from before any other change. */
void flow_map_remove(struct flow_map *map, uint64_t *slot);
static inline void flow_map_replace(uint64_t *slot, uint32_t id)
{
	store_release(slot, (*slot & ~(uint64_t)UINT32_MAX) | id);
}

static inline struct flow_leaf *flow_map_leaf(const struct flow_map *map, uint32_t tag)
{
	struct flow_directory *d = rcu_dereference(map->directory);

	return rcu_dereference(d->leaf[((uint64_t)tag << d->depth) >> 32]);
}

static inline void flow_map_prefetch(const struct flow_map *map, uint32_t tag)
{
	const struct flow_leaf *leaf = flow_map_leaf(map, tag);

	__builtin_prefetch(&leaf->bucket[tag & leaf->mask]);
}

/* The slot with @tag whose id satisfies @is, or NULL. *@id: what was in it, or 0. */
static inline uint64_t *flow_leaf_find(struct flow_leaf *leaf, uint32_t tag,
				       bool (*is)(const void *arg, uint32_t id), const void *arg,
				       uint32_t *id)
{
	for (uint32_t n = 0, at = tag; n <= leaf->mask; n++, at++) {
		struct flow_bucket *b = &leaf->bucket[at & leaf->mask];
		uint32_t hits = 0;

		for (uint32_t i = 0; i < FLOW_BUCKET_SLOTS; i++)
			hits |= (uint32_t)(load_relaxed(&b->slot[i]) >> 32 == tag) << i;
		for (; unlikely(hits); hits &= hits - 1) {
			uint64_t *slot = &b->slot[__builtin_ctz(hits)];
			uint64_t v = load_acquire(slot);

			*id = (uint32_t)v;
			if (v >> 32 == tag && *id && is(arg, *id))
				return slot;
		}
		if (likely(!load_acquire(&b->spill)))
			break;
	}
	*id = 0;
	return NULL;
}

static inline uint64_t *flow_map_find(const struct flow_map *map, uint32_t tag,
				      bool (*is)(const void *arg, uint32_t id), const void *arg,
				      uint32_t *id)
{
	return flow_leaf_find(flow_map_leaf(map, tag), tag, is, arg, id);
}

#endif

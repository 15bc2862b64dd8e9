/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/flow_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/reserve.h"

#define POPULATE_BYTES 16384	/* larger leaves are populated, not faulted in */
#define DEPTH_MAX 22	/* and 10 bits choose the bucket */
_Static_assert(FLOW_LEAF_BUCKETS == 1 << (32 - DEPTH_MAX), "all bits of the tag are used once");

static void leaf_free(struct rcu_head *rcu)
{
	free(container_of(rcu, struct flow_leaf, rcu));
}

static void directory_free(struct rcu_head *rcu)
{
	free(container_of(rcu, struct flow_directory, rcu));
}

static struct flow_leaf *leaf_create(uint32_t n_buckets, uint32_t depth)
{
	size_t bytes = sizeof(struct flow_leaf) + n_buckets * sizeof(struct flow_bucket);
	struct flow_leaf *leaf = aligned_alloc(CACHE_LINE, bytes);

	if (!leaf)
		return NULL;
	if (bytes > POPULATE_BYTES)
		memory_populate(leaf, bytes);
	memset(leaf, 0, bytes);
	leaf->mask = n_buckets - 1;
	leaf->depth = depth;
	return leaf;
}

static struct flow_directory *directory_create(uint32_t depth)
{
	struct flow_directory *d =
		malloc(sizeof(*d) + ((size_t)1 << depth) * sizeof(struct flow_leaf *));

	if (d)
		d->depth = depth;
	return d;
}

int flow_map_init(struct flow_map *map)
{
	map->directory = directory_create(0);
	if (!map->directory)
		return -ENOMEM;
	map->directory->leaf[0] = leaf_create(1, 0);
	if (map->directory->leaf[0])
		return 0;
	free(map->directory);
	return -ENOMEM;
}

/* How many of the directory's pointers lead to @leaf: they stand together. */
static uint32_t width(const struct flow_directory *d, const struct flow_leaf *leaf)
{
	return 1u << (d->depth - leaf->depth);
}

void flow_map_fini(struct flow_map *map)
{
	struct flow_directory *d = map->directory;

	for (uint32_t i = 0; i < 1u << d->depth;) {
		struct flow_leaf *leaf = d->leaf[i];

		i += width(d, leaf);
		free(leaf);
	}
	free(d);
}

static uint64_t *empty_slot(struct flow_bucket *b)
{
	for (uint32_t i = 0; i < FLOW_BUCKET_SLOTS; i++)
		if (!b->slot[i])
			return &b->slot[i];
	return NULL;
}

/* There is room. */
static void place(struct flow_leaf *leaf, uint64_t entry)
{
	uint32_t at = (uint32_t)(entry >> 32);
	uint64_t *slot;

	for (; !(slot = empty_slot(&leaf->bucket[at & leaf->mask])); at++)
		counter_add(&leaf->bucket[at & leaf->mask].spill, 1);
	store_release(slot, entry);
	leaf->n++;
}

/* Copies @leaf's entries: @to[0] gets those whose bit @by is clear, @to[1] the others. */
static void copy(const struct flow_leaf *leaf, struct flow_leaf *to[2], uint64_t by)
{
	for (uint32_t at = 0; at <= leaf->mask; at++)
		for (uint32_t i = 0; i < FLOW_BUCKET_SLOTS; i++) {
			uint64_t entry = leaf->bucket[at].slot[i];

			if (entry)
				place(to[!!(entry & by)], entry);
		}
}

/* Puts @to[0] and @to[1] in the place of @leaf, half of its pointers each. */
static void publish(struct flow_map *map, uint32_t tag, struct flow_leaf *leaf,
		    struct flow_leaf *to[2])
{
	struct flow_directory *d = map->directory;
	uint32_t n = width(d, leaf);
	uint32_t first = (uint32_t)(((uint64_t)tag << d->depth) >> 32) & ~(n - 1);

	for (uint32_t i = 0; i < n; i++)
		rcu_assign_pointer(d->leaf[first + i], to[i >= n / 2]);
	call_rcu(&leaf->rcu, leaf_free);
}

static int leaf_resize(struct flow_map *map, uint32_t tag, struct flow_leaf *leaf,
		       uint32_t n_buckets)
{
	struct flow_leaf *new = leaf_create(n_buckets, leaf->depth);

	if (!new)
		return -ENOMEM;
	copy(leaf, (struct flow_leaf *[2]){new, new}, 0);
	publish(map, tag, leaf, (struct flow_leaf *[2]){new, new});
	return 0;
}

static int directory_double(struct flow_map *map)
{
	struct flow_directory *old = map->directory, *new = directory_create(old->depth + 1);

	if (!new)
		return -ENOMEM;
	for (uint32_t i = 0; i < 1u << new->depth; i++)
		new->leaf[i] = old->leaf[i / 2];
	rcu_assign_pointer(map->directory, new);
	call_rcu(&old->rcu, directory_free);
	return 0;
}

static int leaf_split(struct flow_map *map, uint32_t tag, struct flow_leaf *leaf)
{
	uint32_t depth = leaf->depth + 1;
	struct flow_leaf *half[2];

	if (depth > map->directory->depth && directory_double(map))
		return -ENOMEM;
	half[0] = leaf_create(FLOW_LEAF_BUCKETS, depth);
	half[1] = leaf_create(FLOW_LEAF_BUCKETS, depth);
	if (!half[0] || !half[1]) {
		free(half[0]);
		free(half[1]);
		return -ENOMEM;
	}
	copy(leaf, half, 1ull << (64 - depth));
	publish(map, tag, leaf, half);
	return 0;
}

/* A leaf is full at 60 to 75 %: few buckets spill, and leaves that fill at the same rate do not all
 * split at the same time. */
static bool is_full(const struct flow_leaf *leaf, uint32_t tag)
{
	uint32_t which = leaf->depth ? tag >> (32 - leaf->depth) : 0;

	return leaf->n >= (leaf->mask + 1) * (84 + 3 * (which % 8)) / 20;
}

/* Makes room in @leaf for one more. One that cannot grow, because there is no memory or because
 * all bits of the tag are used, goes on until it has an entry for each slot but one. */
static int leaf_grow(struct flow_map *map, uint32_t tag, struct flow_leaf *leaf)
{
	int err = -ENOMEM;

	if (leaf->mask + 1 < FLOW_LEAF_BUCKETS)
		err = leaf_resize(map, tag, leaf, 2 * (leaf->mask + 1));
	else if (leaf->depth < DEPTH_MAX)
		err = leaf_split(map, tag, leaf);
	if (err && leaf->n < (leaf->mask + 1) * FLOW_BUCKET_SLOTS - 1)
		return 0;
	return err;
}

int flow_map_insert(struct flow_map *map, uint32_t tag, uint32_t id)
{
	struct flow_leaf *leaf = flow_map_leaf(map, tag);

	if (is_full(leaf, tag)) {
		if (leaf_grow(map, tag, leaf))
			return -ENOMEM;
		leaf = flow_map_leaf(map, tag);
	}
	place(leaf, (uint64_t)tag << 32 | id);
	return 0;
}

void flow_map_remove(struct flow_map *map, uint64_t *slot)
{
	uint32_t tag = (uint32_t)(*slot >> 32), at = tag;
	struct flow_leaf *leaf = flow_map_leaf(map, tag);
	size_t offset = (size_t)((uint8_t *)slot - (uint8_t *)leaf->bucket);
	uint32_t in = (uint32_t)(offset / sizeof(struct flow_bucket));

	store_release(slot, (uint64_t)0);
	for (; (at & leaf->mask) != in; at++)
		counter_add(&leaf->bucket[at & leaf->mask].spill, (uint64_t)-1);
	leaf->n--;
	if (leaf->mask && leaf->n < leaf->mask + 1)
		leaf_resize(map, tag, leaf, (leaf->mask + 1) / 2);
}

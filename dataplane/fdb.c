/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots never move inside a table, so a reader never misses a key that is there. A key that found
 * its home bucket full lies in one of the next; each bucket that it went past counts it in `spill`,
 * and a lookup goes on only while that is not zero. Deleting is therefore no more than an empty
 * slot and some counts taken back: no tombstones, nothing to tidy up.
 */
#include "dataplane/fdb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/packet.h"
#include "lib/bits.h"
#include "lib/hash.h"
#include "lib/rcu.h"
#include "lib/reserve.h"

#define SLOTS 4			/* of a bucket */
#define BUCKETS_MIN 16

/* meta: egress in the low half, then flags, the bucket's spill (in its first slot), the slot's
 * version. */
#define META_FLAGS_SHIFT 16
#define META_FLAGS_MASK 3u
#define META_SPILL_SHIFT 18
#define META_SPILL_MAX 63u
#define META_SPILL_MASK (META_SPILL_MAX << META_SPILL_SHIFT)
#define META_VERSION_SHIFT 24
_Static_assert((FDB_STATIC & ~META_FLAGS_MASK) == 0, "all flags fit");

struct slot {
	/* control writes, workers read: key 0 while meta is changed for another key */
	uint64_t key;
	uint32_t meta;
	/* control and workers write */
	uint32_t seen_s;
};

struct bucket {
	struct slot slot[SLOTS];
} cache_aligned;
_Static_assert(sizeof(struct bucket) == CACHE_LINE, "a bucket is a cache line");

struct table {
	struct rcu_head rcu;
	struct reserve memory;	/* that it lies in */
	uint64_t seed;
	uint32_t mask;		/* number of buckets - 1 */
	struct bucket bucket[];
};

struct fdb {
	/* control publishes, workers read with rcu_dereference */
	struct table *table;
	/* control only */
	uint32_t count;
	uint32_t generation;
};

struct mac fdb_key_mac(uint64_t key)
{
	struct mac mac;

	for (int i = 0; i < 6; i++)
		mac.byte[i] = (uint8_t)(key >> (40 - 8 * i));
	return mac;
}

/* In huge pages, where it is so big that small ones would cost a TLB miss a lookup. */
static struct table *table_create(uint32_t n_buckets, uint64_t seed)
{
	size_t bytes = sizeof(struct table) + (size_t)n_buckets * sizeof(struct bucket);
	struct reserve memory = {0};
	struct table *t;

	if (reserve_init(&memory, bytes, bytes >= RESERVE_STEP))
		return NULL;
	if (reserve_grow(&memory, bytes)) {
		reserve_fini(&memory);
		return NULL;
	}
	t = (struct table *)memory.base;
	t->memory = memory;
	t->seed = seed;
	t->mask = n_buckets - 1;
	return t;
}

static void table_destroy(struct table *t)
{
	struct reserve memory = t->memory;

	reserve_fini(&memory);
}

static void table_free(struct rcu_head *rcu)
{
	table_destroy(container_of(rcu, struct table, rcu));
}

static uint32_t home_of(const struct table *t, uint64_t key)
{
	return (uint32_t)hash_u64(key, t->seed) & t->mask;
}

static uint16_t flags_of(uint32_t meta)
{
	return meta >> META_FLAGS_SHIFT & META_FLAGS_MASK;
}

static uint32_t spill_of(const struct bucket *b)
{
	return (load_acquire(&b->slot[0].meta) & META_SPILL_MASK) >> META_SPILL_SHIFT;
}

/* A count that ever reached the maximum is not exact any more and stays there, which costs lookups
 * a cache line until the table is resized. */
static void spill_add(struct bucket *b, int n)
{
	uint32_t meta = load_relaxed(&b->slot[0].meta);
	uint32_t spill = spill_of(b);

	if (spill == META_SPILL_MAX)
		return;
	spill += (uint32_t)n;
	store_release(&b->slot[0].meta, (meta & ~META_SPILL_MASK) | spill << META_SPILL_SHIFT);
}

/* The slot that has @key, or NULL. Looks at all four: a branch predictor can tell whether, but not
 * where. */
static inline struct slot *slot_of(struct bucket *b, uint64_t key)
{
	unsigned int hits = (unsigned int)(load_acquire(&b->slot[0].key) == key) |
			    (unsigned int)(load_acquire(&b->slot[1].key) == key) << 1 |
			    (unsigned int)(load_acquire(&b->slot[2].key) == key) << 2 |
			    (unsigned int)(load_acquire(&b->slot[3].key) == key) << 3;

	return hits ? &b->slot[__builtin_ctz(hits)] : NULL;
}

static struct slot *find_beyond(struct table *t, uint64_t key, uint32_t at)
{
	for (uint32_t n = 0; n < t->mask && spill_of(&t->bucket[at]); n++) {
		struct slot *s;

		at = (at + 1) & t->mask;
		s = slot_of(&t->bucket[at], key);
		if (s)
			return s;
	}
	return NULL;
}

static struct slot *find(struct table *t, uint64_t key)
{
	uint32_t home = home_of(t, key);
	struct slot *s = slot_of(&t->bucket[home], key);

	return s ? s : find_beyond(t, key, home);
}

static struct slot *empty_slot(struct bucket *b)
{
	for (int i = 0; i < SLOTS; i++)
		if (!load_relaxed(&b->slot[i].key))
			return &b->slot[i];
	return NULL;
}

static uint32_t meta_with(uint32_t meta, uint16_t egress, uint16_t flags)
{
	return (meta & ~(0xffffu | META_FLAGS_MASK << META_FLAGS_SHIFT)) | egress |
	       (flags & META_FLAGS_MASK) << META_FLAGS_SHIFT;
}

/* @key is not in @t, and @t is at most half full. */
static void place(struct table *t, uint64_t key, uint16_t egress, uint16_t flags, uint32_t seen_s)
{
	uint32_t at = home_of(t, key), meta;
	struct slot *s;

	while (!(s = empty_slot(&t->bucket[at]))) {
		spill_add(&t->bucket[at], 1);
		at = (at + 1) & t->mask;
	}
	meta = load_relaxed(&s->meta) + (1u << META_VERSION_SHIFT);
	store_relaxed(&s->seen_s, seen_s);
	store_release(&s->meta, meta_with(meta, egress, flags));
	store_release(&s->key, key);
}

static void take_out(struct table *t, struct slot *s)
{
	size_t offset = (size_t)((uint8_t *)s - (uint8_t *)t->bucket);
	uint32_t at = (uint32_t)(offset / sizeof(*t->bucket));
	uint32_t from = home_of(t, load_relaxed(&s->key));

	store_release(&s->key, 0);
	for (; from != at; from = (from + 1) & t->mask)
		spill_add(&t->bucket[from], -1);
}

struct fdb *fdb_create(uint32_t capacity)
{
	struct fdb *fdb = calloc(1, sizeof(*fdb));
	uint32_t n_buckets = BUCKETS_MIN;

	if (!fdb)
		return NULL;
	while (n_buckets < 1u << 31 && (uint64_t)n_buckets * SLOTS / 2 < capacity)
		n_buckets *= 2;
	fdb->table = table_create(n_buckets, hash_seed());
	if (!fdb->table) {
		free(fdb);
		return NULL;
	}
	return fdb;
}

void fdb_destroy(struct fdb *fdb)
{
	if (!fdb)
		return;
	table_destroy(fdb->table);
	free(fdb);
}

/* Key, meta, key: what lies between two sights of the key is that key's, unless the slot had
 * another owner and got the first one back meanwhile, which its version tells. */
static inline bool read_meta(const struct slot *s, uint64_t key, uint32_t *meta)
{
	*meta = load_acquire(&s->meta);
	return load_acquire(&s->key) == key &&
	       load_acquire(&s->meta) >> META_VERSION_SHIFT == *meta >> META_VERSION_SHIFT;
}

bool fdb_lookup(const struct fdb *fdb, uint64_t key, struct fdb_entry *entry)
{
	const struct slot *s = key ? find(rcu_dereference(fdb->table), key) : NULL;
	uint32_t meta;

	if (!s || !read_meta(s, key, &meta))
		return false;
	entry->key = key;
	entry->egress = (uint16_t)meta;
	entry->flags = flags_of(meta);
	entry->seen_s = load_relaxed(&s->seen_s);
	return true;
}

/* Where each key's bucket is; they are on their way into the cache when the last one is known. */
static inline void find_homes(struct table *t, const uint64_t *key, uint32_t n,
			      struct bucket **home)
{
	for (uint32_t i = 0; i < n; i++) {
		home[i] = &t->bucket[home_of(t, key[i])];
		__builtin_prefetch(home[i]);
	}
}

static inline struct slot *find_from(struct table *t, uint64_t key, struct bucket *home)
{
	struct slot *s = slot_of(home, key);

	return likely(s) ? s : find_beyond(t, key, (uint32_t)(home - t->bucket));
}

void fdb_lookup_burst(const struct fdb *fdb, const uint64_t *key, uint32_t n, uint16_t *egress)
{
	struct table *t = rcu_dereference(fdb->table);
	struct bucket *home[FDB_BURST];

	find_homes(t, key, n, home);
	for (uint32_t i = 0; i < n; i++) {
		const struct slot *s = key[i] ? find_from(t, key[i], home[i]) : NULL;
		uint32_t meta;

		egress[i] = s && read_meta(s, key[i], &meta) ? (uint16_t)meta : EGRESS_NONE;
	}
}

uint64_t fdb_seen_burst(struct fdb *fdb, const uint64_t *key, const uint16_t *from, uint32_t n,
			uint32_t now_s)
{
	struct table *t = rcu_dereference(fdb->table);
	struct bucket *home[FDB_BURST];
	uint64_t settled = 0;

	find_homes(t, key, n, home);
	for (uint32_t i = 0; i < n; i++) {
		struct slot *s = key[i] ? find_from(t, key[i], home[i]) : NULL;
		uint32_t meta;

		if (!s || !read_meta(s, key[i], &meta))
			continue;
		if ((uint16_t)meta == from[i] && load_relaxed(&s->seen_s) != now_s)
			store_relaxed(&s->seen_s, now_s);
		if ((uint16_t)meta == from[i] || flags_of(meta) & FDB_STATIC)
			settled |= 1ull << i;
	}
	return settled;
}

/* Readers go on in the old table until they are quiescent. What they note as seen there meanwhile
 * is lost, and noted again within the second. The seed stays, so that what was in bucket i goes to
 * i or to i + n: two streams through memory instead of a cache and TLB miss for every entry, while
 * control does nothing else. */
static int grow(struct fdb *fdb)
{
	struct table *old = fdb->table, *new = table_create((old->mask + 1) * 2, old->seed);

	if (!new)
		return -ENOMEM;
	for (uint32_t at = 0; at <= old->mask; at++)
		for (int i = 0; i < SLOTS; i++) {
			const struct slot *s = &old->bucket[at].slot[i];

			if (s->key)
				place(new, s->key, (uint16_t)s->meta, flags_of(s->meta),
				      load_relaxed(&s->seen_s));
		}
	rcu_assign_pointer(fdb->table, new);
	fdb->generation++;
	call_rcu(&old->rcu, table_free);
	return 0;
}

int fdb_set(struct fdb *fdb, uint64_t key, uint16_t egress, uint16_t flags, uint32_t now_s)
{
	struct slot *s;
	int err;

	if (!key)
		return -EINVAL;
	s = find(fdb->table, key);
	if (s) {
		store_relaxed(&s->seen_s, now_s);
		store_release(&s->meta, meta_with(load_relaxed(&s->meta), egress, flags));
		return 0;
	}
	if ((uint64_t)fdb->count + 1 > ((uint64_t)fdb->table->mask + 1) * SLOTS / 2) {
		err = grow(fdb);
		if (err)
			return err;
	}
	place(fdb->table, key, egress, flags, now_s);
	fdb->count++;
	return 1;
}

int fdb_del(struct fdb *fdb, uint64_t key)
{
	struct slot *s = key ? find(fdb->table, key) : NULL;

	if (!s)
		return -ENOENT;
	take_out(fdb->table, s);
	fdb->count--;
	return 0;
}

uint32_t fdb_count(const struct fdb *fdb)
{
	return fdb->count;
}

static void visit_bucket(struct fdb *fdb, struct bucket *b,
			 bool (*visit)(const struct fdb_entry *entry, void *arg), void *arg)
{
	for (int i = 0; i < SLOTS; i++) {
		struct slot *s = &b->slot[i];
		struct fdb_entry entry = {
			.key = s->key,
			.egress = (uint16_t)s->meta,
			.flags = flags_of(s->meta),
			.seen_s = load_relaxed(&s->seen_s),
		};

		if (!s->key || !visit(&entry, arg))
			continue;
		take_out(fdb->table, s);
		fdb->count--;
	}
}

/* A cursor is the generation and the next bucket. */
void fdb_walk(struct fdb *fdb, uint64_t *cursor, uint32_t n_buckets,
	      bool (*visit)(const struct fdb_entry *entry, void *arg), void *arg)
{
	struct table *t = fdb->table;
	uint64_t at = (uint32_t)*cursor, end;

	if (*cursor >> 32 != fdb->generation || at > t->mask)
		at = 0;
	end = min_of(at + n_buckets, (uint64_t)t->mask + 1);
	for (; at < end; at++)
		visit_bucket(fdb, &t->bucket[at], visit, arg);
	*cursor = at > t->mask ? 0 : (uint64_t)fdb->generation << 32 | at;
}

uint32_t fdb_generation(const struct fdb *fdb)
{
	return fdb->generation;
}

double fdb_cache_lines(const struct fdb *fdb)
{
	const struct table *t = fdb->table;
	uint64_t lines = 0;

	for (uint32_t home = 0; home <= t->mask; home++) {
		uint32_t at = home;

		for (lines++; spill_of(&t->bucket[at]); lines++) {
			at = (at + 1) & t->mask;
			if (at == home)
				break;
		}
	}
	return (double)lines / ((double)t->mask + 1);
}

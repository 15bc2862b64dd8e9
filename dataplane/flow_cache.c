/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of 16 ways: with 100 K flows hardly a set is too small. A set's tags are half a cache line,
 * those of all sets half a megabyte; entries lie elsewhere and are touched when a tag says that it
 * is worth it.
 *
 * A burst goes through in passes, so that what one packet waits for in memory the others wait for
 * at the same time.
 */
#include "dataplane/flow_cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bits.h"
#include "lib/hash.h"
#include "lib/reserve.h"

#define WAYS 16

/* Words of the key that rules have ceased to look at stay in the entries until so many packets came
 * by: a change of the words empties the cache, and must be rare whatever rules come and go. */
#define WORDS_LINGER (64u * FLOW_CACHE_ENTRIES)

typedef uint16_t tags_x8 __attribute__((vector_size(16)));
typedef uint64_t u64_x2 __attribute__((vector_size(16)));

/* Words of a key. */
#define WORD_OF(field) (offsetof(struct flow_key, field) / sizeof(uint32_t))

/* Tag 0: no entry. */
struct set {
	union {
		uint16_t tag[WAYS];
		tags_x8 tags[2];
	};
};

struct entry {
	uint64_t generation;	/* at which hit was right */
	struct flow_hit hit;
	uint32_t key[];		/* those words of it that are in flow_cache.words */
};

#define SHORT_BYTES CACHE_LINE
#define LONG_BYTES (2 * CACHE_LINE)
#define SHORT_WORDS ((SHORT_BYTES - sizeof(struct entry)) / sizeof(uint32_t))
_Static_assert(sizeof(struct entry) + FLOW_KEY_WORDS * 4 <= LONG_BYTES, "any key fits two lines");
_Static_assert(FLOW_CACHE_BYTES == FLOW_CACHE_ENTRIES * (SHORT_BYTES + sizeof(uint16_t)),
	       "short entries and their tags");

struct flow_cache {
	struct reserve memory;
	struct set *sets;
	uint8_t *entries;
	uint32_t entry_bytes;
	uint32_t set_mask;
	uint32_t words;		/* bit i: entries have word i of the key */
	uint32_t n_words;
	uint8_t word[FLOW_KEY_WORDS];	/* which ones they are */
	uint32_t n_lingered;	/* packets that came while rules looked at fewer */
	uint32_t victim;	/* way that gives way next */
};

/* Empties it, too. */
static void lay_out(struct flow_cache *c, uint32_t words)
{
	c->words = words;
	c->n_words = 0;
	c->n_lingered = 0;
	for (uint8_t i = 0; i < FLOW_KEY_WORDS; i++)
		if (words >> i & 1)
			c->word[c->n_words++] = i;
	c->entry_bytes = c->n_words > SHORT_WORDS ? LONG_BYTES : SHORT_BYTES;
	c->set_mask = FLOW_CACHE_ENTRIES / WAYS * SHORT_BYTES / c->entry_bytes - 1;
	memset(c->sets, 0, (c->set_mask + 1) * sizeof(struct set));
}

struct flow_cache *flow_cache_create(void)
{
	struct flow_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	/* Flows are all over it: with small pages each of the first thousands faults. */
	if (reserve_init(&c->memory, FLOW_CACHE_BYTES, true) ||
	    reserve_grow(&c->memory, FLOW_CACHE_BYTES)) {
		flow_cache_destroy(c);
		return NULL;
	}
	c->entries = c->memory.base;
	c->sets = (struct set *)(c->entries + FLOW_CACHE_ENTRIES * SHORT_BYTES);
	lay_out(c, 0);
	return c;
}

void flow_cache_destroy(struct flow_cache *c)
{
	if (!c)
		return;
	reserve_fini(&c->memory);
	free(c);
}

static void follow_words(struct flow_cache *c, uint32_t words, uint32_t n_packets)
{
	c->n_lingered += n_packets;
	if (words & ~c->words)
		lay_out(c, c->words | words);
	else if (c->n_lingered >= WORDS_LINGER)
		lay_out(c, words);
}

/* 0 when entries do not have it. */
static uint64_t word_of(const struct flow_cache *c, const uint32_t *key, uint32_t i)
{
	return c->words >> i & 1 ? key[i] : 0;
}

/* The hash knows addresses and ports, or MACs. What else tells many packets apart is mixed in:
 * where they came in, TTL and TCP flags. */
static uint64_t place_of(const struct flow_cache *c, const uint32_t *key, uint32_t hash)
{
	uint64_t port = word_of(c, key, WORD_OF(in_port));
	uint64_t tunnel = word_of(c, key, WORD_OF(tun_id));
	uint64_t ttl = word_of(c, key, WORD_OF(nw_ttl));

	return hash_mix(port << 32 | hash, ttl << 32 | tunnel);
}

static struct set *set_of(const struct flow_cache *c, uint64_t place)
{
	return &c->sets[place & c->set_mask];
}

static uint16_t tag_of(uint64_t place)
{
	uint16_t tag = (uint16_t)(place >> 48);

	return tag ? tag : 1;
}

/* The ways that have @tag: bit 16 * i + k stands for way 4 * k + i. */
static uint64_t ways_with(const struct set *set, uint16_t tag)
{
	u64_x2 two = (u64_x2)(((set->tags[0] == tag) & 1) | ((set->tags[1] == tag) & 4));

	return two[0] | two[1] << 1;
}

static uint32_t first_way(uint64_t ways)
{
	uint32_t bit = (uint32_t)__builtin_ctzll(ways);

	return bit % 16 * 4 + bit / 16;
}

static struct entry *entry_at(const struct flow_cache *c, uint64_t place, uint32_t way)
{
	size_t index = (place & c->set_mask) * WAYS + way;

	return (struct entry *)(c->entries + index * c->entry_bytes);
}

static bool has_key(const struct flow_cache *c, const struct entry *e, const uint32_t *key)
{
	uint32_t differ = 0;

	for (uint32_t i = 0; i < c->n_words; i++)
		differ |= e->key[i] ^ key[c->word[i]];
	return !differ;
}

static struct entry *find(const struct flow_cache *c, uint64_t place, uint64_t ways,
			  const uint32_t *key)
{
	for (; ways; ways &= ways - 1) {
		struct entry *e = entry_at(c, place, first_way(ways));

		if (likely(has_key(c, e, key)))
			return e;
	}
	return NULL;
}

static uint32_t make_room(struct flow_cache *c, const struct set *set)
{
	uint64_t empty = ways_with(set, 0);

	return empty ? first_way(empty) : c->victim++ % WAYS;
}

/* It may be there: from another packet of the burst. */
static struct entry *find_or_insert(struct flow_cache *c, uint64_t place, const uint32_t *key)
{
	struct set *set = set_of(c, place);
	struct entry *e = find(c, place, ways_with(set, tag_of(place)), key);
	uint32_t way;

	if (e)
		return e;
	way = make_room(c, set);
	set->tag[way] = tag_of(place);
	e = entry_at(c, place, way);
	for (uint32_t i = 0; i < c->n_words; i++)
		e->key[i] = key[c->word[i]];
	return e;
}

static const uint32_t *words_of(const struct flow_key *key)
{
	return (const uint32_t *)key;
}

/* What the cache knows: hit[i], right at generation[i]. Returns the bits of those that are not of
 * the view's generation. */
static uint64_t recall(const struct flow_cache *c, const struct flow_view *view,
		       const struct flow_key *key, const uint64_t *place, uint64_t wanted,
		       uint64_t *generation, struct flow_hit *hit)
{
	uint64_t ways[BURST_MAX], old = 0;

	for_each_bit(i, wanted) {
		ways[i] = ways_with(set_of(c, place[i]), tag_of(place[i]));
		if (ways[i])
			__builtin_prefetch(entry_at(c, place[i], first_way(ways[i])));
	}
	for_each_bit(i, wanted) {
		const struct entry *e = find(c, place[i], ways[i], words_of(&key[i]));

		generation[i] = e ? e->generation : 0;
		hit[i] = e ? e->hit : FLOW_HIT_NONE;
		if (generation[i] != view->generation)
			old |= 1ull << i;
	}
	return old;
}

void flow_cache_lookup_burst(struct flow_cache *c, const struct flow_table *t,
			     const struct flow_view *view, const struct flow_key *key,
			     const uint32_t *hash, uint64_t wanted, struct flow_hit *hit)
{
	uint64_t place[BURST_MAX], generation[BURST_MAX], old;

	if (unlikely(view->words != c->words))
		follow_words(c, view->words, (uint32_t)__builtin_popcountll(wanted));
	for_each_bit(i, wanted) {
		place[i] = place_of(c, words_of(&key[i]), hash[i]);
		__builtin_prefetch(set_of(c, place[i]));
	}
	old = recall(c, view, key, place, wanted, generation, hit);
	if (likely(!old))
		return;
	flow_table_refresh_burst(t, view, generation, key, old, hit);
	for_each_bit(i, old) {
		struct entry *e = find_or_insert(c, place[i], words_of(&key[i]));

		e->generation = view->generation;
		e->hit = hit[i];
	}
}

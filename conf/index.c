/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf/index.h"

#include <errno.h>
#include <string.h>

#include "lib/hash.h"

static uint64_t seed(void)
{
	static uint64_t value;

	if (!value)
		value = hash_seed();
	return value;
}

static uint32_t hash_text(const char *text)
{
	size_t bytes = strlen(text);
	uint64_t hash = hash_u64(bytes, seed());

	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t word = 0;

		memcpy(&word, text + i, bytes - i < 8 ? bytes - i : 8);
		hash = hash_mix(hash, word);
	}
	return (uint32_t)(hash ^ hash >> 32);
}

static struct index_slot *find(const struct index *index, const char *key, uint32_t hash)
{
	struct index_slot *s;

	for (uint32_t i = hash;; i++) {
		s = &index->slots[i & index->mask];
		if (!s->key || (s->hash == hash && strcmp(s->key, key) == 0))
			return s;
	}
}

int64_t index_get(const struct index *index, const char *key)
{
	const struct index_slot *s;

	if (!index->slots)
		return -1;
	s = find(index, key, hash_text(key));
	return s->key ? (int64_t)s->value : -1;
}

static int grow(struct index *index, struct arena *arena)
{
	uint32_t n_slots = index->slots ? 2 * (index->mask + 1) : 32;
	struct index bigger = {.mask = n_slots - 1, .n = index->n};

	bigger.slots = arena_array(arena, n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; index->slots && i <= index->mask; i++) {
		const struct index_slot *s = &index->slots[i];

		if (s->key)
			*find(&bigger, s->key, s->hash) = *s;
	}
	*index = bigger;
	return 0;
}

int index_set(struct index *index, struct arena *arena, const char *key, uint32_t value)
{
	uint32_t hash = hash_text(key);
	struct index_slot *s;
	int err;

	if (!index->slots || index->n > index->mask / 2) {
		err = grow(index, arena);
		if (err)
			return err;
	}
	s = find(index, key, hash);
	if (!s->key)
		index->n++;
	*s = (struct index_slot){.key = key, .hash = hash, .value = value};
	return 0;
}

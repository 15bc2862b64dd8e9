/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/tunnel_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

static uint32_t hash_of(const struct tunnel_set *set)
{
	uint64_t h = 1;

	for (size_t i = 0; i < ARRAY_SIZE(set->bits); i++)
		if (set->bits[i])
			h = hash_mix(h ^ set->bits[i], i);
	return (uint32_t)h;
}

/* Where @like is, or would be. There is always an empty slot. */
static uint32_t *find(const struct tunnel_sets *s, const struct tunnel_set *like)
{
	uint32_t i = hash_of(like) & s->mask;

	while (s->slot[i] && memcmp(s->set[s->slot[i] - 1], like, sizeof(*like)) != 0)
		i = (i + 1) & s->mask;
	return &s->slot[i];
}

/* Room for one more, with at least half of the slots empty. */
static int grow(struct tunnel_sets *s)
{
	uint32_t n_slots = s->slot ? (s->mask + 1) * 2 : 16;
	struct tunnel_set **set;
	uint32_t *slot;

	if (s->slot && (s->n + 1) * 2 <= s->mask + 1)
		return 0;
	set = realloc(s->set, n_slots / 2 * sizeof(struct tunnel_set *));
	if (!set)
		return -ENOMEM;
	s->set = set;
	slot = calloc(n_slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(s->slot);
	s->slot = slot;
	s->mask = n_slots - 1;
	for (uint32_t i = 0; i < s->n; i++)
		*find(s, s->set[i]) = i + 1;
	return 0;
}

int tunnel_sets_share(struct tunnel_sets *s, const struct tunnel_set *like,
		      const struct tunnel_set **shared)
{
	static const struct tunnel_set empty;
	uint32_t *slot;

	*shared = NULL;
	if (memcmp(like, &empty, sizeof(empty)) == 0)
		return 0;
	if (grow(s) < 0)
		return -ENOMEM;
	slot = find(s, like);
	if (!*slot) {
		s->set[s->n] = malloc(sizeof(*like));
		if (!s->set[s->n])
			return -ENOMEM;
		*s->set[s->n] = *like;
		*slot = ++s->n;
	}
	*shared = s->set[*slot - 1];
	return 0;
}

void tunnel_sets_fini(struct tunnel_sets *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->set[i]);
	free(s->set);
	free(s->slot);
	memset(s, 0, sizeof(*s));
}

uint32_t tunnel_set_list(const struct tunnel_set *set, uint16_t *egress)
{
	uint32_t n = 0;

	for (uint32_t i = 0; set && i < ARRAY_SIZE(set->bits); i++)
		for (uint64_t bits = set->bits[i]; bits; bits &= bits - 1, n++)
			if (egress)
				egress[n] = (uint16_t)(EGRESS_TUNNEL0 + i * 64 +
						       (uint32_t)__builtin_ctzll(bits));
	return n;
}

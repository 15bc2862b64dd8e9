/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/seen.h"

#include <stdlib.h>

#include "lib/addr.h"
#include "lib/hash.h"

#define SLOTS_MIN 1024

void seen_fini(struct seen *s)
{
	free(s->keys);
	free(s->slots);
	json_decref(s->networks);
	*s = (struct seen){0};
}

/* False when it is there already. */
static bool insert(struct seen *s, uint64_t key)
{
	size_t at = hash_u64(key, 1) & s->mask;

	for (; s->slots[at]; at = (at + 1) & s->mask)
		if (s->slots[at] == key)
			return false;
	s->slots[at] = key;
	return true;
}

/* A table at most half full, with all keys in it. */
static bool build(struct seen *s)
{
	size_t n = SLOTS_MIN;
	uint64_t *slots;

	while (n < 4 * s->n)
		n *= 2;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	free(s->slots);
	s->slots = slots;
	s->mask = n - 1;
	for (size_t i = 0; i < s->n; i++)
		insert(s, s->keys[i]);
	return true;
}

bool seen_restart(struct seen *s)
{
	return s->slots || build(s);
}

static bool write_down(struct seen *s, uint64_t key)
{
	if (s->n == s->size) {
		size_t size = s->size ? 2 * s->size : SLOTS_MIN;
		uint64_t *keys = realloc(s->keys, size * sizeof(*keys));

		if (!keys)
			return false;
		s->keys = keys;
		s->size = size;
	}
	s->keys[s->n++] = key;
	return true;
}

/* Numbers from 1, so that no key is 0. 0: no memory. */
static uint64_t network_number(struct seen *s, const char *network)
{
	json_int_t number;

	if (!s->networks)
		s->networks = json_object();
	number = json_integer_value(json_object_get(s->networks, network));
	if (number)
		return (uint64_t)number;
	number = (json_int_t)json_object_size(s->networks) + 1;
	return json_object_set_new(s->networks, network, json_integer(number)) ? 0 :
										 (uint64_t)number;
}

int seen_add(struct seen *s, const char *network, const char *mac_text)
{
	uint64_t key = network_number(s, network);
	struct mac mac;

	if (!key || !mac_parse(mac_text, &mac))
		return -1;
	for (int i = 0; i < 6; i++)
		key = key << 8 | mac.byte[i];
	if (s->slots && !insert(s, key))
		return 0;
	if (!write_down(s, key))
		return -1;
	if (s->slots && 2 * s->n > s->mask && !build(s))
		return -1;
	return 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text -> number: keys of a large map, names of networks, ports and anchors.
 *
 * Invariants: keys are not copied and must outlive the index; memory is the arena's.
 */
#ifndef CONF_INDEX_H
#define CONF_INDEX_H

#include <stdint.h>

#include "lib/arena.h"

struct index_slot {
	const char *key;	/* NULL: empty */
	uint32_t hash;
	uint32_t value;
};

/* A zeroed struct index is an empty one. */
struct index {
	struct index_slot *slots;
	uint32_t mask;
	uint32_t n;
};

/* The value of @key, or -1. */
int64_t index_get(const struct index *index, const char *key);
/* Adds @key, or changes its value. 0 or -ENOMEM. */
int index_set(struct index *index, struct arena *arena, const char *key, uint32_t value);

#endif

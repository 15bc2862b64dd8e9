/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of tunnels, each kept once: 64 K networks with the same remotes share one.
 *
 * Invariants: a set never moves and never changes until tunnel_sets_fini.
 * Threads: control only; the sets themselves are published.
 */
#ifndef CTRL_TUNNEL_SETS_H
#define CTRL_TUNNEL_SETS_H

#include <stdint.h>

#include "dataplane/network.h"

struct tunnel_sets {
	struct tunnel_set **set;
	uint32_t n;
	uint32_t *slot;		/* open addressing: index of the set + 1; 0 = empty */
	uint32_t mask;
};

/* The shared copy of @like, into @shared; NULL for the empty set. 0 or -ENOMEM. */
int tunnel_sets_share(struct tunnel_sets *s, const struct tunnel_set *like,
		      const struct tunnel_set **shared);
void tunnel_sets_fini(struct tunnel_sets *s);

static inline void tunnel_set_put(struct tunnel_set *set, uint16_t egress)
{
	unsigned int i = egress - EGRESS_TUNNEL0;

	set->bits[i / 64] |= 1ull << (i % 64);
}

/* Members of @set (NULL: none), written to @egress when it is not NULL, in order of their ids. */
uint32_t tunnel_set_list(const struct tunnel_set *set, uint16_t *egress);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A grace period that nobody waits for: started, and asked about later.
 *
 * Invariants: the struct stays where it is until the period is over (rcu_barrier() ends all).
 * Threads: one starts and asks, a registered QSBR thread that is quiescent in between.
 */
#ifndef LIB_GRACE_H
#define LIB_GRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bits.h"
#include "lib/rcu.h"

struct grace {
	struct rcu_head rcu;
	bool started;
	/* written by liburcu's thread */
	uint8_t over;
};

static inline void grace_ends(struct rcu_head *rcu)
{
	store_release(&container_of(rcu, struct grace, rcu)->over, (uint8_t)1);
}

/* None is under way. */
static inline void grace_start(struct grace *g)
{
	g->started = true;
	store_relaxed(&g->over, (uint8_t)0);
	call_rcu(&g->rcu, grace_ends);
}

/* True once for each that was started. */
static inline bool grace_over(struct grace *g)
{
	if (!g->started || !load_acquire(&g->over))
		return false;
	g->started = false;
	return true;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Next hops: neighbours that tunnels go through, each kept once.
 *
 * Invariants: a hop's index stays as long as it has users; one without users is released (want_use
 * is set, so that the kernel is told) and then free. Index order is nothing.
 * Threads: control only.
 */
#ifndef CTRL_HOPS_H
#define CTRL_HOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctrl/rtnl.h"

#define HOP_NONE UINT32_MAX

struct hop {
	int ifindex;		/* 0: free */
	uint32_t users;
	struct ip address;
	struct mac mac;		/* when usable */
	bool known;		/* the kernel has said something of it */
	bool usable;		/* its MAC is known, and the kernel has not found it dead */
	bool fixed;		/* somebody wrote it down, permanent: to be left as it is */
	bool want_use;		/* the kernel is to be told that we use it, or no longer do */
	bool want_get;		/* its state is to be asked for */
	bool managed;		/* the kernel has promised to keep it fresh */
	uint64_t used_ns;	/* when the kernel was told last */
};

struct hops {
	struct hop *hop;
	uint32_t n;		/* slots, free ones included */
};

/* The hop for @address on @ifindex, with one user more; made when it is new. HOP_NONE: no
 * memory. */
uint32_t hops_get(struct hops *hops, int ifindex, const struct ip *address);
/* One user less. HOP_NONE is fine. */
void hops_put(struct hops *hops, uint32_t hop);
/* What the kernel says of a neighbour. The hop's index when that changes how packets go, or
 * HOP_NONE. */
uint32_t hops_learn(struct hops *hops, const struct rtnl_neigh *neigh);
void hops_fini(struct hops *hops);

#endif

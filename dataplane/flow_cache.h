/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker's memory of which rule a flow met: exact match, found by the hash that the packet
 * already has (packet_hash.c), mixed with where it came in.
 *
 * An entry holds only those words of the key that some rule looks at (flow_view.words), so a cache
 * line is enough for most tables; the sets' tags lie together and are looked at first. An entry
 * carries the generation of the table at which it was right. When the table has moved on, it is
 * brought up to date the next time its flow comes by (flow_table_refresh_burst), not thrown away:
 * rules may come and go at any rate without all flows missing at once. When rules look at another
 * word of the key, the cache is emptied: at once when it is a new one, after a while when it is one
 * less.
 *
 * Invariants: address space is reserved at creation, memory is taken by the flows that come by, in
 * huge pages, FLOW_CACHE_BYTES after some dozens of them.
 * Threads: one worker's.
 */
#ifndef DATAPLANE_FLOW_CACHE_H
#define DATAPLANE_FLOW_CACHE_H

#include <stdint.h>

#include "dataplane/flow_table.h"

#define FLOW_CACHE_ENTRIES (256 * 1024)	/* half as many when rules look at most of the key */
#define FLOW_CACHE_BYTES (FLOW_CACHE_ENTRIES * 66ul)

struct flow_cache;

/* NULL when the address space is not there. */
struct flow_cache *flow_cache_create(void);
/* Accepts NULL. */
void flow_cache_destroy(struct flow_cache *cache);

/* hit[i] of key[i], whose packet's hash is hash[i], for each bit i of @wanted: from the cache, or
 * looked up in @t and remembered. */
void flow_cache_lookup_burst(struct flow_cache *cache, const struct flow_table *t,
			     const struct flow_view *view, const struct flow_key *key,
			     const uint32_t *hash, uint64_t wanted, struct flow_hit *hit);

#endif

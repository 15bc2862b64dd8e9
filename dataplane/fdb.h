/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forwarding database: (network, MAC) -> egress id.
 *
 * One table for all networks. A key is 64 bits (network in the high 16, MAC in the low 48), an
 * entry 16 bytes, a bucket one cache line of four; a full bucket spills into the next one. The
 * table doubles when it is more than half full: a new one is built beside it and swapped in, so a
 * lookup meets 1.1 cache lines on average and never waits.
 *
 * Invariants: key 0 is "empty" (network 0 does not exist). A reader that sees a key sees that key's
 * egress, or a miss: it reads key, egress, key, and a version that tells a slot used again in
 * between. A key that is in the table all the while is never missed.
 * Threads: control is the only writer, a registered QSBR thread (call_rcu asks for it). Workers
 * look up under RCU and write nothing but seen_s, at most once a second an entry. Memory that a
 * reader could still see is freed with call_rcu.
 */
#ifndef DATAPLANE_FDB_H
#define DATAPLANE_FDB_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/bytes.h"

struct fdb;

enum fdb_flags {
	FDB_STATIC = 1 << 0,	/* from the file or `fdb add`: does not age, does not move */
};

struct fdb_entry {
	uint64_t key;
	uint16_t egress;
	uint16_t flags;
	uint32_t seen_s;	/* workers refresh it; seconds of clock_ns() */
};
_Static_assert(sizeof(struct fdb_entry) == 16, "four entries fill a cache line");

static inline uint64_t fdb_key(uint16_t network, const uint8_t mac[6])
{
	return (uint64_t)network << 48 | (uint64_t)get_be32(mac) << 16 | get_be16(mac + 4);
}

/* The same for a MAC in an Ethernet header, which has two more bytes behind it: one load. */
static inline uint64_t fdb_key_in_frame(uint16_t network, const uint8_t *mac)
{
	return (uint64_t)network << 48 | get_be64(mac) >> 16;
}

static inline uint16_t fdb_key_network(uint64_t key)
{
	return (uint16_t)(key >> 48);
}

struct mac fdb_key_mac(uint64_t key);

/* @capacity: entries to make room for at first. NULL when there is no memory. */
struct fdb *fdb_create(uint32_t capacity);
/* No reader may be left. Accepts NULL. */
void fdb_destroy(struct fdb *fdb);

/* Anybody, under RCU. Copies the entry out and returns true, or false on a miss. */
bool fdb_lookup(const struct fdb *fdb, uint64_t key, struct fdb_entry *entry);

/* Keys that are looked up together: one bit each. Key 0 is in no table, so it stands for "nothing
 * here". */
#define FDB_BURST 64

/* Workers. egress[i] of each of the @n keys, EGRESS_NONE for those that are unknown. */
void fdb_lookup_burst(const struct fdb *fdb, const uint64_t *key, uint32_t n, uint16_t *egress);

/*
 * Workers. key[i] was seen behind from[i]. Returns one bit for each of the @n keys about which
 * there is nothing to learn: it is known there, or static. One that is known there has now been
 * seen at @now_s, which is written at most once a second. (Seen elsewhere does not keep an entry
 * young: where a network does not learn the move, the old place must age.)
 */
uint64_t fdb_seen_burst(struct fdb *fdb, const uint64_t *key, const uint16_t *from, uint32_t n,
			uint32_t now_s);

/* Control. Adds or changes an entry. 1 added, 0 changed, -ENOMEM, -EINVAL for key 0. */
int fdb_set(struct fdb *fdb, uint64_t key, uint16_t egress, uint16_t flags, uint32_t now_s);
/* Control. -ENOENT when it is not there. */
int fdb_del(struct fdb *fdb, uint64_t key);
/* Control. Number of entries. */
uint32_t fdb_count(const struct fdb *fdb);

/*
 * Control. Visits up to @n_buckets buckets from *@cursor (0 at first) and calls @visit for each
 * entry, which may delete it by returning true, and must not change the table otherwise. Sets
 * *@cursor to where to go on, or to 0 at the end. An entry that stays through a whole walk is
 * visited at least once; exactly once unless the table was resized meanwhile, in which case the
 * walk restarts by itself: fdb_generation tells.
 */
void fdb_walk(struct fdb *fdb, uint64_t *cursor, uint32_t n_buckets,
	      bool (*visit)(const struct fdb_entry *entry, void *arg), void *arg);
/* Control. Changes when the table is resized. */
uint32_t fdb_generation(const struct fdb *fdb);
/* Control. How many cache lines the lookup of an unknown key reads, on average over all buckets: 1
 * is best. Reads the whole table. */
double fdb_cache_lines(const struct fdb *fdb);

#endif

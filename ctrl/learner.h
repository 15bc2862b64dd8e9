/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The FDB's only writer: what the workers learn, what ages, what is given by the configuration and
 * by command, and how many MACs that makes for every network and port.
 *
 * Invariants: gateway_network.macs is the number of a network's entries, static ones included;
 * gateway_port.macs the number of learned entries that point to a port. A static entry neither
 * moves nor ages. A limit only stops learning, never a static entry. Ageing is a sweep in slices of
 * a bounded number of buckets, so that control has its hands free again after well under a
 * millisecond, also with a million entries.
 * Threads: control only.
 */
#ifndef CTRL_LEARNER_H
#define CTRL_LEARNER_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/lane.h"

struct gateway;
struct learner;

/* Reads @g's conf, tables->fdb, port[] and network[]; keeps counters in the last two. -ENOMEM. */
int learner_create(struct gateway *g, struct learner **learner);
/* Accepts NULL. */
void learner_destroy(struct learner *l);

/* Begins to age, on g->loop. */
void learner_start(struct learner *l);
void learner_stop(struct learner *l);

/* Takes up to @max events out of all workers' rings; true when some may be left. */
bool learner_drain(struct learner *l, uint32_t max);

/* One event: a source MAC that is new or elsewhere. @now_ns: clock_ns(). */
void learner_event(struct learner *l, const struct learn_event *event, uint64_t now_ns);

/* One slice of the sweep; true when it was the last one of a round. @now_s: as fdb_entry.seen_s. */
bool learner_sweep(struct learner *l, uint32_t now_s);

/* A static entry, whatever was there before. 0 or -ENOMEM. */
int learner_add(struct learner *l, uint64_t key, uint16_t egress);
/* -ENOENT. */
int learner_del(struct learner *l, uint64_t key);
/* Learned entries of @network (0: all) that point to @egress (EGRESS_NONE: any). Returns how many
 * went. */
uint32_t learner_flush(struct learner *l, uint16_t network, uint16_t egress);

#endif

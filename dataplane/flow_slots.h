/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the flow rules lie, and their counters: slots of a cache line by the rule's id, and for
 * each worker a cell by the same number. A rule takes one slot, or two.
 *
 * Slots come in chunks of 2 MiB, a huge page, each for rules of one size; a rule goes into the
 * first chunk that has room, and an empty chunk's memory goes back to the system, cells included.
 *
 * Invariants: nothing moves. Slot 0 is no rule's. A slot that is not in use has life 0.
 * Threads: control. Workers read slots, and write their cells: those take memory when their rule is
 * first hit.
 */
#ifndef DATAPLANE_FLOW_SLOTS_H
#define DATAPLANE_FLOW_SLOTS_H

#include "dataplane/flow_rule.h"
#include "dataplane/flow_table.h"
#include "lib/grace.h"
#include "lib/reserve.h"

#define FLOW_CHUNK_SLOTS 32768

enum flow_chunk_kind {
	FLOW_CHUNK_EMPTY,
	FLOW_CHUNK_SHORT,
	FLOW_CHUNK_LONG,
	FLOW_CHUNK_KINDS,
};

struct flow_chunk {
	uint16_t used;		/* slots; 0: the chunk is empty */
	uint16_t fresh;		/* first slot that was not in use since the chunk was empty */
	uint16_t free;		/* first of the list of those that were, as number in the chunk */
	uint16_t kind;
};

/* Rules on their way out, by their `next`. */
struct flow_queue {
	uint32_t first;
	uint32_t last;
};

struct flow_slots {
	struct reserve memory;
	struct reserve *cells;		/* by worker */
	uint32_t n_workers;
	uint32_t n_chunks_max;
	uint32_t n_chunks;		/* what is behind them was never in use */
	uint32_t life;
	struct flow_chunk *chunk;
	uint64_t *room[FLOW_CHUNK_KINDS];	/* one bit a chunk: of this kind and not full */
	uint32_t room_from[FLOW_CHUNK_KINDS];	/* words of room before it are zero */
	/* gone, and waiting for the next grace period, for this one, for being free */
	struct flow_queue retired, leaving, left;
	struct grace grace;
};

/* @n_slots is rounded up to chunks. -ENOMEM. */
int flow_slots_init(struct flow_slots *s, uint32_t n_slots, uint32_t n_workers);
/* No reader, and no grace period under way. */
void flow_slots_fini(struct flow_slots *s);

/* A place for a rule of @n_words words, with a life of its own and cells that are zero. -ENOSPC,
 * -ENOMEM. */
int flow_slots_take(struct flow_slots *s, uint32_t n_words, uint32_t *id);
/* No reader can find @id any more, and does not care about it when it has done what it does. */
void flow_slots_retire(struct flow_slots *s, uint32_t id);
/* A retired rule that no reader knows any more, for flow_slots_free, or FLOW_NONE. */
uint32_t flow_slots_left(struct flow_slots *s);
void flow_slots_free(struct flow_slots *s, uint32_t id);
/* The first slot from @at on that was in use since its chunk was empty, or the end. To skip the
 * rest of a chunk is as much work as a slot: takes it off *@n_slots, and stops when that is 0. */
uint32_t flow_slots_skip(const struct flow_slots *s, uint32_t at, uint32_t *n_slots);

static inline struct flow_rule *flow_slot(const struct flow_slots *s, uint32_t id)
{
	return (struct flow_rule *)s->memory.base + id;
}

/* No slot from here on was ever in use. */
static inline uint32_t flow_slots_end(const struct flow_slots *s)
{
	return s->n_chunks * FLOW_CHUNK_SLOTS;
}

static inline struct flow_cell *flow_slots_cells(const struct flow_slots *s, uint32_t worker)
{
	return (struct flow_cell *)s->cells[worker].base;
}

#endif

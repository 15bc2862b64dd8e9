/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/flow_slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING UINT16_MAX	/* end of a chunk's list of free slots */

static uint32_t n_map_words(const struct flow_slots *s)
{
	return (s->n_chunks_max + 63) / 64;
}

static void set_room(struct flow_slots *s, uint32_t kind, uint32_t chunk)
{
	s->room[kind][chunk / 64] |= 1ull << chunk % 64;
	s->room_from[kind] = min_of(s->room_from[kind], chunk / 64);
}

static void clear_room(struct flow_slots *s, uint32_t kind, uint32_t chunk)
{
	s->room[kind][chunk / 64] &= ~(1ull << chunk % 64);
}

/* The first chunk of @kind with room, or n_chunks_max. */
static uint32_t find_room(struct flow_slots *s, uint32_t kind)
{
	for (uint32_t *i = &s->room_from[kind]; *i < n_map_words(s); ++*i)
		if (s->room[kind][*i])
			return *i * 64 + (uint32_t)__builtin_ctzll(s->room[kind][*i]);
	return s->n_chunks_max;
}

int flow_slots_init(struct flow_slots *s, uint32_t n_slots, uint32_t n_workers)
{
	uint32_t n_chunks = (n_slots + FLOW_CHUNK_SLOTS - 1) / FLOW_CHUNK_SLOTS;

	*s = (struct flow_slots){.n_chunks_max = n_chunks, .n_workers = n_workers};
	s->chunk = calloc(n_chunks, sizeof(*s->chunk));
	s->cells = calloc(max_of(n_workers, 1u), sizeof(*s->cells));
	for (int kind = 0; kind < FLOW_CHUNK_KINDS; kind++)
		s->room[kind] = calloc(n_map_words(s), sizeof(uint64_t));
	if (!s->chunk || !s->cells || !s->room[FLOW_CHUNK_EMPTY] || !s->room[FLOW_CHUNK_SHORT] ||
	    !s->room[FLOW_CHUNK_LONG])
		goto fail;
	n_slots = n_chunks * FLOW_CHUNK_SLOTS;
	if (reserve_init(&s->memory, (size_t)n_slots * sizeof(struct flow_rule), true))
		goto fail;
	for (uint32_t i = 0; i < n_workers; i++)
		if (reserve_init(&s->cells[i], (size_t)n_slots * sizeof(struct flow_cell), false))
			goto fail;
	for (uint32_t i = 0; i < n_chunks; i++)
		set_room(s, FLOW_CHUNK_EMPTY, i);
	return 0;
fail:
	flow_slots_fini(s);
	return -ENOMEM;
}

void flow_slots_fini(struct flow_slots *s)
{
	for (uint32_t i = 0; s->cells && i < s->n_workers; i++)
		reserve_fini(&s->cells[i]);
	reserve_fini(&s->memory);
	for (int kind = 0; kind < FLOW_CHUNK_KINDS; kind++)
		free(s->room[kind]);
	free(s->cells);
	free(s->chunk);
}

static uint32_t rule_slots(uint32_t kind)
{
	return kind == FLOW_CHUNK_LONG ? 2 : 1;
}

/* Makes an empty chunk one of @kind. */
static int open_chunk(struct flow_slots *s, uint32_t kind, uint32_t *at)
{
	uint32_t n = find_room(s, FLOW_CHUNK_EMPTY), end = (n + 1) * FLOW_CHUNK_SLOTS;

	if (n == s->n_chunks_max)
		return -ENOSPC;
	if (reserve_grow(&s->memory, (size_t)end * sizeof(struct flow_rule)))
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_workers; i++)
		if (reserve_grow(&s->cells[i], (size_t)end * sizeof(struct flow_cell)))
			return -ENOMEM;
	memory_populate(flow_slot(s, n * FLOW_CHUNK_SLOTS),
			FLOW_CHUNK_SLOTS * sizeof(struct flow_rule));
	clear_room(s, FLOW_CHUNK_EMPTY, n);
	set_room(s, kind, n);
	s->n_chunks = max_of(s->n_chunks, n + 1);
	s->chunk[n] = (struct flow_chunk){
		.kind = (uint16_t)kind,
		.free = NOTHING,
		.fresh = n ? 0 : (uint16_t)rule_slots(kind),
	};
	*at = n;
	return 0;
}

/* Reading a page that was never written takes no memory, writing would. */
static void clear_cells(struct flow_slots *s, uint32_t id)
{
	for (uint32_t i = 0; i < s->n_workers; i++) {
		struct flow_cell *cell = &flow_slots_cells(s, i)[id];

		if (!load_relaxed(&cell->packets) && !load_relaxed(&cell->bytes))
			continue;
		store_relaxed(&cell->packets, (uint64_t)0);
		store_relaxed(&cell->bytes, (uint64_t)0);
	}
}

int flow_slots_take(struct flow_slots *s, uint32_t n_words, uint32_t *id)
{
	uint32_t kind = n_words > FLOW_RULE_WORDS ? FLOW_CHUNK_LONG : FLOW_CHUNK_SHORT;
	uint32_t at = find_room(s, kind), n = rule_slots(kind);
	struct flow_chunk *c;

	if (at == s->n_chunks_max) {
		int err = open_chunk(s, kind, &at);

		if (err)
			return err;
	}
	c = &s->chunk[at];
	if (c->free != NOTHING) {
		*id = at * FLOW_CHUNK_SLOTS + c->free;
		c->free = (uint16_t)flow_slot(s, *id)->next;
		clear_cells(s, *id);
	} else {
		*id = at * FLOW_CHUNK_SLOTS + c->fresh;
		c->fresh = (uint16_t)(c->fresh + n);
	}
	c->used = (uint16_t)(c->used + n);
	if (c->free == NOTHING && c->fresh == FLOW_CHUNK_SLOTS)
		clear_room(s, kind, at);
	if (!++s->life)
		s->life = 1;
	store_release(&flow_slot(s, *id)->life, s->life);
	return 0;
}

static void push(struct flow_slots *s, struct flow_queue *q, uint32_t id)
{
	flow_slot(s, id)->next = FLOW_NONE;
	if (q->first)
		flow_slot(s, q->last)->next = id;
	else
		q->first = id;
	q->last = id;
}

void flow_slots_retire(struct flow_slots *s, uint32_t id)
{
	store_release(&flow_slot(s, id)->life, 0u);
	push(s, &s->retired, id);
}

/* As one grace period ends the next one starts, for what was retired meanwhile. */
static void turn(struct flow_slots *s)
{
	if (grace_over(&s->grace)) {
		s->left = s->leaving;
		s->leaving = (struct flow_queue){0};
	}
	if (s->retired.first && !s->leaving.first) {
		s->leaving = s->retired;
		s->retired = (struct flow_queue){0};
		grace_start(&s->grace);
	}
}

uint32_t flow_slots_left(struct flow_slots *s)
{
	uint32_t id;

	if (!s->left.first)
		turn(s);
	id = s->left.first;
	if (id) {
		s->left.first = flow_slot(s, id)->next;
		__builtin_prefetch(flow_slot(s, s->left.first));
	}
	return id;
}

static void close_chunk(struct flow_slots *s, uint32_t n)
{
	size_t at = (size_t)n * FLOW_CHUNK_SLOTS;

	clear_room(s, s->chunk[n].kind, n);
	set_room(s, FLOW_CHUNK_EMPTY, n);
	s->chunk[n] = (struct flow_chunk){.kind = FLOW_CHUNK_EMPTY};
	reserve_clear(&s->memory, at * sizeof(struct flow_rule),
		      FLOW_CHUNK_SLOTS * sizeof(struct flow_rule));
	for (uint32_t i = 0; i < s->n_workers; i++)
		reserve_clear(&s->cells[i], at * sizeof(struct flow_cell),
			      FLOW_CHUNK_SLOTS * sizeof(struct flow_cell));
}

void flow_slots_free(struct flow_slots *s, uint32_t id)
{
	uint32_t n = id / FLOW_CHUNK_SLOTS;
	struct flow_chunk *c = &s->chunk[n];

	c->used = (uint16_t)(c->used - rule_slots(c->kind));
	if (!c->used) {
		close_chunk(s, n);
		return;
	}
	flow_slot(s, id)->next = c->free;
	c->free = (uint16_t)(id % FLOW_CHUNK_SLOTS);
	set_room(s, c->kind, n);
}

uint32_t flow_slots_skip(const struct flow_slots *s, uint32_t at, uint32_t *n_slots)
{
	while (at < flow_slots_end(s) && *n_slots &&
	       at % FLOW_CHUNK_SLOTS >= s->chunk[at / FLOW_CHUNK_SLOTS].fresh) {
		at = (at / FLOW_CHUNK_SLOTS + 1) * FLOW_CHUNK_SLOTS;
		--*n_slots;
	}
	return at;
}

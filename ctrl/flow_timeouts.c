/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/flow_timeouts.h"

#include <stdlib.h>

#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/log.h"

#define TICK_MS 250
#define TICK_NS (TICK_MS * NS_PER_MS)
#define TICKS_PER_S (1000 / TICK_MS)
/* What is due later than this is looked at in between, for nothing: every quarter of an hour. */
#define WHEEL_TICKS 4096
#define BLOCK_ENTRIES 63

struct entry {
	uint32_t id;
	uint32_t life;
	uint32_t packets;	/* at the last look, the lower bits */
	uint32_t used_tick;	/* when more of them were seen */
};
_Static_assert(sizeof(struct entry) == 16, "entries are packed");

struct block {
	struct block *next;
	uint32_t n;
	struct entry entry[BLOCK_ENTRIES];
};
_Static_assert(sizeof(struct block) == 1024, "a block is a round number");

struct flow_timeouts {
	struct loop *loop;
	struct flow_table *table;
	struct loop_timer timer;	/* runs while there are entries */
	struct loop_task task;		/* looks at what is due */
	uint32_t tick;			/* what lies there and before was taken to due */
	uint32_t n;
	struct block *due;
	struct block *wheel[WHEEL_TICKS];	/* by tick; only the first block has room */
	bool lost;			/* said that there is no memory */
};

/* The first tick at or behind @ns. */
static uint32_t tick_of(uint64_t ns)
{
	return (uint32_t)((ns + TICK_NS - 1) / TICK_NS);
}

static bool push(struct block **list, const struct entry *e)
{
	struct block *block = *list;

	if (!block || block->n == BLOCK_ENTRIES) {
		block = malloc(sizeof(*block));
		if (!block)
			return false;
		block->n = 0;
		block->next = *list;
		*list = block;
	}
	block->entry[block->n++] = *e;
	return true;
}

/* Where @rule ends by its age; UINT32_MAX: nowhere. */
static uint32_t hard_tick(const struct flow_rule *rule)
{
	uint64_t after_s = flow_rule_hard_timeout_s(rule);

	return after_s ? tick_of(flow_rule_created_ns(rule) + after_s * NS_PER_S) : UINT32_MAX;
}

/* When @e is to be looked at again, which is looked at now. */
static uint32_t next_tick(const struct flow_timeouts *t, const struct entry *e,
			  const struct flow_rule *rule, uint32_t now)
{
	uint32_t hard = hard_tick(rule);
	uint32_t idle_s = flow_rule_idle_timeout_s(rule);
	uint32_t next = now + WHEEL_TICKS - 1;

	if (idle_s) {
		uint32_t pause = max_of(idle_s * TICKS_PER_S / 8, (uint32_t)TICKS_PER_S);

		next = min_of(next, now + pause);
		next = min_of(next, e->used_tick + idle_s * TICKS_PER_S);
	}
	return max_of(min_of(next, hard), t->tick + 1);
}

static void put(struct flow_timeouts *t, const struct entry *e, const struct flow_rule *rule,
		uint32_t now)
{
	if (push(&t->wheel[next_tick(t, e, rule, now) % WHEEL_TICKS], e)) {
		t->n++;
		return;
	}
	if (!t->lost)
		log_error("flow rules: no memory for timeouts: some rules stay");
	t->lost = true;
}

static uint32_t packets_of(const struct flow_timeouts *t, const struct flow_rule *rule)
{
	struct flow_stats stats;

	flow_rule_stats(t->table, rule, &stats);
	return (uint32_t)stats.packets;
}

/* Ends the rule of @e, or puts it back. */
static void look(struct flow_timeouts *t, struct entry *e, uint32_t now)
{
	const struct flow_rule *rule = flow_table_get(t->table, e->id);
	uint32_t idle_s, packets;

	if (!rule || flow_rule_life(rule) != e->life)
		return;
	idle_s = flow_rule_idle_timeout_s(rule);
	packets = idle_s ? packets_of(t, rule) : 0;
	if (packets != e->packets) {
		e->packets = packets;
		e->used_tick = now;
	}
	if (hard_tick(rule) <= now || (idle_s && e->used_tick + idle_s * TICKS_PER_S <= now))
		flow_table_remove(t->table, e->id);
	else
		put(t, e, rule, now);
}

static void look_at_due(struct loop_task *task)
{
	struct flow_timeouts *t = container_of(task, struct flow_timeouts, task);
	uint64_t start_ns = clock_ns();
	uint32_t now = (uint32_t)(start_ns / TICK_NS);

	while (t->due && clock_ns() - start_ns < LOOP_TASK_NS) {
		struct block *block = t->due;

		t->due = block->next;
		t->n -= block->n;
		for (uint32_t i = 0; i < block->n; i++)
			look(t, &block->entry[i], now);
		free(block);
	}
	if (t->due)
		loop_later(t->loop, task);
}

/* Takes what lies at @tick to due. */
static void collect(struct flow_timeouts *t, uint32_t tick)
{
	struct block **list = &t->wheel[tick % WHEEL_TICKS];

	while (*list) {
		struct block *block = *list;

		*list = block->next;
		block->next = t->due;
		t->due = block;
	}
}

static void on_tick(struct loop_timer *timer)
{
	struct flow_timeouts *t = container_of(timer, struct flow_timeouts, timer);
	uint32_t now = (uint32_t)(clock_ns() / TICK_NS);

	if (now - t->tick > WHEEL_TICKS)
		t->tick = now - WHEEL_TICKS;
	while (t->tick < now)
		collect(t, ++t->tick);
	if (t->due)
		loop_later(t->loop, &t->task);
	else if (!t->n)
		loop_timer_stop(timer);
}

void flow_timeouts_watch(struct flow_timeouts *t, const struct flow_rule *rule)
{
	uint32_t now = (uint32_t)(clock_ns() / TICK_NS);
	struct entry e = {
		.id = flow_rule_id(t->table, rule),
		.life = flow_rule_life(rule),
		.packets = packets_of(t, rule),
		.used_tick = now,
	};

	if (!t->n)
		t->tick = now;
	if (!t->timer.armed)
		loop_timer_start(t->loop, &t->timer, TICK_MS, on_tick);
	put(t, &e, rule, now);
}

struct flow_timeouts *flow_timeouts_create(struct loop *loop, struct flow_table *table)
{
	struct flow_timeouts *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->loop = loop;
	t->table = table;
	t->task.run = look_at_due;
	return t;
}

void flow_timeouts_destroy(struct flow_timeouts *t)
{
	if (!t)
		return;
	loop_timer_stop(&t->timer);
	loop_not_later(t->loop, &t->task);
	for (uint32_t i = 0; i < WHEEL_TICKS; i++)
		collect(t, i);
	while (t->due) {
		struct block *block = t->due;

		t->due = block->next;
		free(block);
	}
	free(t);
}

uint32_t flow_timeouts_count(const struct flow_timeouts *t)
{
	return t->n;
}

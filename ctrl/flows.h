/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gateway's flow rules: the table, its ports, what was loaded at start, timeouts, and whose
 * turn it is to change many rules at once.
 *
 * Threads: control only.
 */
#ifndef CTRL_FLOWS_H
#define CTRL_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctrl/loop.h"
#include "dataplane/flow_table.h"
#include "rules/rules.h"

struct gateway;
struct job;			/* ctrl/server.h */
struct flow_ports;		/* ctrl/flow_ports.h */
struct flow_timeouts;		/* ctrl/flow_timeouts.h */

/* Many rules are changed at once by one job at a time; the others queue up. */
struct flows_turn {
	struct job *job;		/* its owner's; job_wake() is called */
	uint64_t since_ns;		/* it waits, or has its turn, since then */
	struct flows_turn *next;	/* in the queue, whose first has its turn */
	bool queued;
};

struct flows {
	struct gateway *g;
	struct flow_table *table;	/* also in g->tables */
	struct flow_ports *ports;
	struct flow_timeouts *timeouts;
	struct flows_turn *turns;	/* first: may stage a change */
	struct loop_task tidy;		/* gives back what rules that went have left */
};

/* Makes the table for @n_workers, into @g->tables too, and loads the configuration's file. Before
 * the workers are made. -errno after log lines: each error in the file as FILE:LINE:COLUMN. */
int flows_create(struct gateway *g, uint32_t n_workers, struct flows **flows);
/* No worker and no command may be left. Accepts NULL. */
void flows_destroy(struct flows *f);

const struct rules_ports *flows_ports(const struct flows *f);

/* A single rule: 1 added, 0 replaced, -ENOMEM, -ENOSPC. */
int flows_add(struct flows *f, const struct flow_spec *spec);

/* True: it is @turn's turn. False: it waits; job_wake() comes when it is, and every second before:
 * ask again. */
bool flows_take_turn(struct flows *f, struct flows_turn *turn);
/* Ends the turn, or the waiting for it. Harmless when there was neither. */
void flows_leave_turn(struct flows *f, struct flows_turn *turn);

/* @rule is there from now on: ends it by its timeouts, if it has any. */
void flows_watch(struct flows *f, const struct flow_rule *rule);

/* flow_table_walk for about LOOP_TASK_NS. False: that were all. */
bool flows_walk(struct flows *f, uint32_t *cursor,
		void (*visit)(struct flow_table *t, const struct flow_rule *rule, void *arg),
		void *arg);

/* Why a rule could not be added, as a sentence: of -ENOMEM, -ENOSPC. */
const char *flows_why(int error);

void flows_every_second(struct flows *f);

#endif

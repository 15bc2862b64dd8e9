/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that end by themselves: hard_timeout after they were made, idle_timeout after their last
 * packet.
 *
 * Only rules with a timeout are in here, 16 bytes each, in a wheel of quarters of a second: a rule
 * lies where it is due to be looked at. A hard timeout is met within half a second. Whether a rule
 * is idle is asked every eighth of its timeout (at least every second) by comparing its packets: it
 * goes that much later at most. However many are due at once, they are looked at in pieces.
 *
 * Rules need not be taken out when they go in other ways: (id, life) finds nothing then.
 * Threads: control only.
 */
#ifndef CTRL_FLOW_TIMEOUTS_H
#define CTRL_FLOW_TIMEOUTS_H

#include "ctrl/loop.h"
#include "dataplane/flow_table.h"

struct flow_timeouts;

/* NULL without memory. */
struct flow_timeouts *flow_timeouts_create(struct loop *loop, struct flow_table *table);
/* Accepts NULL. */
void flow_timeouts_destroy(struct flow_timeouts *t);

/* @rule, visible now, has a timeout. Once for each rule. When there is no memory it is logged, and
 * the rule stays. */
void flow_timeouts_watch(struct flow_timeouts *t, const struct flow_rule *rule);

/* For tests: how many are watched. */
uint32_t flow_timeouts_count(const struct flow_timeouts *t);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The captures of the configuration, which run as long as the daemon. One whose device cannot be
 * had is a problem (gateway_problems), and tried again every few seconds; so is one whose device
 * has gone.
 *
 * Threads: control only.
 */
#ifndef CTRL_PERMANENT_H
#define CTRL_PERMANENT_H

#include <stdint.h>

struct gateway;
struct permanent;

/* -ENOMEM. Starts those that can be started. */
int permanent_create(struct gateway *g, struct permanent **permanent);
/* After captures_destroy. Accepts NULL. */
void permanent_destroy(struct permanent *p);

void permanent_every_second(struct permanent *p);

/* Since when conf->captures[@i] does not run, and why; 0: it does. */
uint64_t permanent_problem(const struct permanent *p, uint32_t i, const char **why);

#endif

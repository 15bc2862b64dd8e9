/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ports of a running gateway: opened, watched, lost, found again.
 *
 * A port's state follows from few facts (is it shut, is it open, has it link, was its file read to
 * the end, why could it not be opened); ports_settle() derives it after every change of one of
 * them, and all that depends on the state happens there: what the workers see, flood lists, learned
 * entries, tunnels, the log.
 * Threads: control only.
 */
#ifndef CTRL_PORTS_H
#define CTRL_PORTS_H

#include <stdbool.h>
#include <stdint.h>

struct gateway;

/* Opens every port of the configuration for the first time. -errno after a log line when one fails
 * that may not be missing; the caller closes the others. */
int ports_open_all(struct gateway *g);
void ports_close_all(struct gateway *g);

/* Tries to open port @i now, unless it is open. */
void ports_try(struct gateway *g, uint16_t i);
/* The device of port @i left. */
void ports_vanished(struct gateway *g, uint16_t i);
/* Derives the state of port @i and does what a change asks for. */
void ports_settle(struct gateway *g, uint16_t i);

/* Refreshes infos, and tries again what could not be opened. */
void ports_every_second(struct gateway *g);

/* Whether packets are to know when their NIC received them (port_set_time): of all ports. */
void ports_set_time(struct gateway *g, bool on);

#endif

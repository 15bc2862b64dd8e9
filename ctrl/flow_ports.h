/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gateway's ports and tunnels as flow rules call them: by name and by number, each in O(1).
 *
 * Ports of the underlay are none that a rule could name: what they carry is decapsulated first.
 * Threads: control only.
 */
#ifndef CTRL_FLOW_PORTS_H
#define CTRL_FLOW_PORTS_H

#include "conf/conf.h"
#include "rules/rules.h"
#include "tunnels/tunnel.h"

struct flow_ports;

/* @conf and @tunnels (NULL: there are none) must live on. NULL without memory. */
struct flow_ports *flow_ports_create(const struct conf *conf, const struct tunnels *tunnels);
/* Accepts NULL. */
void flow_ports_destroy(struct flow_ports *p);
const struct rules_ports *flow_ports_rules(const struct flow_ports *p);

#endif

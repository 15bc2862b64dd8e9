/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the workers see of ports and networks: built from the configuration and the ports' state,
 * published under RCU.
 *
 * Networks that flood to the same ports and tunnels form a group; a group's networks and its flood
 * list are one allocation, so that 64 K networks on one trunk cost one list. When a port comes or
 * goes, only the groups that it belongs to are built again. A port's VLAN maps never change and are
 * shared by all the views that the port has in its life.
 *
 * Invariants: every port of the configuration has a view, open or not; every network of the
 * configuration is published. A flood list has the ports that can send, then all tunnels; the
 * tunnel set has the static entries' VTEPs too.
 * Threads: control only; what it publishes, workers read.
 */
#ifndef CTRL_VIEWS_H
#define CTRL_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

struct gateway;
struct views;

/* Publishes everything in @g->tables from @g->conf, g->port[].state and g->tunnels (all remotes are
 * added there). -ENOMEM, or -ENOSPC when there are more remote VTEPs than TUNNEL_MAX; after a log
 * line. */
int views_create(struct gateway *g, struct views **views);
/* No reader may be left; empties @g->tables of what it published. Accepts NULL. */
void views_destroy(struct views *v);

/* Port @port changed (state, shut, MTU): publishes its view and the flood lists that it belongs to.
 * -ENOMEM: the workers go on with what they had. */
int views_update_port(struct views *v, uint16_t port);

/* Whether frames of @network may leave by @egress. */
bool views_carries(const struct views *v, uint16_t network, uint16_t egress);

/* The largest MTU of the ports whose networks use tunnel @egress; 0: none of them is open. */
uint32_t views_tunnel_mtu(struct views *v, uint16_t egress);

/* For tests: the number of different flood groups. */
uint32_t views_n_groups(const struct views *v);

#endif

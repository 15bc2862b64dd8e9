/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last stage, and the only exit: every packet of a burst is submitted to its egress port's
 * queue, or counted by its drop reason and its frame given back.
 *
 * Descriptors are staged by tx, published once a burst (tx_submit) and the kernel is told once a
 * loop (tx_progress), so that several ingress ports share a system call.
 * Invariants: a queue is in active[] exactly while descriptors of it are staged or not yet
 * completed.
 * Threads: one worker's.
 */
#ifndef AFXDP_TX_H
#define AFXDP_TX_H

#include <stdbool.h>
#include <stdint.h>

#include "afxdp/queue.h"
#include "dataplane/lane.h"

struct tx_ports {
	struct port_queue *queue[PORT_MAX];	/* by egress id; NULL: not attached */
	struct port_queue *active[PORT_MAX];
	uint32_t n_active;
};

void tx(struct lane *lane, struct tx_ports *ports, struct burst *burst);

/* Publishes what tx staged. */
void tx_submit(struct tx_ports *ports);

struct tx_state {
	uint32_t completed;	/* frames that came home */
	uint32_t waiting;	/* descriptors that the kernel has not taken yet: call again */
};

/* Tells the kernel about published descriptors, again for those that it did not take last time, and
 * brings completed frames home. */
struct tx_state tx_progress(struct tx_ports *ports, struct pool *pool);

void tx_add(struct tx_ports *ports, struct port_queue *queue);
/* What the kernel still has of @queue stays with it: pool_reclaim brings it home. */
void tx_remove(struct tx_ports *ports, struct port_queue *queue);

#endif

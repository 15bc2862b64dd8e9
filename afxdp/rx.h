/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first stage: from a queue into a burst.
 *
 * Invariants: every descriptor that is taken leaves as a packet or is counted in bad_descriptors;
 * none is stranded. FILL is topped up to what it should have whenever the pool has frames.
 * Threads: the queue's worker.
 */
#ifndef AFXDP_RX_H
#define AFXDP_RX_H

#include "afxdp/queue.h"
#include "dataplane/lane.h"

/* Resets @burst and takes up to BURST_MAX packets. @cookie: of rx_meta. A packet of a file that no
 * frame can hold arrives cut and marked (too-big). Returns the number of packets. */
unsigned int rx(struct lane *lane, struct port_queue *queue, uint32_t cookie, struct burst *burst);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of a packet, on one screen: pipeline.c.
 */
#ifndef AFXDP_PIPELINE_H
#define AFXDP_PIPELINE_H

struct worker;
struct port_queue;

/* One burst from @queue through all stages. Returns the number of packets received. */
unsigned int pipeline_run(struct worker *worker, struct port_queue *queue);

#endif

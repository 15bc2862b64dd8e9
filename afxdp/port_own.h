/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a port consists of: shared by port.c (life) and port_mode.c (program and sockets), and by
 * nobody else.
 */
#ifndef AFXDP_PORT_OWN_H
#define AFXDP_PORT_OWN_H

#include "afxdp/device.h"
#include "afxdp/port.h"
#include "afxdp/queue.h"
#include "afxdp/steer.h"
#include "afxdp/worker.h"

struct port {
	/* fixed while open */
	struct port_options options;
	struct worker *worker[WORKER_MAX];
	uint32_t n_workers;
	bool hugepages;
	/* what port_mode.c came to */
	uint8_t mode; /* enum port_mode */
	bool bound;
	char program_why[160];
	char mode_why[160];
	/* in the order in which they are made; zero or NULL: not yet */
	struct device device;
	struct steer *steer;
	struct pcap_port *pcap;
	struct port_queue *queue; /* one a worker */
};

/* Loads and attaches the best program that options.mode, the kernel and the driver allow. 0 or
 * -errno with a sentence, as port_open. Undone by steer_close. */
int port_choose_program(struct port *port, const struct why *why);

/* A socket for each worker's queue, zero-copy where it may be and can be, known to the program.
 * Queues are not attached yet. 0 or -errno with a sentence; on an error all frames are back. */
int port_open_sockets(struct port *port, const struct why *why);

/* Closes them. The frames stay lent. True when a driver may still be writing to some (zero-copy).
 */
bool port_close_sockets(struct port *port);

/* On each worker: all frames lent to port @index come home. Its sockets are gone. */
void port_reclaim(struct worker *const *workers, uint32_t n_workers, uint16_t index);

/* How long a driver may go on using the frames of a closed zero-copy socket: the kernel takes the
 * pool from it in a work item of its own. */
#define ZERO_COPY_SETTLE_NS (500 * NS_PER_MS)

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One queue of one port: what a worker polls and sends to.
 *
 * Made by port.c (control), lent to a worker with worker_attach, taken back with worker_detach.
 * Between the two only the worker touches it, but for the kernel's ends of the rings and the
 * statistics that getsockopt reads. Invariants: frames in rx, fill, tx and completion rings are
 * lent to the kernel: pool.owner[] names this port. fill is filled before bind. Nothing waits for a
 * full ring.
 */
#ifndef AFXDP_QUEUE_H
#define AFXDP_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <xdp/xsk.h>

#include "lib/bits.h"

struct worker;
struct pcap_port; /* afxdp/pcap_port.h */

/* The most that a queue sends in one loop: more than a loop brings it unless more than four ports
 * send to it at once. What is left waits, so that receiving goes on. */
#define QUEUE_KICK_FRAMES 512u

enum queue_kind { QUEUE_XSK, QUEUE_PCAP, QUEUE_SINK };

struct port_queue {
	/* fixed while attached */
	uint8_t kind; /* enum queue_kind */
	bool need_wakeup;
	bool zero_copy;
	bool skb_mode;
	uint16_t port; /* egress id */
	int fd;        /* -1 without a socket */
	uint32_t ring; /* entries of rx and tx; fill and completion have twice as many */
	uint32_t kick_frames; /* that one sendto moves, at most */
	struct pcap_port *pcap;
	struct xsk_umem *umem;
	struct xsk_socket *xsk;
	/* worker */
	struct xsk_ring_cons rx cache_aligned;
	struct xsk_ring_cons completion;
	struct xsk_ring_prod fill;
	struct xsk_ring_prod tx;
	uint32_t fill_missing;    /* frames that fill should have and has not */
	uint32_t tx_staged;       /* descriptors written since the last submit */
	uint32_t tx_outstanding;  /* submitted, not yet completed */
	bool polled;              /* read from: not an egress-only port */
	uint64_t bad_descriptors; /* from the kernel, outside the area or the frame: must stay 0 */
};

/* On the worker's thread, through worker_call. The worker starts or stops polling and sending to
 * the queue; after detach nothing of the worker points to it. */
void worker_attach(struct worker *worker, struct port_queue *queue);
void worker_detach(struct worker *worker, struct port_queue *queue);

/*
 * xsk.c. Registers the pool's area as a UMEM of the socket's own, fills FILL and binds to queue
 * @queue_id of
 * @ifindex. The kernel's errors, of which -EBUSY means: a socket on this queue is still going away,
 * try again. Reads nothing of @pool but where and how big its area is.
 */
struct pool;
struct xsk_bind {
	int ifindex;
	const char *device;
	uint32_t queue_id;
	uint32_t ring;
	bool zero_copy; /* else copy */
	bool skb_mode;
};
/* Control. FILL gets the @n_frames frames of @frames, at most 2 * ring: they are taken from the
 * pool already, with owner[] written. On an error they are still the caller's. */
int xsk_create(struct port_queue *queue, const struct pool *pool, const uint32_t *frames,
	       uint32_t n_frames, const struct xsk_bind *bind);
/* The same with frames that it takes from @pool itself: run it through worker_call, or before the
 * worker starts. On an error all frames are back in the pool. */
int xsk_open(struct port_queue *queue, struct pool *pool, const struct xsk_bind *bind);
/* Control. Frames that the kernel has stay lent: pool_reclaim gets them back. */
void xsk_close(struct port_queue *queue);

#endif

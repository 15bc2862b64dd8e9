/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the headers of Debian 12 do not know of AF_XDP sockets yet.
 */
#ifndef LIB_XDP_SOCKET_H
#define LIB_XDP_SOCKET_H

#include <linux/if_xdp.h>
#include <stdint.h>
#include <sys/socket.h>

#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9	/* Linux 6.17 */
#endif

#define XDP_TX_BUDGET 32u	/* where it cannot be set: the kernel's TX_BATCH_SIZE */

/* Asks that one sendto on a bound socket moves up to @frames in copy mode, at least XDP_TX_BUDGET
 * and at most the TX ring; returns how many it will be. A system call for every 32 frames costs 7
 * percent. */
static inline uint32_t xdp_set_tx_budget(int fd, uint32_t frames)
{
	return setsockopt(fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &frames, sizeof(frames)) ?
		       XDP_TX_BUDGET :
		       frames;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captured frames onto a network device, so that whatever listens there sees them: ordinary packet
 * sockets, in batches. (With PACKET_QDISC_BYPASS, or from an AF_XDP socket, nobody would: packet(7)
 * has taps in the way of the queueing discipline only.)
 *
 * Threads: the capture's own.
 */
#ifndef CAPTURE_MIRROR_H
#define CAPTURE_MIRROR_H

#include <stdint.h>

#include "capture/ring.h"

struct mirror;

/* The mark of what is sent (SO_MARK), for guard.h. */
#define MIRROR_MARK 0x63617074

struct mirror_counts {
	uint64_t sent;
	uint64_t refused;	/* no whole header, or the device had no room, is down or gone */
	uint64_t cut;		/* longer than it takes */
};

/* @frame_max: the device's MTU and 14; frames with a tag of 802.1Q may have four bytes more. 0 or
 * -errno. */
int mirror_open(int ifindex, uint32_t frame_max, struct mirror **mirror);
/* Accepts NULL. */
void mirror_close(struct mirror *mirror);

/* Sends the frames of the records from @first up to @end (ring.h); each is sent or refused. Waits
 * for a device that is slower, but not for longer than 10 ms per batch. 0, or -ENODEV when
 * it is gone. */
int mirror_send(struct mirror *mirror, const struct record *first, const struct record *end,
		struct mirror_counts *counts);

#endif

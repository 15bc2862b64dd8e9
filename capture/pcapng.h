/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of the pcapng format (draft-ietf-opsawg-pcapng), into a buffer; this machine's byte order.
 *
 * One section, nanosecond time stamps, link type Ethernet. Invariants: every block is padded and
 * has its length at both ends; an interface is described before the first packet that names it.
 * Threads: none of its own.
 */
#ifndef CAPTURE_PCAPNG_H
#define CAPTURE_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buffer.h"

/* Section header: which program wrote it, on which kernel. */
void pcapng_begin(struct buffer *out, const char *application, const char *os);

struct pcapng_interface {
	const char *name;
	const char *description;	/* or NULL */
	const char *filter;		/* a libpcap expression, or NULL */
	uint32_t snaplen;		/* 0: whole frames */
};
/* Interfaces are numbered from 0 in the order of these calls. */
void pcapng_interface(struct buffer *out, const struct pcapng_interface *interface);

struct pcapng_packet {
	uint32_t interface;
	uint64_t time_ns;	/* since 1970, UTC */
	const uint8_t *frame;
	uint32_t caplen;
	uint32_t len;
	bool inbound;		/* else outbound */
	uint64_t missed;	/* between the packet before and this one; 0: not said */
	const char *comment;	/* or NULL */
};
/* Enhanced Packet Block. */
void pcapng_packet(struct buffer *out, const struct pcapng_packet *packet);

/* Interface Statistics Block, at the end: @received frames that were wanted, @missed of them not in
 * the file. */
void pcapng_statistics(struct buffer *out, uint32_t interface, uint64_t time_ns, uint64_t received,
		       uint64_t missed);

#endif

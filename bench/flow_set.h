/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An endless row of UDP five-tuples, all different, and the rule and the frame of each: what
 * bench/flows loads and what it sends.
 *
 * Threads: values.
 */
#ifndef BENCH_FLOW_SET_H
#define BENCH_FLOW_SET_H

#include <stdint.h>
#include <string.h>

#include "bench/gen.h"
#include "lib/bytes.h"
#include "lib/hash.h"

#define FLOW_SET_MAX (1u << 24)	/* tuples: the source addresses of 10.0.0.0/8 */
#define FLOW_SET_MACS 1000	/* source and destination MAC addresses, in pairs */
#define FLOW_SET_MASKS 16
#define FLOW_FRAME_BYTES 60	/* without FCS */

struct flow_tuple {
	uint32_t src;
	uint32_t dst;
	uint16_t tp_src;
	uint16_t tp_dst;
};

/* An odd factor maps 24 bits onto themselves: no source address comes twice. */
static inline struct flow_tuple flow_tuple(uint32_t i)
{
	uint64_t h = hash_u64(i, 0x5eed);

	return (struct flow_tuple){
		.src = 10u << 24 | ((i * 0x9e3779b1u) & 0xffffff),
		.dst = 11u << 24 | (h & 0xffffff),
		.tp_src = (uint16_t)(1024 + (h >> 24 & 0x7fff)),
		.tp_dst = (uint16_t)(1024 + (h >> 40 & 0x7fff)),
	};
}

static inline void flow_mac(uint8_t *mac, uint32_t oui, uint32_t i)
{
	put_be32(mac, oui << 8);
	put_be32(mac + 2, (oui & 0xff) << 24 | i % FLOW_SET_MACS);
}

/* Ethernet, IPv4 and UDP without a checksum, so that the payload may change. */
static inline void flow_frame(uint8_t frame[static FLOW_FRAME_BYTES], uint32_t i)
{
	const uint8_t head[] = {0x08, 0, 0x45, 0, 0, FLOW_FRAME_BYTES - 14, 0, 0, 0, 0, 64, 17};
	struct flow_tuple t = flow_tuple(i);
	uint32_t sum = 0;

	memset(frame, 0, FLOW_FRAME_BYTES);
	flow_mac(frame, GEN_SINK_OUI, i);
	flow_mac(frame + 6, GEN_SOURCE_OUI, i);
	memcpy(frame + 12, head, sizeof(head));
	put_be32(frame + 26, t.src);
	put_be32(frame + 30, t.dst);
	put_be16(frame + 34, t.tp_src);
	put_be16(frame + 36, t.tp_dst);
	put_be16(frame + 38, FLOW_FRAME_BYTES - 34);
	for (int at = 14; at < 34; at += 2)
		sum += get_be16(frame + at);
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(frame + 24, (uint16_t)~(sum + (sum >> 16)));
}

#endif

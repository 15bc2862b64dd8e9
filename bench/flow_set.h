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
#define FLOW_SET_MACS 1000	/* source and destination MAC addresses, in pairs; gaps's, and
				 * flowgen's unless it is told otherwise */
#define FLOW_SET_MASKS 16
#define FLOW_FRAME_BYTES 60	/* without FCS */
#define FLOW_VXLAN_BYTES 50	/* in front of a frame in a tunnel: Ethernet, IPv4, UDP, VXLAN */
#define FLOW_VTEP_LOCAL 0xc0000201u	/* 192.0.2.1, which the tunnels' packets go to */
#define FLOW_VTEP_REMOTE 0xc0000202u	/* ... and where they come from */
#define FLOW_VTEP_OUI 0x02000cu	/* of MACs on the underlay: ...:01 ours, ...:02 the other one */

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
	put_be32(mac + 2, (oui & 0xff) << 24 | (i & 0xffffff));
}

/* IPv4 with a checksum, without options. */
static inline void flow_ipv4(uint8_t *ip, uint32_t src, uint32_t dst, uint16_t bytes)
{
	const uint8_t head[] = {0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0};
	uint32_t sum = 0;

	memcpy(ip, head, sizeof(head));
	put_be16(ip + 2, bytes);
	put_be32(ip + 12, src);
	put_be32(ip + 16, dst);
	for (int at = 0; at < 20; at += 2)
		sum += get_be16(ip + at);
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(ip + 10, (uint16_t)~(sum + (sum >> 16)));
}

/* Ethernet, IPv4 and UDP without a checksum, so that the payload may change. Flow @i is between
 * pair @i % @n_macs of MACs. */
static inline void flow_frame(uint8_t frame[static FLOW_FRAME_BYTES], uint32_t i, uint32_t n_macs)
{
	struct flow_tuple t = flow_tuple(i);

	memset(frame, 0, FLOW_FRAME_BYTES);
	flow_mac(frame, GEN_SINK_OUI, i % n_macs);
	flow_mac(frame + 6, GEN_SOURCE_OUI, i % n_macs);
	put_be16(frame + 12, 0x0800);
	flow_ipv4(frame + 14, t.src, t.dst, FLOW_FRAME_BYTES - 14);
	put_be16(frame + 34, t.tp_src);
	put_be16(frame + 36, t.tp_dst);
	put_be16(frame + 38, FLOW_FRAME_BYTES - 34);
}

/* What a tunnel puts in front of @bytes. */
static inline void flow_vxlan(uint8_t outer[static FLOW_VXLAN_BYTES], uint32_t vni,
			      uint16_t source_port, uint16_t bytes)
{
	memset(outer, 0, FLOW_VXLAN_BYTES);
	flow_mac(outer, FLOW_VTEP_OUI, 1);
	flow_mac(outer + 6, FLOW_VTEP_OUI, 2);
	put_be16(outer + 12, 0x0800);
	flow_ipv4(outer + 14, FLOW_VTEP_REMOTE, FLOW_VTEP_LOCAL, bytes + 36);
	put_be16(outer + 34, source_port);
	put_be16(outer + 36, 4789);
	put_be16(outer + 38, bytes + 16);
	outer[42] = 8;
	put_be32(outer + 46, vni << 8);
}

#endif

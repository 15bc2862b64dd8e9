/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the generator and its BPF program agree on: the frame, Ethernet with IPv4 and UDP without a
 * checksum, so that ports and MAC addresses can change and nothing else has to; and by what the
 * sink tells a probe from what it drops.
 */
#ifndef BENCH_GEN_H
#define BENCH_GEN_H

#define GEN_FRAME_MIN 60	/* without FCS, bytes */
#define GEN_FRAME_MAX 1514
#define GEN_FLOWS_MAX (1u << 30)
#define GEN_MACS_MAX (1u << 24)

#define GEN_PACE 256		/* frames at once, at a rate: half the CPU time of single batches */

#define GEN_PAYLOAD 42		/* where the bytes after the UDP header begin */
#define PROBE_MAGIC 0x67617073u	/* what begins those of bench/gaps's frames */

#define GEN_SOURCE_OUI 0x02000au	/* the first three bytes of MACs on the generator's side */
#define GEN_SINK_OUI 0x02000bu		/* ... on the other side */

#endif

/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Makes each frame that BPF_PROG_TEST_RUN hands it one of the next flow and sends it out of a
 * device. The kernel recycles frames without putting their bytes back, so all that varies is
 * written each time.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bench/gen.h"

const volatile __u32 ifindex;
const volatile __u32 n_flows = 1;
const volatile __u32 n_macs = 1;
const volatile __u32 outer_bytes;	/* in front: Ethernet, IPv4, UDP, VXLAN; or nothing */
const volatile __u32 source_oui = GEN_SOURCE_OUI;
const volatile __u32 destination_oui = GEN_SINK_OUI;

__u32 next_flow;
__u32 next_mac;

static void put_mac(__u8 *mac, __u32 oui, __u32 n)
{
	mac[0] = oui >> 16;
	mac[1] = oui >> 8;
	mac[2] = oui;
	mac[3] = n >> 16;
	mac[4] = n >> 8;
	mac[5] = n;
}

SEC("xdp")
int next_frame(struct xdp_md *ctx)
{
	__u8 *outer = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;
	__u8 *data = outer + outer_bytes;
	struct udphdr *udp = (struct udphdr *)(data + ETH_HLEN + sizeof(struct iphdr));
	struct udphdr *outer_udp = (struct udphdr *)(outer + ETH_HLEN + sizeof(struct iphdr));
	__u32 flow = next_flow, mac = next_mac;

	if (ctx->ingress_ifindex == ifindex)	/* no test run: attached there, see gen.c */
		return XDP_PASS;
	if ((__u8 *)(udp + 1) > end)
		return XDP_ABORTED;
	put_mac(data, destination_oui, mac);
	put_mac(data + ETH_ALEN, source_oui, mac);
	udp->source = bpf_htons(1024 + (flow & 0x7fff));
	udp->dest = bpf_htons(1024 + (flow >> 15));
	if (outer_bytes)
		outer_udp->source = bpf_htons(49152 + (flow & 0x3fff));
	next_flow = flow + 1 < n_flows ? flow + 1 : 0;
	next_mac = mac + 1 < n_macs ? mac + 1 : 0;
	return (int)bpf_redirect(ifindex, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";

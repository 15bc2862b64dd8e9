/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Every frame to the AF_XDP socket of its queue, and nothing else.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} xsks SEC(".maps");

SEC("xdp")
int to_socket(struct xdp_md *ctx)
{
	return (int)bpf_redirect_map(&xsks, ctx->rx_queue_index, XDP_DROP);
}

char _license[] SEC("license") = "Dual BSD/GPL";

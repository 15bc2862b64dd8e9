/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Counts frames and drops them.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} frames SEC(".maps");

SEC("xdp")
int count_and_drop(struct xdp_md *ctx __attribute__((unused)))
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&frames, &zero);

	if (n)
		++*n;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Counts frames and drops them, or all but the probes of bench/gaps.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bench/gen.h"

const volatile bool pass_probes;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} frames SEC(".maps");

static bool is_probe(const struct xdp_md *ctx)
{
	const __u32 *payload = (const void *)(long)ctx->data + GEN_PAYLOAD;

	return (const void *)(payload + 1) <= (const void *)(long)ctx->data_end &&
	       *payload == PROBE_MAGIC;
}

SEC("xdp")
int count_and_drop(struct xdp_md *ctx)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&frames, &zero);

	if (pass_probes && is_probe(ctx))
		return XDP_PASS;
	if (n)
		++*n;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";

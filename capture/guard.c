/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/guard.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stddef.h>
#include <unistd.h>

#include "capture/mirror.h"
#include "lib/bits.h"

/* return skb->mark == MIRROR_MARK ? TC_ACT_OK : TC_ACT_SHOT; */
static const struct bpf_insn program[] = {
	{.code = BPF_LDX | BPF_MEM | BPF_W,
	 .dst_reg = BPF_REG_2,
	 .src_reg = BPF_REG_1,
	 .off = offsetof(struct __sk_buff, mark)},
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = TC_ACT_OK},
	{.code = BPF_JMP32 | BPF_JEQ | BPF_K,
	 .dst_reg = BPF_REG_2,
	 .off = 1,
	 .imm = MIRROR_MARK},
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = TC_ACT_SHOT},
	{.code = BPF_JMP | BPF_EXIT},
};

int guard_attach(int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "capture_guard", "BSD", program,
			       ARRAY_SIZE(program), NULL);
	int r;

	if (fd < 0)
		return fd;
	filter.prog_fd = fd;
	r = bpf_tc_hook_create(&hook);
	if (!r)
		r = bpf_tc_attach(&hook, &filter);
	close(fd);
	return r;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pcap_filter.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the handle that libpcap compiles with; what a program returns for "whole frame". */
#define SNAPLEN 65535
/* From here on, the kernel answers a load with what is not in the frame: nobody does here. */
#define BESIDE_FRAME 0xfffff000

_Static_assert(sizeof(struct pcap_insn) == sizeof(struct bpf_insn) &&
		       offsetof(struct pcap_insn, k) == offsetof(struct bpf_insn, k),
	       "the same struct by another name");

/* What bpf_filter() knows. It aborts at anything else, of which bpf_validate() lets some pass. */
static bool is_known(uint16_t code)
{
	switch (code) {
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_H | BPF_ABS:
	case BPF_LD | BPF_B | BPF_ABS:
	case BPF_LD | BPF_W | BPF_IND:
	case BPF_LD | BPF_H | BPF_IND:
	case BPF_LD | BPF_B | BPF_IND:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LD | BPF_IMM:
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_B | BPF_MSH:
	case BPF_LDX | BPF_IMM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
	case BPF_ALU | BPF_NEG:
	case BPF_JMP | BPF_JA:
	case BPF_RET | BPF_K:
	case BPF_RET | BPF_A:
	case BPF_MISC | BPF_TAX:
	case BPF_MISC | BPF_TXA:
		return true;
	}
	/* The rest is of two operands, with either K or X as the second. */
	switch (code & ~BPF_X) {
	case BPF_ALU | BPF_ADD:
	case BPF_ALU | BPF_SUB:
	case BPF_ALU | BPF_MUL:
	case BPF_ALU | BPF_DIV:
	case BPF_ALU | BPF_MOD:
	case BPF_ALU | BPF_AND:
	case BPF_ALU | BPF_OR:
	case BPF_ALU | BPF_XOR:
	case BPF_ALU | BPF_LSH:
	case BPF_ALU | BPF_RSH:
	case BPF_JMP | BPF_JGT:
	case BPF_JMP | BPF_JGE:
	case BPF_JMP | BPF_JEQ:
	case BPF_JMP | BPF_JSET:
		return true;
	}
	return false;
}

static bool is_sound(const struct pcap_insn *insn, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		/* bpf_validate() lets a jump wrap round 32 bits, and so lead back. */
		if (!is_known(insn[i].code) ||
		    (insn[i].code == (BPF_JMP | BPF_JA) && insn[i].k >= n))
			return false;
	}
	return bpf_validate((const struct bpf_insn *)insn, (int)n);
}

int pcap_filter_take(const struct pcap_insn *insn, uint32_t n, struct pcap_filter **filter)
{
	struct pcap_filter *f;

	if (!n || n > PCAP_FILTER_MAX || !is_sound(insn, n))
		return -EINVAL;
	f = malloc(sizeof(*f) + n * sizeof(*insn));
	if (!f)
		return -ENOMEM;
	f->n = n;
	memcpy(f->insn, insn, n * sizeof(*insn));
	*filter = f;
	return 0;
}

static int say(const char *text, char *why, uint32_t why_bytes)
{
	snprintf(why, why_bytes, "%s", text);
	return -EINVAL;
}

static bool asks_beside_frame(const struct pcap_insn *insn, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (BPF_CLASS(insn[i].code) == BPF_LD && BPF_MODE(insn[i].code) == BPF_ABS &&
		    insn[i].k >= BESIDE_FRAME)
			return true;
	return false;
}

int pcap_filter_compile(const char *expression, struct pcap_filter **filter, char *why,
			uint32_t why_bytes)
{
	pcap_t *handle = pcap_open_dead(DLT_EN10MB, SNAPLEN);
	struct bpf_program program = {0};
	const struct pcap_insn *insn;
	int r;

	if (!handle)
		return -ENOMEM;
	if (pcap_compile(handle, &program, expression, 1, PCAP_NETMASK_UNKNOWN) < 0) {
		r = say(pcap_geterr(handle), why, why_bytes);
		pcap_close(handle);
		return r;
	}
	insn = (const struct pcap_insn *)program.bf_insns;
	if (asks_beside_frame(insn, program.bf_len)) {
		r = say("inbound and outbound are not in a frame: use the capture's direction", why,
			why_bytes);
	} else {
		r = pcap_filter_take(insn, program.bf_len, filter);
		if (r == -EINVAL)
			say("the expression is too long", why, why_bytes);
	}
	pcap_freecode(&program);
	pcap_close(handle);
	return r;
}

uint32_t pcap_filter_run(const struct pcap_filter *filter, const uint8_t *frame, uint32_t len)
{
	return filter ? bpf_filter((const struct bpf_insn *)filter->insn, frame, len, len)
		      : UINT32_MAX;
}

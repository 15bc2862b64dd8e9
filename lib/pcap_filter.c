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
_Static_assert(BPF_MEMWORDS == 16, "a bit for each word of a program's memory");

/* What libpcap's interpreter knows. Its own check lets others pass, at which it aborts. */
static bool is_known(uint16_t code)
{
	switch (code) {
	case BPF_RET | BPF_K:
	case BPF_RET | BPF_A:
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
	case BPF_LDX | BPF_MSH | BPF_B:
	case BPF_LDX | BPF_IMM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
	case BPF_JMP | BPF_JA:
	case BPF_ALU | BPF_NEG:
	case BPF_MISC | BPF_TAX:
	case BPF_MISC | BPF_TXA:
		return true;
	}
	switch (code & ~BPF_X) { /* with K or X */
	case BPF_JMP | BPF_JEQ:
	case BPF_JMP | BPF_JGT:
	case BPF_JMP | BPF_JGE:
	case BPF_JMP | BPF_JSET:
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
		return true;
	}
	return false;
}

/* Jumps go forward (libpcap's own check lets them go back, and never end). */
static bool is_jump_inside(const struct pcap_insn *at, uint32_t behind)
{
	return at->code == (BPF_JMP | BPF_JA) ? at->k < behind
					      : at->jt < behind && at->jf < behind;
}

static bool has_result(const struct pcap_insn *at)
{
	if (BPF_SRC(at->code) == BPF_X)
		return true;
	switch (BPF_OP(at->code)) {
	case BPF_DIV:
	case BPF_MOD:
		return at->k;
	case BPF_LSH:
	case BPF_RSH:
		return at->k < 32;
	}
	return true;
}

/* With @behind instructions behind it; @written: bits of the words of memory that are. */
static bool is_sane(const struct pcap_insn *at, uint32_t behind, uint16_t written)
{
	if (!is_known(at->code))
		return false;
	if (BPF_CLASS(at->code) == BPF_RET)
		return true;
	if (!behind)
		return false;
	switch (BPF_CLASS(at->code)) {
	case BPF_JMP:
		return is_jump_inside(at, behind);
	case BPF_ST:
	case BPF_STX:
		return at->k < BPF_MEMWORDS;
	case BPF_LD:
	case BPF_LDX:
		return BPF_MODE(at->code) != BPF_MEM ||
		       (at->k < BPF_MEMWORDS && written >> at->k & 1);
	case BPF_ALU:
		return has_result(at);
	}
	return true;
}

/* What is written at @at is written where it goes on. */
static void pass_on(const struct pcap_insn *at, uint16_t *written)
{
	uint16_t here = written[0];

	switch (BPF_CLASS(at->code)) {
	case BPF_RET:
		return;
	case BPF_JMP:
		if (at->code == (BPF_JMP | BPF_JA)) {
			written[1 + at->k] &= here;
			return;
		}
		written[1 + at->jt] &= here;
		written[1 + at->jf] &= here;
		return;
	case BPF_ST:
	case BPF_STX:
		here |= (uint16_t)(1u << at->k);
	}
	written[1] &= here;
}

/* Since all jumps go forward, one pass knows what every way to an instruction has written. */
static bool is_valid(const struct pcap_insn *insn, uint32_t n)
{
	uint16_t written[PCAP_FILTER_MAX];

	if (!n || n > PCAP_FILTER_MAX)
		return false;
	memset(written, 0xff, n * sizeof(written[0]));
	written[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!is_sane(&insn[i], n - i - 1, written[i]))
			return false;
		pass_on(&insn[i], &written[i]);
	}
	return true;
}

int pcap_filter_take(const struct pcap_insn *insn, uint32_t n, struct pcap_filter **filter)
{
	struct pcap_filter *f;

	if (!is_valid(insn, n))
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
			say("the expression is too long, or has a loop (protochain)", why,
			    why_bytes);
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

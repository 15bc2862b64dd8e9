/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pcap_filter.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the handle that libpcap compiles with; what a program returns for "whole frame". */
#define SNAPLEN 65535

_Static_assert(sizeof(struct pcap_insn) == sizeof(struct bpf_insn) &&
		       offsetof(struct pcap_insn, k) == offsetof(struct bpf_insn, k),
	       "the same struct by another name");

int pcap_filter_take(const struct pcap_insn *insn, uint32_t n, struct pcap_filter **filter)
{
	struct pcap_filter *f;

	if (!n || n > PCAP_FILTER_MAX || !bpf_validate((const struct bpf_insn *)insn, (int)n))
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

int pcap_filter_compile(const char *expression, struct pcap_filter **filter, char *why,
			uint32_t why_bytes)
{
	pcap_t *handle = pcap_open_dead(DLT_EN10MB, SNAPLEN);
	struct bpf_program program = {0};
	int r;

	if (!handle)
		return -ENOMEM;
	if (pcap_compile(handle, &program, expression, 1, PCAP_NETMASK_UNKNOWN) < 0) {
		r = say(pcap_geterr(handle), why, why_bytes);
	} else {
		r = pcap_filter_take((const struct pcap_insn *)program.bf_insns, program.bf_len,
				     filter);
		if (r == -EINVAL)
			say("the expression is too long", why, why_bytes);
		pcap_freecode(&program);
	}
	pcap_close(handle);
	return r;
}

uint32_t pcap_filter_run(const struct pcap_filter *filter, const uint8_t *frame, uint32_t len)
{
	return filter ? bpf_filter((const struct bpf_insn *)filter->insn, frame, len, len)
		      : UINT32_MAX;
}

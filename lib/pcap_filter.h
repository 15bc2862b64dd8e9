/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture filters: libpcap's expressions for Ethernet, compiled once, run on frames.
 *
 * Whoever wrote the expression compiles it (the command, or the configuration's reader): a name in
 * it is looked up by libpcap, which may take seconds. The daemon takes programs, and checks them.
 * Threads: a compiled filter is immutable; running it needs no lock. Compiling is for one thread at
 * a time.
 */
#ifndef LIB_PCAP_FILTER_H
#define LIB_PCAP_FILTER_H

#include <stdint.h>

#define PCAP_FILTER_MAX 4096	/* instructions, as many as the kernel takes (BPF_MAXINSNS) */

/* An instruction of classic BPF, as everybody lays it out. (libpcap's own struct has a name that
 * <linux/bpf.h> gives to something else.) */
struct pcap_insn {
	uint16_t code;
	uint8_t jt;
	uint8_t jf;
	uint32_t k;
};

/* One malloc: free() lets go of it. */
struct pcap_filter {
	uint32_t n;
	struct pcap_insn insn[];
};

/* 0, or -EINVAL with libpcap's sentence in @why, or -ENOMEM. */
int pcap_filter_compile(const char *expression, struct pcap_filter **filter, char *why,
			uint32_t why_bytes);

/* Of a program from elsewhere. 0 with a copy, -EINVAL when it could read or jump astray, jump back
 * (and never end), divide by zero, or read what it has not written; -ENOMEM. */
int pcap_filter_take(const struct pcap_insn *insn, uint32_t n, struct pcap_filter **filter);

/* How many bytes of the frame of @len bytes the filter wants; 0: it does not match. @filter NULL:
 * all. Reads nothing outside the frame, whatever the program says. */
uint32_t pcap_filter_run(const struct pcap_filter *filter, const uint8_t *frame, uint32_t len);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture filters: what expressions match, what is said of wrong ones, and programs from elsewhere:
 * those that could go astray are refused, and of the others none reads beyond a frame (which ends
 * where a page does that must not be read) or runs for ever.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/bits.h"
#include "lib/pcap_filter.h"
#include "tests/unit/frames.h"
#include "tests/unit/random.h"

#define WHY_BYTES 256
#define FRAME_MAX 128

static const struct {
	const uint8_t *frame;
	uint32_t len;
} frames[] = {
	{BYTES(MACS, 8, 0, IP4(0x45, 40, 0, 6), PORTS)},
	{BYTES(MACS, 8, 0, IP4(0x45, 40, 0, 17), PORTS)},
	{BYTES(MACS, 8, 0, IP4(0x45, 40, 0x2000, 6), PORTS)},
	{BYTES(MACS, 8, 0, IP4(0x45, 40, 1, 6), PORTS)},
	{BYTES(MACS, TAG(100), 8, 0, IP4(0x45, 40, 0, 6), PORTS)},
	{BYTES(MACS, STAG(7), TAG(100), 8, 0, IP4(0x45, 40, 0, 6), PORTS)},
	{BYTES(MACS, 0x86, 0xdd, IP6(20, 6), PORTS)},
	{BYTES(MACS, 0x86, 0xdd, IP6(20, 17), PORTS)},
	{BYTES(MACS, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1)},
	{BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5)},
	{BYTES(MACS, 8, 0, 0x45)},
	{BYTES(MACS)},
};

/* The frame ends where reading is fatal. */
static uint32_t run(const struct pcap_filter *filter, const uint8_t *frame, uint32_t len)
{
	return pcap_filter_run(filter, memcpy(guarded_end - len, frame, len), len);
}

static struct pcap_filter *compile(const char *expression)
{
	struct pcap_filter *filter = NULL;
	char why[WHY_BYTES];

	if (pcap_filter_compile(expression, &filter, why, sizeof(why)))
		fail_msg("%s: %s", expression, why);
	assert_non_null(filter);
	return filter;
}

/* Bit i: it matches frames[i]. */
static uint32_t matches(const char *expression)
{
	struct pcap_filter *filter = compile(expression);
	uint32_t bits = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(frames); i++)
		bits |= (uint32_t)(run(filter, frames[i].frame, frames[i].len) != 0) << i;
	free(filter);
	return bits;
}

static void expressions(void **state)
{
	enum { ALL = (1 << ARRAY_SIZE(frames)) - 1 };
	static const struct {
		const char *expression;
		uint32_t bits;
	} rows[] = {
		{"", ALL},
		{"tcp", 0x04d},		/* of IPv4 and IPv6, fragments too, no tags */
		{"udp", 0x082},
		{"tcp port 4660", 0x045},
		{"dst port 22136", 0x0c7},
		{"vlan", 0x030},
		{"vlan 100", 0x010},
		{"vlan 7 and vlan 100 and tcp", 0x020},
		{"arp", 0x100},
		{"ip6", 0x0c0},
		{"broadcast", 0x200},
		{"ether proto 0x88b5", 0x200},
		{"ether host 02:00:00:00:00:01", ALL},
		{"host 10.0.0.2 and not udp", 0x00d},
		{"net 2001:db8::/32", 0x0c0},
		{"ip[0] = 0x45", 0x40f},
		{"less 14", 0xa00},
		{"greater 15 and not ip and not ip6", 0x130},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (matches(rows[i].expression) != rows[i].bits)
			fail_msg("'%s' matches %#x, not %#x", rows[i].expression,
				 matches(rows[i].expression), rows[i].bits);
	assert_int_equal(pcap_filter_run(NULL, guarded_end, 0), UINT32_MAX);
}

static void errors(void **state)
{
	static const struct {
		const char *expression;
		const char *why;	/* is in what is said */
	} rows[] = {
		{"tcp prot 80", "syntax error"},
		{"port 65536", "illegal port number"},
		{"vlan 4096", "VLAN tag 4096"},
		{"(tcp", "syntax error"},
		{"tcp\ndst", "syntax error"},
		{"host 10.0.0.300", "10.0.0.300"},
		{"net 10.0.0.1/24", "non-network bits"},
		{"tcp and inbound", "direction"},
		{"\xff", "syntax error"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pcap_filter *filter = NULL;
		char why[WHY_BYTES] = "", few[8];

		if (pcap_filter_compile(rows[i].expression, &filter, why, sizeof(why)) != -EINVAL)
			fail_msg("'%s' was taken", rows[i].expression);
		assert_null(filter);
		if (!strstr(why, rows[i].why))
			fail_msg("'%s': %s", rows[i].expression, why);
		/* A sentence that does not fit is cut. */
		memset(few, 'x', sizeof(few));
		pcap_filter_compile(rows[i].expression, &filter, few, 4);
		assert_memory_equal(few, why, 3);
		assert_memory_equal(few + 3, "\0xxxx", 5);
	}
}

#define RET {BPF_RET | BPF_K, 0, 0, 1}

static void refused(void **state)
{
	static const struct {
		struct pcap_insn insn[3];
		uint32_t n;
	} rows[] = {
		{{RET}, 0},
		/* no end, or one that can be missed */
		{{{BPF_LD | BPF_IMM, 0, 0, 1}}, 1},
		{{RET, {BPF_LD | BPF_IMM, 0, 0, 1}}, 2},
		/* jumps beyond it, and back: as unsigned, by almost 2^32 */
		{{{BPF_JMP | BPF_JA, 0, 0, 1}, RET}, 2},
		{{{BPF_JMP | BPF_JA, 0, 0, UINT32_MAX}, RET}, 2},
		{{RET, {BPF_JMP | BPF_JA, 0, 0, UINT32_MAX - 1}, RET}, 3},
		{{{BPF_JMP | BPF_JEQ, 1, 0, 0}, RET}, 2},
		{{{BPF_JMP | BPF_JGT | BPF_X, 0, 255, 0}, RET, RET}, 3},
		/* scratch memory that is not there */
		{{{BPF_LD | BPF_MEM, 0, 0, 16}, RET}, 2},
		{{{BPF_LDX | BPF_MEM, 0, 0, UINT32_MAX}, RET}, 2},
		{{{BPF_ST, 0, 0, 16}, RET}, 2},
		{{{BPF_STX, 0, 0, 16}, RET}, 2},
		/* division by a zero that everybody sees */
		{{{BPF_ALU | BPF_DIV, 0, 0, 0}, RET}, 2},
		{{{BPF_ALU | BPF_MOD, 0, 0, 0}, RET}, 2},
		/* no such instruction; libpcap aborts at the last three */
		{{{BPF_ALU | 0xc0, 0, 0, 1}, RET}, 2},
		{{{BPF_JMP | 0x50, 0, 0, 0}, RET}, 2},
		{{{BPF_LD | 0xe0, 0, 0, 0}, RET}, 2},
		{{{0xffff, 0, 0, 0}, RET}, 2},
		{{{BPF_LD | BPF_H | BPF_IMM, 0, 0, 0}, RET}, 2},
		{{{BPF_ST | BPF_B, 0, 0, 0}, RET}, 2},
	};
	static struct pcap_insn many[PCAP_FILTER_MAX + 1];
	struct pcap_filter *filter = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (pcap_filter_take(rows[i].insn, rows[i].n, &filter) != -EINVAL)
			fail_msg("program %zu was taken", i);
	assert_null(filter);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct pcap_insn)RET;
	assert_int_equal(pcap_filter_take(many, PCAP_FILTER_MAX + 1, &filter), -EINVAL);
	assert_int_equal(pcap_filter_take(many, PCAP_FILTER_MAX, &filter), 0);
	assert_int_equal(run(filter, frames[0].frame, frames[0].len), 1);
	free(filter);
}

/* A frame of @len bytes that looks like one, in places. */
static void random_frame(uint8_t frame[FRAME_MAX], uint32_t *len)
{
	uint32_t i = random_below(ARRAY_SIZE(frames));

	*len = random_below(FRAME_MAX);
	random_bytes(frame, FRAME_MAX);
	memcpy(frame, frames[i].frame, frames[i].len);
	for (uint32_t n = random_below(4); n; n--)
		frame[random_below(60)] = (uint8_t)random_u64();
}

/* Anything at all, or what comes near to an instruction. */
static struct pcap_insn random_insn(uint32_t left)
{
	static const uint16_t codes[] = {
		BPF_LD | BPF_W | BPF_ABS,     BPF_LD | BPF_H | BPF_ABS,
		BPF_LD | BPF_B | BPF_ABS,     BPF_LD | BPF_W | BPF_IND,
		BPF_LD | BPF_H | BPF_IND,     BPF_LD | BPF_B | BPF_IND,
		BPF_LDX | BPF_B | BPF_MSH,    BPF_LD | BPF_W | BPF_LEN,
		BPF_LDX | BPF_W | BPF_LEN,    BPF_LDX | BPF_IMM,
		BPF_ALU | BPF_DIV | BPF_X,    BPF_ALU | BPF_MOD | BPF_X,
		BPF_ALU | BPF_SUB | BPF_X,    BPF_ALU | BPF_LSH | BPF_X,
		BPF_ALU | BPF_NEG,	      BPF_MISC | BPF_TAX,
		BPF_MISC | BPF_TXA,	      BPF_JMP | BPF_JA,
		BPF_JMP | BPF_JEQ | BPF_K,    BPF_JMP | BPF_JSET | BPF_X,
		BPF_JMP | BPF_JGT | BPF_K,    BPF_RET | BPF_A,
	};
	static const uint32_t numbers[] = {0, 1, 12, 14, 63, 127, 128, 0x7fffffff, 0x80000000,
					   0xfffff000, 0xfffff02c, 0xfffff030, 0xfffffffc,
					   0xffffffff};
	struct pcap_insn insn = {
		.code = codes[random_below(ARRAY_SIZE(codes))],
		.jt = (uint8_t)random_below(left + 1),
		.jf = (uint8_t)random_below(left + 1),
		.k = numbers[random_below(ARRAY_SIZE(numbers))],
	};

	if (random_below(4) == 0)
		insn.k = random_below(left + 1);
	if (random_below(50) == 0)
		random_bytes((uint8_t *)&insn, sizeof(insn));
	return insn;
}

static void hostile(void **state)
{
	uint32_t taken = 0;

	random_init("pcap_filter");
	alarm(60);
	for (uint32_t round = 0; round < 200000; round++) {
		struct pcap_insn insn[24];
		uint32_t n = 1 + random_below(ARRAY_SIZE(insn));
		uint8_t frame[FRAME_MAX];
		struct pcap_filter *filter;
		uint32_t len;

		for (uint32_t i = 0; i < n; i++)
			insn[i] = random_insn(n - i);
		if (random_below(8))
			insn[n - 1] = (struct pcap_insn)RET;
		if (pcap_filter_take(insn, n, &filter))
			continue;
		taken++;
		assert_memory_equal(filter->insn, insn, n * sizeof(*insn));
		for (uint32_t i = 0; i < 8; i++) {
			random_frame(frame, &len);
			run(filter, frame, len);
		}
		free(filter);
	}
	alarm(0);
	/* Most are refused, but a test of none would be none. */
	assert_true(taken > 10000);
}

/* libpcap's own program before it is optimized has to say the same. */
static void against_unoptimized(void **state)
{
	static const char *const expressions[] = {
		"tcp port 4660", "udp or icmp or arp", "vlan and tcp", "ip[8] < 10",
		"ether[0] & 1 = 0 and (ip proto 17 or ip6 proto 17)",
		"tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "net 10.0.0.0/8 and portrange 1-10000",
		"len > 60 and ip[2:2] > len", "ip6[6] = 6 and ip6[40:2] = 0x1234",
	};
	pcap_t *handle = pcap_open_dead(DLT_EN10MB, 65535);

	assert_non_null(handle);
	for (size_t e = 0; e < ARRAY_SIZE(expressions); e++) {
		struct pcap_filter *filter = compile(expressions[e]);
		struct bpf_program plain;
		uint32_t matched = 0;

		assert_int_equal(pcap_compile(handle, &plain, expressions[e], 0,
					      PCAP_NETMASK_UNKNOWN), 0);
		for (uint32_t round = 0; round < 20000; round++) {
			struct pcap_pkthdr header = {0};
			uint8_t frame[FRAME_MAX];
			uint32_t len;
			bool match;

			random_frame(frame, &len);
			header.caplen = header.len = len;
			match = run(filter, frame, len) != 0;
			matched += match;
			if (match != (pcap_offline_filter(&plain, &header, frame) != 0))
				fail_msg("%s: round %u", expressions[e], round);
		}
		assert_in_range(matched, 1, 19999);
		pcap_freecode(&plain);
		free(filter);
	}
	pcap_close(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions), cmocka_unit_test(errors),
		cmocka_unit_test(refused),     cmocka_unit_test(hostile),
		cmocka_unit_test(against_unoptimized),
	};

	return cmocka_run_group_tests(tests, map_guard, NULL);
}

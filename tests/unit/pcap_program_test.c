/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that no compiler made: what is taken ends, gives the same answer twice and reads nothing
 * outside its frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/pcap_filter.h"
#include "tests/unit/frames.h"
#include "tests/unit/random.h"

#define INSN(code, jt, jf, k) {(code), (jt), (jf), (k)}
#define RETURN INSN(BPF_RET | BPF_K, 0, 0, 1)
#define JUMP(k) INSN(BPF_JMP | BPF_JA, 0, 0, (uint32_t)(k))
#define IF(jt, jf) INSN(BPF_JMP | BPF_JEQ | BPF_K, jt, jf, 0)
#define STORE(k) INSN(BPF_ST, 0, 0, k)
#define STORE_X(k) INSN(BPF_STX, 0, 0, k)
#define LOAD(k) INSN(BPF_LD | BPF_MEM, 0, 0, k)
#define LOAD_X(k) INSN(BPF_LDX | BPF_MEM, 0, 0, k)
#define ALU(op, k) INSN(BPF_ALU | (op) | BPF_K, 0, 0, k)

static void taken_or_not(void **state)
{
	static const struct {
		const char *name;
		struct pcap_insn insn[8];
		uint32_t n;
		int r;
	} table[] = {
		{"nothing", {RETURN}, 0, -EINVAL},
		{"all", {RETURN}, 1, 0},
		{"no end", {STORE(0)}, 1, -EINVAL},
		{"jump to the next", {JUMP(0), RETURN}, 2, 0},
		{"jump to itself", {JUMP(-1), RETURN}, 2, -EINVAL},
		{"jump back", {STORE(0), JUMP(-2), RETURN}, 3, -EINVAL},
		{"jump in front", {JUMP(-2), RETURN}, 2, -EINVAL},
		{"jump behind", {JUMP(1), RETURN}, 2, -EINVAL},
		{"jump far behind", {JUMP(INT32_MAX), RETURN}, 2, -EINVAL},
		{"branch behind", {IF(0, 1), RETURN}, 2, -EINVAL},
		{"branch to the end", {IF(0, 1), RETURN, RETURN}, 3, 0},
		{"unknown code", {INSN(0xffff, 0, 0, 0), RETURN}, 2, -EINVAL},
		{"an unknown way to load", {INSN(BPF_LD | BPF_MSH, 0, 0, 0), RETURN}, 2, -EINVAL},
		{"an unknown end", {INSN(BPF_RET | BPF_X, 0, 0, 0)}, 1, -EINVAL},
		{"what only the kernel has", {INSN(BPF_LD | BPF_ABS | BPF_B, 0, 0, -4096 + 44),
					      RETURN}, 2, 0},
		{"division by zero", {ALU(BPF_DIV, 0), RETURN}, 2, -EINVAL},
		{"division", {ALU(BPF_DIV, 2), RETURN}, 2, 0},
		{"remainder of zero", {ALU(BPF_MOD, 0), RETURN}, 2, -EINVAL},
		{"shift by 31", {ALU(BPF_LSH, 31), RETURN}, 2, 0},
		{"shift by 32", {ALU(BPF_LSH, 32), RETURN}, 2, -EINVAL},
		{"shift right by 32", {ALU(BPF_RSH, 32), RETURN}, 2, -EINVAL},
		{"word 15", {STORE(15), LOAD(15), RETURN}, 3, 0},
		{"word 16", {STORE(16), RETURN}, 2, -EINVAL},
		{"word 16 of X", {STORE_X(16), RETURN}, 2, -EINVAL},
		{"word far away", {STORE(0), LOAD(1u << 31), RETURN}, 3, -EINVAL},
		{"not written", {LOAD(0), RETURN}, 2, -EINVAL},
		{"not written, of X", {LOAD_X(0), RETURN}, 2, -EINVAL},
		{"another written", {STORE_X(1), LOAD_X(2), RETURN}, 3, -EINVAL},
		{"written on one way", {IF(0, 1), STORE(3), LOAD(3), RETURN}, 4, -EINVAL},
		{"written on both", {IF(0, 2), STORE(3), JUMP(1), STORE_X(3), LOAD(3), RETURN}, 6,
		 0},
		{"jumped over", {STORE(2), JUMP(1), STORE(3), LOAD(3), RETURN}, 5, -EINVAL},
		{"behind an end", {RETURN, LOAD(3), RETURN}, 3, 0},
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct pcap_filter *filter = NULL;
		int r = pcap_filter_take(table[i].insn, table[i].n, &filter);

		if (r != table[i].r)
			fail_msg("%s: %d", table[i].name, r);
		if (filter)
			pcap_filter_run(filter, guarded_end - 60, 60);
		free(filter);
	}
}

static void as_long_as_the_kernel_takes(void **state)
{
	struct pcap_insn *insn = calloc(PCAP_FILTER_MAX + 1, sizeof(*insn));
	struct pcap_filter *filter;

	assert_non_null(insn);
	for (uint32_t i = 0; i <= PCAP_FILTER_MAX; i++)
		insn[i] = (struct pcap_insn)RETURN;
	assert_int_equal(pcap_filter_take(insn, PCAP_FILTER_MAX + 1, &filter), -EINVAL);
	assert_int_equal(pcap_filter_take(insn, PCAP_FILTER_MAX, &filter), 0);
	free(filter);
	free(insn);
}

/* What libpcap's compiler makes of expressions goes through. */
static void expressions_are_taken(void **state)
{
	static const char *const table[] = {
		"ip", "vlan 5 and host 192.0.2.1", "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
		"ip6 and portrange 1000-2000", "vlan and pppoes and ip", "less 100",
		"ether[len - 1] % 3 = (ether[0] << 2) / 5", "ip[2:2] * 3 ^ 7 > len >> (ip[0] & 7)",
		"not (net 10.0.0.0/8 or arp or (udp and dst port 4789)) and ether multicast",
		"icmp6 or sctp or esp", "vlan 7 and mpls 9",
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct pcap_filter *filter = NULL;
		char why[256] = "";

		pcap_filter_compile(table[i], &filter, why, sizeof(why));
		if (!filter)
			fail_msg("%s: %s", table[i], why);
		free(filter);
	}
}

/* libpcap compiles this into a loop. */
static void no_loops(void **state)
{
	struct pcap_filter *filter;
	char why[256] = "";

	assert_int_equal(pcap_filter_compile("ip6 protochain 6", &filter, why, sizeof(why)),
			 -EINVAL);
	assert_non_null(strstr(why, "loop"));
}

/* Any code, mostly near ones of what there is, and targets and words that often exist. */
static void make_program(struct pcap_insn *insn, uint32_t n)
{
	static const uint16_t codes[] = {
		BPF_RET | BPF_K, BPF_RET | BPF_A, BPF_LD | BPF_W | BPF_ABS,
		BPF_LD | BPF_H | BPF_ABS, BPF_LD | BPF_B | BPF_ABS, BPF_LD | BPF_W | BPF_IND,
		BPF_LD | BPF_H | BPF_IND, BPF_LD | BPF_B | BPF_IND, BPF_LD | BPF_W | BPF_LEN,
		BPF_LDX | BPF_MSH | BPF_B, BPF_LD | BPF_IMM, BPF_LDX | BPF_IMM, BPF_LD | BPF_MEM,
		BPF_LDX | BPF_MEM, BPF_ST, BPF_STX, BPF_JMP | BPF_JA,
		BPF_JMP | BPF_JGT | BPF_K, BPF_JMP | BPF_JEQ | BPF_X, BPF_JMP | BPF_JSET | BPF_K,
		BPF_ALU | BPF_ADD | BPF_X, BPF_ALU | BPF_MUL | BPF_K, BPF_ALU | BPF_DIV | BPF_X,
		BPF_ALU | BPF_MOD | BPF_K, BPF_ALU | BPF_LSH | BPF_X, BPF_ALU | BPF_RSH | BPF_K,
		BPF_ALU | BPF_NEG, BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA,
	};

	for (uint32_t i = 0; i < n; i++) {
		insn[i] = (struct pcap_insn){
			.code = codes[random_below(ARRAY_SIZE(codes))],
			.jt = (uint8_t)random_below(4),
			.jf = (uint8_t)random_below(4),
			.k = random_below(70),
		};
		if (!random_below(4))
			insn[i].k = (uint32_t)random_u64();
		if (random_below(4) && BPF_CLASS(insn[i].code) == BPF_JMP &&
		    BPF_OP(insn[i].code) == BPF_JA)
			insn[i].k = random_below(3);
		if (random_below(4) && insn[i].k > 15)
			insn[i].k %= 16;
		if (!random_below(200))
			insn[i].code = (uint16_t)random_u64();
	}
	insn[n - 1].code = BPF_RET | BPF_A;
}

/* The frame ends where the page does: what reads behind it crashes. */
static void ends_inside_its_frame(void **state)
{
	struct pcap_insn insn[40];
	uint32_t n_taken = 0, n_matched = 0;
	uint64_t start_ns = clock_ns();

	random_init("pcap_program");
	for (uint32_t round = 0; round < 200000; round++) {
		uint32_t n = 1 + random_below(ARRAY_SIZE(insn)), len = random_below(65);
		uint8_t *frame = guarded_end - len;
		struct pcap_filter *filter;

		make_program(insn, n);
		if (pcap_filter_take(insn, n, &filter))
			continue;
		n_taken++;
		random_bytes(frame, len);
		n_matched += pcap_filter_run(filter, frame, len) != 0;
		free(filter);
	}
	print_message("%u taken, %u matched, %.1f s\n", n_taken, n_matched,
		      (double)(clock_ns() - start_ns) / NS_PER_S);
	assert_true(n_taken > 1000 && n_matched > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_or_not),
		cmocka_unit_test(as_long_as_the_kernel_takes),
		cmocka_unit_test(expressions_are_taken),
		cmocka_unit_test(no_loops),
		cmocka_unit_test(ends_inside_its_frame),
	};

	return cmocka_run_group_tests(tests, map_guard, NULL);
}

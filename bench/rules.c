/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reading and writing a rule costs: a million five-tuple rules, in pieces of 64 KiB, as the
 * server takes them from a socket.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "rules/rules.h"
#include "tests/unit/rules_ports.h"

#define N_RULES 1000000
#define PIECE_BYTES 65536
#define ROUNDS 3
#define N_KEPT 1024	/* rules that are printed over and over */

struct kept {
	struct flow_spec *spec;
	uint32_t n;
};

static int keep(void *arg, const struct flow_spec *spec, uint32_t line)
{
	struct kept *kept = arg;

	kept->spec[kept->n++ % N_KEPT] = *spec;
	return 0;
}

static int count(void *arg, const struct flow_spec *spec, uint32_t line)
{
	(*(uint32_t *)arg)++;
	return 0;
}

static void make_rules(struct buffer *text, const char *format)
{
	for (uint32_t i = 0; i < N_RULES; i++)
		buffer_printf(text, format, i >> 16 & 255, i >> 8 & 255, i & 255, i & 0xffff,
			      i % 16 + 1);
}

static int read_rules(const struct buffer *text,
		      int (*rule)(void *, const struct flow_spec *, uint32_t), void *arg)
{
	struct rules_reader reader;
	struct rules_error error;
	int r = 0;

	rules_reader_init(&reader, &test_ports, rule, arg);
	for (size_t at = 0; r == 0 && at < text->n; at += PIECE_BYTES) {
		size_t n = text->n - at < PIECE_BYTES ? text->n - at : PIECE_BYTES;

		r = rules_reader_feed(&reader, text->data + at, n, &error);
	}
	if (r)
		fprintf(stderr, "%u:%u: %s\n", error.line, error.column, error.why);
	rules_reader_fini(&reader);
	return r;
}

static int measure(const char *name, const char *format)
{
	const struct rules_format plain = {.ports = &test_ports};
	struct kept kept = {.spec = calloc(N_KEPT, sizeof(*kept.spec))};
	struct buffer text = {0}, out = {0};
	uint64_t read_ns = UINT64_MAX, print_ns = UINT64_MAX;
	uint32_t n = 0;

	make_rules(&text, format);
	if (!kept.spec || text.failed || read_rules(&text, keep, &kept))
		return 1;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = clock_ns(), took;

		read_rules(&text, count, &n);
		took = clock_ns() - start;
		if (took < read_ns)
			read_ns = took;
		start = clock_ns();
		for (uint32_t i = 0; i < N_RULES; i++) {
			if (out.n > PIECE_BYTES)
				buffer_reset(&out, SIZE_MAX);
			rules_print_spec(&kept.spec[i % N_KEPT], &plain, &out);
		}
		took = clock_ns() - start;
		if (took < print_ns)
			print_ns = took;
	}
	printf("%-8s %3zu bytes a line: read %" PRIu64 " ns, print %" PRIu64 " ns a rule\n", name,
	       text.n / N_RULES, read_ns / N_RULES, print_ns / N_RULES);
	buffer_fini(&text);
	buffer_fini(&out);
	free(kept.spec);
	return 0;
}

int main(void)
{
	return measure("ipv4", "priority=100,tcp,in_port=1,nw_src=10.%u.%u.%u,nw_dst=192.168.77.21,"
			       "tp_src=%u,tp_dst=443,actions=output:%u\n") ||
	       measure("dump",
		       " cookie=0x0, duration=12.345s, table=0, n_packets=17, n_bytes=1020, "
		       "priority=100,udp,nw_src=10.%u.%u.%u,nw_dst=192.168.77.21,tp_src=%u,"
		       "tp_dst=443 actions=output:%u\n") ||
	       measure("ipv6",
		       "tcp6,ipv6_src=2001:db8:%x:%x::%x,ipv6_dst=2001:db8::77:21,tp_src=%u,"
		       "tp_dst=443,actions=output:%u\n");
}

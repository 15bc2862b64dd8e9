/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flowgen: flow rules as text, and capture files with a frame for each of them.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/flow_set.h"
#include "bench/number.h"

#define PRIORITIES 1000
#define STRIDE 7919	/* prime */

struct options {
	const char *actions;
	uint32_t first;
	uint32_t n_masks;
	uint32_t n_macs;
	uint32_t n_vnis;	/* 0: no tunnel */
	bool priorities;
};

static const char usage[] =
	"usage: flowgen [-f FIRST] [-m MASKS] [-p] [-a ACTIONS] rules N\n"
	"       flowgen [-f FIRST] [-M MACS] [-x VNIS] pcap N\n"
	"Writes N rules for UDP, all different, in ovs-ofctl's syntax, or a capture file with one\n"
	"frame for each, in another order. -m: five-tuples in 1 to 16 masks; -p: with priorities\n"
	"from 1 to 1000 in every mask (all the same otherwise). -M: between so many pairs of MAC\n"
	"addresses (1000); -x: out of a VXLAN tunnel, with so many VNIs.\n";

static void print_address(const char *name, uint32_t address, uint32_t bits)
{
	address &= bits ? ~0u << (32 - bits) : 0;
	printf(",%s=%u.%u.%u.%u", name, address >> 24, address >> 16 & 255, address >> 8 & 255,
	       address & 255);
	if (bits < 32)
		printf("/%u", bits);
}

/* The source address is exact in all masks: no rule matches another one's frame. */
static void print_rule(const struct options *o, uint32_t i)
{
	struct flow_tuple t = flow_tuple(i);
	uint32_t mask = i % o->n_masks;

	if (o->priorities)
		printf("priority=%u,", 1 + (uint32_t)(hash_u64(i, 1) % PRIORITIES));
	fputs("udp", stdout);
	print_address("nw_src", t.src, 32);
	print_address("nw_dst", t.dst, 32 - 8 * (mask >> 2));
	if (!(mask & 1))
		printf(",tp_src=%u", t.tp_src);
	if (!(mask & 2))
		printf(",tp_dst=%u", t.tp_dst);
	printf(" actions=%s\n", o->actions);
}

static void write_u32(uint32_t v)
{
	fwrite(&v, sizeof(v), 1, stdout);
}

/* https://www.tcpdump.org/manpages/pcap-savefile.5.html */
static void write_pcap_header(void)
{
	write_u32(0xa1b2c3d4);
	write_u32(2 | 4 << 16);
	write_u32(0);
	write_u32(0);
	write_u32(65535);
	write_u32(1);	/* Ethernet */
}

/* Neighbours in the file are none in the table. */
static uint32_t shuffled(uint32_t i, uint32_t n)
{
	return n % STRIDE ? (uint32_t)((uint64_t)i * STRIDE % n) : i;
}

static void write_frame(const struct options *o, uint32_t i)
{
	uint8_t frame[FLOW_VXLAN_BYTES + FLOW_FRAME_BYTES], *inner = frame + FLOW_VXLAN_BYTES;
	uint32_t bytes = o->n_vnis ? sizeof(frame) : FLOW_FRAME_BYTES;

	flow_frame(inner, i, o->n_macs);
	if (o->n_vnis)
		flow_vxlan(frame, 1 + i % o->n_vnis, (uint16_t)(hash_u64(i, 2) | 0xc000),
			   FLOW_FRAME_BYTES);
	write_u32(i / 1000000);
	write_u32(i % 1000000);
	write_u32(bytes);
	write_u32(bytes);
	fwrite(frame + sizeof(frame) - bytes, bytes, 1, stdout);
}

int main(int argc, char **argv)
{
	struct options o = {.actions = "normal", .n_masks = 1, .n_macs = FLOW_SET_MACS};
	bool good = true, pcap;
	uint32_t n;
	int c;

	while ((c = getopt(argc, argv, "a:f:m:M:px:")) != -1)
		if (c == 'a')
			o.actions = optarg;
		else if (c == 'f')
			good &= read_number(optarg, 0, FLOW_SET_MAX - 1, &o.first);
		else if (c == 'm')
			good &= read_number(optarg, 1, FLOW_SET_MASKS, &o.n_masks);
		else if (c == 'M')
			good &= read_number(optarg, 1, GEN_MACS_MAX, &o.n_macs);
		else if (c == 'x')
			good &= read_number(optarg, 1, (1u << 24) - 1, &o.n_vnis);
		else if (c == 'p')
			o.priorities = true;
		else
			good = false;
	if (!good || argc - optind != 2 ||
	    !read_number(argv[optind + 1], 1, FLOW_SET_MAX - o.first, &n)) {
		fputs(usage, stderr);
		return 2;
	}
	pcap = !strcmp(argv[optind], "pcap");
	if (pcap)
		write_pcap_header();
	for (uint32_t i = 0; i < n; i++)
		if (pcap)
			write_frame(&o, o.first + shuffled(i, n));
		else
			print_rule(&o, o.first + i);
	if (fflush(stdout) || ferror(stdout)) {
		perror("flowgen");
		return 1;
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gen: sends frames out of a device as fast as one core can, or at a rate.
 *
 * A BPF program run with BPF_PROG_TEST_RUN makes and redirects the frames inside the kernel; the
 * device's other end receives them as if from a wire. They carry no hash.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <getopt.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "bench/gen.h"
#include "bench/number.h"
#include "gen.skel.h"
#include "lib/bits.h"
#include "lib/clock.h"

#ifndef BPF_F_TEST_XDP_LIVE_FRAMES
#define BPF_F_TEST_XDP_LIVE_FRAMES (1U << 1)
#endif

#define BATCH_FRAMES 64
#define CALL_FRAMES 65536	/* in one system call: some 15 ms */
#define PACE_FRAMES 256		/* at a rate: half the CPU time that single batches take */

struct options {
	const char *device;
	double seconds;
	uint32_t n_flows;
	uint32_t n_macs;
	uint32_t frame_bytes;
	uint32_t frames_per_s;	/* 0: as many as it can */
	bool reverse;
};

static const char usage[] =
	"usage: gen [-f FLOWS] [-m MACS] [-s FRAME_BYTES] [-p FRAMES_PER_SECOND] [-r] DEVICE\n"
	"           SECONDS\n"
	"Sends IPv4/UDP frames out of DEVICE; prints how many a second, how many, and how long\n"
	"that took. -m: source and destination addresses, in pairs; -p: at this rate, and what is\n"
	"late is made up for; -r: the other way round, so that a switch learns where those live.\n";

static bool read_options(int argc, char **argv, struct options *o)
{
	bool good = true;
	char *end;
	int c;

	while ((c = getopt(argc, argv, "f:m:s:p:r")) != -1)
		if (c == 'f')
			good &= read_number(optarg, 1, GEN_FLOWS_MAX, &o->n_flows);
		else if (c == 'm')
			good &= read_number(optarg, 1, GEN_MACS_MAX, &o->n_macs);
		else if (c == 's')
			good &= read_number(optarg, GEN_FRAME_MIN, GEN_FRAME_MAX, &o->frame_bytes);
		else if (c == 'p')
			good &= read_number(optarg, 1, UINT32_MAX, &o->frames_per_s);
		else if (c == 'r')
			o->reverse = true;
		else
			good = false;
	if (!good || argc - optind != 2)
		return false;
	o->device = argv[optind];
	o->seconds = strtod(argv[optind + 1], &end);
	return end != argv[optind + 1] && !*end && o->seconds > 0 && o->seconds < 1e6;
}

/* IPv4 (RFC 791) and UDP from 198.18.0.1 to 198.19.0.1 (RFC 2544's range); the program fills in the
 * rest. */
static void make_frame(uint8_t *frame, uint32_t frame_bytes)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.tot_len = htons((uint16_t)(frame_bytes - ETH_HLEN)),
		.saddr = htonl(0xc6120001), .daddr = htonl(0xc6130001),
	};
	struct udphdr udp = {.len = htons((uint16_t)(frame_bytes - ETH_HLEN - sizeof(ip)))};
	uint16_t words[sizeof(ip) / 2];
	uint32_t sum = 0;

	memcpy(words, &ip, sizeof(ip));
	for (size_t i = 0; i < sizeof(ip) / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	ip.check = (uint16_t)~((sum & 0xffff) + (sum >> 16));
	memset(frame, 0, frame_bytes);
	frame[12] = ETH_P_IP >> 8;
	frame[13] = ETH_P_IP & 255;
	memcpy(frame + ETH_HLEN, &ip, sizeof(ip));
	memcpy(frame + ETH_HLEN + sizeof(ip), &udp, sizeof(udp));
}

/* How many frames are to be sent now; sleeps until there are enough. */
static uint32_t frames_due(const struct options *o, uint64_t begin_ns, uint64_t n)
{
	uint64_t enough_ns = begin_ns + (n + PACE_FRAMES) * NS_PER_S / o->frames_per_s;
	struct timespec until = {.tv_sec = (time_t)(enough_ns / NS_PER_S),
				 .tv_nsec = (long)(enough_ns % NS_PER_S)};
	uint64_t due;

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	due = (clock_ns() - begin_ns) * o->frames_per_s / NS_PER_S - n;
	return (uint32_t)min_of(due / BATCH_FRAMES * BATCH_FRAMES, CALL_FRAMES);
}

static int run(const struct options *o, int program)
{
	uint8_t frame[GEN_FRAME_MAX];
	uint64_t begin_ns = clock_ns(), now_ns = begin_ns, n = 0;
	uint64_t end_ns = begin_ns + (uint64_t)(o->seconds * (double)NS_PER_S);
	struct xdp_md ctx = {.data_end = o->frame_bytes};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = o->frame_bytes,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH_FRAMES);

	make_frame(frame, o->frame_bytes);
	for (; now_ns < end_ns; now_ns = clock_ns(), n += (uint64_t)opts.repeat) {
		int err;

		opts.repeat = o->frames_per_s ? (int)frames_due(o, begin_ns, n) : CALL_FRAMES;
		err = bpf_prog_test_run_opts(program, &opts);
		if (err) {
			fprintf(stderr, "gen: BPF_PROG_TEST_RUN: %s (kernel before 5.18?)\n",
				strerror(-err));
			return 1;
		}
	}
	printf("%.0f %.0f %.6f\n", (double)n * 1e9 / (double)(now_ns - begin_ns), (double)n,
	       (double)(now_ns - begin_ns) / 1e9);
	return 0;
}

/*
 * A program that no device has makes BPF_PROG_TEST_RUN patch the kernel's code (its XDP
 * dispatcher), which takes half a millisecond and interrupts all CPUs: too much for each batch. So
 * @device has it, where it lets everything pass. Until the process ends.
 */
static int keep_dispatched(int program, uint32_t ifindex)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_SKB_MODE);
	int link = bpf_link_create(program, (int)ifindex, BPF_XDP, &opts);

	if (link < 0)
		fprintf(stderr, "gen: attaching: %s\n", strerror(-link));
	return link < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = {.n_flows = 1, .n_macs = 1, .frame_bytes = GEN_FRAME_MIN};
	struct gen *skeleton;
	uint32_t ifindex;
	int status = 1;

	if (!read_options(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	prctl(PR_SET_TIMERSLACK, 1);	/* else it sleeps 50 us too long */
	ifindex = if_nametoindex(o.device);
	if (!ifindex) {
		fprintf(stderr, "gen: %s: no such device in this namespace\n", o.device);
		return 1;
	}
	skeleton = gen__open();
	if (!skeleton) {
		perror("gen: BPF program");
		return 1;
	}
	skeleton->rodata->ifindex = ifindex;
	skeleton->rodata->n_flows = o.n_flows;
	skeleton->rodata->n_macs = o.n_macs;
	if (o.reverse) {
		skeleton->rodata->source_oui = GEN_SINK_OUI;
		skeleton->rodata->destination_oui = GEN_SOURCE_OUI;
	}
	if (gen__load(skeleton))
		perror("gen: BPF program");
	else if (!o.frames_per_s ||
		 !keep_dispatched(bpf_program__fd(skeleton->progs.next_frame), ifindex))
		status = run(&o, bpf_program__fd(skeleton->progs.next_frame));
	gen__destroy(skeleton);
	return status;
}

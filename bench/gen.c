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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench/flow_set.h"
#include "bench/number.h"
#include "bench/sleep.h"
#include "gen.skel.h"
#include "lib/bits.h"
#include "lib/clock.h"

#ifndef BPF_F_TEST_XDP_LIVE_FRAMES
#define BPF_F_TEST_XDP_LIVE_FRAMES (1U << 1)
#endif

#define BATCH_FRAMES 64
#define FRAME_MAX (FLOW_VXLAN_BYTES + GEN_FRAME_MAX)
#define CALL_FRAMES 65536	/* in one system call: some 15 ms */

struct options {
	const char *device;
	double seconds;
	uint32_t n_flows;
	uint32_t n_macs;
	uint32_t frame_bytes;
	uint32_t frames_per_s;	/* 0: as many as it can */
	uint32_t pace;		/* frames at once, at a rate */
	uint32_t vni;		/* 0: not in VXLAN */
	bool reverse;
};

static const char usage[] =
	"usage: gen [-f FLOWS] [-m MACS] [-s FRAME_BYTES] [-p FRAMES_PER_SECOND] [-b FRAMES]\n"
	"           [-x VNI] [-r] DEVICE SECONDS\n"
	"Sends IPv4/UDP frames out of DEVICE; prints how many a second, how many, and how long\n"
	"that took. -m: source and destination addresses, in pairs; -p: at this rate, and what is\n"
	"late is made up for, -b: this many at once; -x: in VXLAN, from VTEP 192.0.2.2 to\n"
	"192.0.2.1, which is at 02:00:0c:00:00:01; -r: the other way round, so that a switch\n"
	"learns where those live.\n";

static bool read_options(int argc, char **argv, struct options *o)
{
	bool good = true;
	int c;

	while ((c = getopt(argc, argv, "f:m:s:p:b:x:r")) != -1)
		if (c == 'f')
			good &= read_number(optarg, 1, GEN_FLOWS_MAX, &o->n_flows);
		else if (c == 'm')
			good &= read_number(optarg, 1, GEN_MACS_MAX, &o->n_macs);
		else if (c == 's')
			good &= read_number(optarg, GEN_FRAME_MIN, GEN_FRAME_MAX, &o->frame_bytes);
		else if (c == 'p')
			good &= read_number(optarg, 1, UINT32_MAX, &o->frames_per_s);
		else if (c == 'b')
			good &= read_number(optarg, 1, CALL_FRAMES, &o->pace);
		else if (c == 'x')
			good &= read_number(optarg, 1, (1 << 24) - 1, &o->vni);
		else if (c == 'r')
			o->reverse = true;
		else
			good = false;
	if (!good || argc - optind != 2)
		return false;
	o->device = argv[optind];
	return read_seconds(argv[optind + 1], &o->seconds);
}

/* Ethernet, IPv4 and UDP without a checksum, from 198.18.0.1 to 198.19.0.1 (RFC 2544's range); MAC
 * addresses and ports are the program's. Returns its length. */
static uint32_t make_frame(const struct options *o, uint8_t frame[static FRAME_MAX])
{
	uint16_t bytes = (uint16_t)o->frame_bytes;
	uint8_t *inner = frame + (o->vni ? FLOW_VXLAN_BYTES : 0);

	memset(frame, 0, FRAME_MAX);
	if (o->vni)
		flow_vxlan(frame, o->vni, 0, bytes);
	put_be16(inner + 12, ETH_P_IP);
	flow_ipv4(inner + 14, 0xc6120001, 0xc6130001, bytes - 14);
	put_be16(inner + 38, bytes - 34);
	return (uint32_t)(inner - frame) + bytes;
}

/* How many frames are to be sent now; sleeps until there are enough. */
static uint32_t frames_due(const struct options *o, uint64_t begin_ns, uint64_t n)
{
	uint64_t batch = min_of(o->pace, BATCH_FRAMES), due;

	sleep_until(begin_ns + (n + o->pace) * NS_PER_S / o->frames_per_s);
	due = (clock_ns() - begin_ns) * o->frames_per_s / NS_PER_S - n;
	return (uint32_t)min_of(due / batch * batch, CALL_FRAMES);
}

static int run(const struct options *o, int program)
{
	uint8_t frame[FRAME_MAX];
	uint32_t frame_bytes = make_frame(o, frame);
	uint64_t begin_ns = clock_ns(), now_ns = begin_ns, n = 0;
	uint64_t end_ns = begin_ns + (uint64_t)(o->seconds * (double)NS_PER_S);
	struct xdp_md ctx = {.data_end = frame_bytes};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = frame_bytes,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH_FRAMES);

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
	struct options o = {.n_flows = 1, .n_macs = 1, .frame_bytes = GEN_FRAME_MIN,
			    .pace = GEN_PACE};
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
	skeleton->rodata->outer_bytes = o.vni ? FLOW_VXLAN_BYTES : 0;
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

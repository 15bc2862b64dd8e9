/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockgen: sends frames out of a device through a packet socket, so that they reach its other end
 * as the kernel's own packets do: with a hash, or made one when an XDP program asks for it. Slower
 * than gen, whose frames have none.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "bench/flow_set.h"
#include "bench/number.h"
#include "bench/sleep.h"
#include "lib/bits.h"
#include "lib/clock.h"

#define BATCH_FRAMES 64u
#define FLOWS_MAX (1u << 20)

struct options {
	const char *device;
	double seconds;
	uint32_t n_flows;
	uint32_t n_macs;
	uint32_t frames_per_s;	/* 0: as many as it can */
};

static const char usage[] =
	"usage: sockgen [-f FLOWS] [-m MACS] [-p FRAMES_PER_SECOND] DEVICE SECONDS\n"
	"Sends frames of flowgen's row out of DEVICE, through a socket; prints how many a second,\n"
	"how many, and how long that took. -p: at this rate, 64 at once.\n";

static bool read_options(int argc, char **argv, struct options *o)
{
	bool good = true;
	int c;

	while ((c = getopt(argc, argv, "f:m:p:")) != -1)
		if (c == 'f')
			good &= read_number(optarg, 1, FLOWS_MAX, &o->n_flows);
		else if (c == 'm')
			good &= read_number(optarg, 1, GEN_MACS_MAX, &o->n_macs);
		else if (c == 'p')
			good &= read_number(optarg, 1, UINT32_MAX, &o->frames_per_s);
		else
			good = false;
	if (!good || argc - optind != 2)
		return false;
	o->device = argv[optind];
	return read_seconds(argv[optind + 1], &o->seconds);
}

static int open_socket(const char *device)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET,
				      .sll_ifindex = (int)if_nametoindex(device)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1;

	if (fd < 0 || !address.sll_ifindex ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one))) {
		fprintf(stderr, "sockgen: %s: %s\n", device, strerror(errno));
		return -1;
	}
	return fd;
}

/* Frame @n and those after it; returns how many were sent, or -errno. */
static int send_batch(int fd, uint8_t (*frames)[FLOW_FRAME_BYTES], uint32_t n_flows, uint64_t n)
{
	struct mmsghdr m[BATCH_FRAMES] = {0};
	struct iovec iov[BATCH_FRAMES];
	int sent;

	for (uint32_t i = 0; i < BATCH_FRAMES; i++) {
		iov[i] = (struct iovec){frames[(n + i) % n_flows], FLOW_FRAME_BYTES};
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	sent = sendmmsg(fd, m, BATCH_FRAMES, 0);
	if (sent < 0)
		return errno == ENOBUFS ? 0 : -errno;
	return sent;
}

static int run(const struct options *o, int fd, uint8_t (*frames)[FLOW_FRAME_BYTES])
{
	uint64_t begin_ns = clock_ns(), now_ns = begin_ns, n = 0;
	uint64_t end_ns = begin_ns + (uint64_t)(o->seconds * (double)NS_PER_S);

	for (; now_ns < end_ns; now_ns = clock_ns()) {
		int sent;

		if (o->frames_per_s)
			sleep_until(begin_ns + n * NS_PER_S / o->frames_per_s);
		sent = send_batch(fd, frames, o->n_flows, n);
		if (sent < 0) {
			fprintf(stderr, "sockgen: %s: %s\n", o->device, strerror(-sent));
			return 1;
		}
		n += (uint64_t)sent;
	}
	printf("%.0f %.0f %.6f\n", (double)n * 1e9 / (double)(now_ns - begin_ns), (double)n,
	       (double)(now_ns - begin_ns) / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {.n_flows = 1, .n_macs = 1};
	uint8_t (*frames)[FLOW_FRAME_BYTES];
	int fd;

	if (!read_options(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	prctl(PR_SET_TIMERSLACK, 1);	/* else it sleeps 50 us too long */
	fd = open_socket(o.device);
	frames = calloc(o.n_flows, sizeof(*frames));
	if (fd < 0 || !frames)
		return 1;
	for (uint32_t i = 0; i < o.n_flows; i++)
		flow_frame(frames[i], i, o.n_macs);
	return run(&o, fd, frames);
}

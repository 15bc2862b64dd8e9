/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gaps: how evenly frames get through a switch.
 *
 * One thread sends at a steady rate, with real-time priority: its frames reach the switch's port in
 * its own system call, whatever else runs on its core. The kernel notes when the switch sent each
 * frame on; the other thread reads that at leisure. So what shows is the switch, and not who waited
 * for a core beside it. The sender's own unevenness is printed too.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/flow_set.h"
#include "bench/sleep.h"
#include "lib/clock.h"

#define BATCH 64
#define BUFFER_BYTES (256 << 20)
#define PRIORITY 50
#define BUCKET_RATIO 1.2589254	/* of the histogram: ten buckets for each power of ten */

/* In the payload, as the machine has it: 18 bytes. */
struct stamp {
	uint32_t magic;
	uint32_t sequence;
	uint64_t sent_ns;
} __attribute__((packed));

struct run {
	/* fixed */
	uint32_t rate;
	uint32_t n_flows;
	uint32_t stride;
	uint32_t n_frames;
	int tx, rx;
	const char *histogram;	/* a file's name, or NULL */
	/* the sender's */
	uint64_t *sent_gap_ns;
	uint32_t n_sent;
	/* the receiver's */
	uint64_t *gap_ns;
	uint64_t *latency_ns;
	uint64_t last_ns;
	uint32_t n_received;
	uint32_t n_reordered;
	uint32_t sequence;
};

static const char usage[] =
	"usage: gaps [-r PER_SECOND] [-n FLOWS] [-s STRIDE] [-H FILE] TX_DEVICE RX_DEVICE SECONDS\n"
	"Sends frames of FLOWS flows of flowgen's row, every STRIDE-th, out of TX_DEVICE, takes\n"
	"them from RX_DEVICE. Prints: sent, received, reordered, then in microseconds the worst\n"
	"gap between two that arrived, the 99.99 percent one, the worst latency, the median one,\n"
	"the worst gap between two that were sent, and the 99 and the 99.9 percent latency.\n"
	"-H: appends to FILE how many took up to so many microseconds, and longer than the line\n"
	"before says.\n";

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "gaps: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The receive timestamps' clock. */
static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static int open_socket(const char *device, uint16_t protocol)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(protocol),
				      .sll_ifindex = (int)if_nametoindex(device)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || !address.sll_ifindex ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die(device);
	return fd;
}

/* A late frame delays those after it: no bursts. */
static void *send_all(void *arg)
{
	const struct sched_param priority = {.sched_priority = PRIORITY};
	struct run *r = arg;
	uint64_t next_ns = clock_ns(), period_ns = NS_PER_S / r->rate, last_ns = 0;
	uint8_t frame[FLOW_FRAME_BYTES];

	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		die("real-time priority");
	for (uint32_t i = 0; i < r->n_frames; i++) {
		struct stamp stamp = {PROBE_MAGIC, i, 0};

		flow_frame(frame, i % r->n_flows * r->stride, FLOW_SET_MACS);
		sleep_until(next_ns);
		next_ns = clock_ns() + period_ns;
		stamp.sent_ns = wall_ns();
		memcpy(frame + GEN_PAYLOAD, &stamp, sizeof(stamp));
		if (send(r->tx, frame, sizeof(frame), 0) != (ssize_t)sizeof(frame))
			continue;
		if (r->n_sent++)
			r->sent_gap_ns[r->n_sent - 2] = stamp.sent_ns - last_ns;
		last_ns = stamp.sent_ns;
	}
	return NULL;
}

/* Lets the switch learn where the receivers' addresses are. */
static void announce(struct run *r)
{
	uint8_t frame[FLOW_FRAME_BYTES];

	memset(frame, 0, sizeof(frame));
	put_be16(frame + 12, 0x88b5);	/* IEEE 802, local experimental */
	for (uint32_t i = 0; i < FLOW_SET_MACS; i++) {
		flow_mac(frame, GEN_SOURCE_OUI, i);
		flow_mac(frame + 6, GEN_SINK_OUI, i);
		if (send(r->rx, frame, sizeof(frame), 0) < 0)
			die("send");
		if (i % BATCH == 0)
			usleep(1000);
	}
	usleep(200000);
}

static void take(struct run *r, const struct msghdr *m, const uint8_t *frame)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct timespec t;
	struct stamp stamp;
	uint64_t ns;

	memcpy(&stamp, frame + GEN_PAYLOAD, sizeof(stamp));
	if (stamp.magic != PROBE_MAGIC || !c || c->cmsg_type != SCM_TIMESTAMPNS)
		return;
	memcpy(&t, CMSG_DATA(c), sizeof(t));
	ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	if (r->n_received == r->n_frames)
		return;
	if (r->n_received)
		r->gap_ns[r->n_received - 1] = ns - r->last_ns;
	r->n_reordered += r->n_received && stamp.sequence < r->sequence;
	r->latency_ns[r->n_received++] = ns - stamp.sent_ns;
	r->last_ns = ns;
	r->sequence = stamp.sequence;
}

/* Until nothing comes for half a second. */
static void receive_all(struct run *r)
{
	static uint8_t frame[BATCH][128], control[BATCH][64];
	struct mmsghdr m[BATCH];
	struct iovec iov[BATCH];
	int n;

	do {
		for (int i = 0; i < BATCH; i++) {
			iov[i] = (struct iovec){frame[i], sizeof(frame[i])};
			m[i] = (struct mmsghdr){.msg_hdr = {
				.msg_iov = &iov[i], .msg_iovlen = 1,
				.msg_control = control[i], .msg_controllen = sizeof(control[i]),
			}};
		}
		n = recvmmsg(r->rx, m, BATCH, MSG_WAITFORONE, NULL);
		for (int i = 0; i < n; i++)
			if (m[i].msg_len == FLOW_FRAME_BYTES)
				take(r, &m[i].msg_hdr, frame[i]);
	} while (n > 0);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* In microseconds; the largest of all with @share 1. */
static double quantile(uint64_t *ns, uint32_t n, double share)
{
	qsort(ns, n, sizeof(*ns), by_value);
	return n ? (double)ns[(uint32_t)(share * (n - 1))] / 1e3 : -1;
}

static void print(struct run *r)
{
	uint32_t n_gaps = r->n_received ? r->n_received - 1 : 0;

	printf("%u %u %u %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", r->n_sent, r->n_received,
	       r->n_reordered, quantile(r->gap_ns, n_gaps, 1),
	       quantile(r->gap_ns, n_gaps, 0.9999),
	       quantile(r->latency_ns, r->n_received, 1),
	       quantile(r->latency_ns, r->n_received, 0.5),
	       quantile(r->sent_gap_ns, r->n_sent ? r->n_sent - 1 : 0, 1),
	       quantile(r->latency_ns, r->n_received, 0.99),
	       quantile(r->latency_ns, r->n_received, 0.999));
}

/* print has sorted them. */
static void write_histogram(const struct run *r)
{
	FILE *f = fopen(r->histogram, "a");
	uint32_t i = 0, first;

	if (!f)
		die(r->histogram);
	for (double us = 1; i < r->n_received; us *= BUCKET_RATIO) {
		for (first = i; i < r->n_received && (double)r->latency_ns[i] <= us * 1e3; i++)
			;
		fprintf(f, "%.3g %u\n", us, i - first);
	}
	if (fclose(f))
		die(r->histogram);
}

static void open_rx(struct run *r, const char *device)
{
	const struct timeval timeout = {.tv_usec = 500000};
	int one = 1, bytes = BUFFER_BYTES;

	r->rx = open_socket(device, ETH_P_IP);
	if (setsockopt(r->rx, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(r->rx, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(r->rx, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		die("setsockopt");
}

static void open_tx(struct run *r, const char *device)
{
	int one = 1;

	r->tx = open_socket(device, 0);
	if (setsockopt(r->tx, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)))
		die("setsockopt");
}

static bool read_options(int argc, char **argv, struct run *r)
{
	double frames;
	int c;

	while ((c = getopt(argc, argv, "r:n:s:H:")) != -1)
		if (c == 'r')
			r->rate = (uint32_t)atoi(optarg);
		else if (c == 'n')
			r->n_flows = (uint32_t)atoi(optarg);
		else if (c == 's')
			r->stride = (uint32_t)atoi(optarg);
		else if (c == 'H')
			r->histogram = optarg;
		else
			return false;
	if (argc - optind != 3 || !r->rate || !r->n_flows)
		return false;
	frames = atof(argv[optind + 2]) * r->rate;
	r->n_frames = (uint32_t)frames;
	return frames >= 2 && frames < 1e9;
}

int main(int argc, char **argv)
{
	struct run r = {.rate = 10000, .n_flows = 1, .stride = 1};
	pthread_t sender;

	if (!read_options(argc, argv, &r)) {
		fputs(usage, stderr);
		return 2;
	}
	open_tx(&r, argv[optind]);
	open_rx(&r, argv[optind + 1]);
	r.gap_ns = calloc(r.n_frames, sizeof(*r.gap_ns));
	r.latency_ns = calloc(r.n_frames, sizeof(*r.latency_ns));
	r.sent_gap_ns = calloc(r.n_frames, sizeof(*r.sent_gap_ns));
	if (!r.gap_ns || !r.latency_ns || !r.sent_gap_ns)
		die("memory");
	announce(&r);
	errno = pthread_create(&sender, NULL, send_all, &r);
	if (errno)
		die("thread");
	receive_all(&r);
	pthread_join(sender, NULL);
	print(&r);
	if (r.histogram)
		write_histogram(&r);
	return 0;
}

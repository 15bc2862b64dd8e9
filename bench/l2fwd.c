/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * l2fwd: the least that an AF_XDP forwarder between two devices can do. Whatever one receives
 * leaves by the other with its MAC addresses swapped. The floor that a switch is measured against,
 * so it has the same rings, memory and kicks as culvert's workers, and none of the switching.
 *
 * One area of frames, registered as one UMEM a socket: a frame received by one socket is sent by
 * the other without a copy.
 */
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <xdp/xsk.h>

#include "l2fwd.skel.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/xdp_socket.h"

#define FRAME_BYTES 4096u
#define HEADROOM_BYTES 256	/* in front of a packet, the kernel's part included */
#define BURST 64u
#define LOOP_FRAMES 256u	/* taken before the kernel is told, while bursts are full */
#define KICK_FRAMES 512u	/* for one socket in one loop */
#define SPIN_NS (100 * NS_PER_US)	/* without a frame, before it sleeps */
#define HUGE_BYTES ((size_t)2 << 20)

struct side {
	const char *device;
	struct l2fwd *skeleton;
	struct bpf_link *link;
	struct xsk_umem *umem;
	struct xsk_socket *xsk;
	struct xsk_ring_cons rx, completion;
	struct xsk_ring_prod fill, tx;
	uint32_t fill_missing;
	uint32_t outstanding;
	uint32_t kick_frames;	/* that one sendto moves in copy mode */
	uint64_t received, sent, lost;
};

struct forwarder {
	struct side side[2];
	uint32_t ring;
	bool keep_macs;
	bool sleeps;
	uint8_t *area;
	size_t area_bytes;
	uint64_t *free;		/* addresses of free frames; the newest is on top */
	uint32_t n_free;
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = 1;
}

static int fail(const char *device, const char *what, int err)
{
	fprintf(stderr, "l2fwd: %s: %s: %s\n", device, what, strerror(abs(err)));
	return -1;
}

/* FILL, and at most a full TX ring and its completions, for both. */
static int map_area(struct forwarder *f)
{
	uint32_t n = 2 * (2 * f->ring + 3 * f->ring) + BURST;
	uint8_t *wide;

	f->area_bytes = ((size_t)n * FRAME_BYTES + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	wide = mmap(NULL, f->area_bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	f->free = calloc(n, sizeof(*f->free));
	if (wide == MAP_FAILED || !f->free)
		return fail("frames", "no memory", ENOMEM);
	f->area = (uint8_t *)(((uintptr_t)wide + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	madvise(f->area, f->area_bytes, MADV_HUGEPAGE);
	memset(f->area, 0, f->area_bytes);
	while (n--)
		f->free[f->n_free++] = (uint64_t)n * FRAME_BYTES;
	return 0;
}

static void refill(struct forwarder *f, struct side *s)
{
	uint32_t n = min_of(s->fill_missing, f->n_free), at;

	n = min_of(n, xsk_prod_nb_free(&s->fill, n));
	if (!n || !xsk_ring_prod__reserve(&s->fill, n, &at))
		return;
	for (uint32_t i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(&s->fill, at + i) = f->free[--f->n_free];
	xsk_ring_prod__submit(&s->fill, n);
	s->fill_missing -= n;
}

static int open_socket(struct forwarder *f, struct side *s)
{
	const struct xsk_umem_config umem = {
		.fill_size = 2 * f->ring, .comp_size = 2 * f->ring, .frame_size = FRAME_BYTES,
		.frame_headroom = HEADROOM_BYTES - XDP_PACKET_HEADROOM,
	};
	const struct xsk_socket_config socket = {
		.rx_size = f->ring, .tx_size = f->ring,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP,
	};
	int err;

	err = xsk_umem__create(&s->umem, f->area, f->area_bytes, &s->fill, &s->completion, &umem);
	if (err)
		return fail(s->device, "UMEM", err);
	s->fill_missing = 2 * f->ring;
	refill(f, s);
	err = xsk_socket__create(&s->xsk, s->device, 0, s->umem, &s->rx, &s->tx, &socket);
	if (err)
		return fail(s->device, "AF_XDP socket", err);
	s->kick_frames = xdp_set_tx_budget(xsk_socket__fd(s->xsk), min_of(f->ring, KICK_FRAMES));
	return 0;
}

static int open_side(struct forwarder *f, struct side *s)
{
	unsigned int ifindex = if_nametoindex(s->device);
	uint32_t zero = 0;
	int fd;

	if (!ifindex)
		return fail(s->device, "no such device in this namespace", ENODEV);
	if (open_socket(f, s))
		return -1;
	s->skeleton = l2fwd__open_and_load();
	if (!s->skeleton)
		return fail(s->device, "XDP program", errno);
	fd = xsk_socket__fd(s->xsk);
	if (bpf_map__update_elem(s->skeleton->maps.xsks, &zero, sizeof(zero), &fd, sizeof(fd),
				 BPF_ANY))
		return fail(s->device, "socket map", errno);
	s->link = bpf_program__attach_xdp(s->skeleton->progs.to_socket, (int)ifindex);
	return s->link ? 0 : fail(s->device, "attaching the XDP program", errno);
}

static void close_side(struct side *s)
{
	bpf_link__destroy(s->link);
	l2fwd__destroy(s->skeleton);
	if (s->xsk)
		xsk_socket__delete(s->xsk);
	if (s->umem)
		xsk_umem__delete(s->umem);
}

static void swap_macs(uint8_t *frame)
{
	uint8_t mac[6];

	memcpy(mac, frame, 6);
	memcpy(frame, frame + 6, 6);
	memcpy(frame + 6, mac, 6);
}

/* How many frames came. */
static uint32_t forward(struct forwarder *f, struct side *from, struct side *to)
{
	uint32_t at = 0, out = 0, n = xsk_ring_cons__peek(&from->rx, BURST, &at);
	uint32_t room = xsk_prod_nb_free(&to->tx, n);

	room = xsk_ring_prod__reserve(&to->tx, min_of(room, n), &out);
	for (uint32_t i = 0; i < n; i++) {
		const struct xdp_desc *in = xsk_ring_cons__rx_desc(&from->rx, at + i);

		if (i >= room) {
			f->free[f->n_free++] = in->addr / FRAME_BYTES * FRAME_BYTES;
			continue;
		}
		if (!f->keep_macs)
			swap_macs(f->area + in->addr);
		*xsk_ring_prod__tx_desc(&to->tx, out + i) =
			(struct xdp_desc){.addr = in->addr, .len = in->len};
	}
	xsk_ring_cons__release(&from->rx, n);
	xsk_ring_prod__submit(&to->tx, room);
	to->outstanding += room;
	from->fill_missing += n;
	from->received += n;
	to->sent += room;
	to->lost += n - room;
	refill(f, from);
	return n;
}

static uint32_t forward_all(struct forwarder *f)
{
	struct side *side = f->side;
	uint32_t n = 0, there, back;

	do {
		there = forward(f, &side[0], &side[1]);
		back = forward(f, &side[1], &side[0]);
		n += there + back;
	} while (n < LOOP_FRAMES && (there == BURST || back == BURST));
	return n;
}

static uint32_t waiting(const struct side *s)
{
	return s->tx.cached_prod - load_acquire(s->tx.consumer);
}

/* EAGAIN: kick_frames are out and there are more. */
static void kick(struct side *s)
{
	uint32_t n = min_of(waiting(s), KICK_FRAMES);

	if (!xsk_ring_prod__needs_wakeup(&s->tx))
		return;
	for (uint32_t i = 0; i < n; i += s->kick_frames)
		if (sendto(xsk_socket__fd(s->xsk), NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0 ||
		    (errno != EAGAIN && errno != EBUSY))
			return;
}

static void complete(struct forwarder *f, struct side *s)
{
	uint32_t at = 0, n = xsk_ring_cons__peek(&s->completion, s->outstanding, &at);

	for (uint32_t i = 0; i < n; i++)
		f->free[f->n_free++] = *xsk_ring_cons__comp_addr(&s->completion, at + i) /
				       FRAME_BYTES * FRAME_BYTES;
	xsk_ring_cons__release(&s->completion, n);
	s->outstanding -= n;
}

static void sleep_for_frames(const struct forwarder *f)
{
	struct pollfd at[2];

	for (int i = 0; i < 2; i++)
		at[i] = (struct pollfd){xsk_socket__fd(f->side[i].xsk), POLLIN, 0};
	poll(at, 2, 1000);
}

static void run(struct forwarder *f)
{
	struct side *side = f->side;
	uint64_t moved_ns = 0;

	while (!stop) {
		if (forward_all(f))
			moved_ns = clock_ns();
		else if (f->sleeps && clock_ns() - moved_ns > SPIN_NS)
			sleep_for_frames(f);
		for (int i = 0; i < 2; i++) {
			if (!side[i].outstanding)
				continue;
			if (waiting(&side[i]))
				kick(&side[i]);
			complete(f, &side[i]);
		}
	}
}

static int pin(int core)
{
	cpu_set_t set;

	if (core < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? fail("core", "pinning", errno) : 0;
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	struct forwarder f = {.ring = 4096};
	int c, core = -1, status = 1;

	while ((c = getopt(argc, argv, "kpr:c:")) != -1)
		if (c == 'r')
			f.ring = (uint32_t)atoi(optarg);
		else if (c == 'c')
			core = atoi(optarg);
		else if (c == 'k')
			f.keep_macs = true;
		else if (c == 'p')
			f.sleeps = true;
		else
			goto usage;
	if (argc - optind != 2 || f.ring < BURST || f.ring > 32768 || f.ring & (f.ring - 1))
		goto usage;
	f.side[0].device = argv[optind];
	f.side[1].device = argv[optind + 1];
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (pin(core) || map_area(&f) || open_side(&f, &f.side[0]) || open_side(&f, &f.side[1]))
		goto out;
	puts("ready");
	fflush(stdout);
	run(&f);
	for (int i = 0; i < 2; i++)
		printf("%s received %llu sent %llu lost %llu\n", f.side[i].device,
		       (unsigned long long)f.side[i].received, (unsigned long long)f.side[i].sent,
		       (unsigned long long)f.side[i].lost);
	status = 0;
out:
	close_side(&f.side[0]);
	close_side(&f.side[1]);
	return status;

usage:
	fputs("usage: l2fwd [-kp] [-r RING_ENTRIES] [-c CORE] DEVICE DEVICE\n"
	      "Forwards frames between two devices, MACs swapped (-k: as they are), until SIGINT\n"
	      "or SIGTERM. With -p it sleeps in poll when there is nothing to do.\n",
	      stderr);
	return 2;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/mirror.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/packet.h"
#include "lib/bits.h"
#include "lib/bytes.h"

#define ETHERTYPE_AT 12
#define ETHERTYPE_VLAN 0x8100
/* Frames in one system call: fewer cost more per frame. */
#define BATCH 256
/* How long a device that sends in earnest may let us wait for room. */
#define ROOM_US 10000

struct mirror {
	int fd;
	uint32_t frame_max;
	struct iovec frame[BATCH];
	struct mmsghdr message[BATCH];
};

/* Protocol 0: sends only. All that arrives on a device that is in use goes past us. */
static int open_socket(int ifindex)
{
	const struct sockaddr_ll device = {.sll_family = AF_PACKET, .sll_ifindex = ifindex};
	const struct timeval room = {.tv_usec = ROOM_US};
	const uint32_t mark = MIRROR_MARK;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&device, sizeof(device)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark))) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

int mirror_open(int ifindex, uint32_t frame_max, struct mirror **mirror)
{
	struct mirror *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->fd = open_socket(ifindex);
	if (m->fd < 0) {
		int r = m->fd;

		free(m);
		return r;
	}
	m->frame_max = frame_max;
	for (uint32_t i = 0; i < BATCH; i++) {
		m->message[i].msg_hdr.msg_iov = &m->frame[i];
		m->message[i].msg_hdr.msg_iovlen = 1;
	}
	*mirror = m;
	return 0;
}

void mirror_close(struct mirror *mirror)
{
	if (!mirror)
		return;
	close(mirror->fd);
	free(mirror);
}

/* Like the kernel: a tag of 802.1Q comes on top, any other tag counts. */
static uint32_t longest(const struct mirror *m, const uint8_t *frame)
{
	return m->frame_max +
	       (get_be16(frame + ETHERTYPE_AT) == ETHERTYPE_VLAN ? VLAN_BYTES : 0);
}

static const struct record *following(const struct record *record)
{
	return (const struct record *)((const uint8_t *)record + record->bytes);
}

/* The next batch, in place: how many frames. */
static uint32_t gather(struct mirror *m, const struct record **next, const struct record *end,
		       struct mirror_counts *counts)
{
	const struct record *record = *next;
	uint32_t n = 0;

	for (; record < end && n < BATCH; record = following(record)) {
		uint32_t bytes = record->caplen, max;

		if (bytes < ETH_BYTES) {
			counts->refused++;
			continue;
		}
		max = longest(m, record->frame);
		counts->cut += bytes > max;
		m->frame[n++] = (struct iovec){.iov_base = (void *)record->frame,
					       .iov_len = min_of(bytes, max)};
	}
	*next = record;
	return n;
}

static int send_batch(struct mirror *m, uint32_t n, struct mirror_counts *counts)
{
	uint32_t done = 0;
	int r;

	while (done < n) {
		r = sendmmsg(m->fd, m->message + done, n - done, 0);
		if (r > 0) {
			counts->sent += (uint32_t)r;
			done += (uint32_t)r;
			continue;
		}
		switch (errno) {
		case EINTR:
			break;
		case ENXIO: /* the kernel has unbound the socket */
		case ENODEV:
			counts->refused += n - done;
			return -ENODEV;
		case EAGAIN: /* waiting did not help */
		case ENETDOWN:
			counts->refused += n - done;
			return 0;
		default: /* ENOBUFS: its queue is full; EMSGSIZE: the MTU has changed */
			counts->refused++;
			done++;
		}
	}
	return 0;
}

int mirror_send(struct mirror *mirror, const struct record *first, const struct record *end,
		struct mirror_counts *counts)
{
	int r = 0;

	while (first < end) {
		uint32_t n = gather(mirror, &first, end, counts);

		/* When the device is gone, this says so again, and counts. */
		if (n)
			r = send_batch(mirror, n, counts);
	}
	return r;
}

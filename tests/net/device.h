/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of what captures do with network devices: a network namespace of the test's own, a
 * listener on a device, and a mirror with a ring of records in front of it.
 */
#ifndef TESTS_NET_DEVICE_H
#define TESTS_NET_DEVICE_H

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/mirror.h"
#include "capture/ring.h"
#include "tests/net/sh.h"

/* As tcpdump listens: to all that is sent on @device. */
static inline int listen_on(const char *device)
{
	const struct sockaddr_ll at = {.sll_family = AF_PACKET,
				       .sll_protocol = htons(ETH_P_ALL),
				       .sll_ifindex = (int)if_nametoindex(device)};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL)), bytes = 16 << 20;

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)), 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* The next frame that was seen, or none. */
static inline void must_see(int fd, const uint8_t *frame, uint32_t bytes)
{
	static uint8_t seen[65536];
	ssize_t n = recv(fd, seen, sizeof(seen), 0);

	assert_int_equal(n, bytes);
	assert_memory_equal(seen, frame, bytes);
}

static inline void must_see_nothing(int fd)
{
	uint8_t byte;

	assert_int_equal(recv(fd, &byte, sizeof(byte), 0), -1);
	assert_int_equal(errno, EAGAIN);
}

/* As those do that send on every device: nothing of it is to be seen. */
static inline void must_speak_in_vain(const char *device)
{
	const struct sockaddr_ll at = {.sll_family = AF_PACKET,
				       .sll_ifindex = (int)if_nametoindex(device)};
	static const uint8_t frame[60];
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	assert_true(fd >= 0);
	assert_int_equal(
		sendto(fd, frame, sizeof(frame), 0, (const struct sockaddr *)&at, sizeof(at)), -1);
	assert_int_equal(errno, ENOBUFS);
	close(fd);
	MUST("ip addr add 10.9.9.1/24 dev %s", device);
	assert_int_not_equal(sh("ping -c 1 -W 1 10.9.9.2"), 0);
}

/* As a worker does. */
static inline void put_record(struct ring *ring, const uint8_t *frame, uint16_t bytes)
{
	struct record *record = ring_reserve(ring, bytes);

	assert_non_null(record);
	memcpy(record->frame, frame, bytes);
	record->len = bytes;
}

/* Everything that was put into the ring: mirror_send()'s answer. */
static inline int send_all(struct mirror *mirror, struct ring *ring, struct mirror_counts *counts)
{
	const struct record *first, *end;
	int r;

	ring_publish(ring);
	assert_true(ring_peek(ring, &first, &end));
	r = mirror_send(mirror, first, end, counts);
	ring_release(ring, (uint64_t)((const uint8_t *)end - (const uint8_t *)first));
	return r;
}

#endif

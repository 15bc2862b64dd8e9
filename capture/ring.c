/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/bits.h"

#define ALIGN 8u
/* A record's memory was the consumer's, on another core, or nobody's for long: it is asked for so
 * far ahead, which is 46 of the shortest frames. */
#define AHEAD_BYTES 4096u
#define STEP_BYTES (256u << 10)

static uint64_t round_size(uint64_t bytes)
{
	uint64_t n = (uint64_t)sysconf(_SC_PAGESIZE);

	while (n < bytes)
		n *= 2;
	return n;
}

/* In steps: io_uring interrupts its thread as a signal does, and kernels (6.1) give back what a
 * call had taken that was interrupted. */
static int take_pages(int fd, uint64_t bytes)
{
	uint64_t at = 0;

	while (at < bytes) {
		uint64_t n = min_of(bytes - at, (uint64_t)STEP_BYTES);

		if (fallocate(fd, 0, (off_t)at, (off_t)n) == 0)
			at += n;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* The same pages at @at and behind it. They are taken here and now: a worker is not to wait for
 * them, nor to die when there are none. */
static int map_twice(uint8_t *at, uint64_t bytes, int fd)
{
	int r = take_pages(fd, bytes);

	if (r < 0)
		return r;
	for (int i = 0; i < 2; i++)
		if (mmap(at + i * bytes, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
			return -errno;
	return 0;
}

int ring_init(struct ring *ring, uint64_t bytes)
{
	uint8_t *memory;
	int r, fd;

	*ring = (struct ring){.bytes = round_size(bytes)};
	memory = mmap(NULL, 2 * ring->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	ring->memory = memory;
	fd = memfd_create("culvert capture", MFD_CLOEXEC);
	r = fd < 0 ? -errno : map_twice(memory, ring->bytes, fd);
	if (fd >= 0)
		close(fd);
	if (r < 0)
		ring_fini(ring);
	return r;
}

void ring_fini(struct ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, 2 * ring->bytes);
	*ring = (struct ring){0};
}

struct record *ring_reserve(struct ring *ring, uint16_t caplen)
{
	uint32_t bytes = (uint32_t)(sizeof(struct record) + caplen + ALIGN - 1) & ~(ALIGN - 1);
	struct record *record;
	uint64_t ahead;

	if (ring->reserved + bytes > ring->tail_seen + ring->bytes) {
		ring->tail_seen = load_acquire(&ring->tail);
		if (ring->reserved + bytes > ring->tail_seen + ring->bytes)
			return NULL;
	}
	record = (struct record *)(ring->memory + (ring->reserved & (ring->bytes - 1)));
	/* Two lines, which is a short record. What follows in a longer one the processor guesses by
	 * itself. */
	ahead = ring->reserved + AHEAD_BYTES;
	__builtin_prefetch(ring->memory + (ahead & (ring->bytes - 1)), 1);
	__builtin_prefetch(ring->memory + ((ahead + CACHE_LINE) & (ring->bytes - 1)), 1);
	ring->reserved += bytes;
	record->bytes = bytes;
	record->caplen = caplen;
	return record;
}

bool ring_peek(const struct ring *ring, const struct record **first, const struct record **end)
{
	uint64_t head = load_acquire(&ring->head);
	const uint8_t *at = ring->memory + (ring->tail & (ring->bytes - 1));

	if (head == ring->tail)
		return false;
	*first = (const struct record *)at;
	*end = (const struct record *)(at + (head - ring->tail));
	return true;
}

void ring_release(struct ring *ring, uint64_t bytes)
{
	store_release(&ring->tail, ring->tail + bytes);
}

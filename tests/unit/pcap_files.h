/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture files made by hand, byte by byte, sane ones and others.
 */
#ifndef TESTS_UNIT_PCAP_FILES_H
#define TESTS_UNIT_PCAP_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct blob {
	uint8_t *data;
	size_t n;
	size_t room;
};

static inline void put(struct blob *b, const void *data, size_t n)
{
	if (b->n + n >= b->room) {
		b->room = 2 * (b->n + n) + 1;
		b->data = realloc(b->data, b->room);
		if (!b->data)
			abort();
	}
	if (n)
		memcpy(b->data + b->n, data, n);
	b->n += n;
}

static inline void put16(struct blob *b, uint16_t v)
{
	put(b, &v, sizeof(v));
}

static inline void put32(struct blob *b, uint32_t v, bool swapped)
{
	v = swapped ? __builtin_bswap32(v) : v;
	put(b, &v, sizeof(v));
}

/* Classic format. @magic: 0xa1b2c3d4 microseconds, 0xa1b23c4d nanoseconds; @swapped: the other
 * endianness. */
static inline void put_pcap_header(struct blob *b, uint32_t magic, uint32_t snaplen, uint32_t link,
				   bool swapped)
{
	uint16_t major = 2, minor = 4;

	put32(b, magic, swapped);
	put16(b, swapped ? __builtin_bswap16(major) : major);
	put16(b, swapped ? __builtin_bswap16(minor) : minor);
	put32(b, 0, swapped);
	put32(b, 0, swapped);
	put32(b, snaplen, swapped);
	put32(b, link, swapped);
}

static inline void put_record_header(struct blob *b, uint32_t caplen, uint32_t len, bool swapped)
{
	put32(b, 1700000000, swapped);
	put32(b, 1, swapped);
	put32(b, caplen, swapped);
	put32(b, len, swapped);
}

static inline void put_record(struct blob *b, const void *frame, uint32_t len, bool swapped)
{
	put_record_header(b, len, len, swapped);
	put(b, frame, len);
}

/* pcapng: a section with one interface. */
static inline void put_pcapng_header(struct blob *b, uint16_t link)
{
	put32(b, 0x0a0d0d0a, false);
	put32(b, 28, false);
	put32(b, 0x1a2b3c4d, false);
	put16(b, 1);
	put16(b, 0);
	put32(b, UINT32_MAX, false);
	put32(b, UINT32_MAX, false);
	put32(b, 28, false);
	put32(b, 1, false);
	put32(b, 20, false);
	put16(b, link);
	put16(b, 0);
	put32(b, 65535, false);
	put32(b, 20, false);
}

static inline void put_pcapng_packet(struct blob *b, const void *frame, uint32_t len)
{
	uint32_t padded = (len + 3) & ~3u, zero = 0;

	put32(b, 6, false);
	put32(b, 32 + padded, false);
	put32(b, 0, false);
	put32(b, 0, false);
	put32(b, 0, false);
	put32(b, len, false);
	put32(b, len, false);
	put(b, frame, len);
	put(b, &zero, padded - len);
	put32(b, 32 + padded, false);
}

static inline void blob_write(struct blob *b, const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(b->data ? b->data : (const uint8_t *)"", 1, b->n, f) != b->n || fclose(f))
		abort();
}

static inline void blob_free(struct blob *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

#endif

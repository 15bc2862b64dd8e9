/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/pcapng.h"

#include <string.h>

#include "lib/bits.h"

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINKTYPE_ETHERNET 1
#define RESOLUTION_NS 9		/* 10 to the power of -9 */
#define FILTER_LIBPCAP 0	/* if_filter: what follows is an expression of libpcap */
#define OPTION_BYTES_MAX 65532	/* padded, no longer than the 16 bits of its length can say */

enum block_type {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
};

enum option_code {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	SECTION_OS = 3,
	SECTION_APPLICATION = 4,
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_RESOLUTION = 9,
	INTERFACE_FILTER = 11,
	PACKET_FLAGS = 2,
	PACKET_MISSED = 4,
	STATISTICS_RECEIVED = 4,
	STATISTICS_MISSED = 5,
};

enum packet_direction {
	PACKET_INBOUND = 1,
	PACKET_OUTBOUND = 2,
};

static void add_padding(struct buffer *out, size_t n)
{
	static const uint8_t zeros[3];

	buffer_add(out, zeros, -n & 3);
}

/* The fixed part, @bytes of it, a multiple of 4. Where the block begins. */
static size_t block_begin(struct buffer *out, uint32_t type, const void *fixed, size_t bytes)
{
	uint32_t head[] = {type, 0};
	size_t at = out->n;

	buffer_add(out, head, sizeof(head));
	buffer_add(out, fixed, bytes);
	return at;
}

static void add_option_head(struct buffer *out, uint16_t code, size_t bytes)
{
	uint16_t head[] = {code, (uint16_t)bytes};

	buffer_add(out, head, sizeof(head));
}

static void add_option(struct buffer *out, uint16_t code, const void *value, size_t bytes)
{
	add_option_head(out, code, bytes);
	buffer_add(out, value, bytes);
	add_padding(out, bytes);
}

static void add_text(struct buffer *out, uint16_t code, const char *text)
{
	if (text)
		add_option(out, code, text, strnlen(text, OPTION_BYTES_MAX));
}

static void add_filter(struct buffer *out, const char *filter)
{
	static const uint8_t kind = FILTER_LIBPCAP;
	size_t n;

	if (!filter)
		return;
	n = strnlen(filter, OPTION_BYTES_MAX - sizeof(kind));
	add_option_head(out, INTERFACE_FILTER, sizeof(kind) + n);
	buffer_add(out, &kind, sizeof(kind));
	buffer_add(out, filter, n);
	add_padding(out, sizeof(kind) + n);
}

/* The end of its options, and how long it was, here and at its beginning. */
static void block_end(struct buffer *out, size_t at)
{
	uint32_t bytes;

	add_option_head(out, OPTION_END, 0);
	bytes = (uint32_t)(out->n + sizeof(bytes) - at);
	buffer_add(out, &bytes, sizeof(bytes));
	if (!out->failed)
		memcpy(out->data + at + sizeof(uint32_t), &bytes, sizeof(bytes));
}

void pcapng_begin(struct buffer *out, const char *application, const char *os)
{
	static const struct {
		uint32_t magic;
		uint16_t major;
		uint16_t minor;
		int32_t bytes[2];	/* of the section: not known */
	} fixed = {BYTE_ORDER_MAGIC, 1, 0, {-1, -1}};
	size_t at = block_begin(out, BLOCK_SECTION, &fixed, sizeof(fixed));

	add_text(out, SECTION_OS, os);
	add_text(out, SECTION_APPLICATION, application);
	block_end(out, at);
}

void pcapng_interface(struct buffer *out, const struct pcapng_interface *interface)
{
	static const uint8_t resolution = RESOLUTION_NS;
	struct {
		uint16_t linktype;
		uint16_t reserved;
		uint32_t snaplen;
	} fixed = {LINKTYPE_ETHERNET, 0, interface->snaplen};
	size_t at = block_begin(out, BLOCK_INTERFACE, &fixed, sizeof(fixed));

	add_text(out, INTERFACE_NAME, interface->name);
	add_text(out, INTERFACE_DESCRIPTION, interface->description);
	add_option(out, INTERFACE_RESOLUTION, &resolution, sizeof(resolution));
	add_filter(out, interface->filter);
	block_end(out, at);
}

void pcapng_packet(struct buffer *out, const struct pcapng_packet *packet)
{
	struct {
		uint32_t interface;
		uint32_t time_high;
		uint32_t time_low;
		uint32_t caplen;
		uint32_t len;
	} fixed = {packet->interface, (uint32_t)(packet->time_ns >> 32), (uint32_t)packet->time_ns,
		   packet->caplen, packet->len};
	uint32_t flags = packet->inbound ? PACKET_INBOUND : PACKET_OUTBOUND;
	size_t at = block_begin(out, BLOCK_PACKET, &fixed, sizeof(fixed));

	buffer_add(out, packet->frame, packet->caplen);
	add_padding(out, packet->caplen);
	add_text(out, OPTION_COMMENT, packet->comment);
	add_option(out, PACKET_FLAGS, &flags, sizeof(flags));
	if (packet->missed)
		add_option(out, PACKET_MISSED, &packet->missed, sizeof(packet->missed));
	block_end(out, at);
}

void pcapng_statistics(struct buffer *out, uint32_t interface, uint64_t time_ns, uint64_t received,
		       uint64_t missed)
{
	uint32_t fixed[] = {interface, (uint32_t)(time_ns >> 32), (uint32_t)time_ns};
	size_t at = block_begin(out, BLOCK_STATISTICS, fixed, sizeof(fixed));

	add_option(out, STATISTICS_RECEIVED, &received, sizeof(received));
	add_option(out, STATISTICS_MISSED, &missed, sizeof(missed));
	block_end(out, at);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/pcap_port.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/bits.h"
#include "lib/clock.h"

#define SNAPLEN_BYTES 65535

struct pcap_port {
	/* fixed while open */
	const char *rx_path;
	const char *tx_path;
	bool loop;
	uint64_t epoch_ns; /* clock_ns() + epoch_ns is Unix time */
	/* the reader */
	pcap_t *rx;            /* NULL when preloaded, at the end, or without a file */
	uint64_t pass_packets; /* read since the beginning of the file */
	uint8_t *memory;       /* preloaded: length (4 bytes) and bytes of each packet */
	size_t memory_bytes;
	size_t memory_room;
	size_t memory_next;
	char damage[PCAP_ERRBUF_SIZE];
	bool done; /* release: damage is written before */
	/* the writers, under the stream's own lock */
	pcap_t *tx_dead;
	pcap_dumper_t *tx;
	bool tx_unflushed;
};

__attribute__((format(printf, 4, 5))) static int refuse(char *why, uint32_t why_bytes, int error,
							const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, why_bytes, fmt, ap);
	va_end(ap);
	return error;
}

/* Opens @path, which must be a regular file: a FIFO would hold whoever reads it. */
static int open_regular(const char *path, int flags, struct stat *st, char *why, uint32_t why_bytes)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0644);
	int error;

	if (fd < 0 || fstat(fd, st) < 0) {
		error = -errno;
		refuse(why, why_bytes, 0, "%s: %s", path, strerror(-error));
	} else if (!S_ISREG(st->st_mode)) {
		error = refuse(why, why_bytes, -EINVAL, "%s: is not a regular file", path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return error;
}

static int open_rx(struct pcap_port *p, struct stat *st, char *why, uint32_t why_bytes)
{
	int fd = open_regular(p->rx_path, O_RDONLY, st, why, why_bytes);
	char text[PCAP_ERRBUF_SIZE];
	const char *name;
	FILE *file;
	int link;

	if (fd < 0)
		return fd;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return refuse(why, why_bytes, -ENOMEM, "%s: out of memory", p->rx_path);
	}
	p->rx = pcap_fopen_offline(file, text);
	if (!p->rx) {
		fclose(file);
		return refuse(why, why_bytes, -EINVAL, "%s: not a capture file: %s", p->rx_path,
			      text);
	}
	link = pcap_datalink(p->rx);
	if (link != DLT_EN10MB) {
		name = pcap_datalink_val_to_name(link);
		pcap_close(p->rx);
		p->rx = NULL;
		return refuse(why, why_bytes, -EINVAL,
			      "%s: link type %s (%d), only Ethernet is understood", p->rx_path,
			      name ? name : "unknown", link);
	}
	p->pass_packets = 0;
	return 0;
}

static int open_tx(struct pcap_port *p, const struct stat *rx, char *why, uint32_t why_bytes)
{
	struct stat st;
	int fd = open_regular(p->tx_path, O_WRONLY | O_CREAT, &st, why, why_bytes);
	FILE *file;

	if (fd < 0)
		return fd;
	if (p->rx_path && st.st_dev == rx->st_dev && st.st_ino == rx->st_ino) {
		close(fd);
		return refuse(why, why_bytes, -EINVAL, "%s: rx and tx are the same file",
			      p->tx_path);
	}
	file = ftruncate(fd, 0) < 0 ? NULL : fdopen(fd, "w");
	p->tx_dead = pcap_open_dead(DLT_EN10MB, SNAPLEN_BYTES);
	if (!file || !p->tx_dead)
		goto fail;
	p->tx = pcap_dump_fopen(p->tx_dead, file);
	if (p->tx)
		return 0;
fail:
	if (file)
		fclose(file);
	else
		close(fd);
	return refuse(why, why_bytes, -EIO, "%s: cannot be written", p->tx_path);
}

static bool remember(struct pcap_port *p, const uint8_t *data, uint32_t bytes)
{
	size_t need = p->memory_bytes + sizeof(bytes) + bytes;

	if (need > p->memory_room) {
		size_t room = max_of(need, p->memory_room * 2);
		uint8_t *memory = realloc(p->memory, room);

		if (!memory)
			return false;
		p->memory = memory;
		p->memory_room = room;
	}
	memcpy(p->memory + p->memory_bytes, &bytes, sizeof(bytes));
	memcpy(p->memory + p->memory_bytes + sizeof(bytes), data, bytes);
	p->memory_bytes = need;
	return true;
}

/* 1 a packet, 0 the end, -1 damaged. */
static int read_packet(struct pcap_port *p, const uint8_t **data, uint32_t *bytes)
{
	struct pcap_pkthdr *header;
	int got;

	do {
		got = pcap_next_ex(p->rx, &header, data);
	} while (got == 0);
	if (got == 1) {
		*bytes = header->caplen;
		p->pass_packets++;
		return 1;
	}
	return got == PCAP_ERROR_BREAK ? 0 : -1;
}

static int read_ahead(struct pcap_port *p, char *why, uint32_t why_bytes)
{
	const uint8_t *data;
	uint32_t bytes;
	int got;

	while ((got = read_packet(p, &data, &bytes)) == 1) {
		if (p->memory_bytes + bytes > PCAP_PRELOAD_MAX_BYTES)
			return refuse(why, why_bytes, -EFBIG,
				      "%s: more than %llu MiB, too big for preload: true",
				      p->rx_path, PCAP_PRELOAD_MAX_BYTES >> 20);
		if (!remember(p, data, bytes))
			return refuse(why, why_bytes, -ENOMEM,
				      "%s: out of memory for preload: true", p->rx_path);
	}
	if (got < 0)
		snprintf(p->damage, sizeof(p->damage), "%s", pcap_geterr(p->rx));
	pcap_close(p->rx);
	p->rx = NULL;
	return 0;
}

int pcap_port_open(const char *rx, const char *tx, bool loop, bool preload, struct pcap_port **port,
		   char *why, uint32_t why_bytes)
{
	struct pcap_port *p = calloc(1, sizeof(*p));
	struct timespec wall;
	struct stat st;
	int error = 0;

	if (!p)
		return refuse(why, why_bytes, -ENOMEM, "%s: out of memory", rx ? rx : tx);
	clock_gettime(CLOCK_REALTIME, &wall);
	p->epoch_ns = (uint64_t)wall.tv_sec * NS_PER_S + (uint64_t)wall.tv_nsec - clock_ns();
	p->rx_path = rx;
	p->tx_path = tx;
	p->loop = loop;
	if (rx)
		error = open_rx(p, &st, why, why_bytes);
	if (!error && rx && preload)
		error = read_ahead(p, why, why_bytes);
	if (!error && tx)
		error = open_tx(p, &st, why, why_bytes);
	if (error) {
		pcap_port_close(p);
		return error;
	}
	*port = p;
	return 0;
}

void pcap_port_close(struct pcap_port *p)
{
	if (!p)
		return;
	if (p->tx)
		pcap_dump_close(p->tx);
	if (p->tx_dead)
		pcap_close(p->tx_dead);
	if (p->rx)
		pcap_close(p->rx);
	free(p->memory);
	free(p);
}

bool pcap_port_done(const struct pcap_port *p)
{
	return load_acquire(&p->done);
}

const char *pcap_port_damage(const struct pcap_port *p)
{
	return pcap_port_done(p) ? p->damage : "";
}

bool pcap_port_reading(const struct pcap_port *p)
{
	return p->rx_path && !load_relaxed(&p->done);
}

static bool finish(struct pcap_port *p)
{
	store_release(&p->done, true);
	return false;
}

static inline bool next_in_memory(struct pcap_port *p, const uint8_t **data, uint32_t *bytes)
{
	memcpy(bytes, p->memory + p->memory_next, sizeof(*bytes));
	*data = p->memory + p->memory_next + sizeof(*bytes);
	p->memory_next += sizeof(*bytes) + *bytes;
	return true;
}

/* Closes rx at its end, and opens it again when it loops. False: there is nothing more. */
static bool rewind_rx(struct pcap_port *p, bool damaged)
{
	struct stat st;

	if (damaged)
		snprintf(p->damage, sizeof(p->damage), "%s", pcap_geterr(p->rx));
	pcap_close(p->rx);
	p->rx = NULL;
	if (!p->loop || !p->pass_packets)
		return false;
	return open_rx(p, &st, p->damage, sizeof(p->damage)) == 0;
}

/* At the end of what is in memory, or of nothing; or from the file. */
static __attribute__((noinline)) bool next_elsewhere(struct pcap_port *p, const uint8_t **data,
						     uint32_t *bytes)
{
	int got;

	if (!pcap_port_reading(p))
		return false;
	if (!p->rx) {
		if (!p->loop || !p->memory_bytes)
			return finish(p);
		p->memory_next = 0;
		return next_in_memory(p, data, bytes);
	}
	while ((got = read_packet(p, data, bytes)) != 1)
		if (!rewind_rx(p, got < 0))
			return finish(p);
	return true;
}

bool pcap_port_next(struct pcap_port *p, const uint8_t **data, uint32_t *bytes)
{
	if (likely(p->memory_next != p->memory_bytes))
		return next_in_memory(p, data, bytes);
	return next_elsewhere(p, data, bytes);
}

bool pcap_port_write(struct pcap_port *p, const uint8_t *data, uint32_t bytes, uint64_t now_ns)
{
	uint64_t wall_ns = now_ns + p->epoch_ns;
	struct pcap_pkthdr header = {
		.ts.tv_sec = (time_t)(wall_ns / NS_PER_S),
		.ts.tv_usec = (suseconds_t)(wall_ns % NS_PER_S / NS_PER_US),
		.caplen = bytes,
		.len = bytes,
	};
	FILE *file;
	bool written;

	if (!p->tx)
		return true;
	/* pcap_dump writes twice: two workers must not mix their halves. */
	file = pcap_dump_file(p->tx);
	flockfile(file);
	pcap_dump((uint8_t *)p->tx, &header, data);
	written = !ferror(file);
	p->tx_unflushed = true;
	funlockfile(file);
	return written;
}

void pcap_port_flush(struct pcap_port *p)
{
	FILE *file;

	if (!p->tx)
		return;
	file = pcap_dump_file(p->tx);
	flockfile(file);
	if (p->tx_unflushed)
		pcap_dump_flush(p->tx);
	p->tx_unflushed = false;
	funlockfile(file);
}

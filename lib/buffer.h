/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that grows: messages, chunks, tables.
 *
 * Invariants: a zeroed struct buffer is empty and valid; data is NULL or ends in a NUL behind its n
 * bytes. When memory runs out, failed is set and stays until buffer_fini; later additions do
 * nothing.
 * Threads: its owner's.
 */
#ifndef LIB_BUFFER_H
#define LIB_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	char *data;
	size_t n;		/* bytes used, the NUL not counted */
	size_t size;		/* bytes allocated */
	bool failed;
};

void buffer_fini(struct buffer *b);
/* Empties it; gives memory back when more than @keep_bytes are allocated. */
void buffer_reset(struct buffer *b, size_t keep_bytes);

/* Makes room for @n more bytes (and the NUL). False when there is no memory. */
bool buffer_reserve(struct buffer *b, size_t n);
void buffer_add(struct buffer *b, const void *bytes, size_t n);
void buffer_str(struct buffer *b, const char *s);
void buffer_printf(struct buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* @s in quotes, as a JSON string (RFC 8259, 7). Bytes that are not UTF-8 come out as U+FFFD. */
void buffer_json(struct buffer *b, const char *s);
/* Takes the first @n bytes away. */
void buffer_consume(struct buffer *b, size_t n);

#endif

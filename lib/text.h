/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that grows: messages, chunks, table cells.
 *
 * Invariants: a zeroed struct text is empty and valid; data is NULL or ends in a NUL behind its n bytes.
 * When memory runs out, failed is set and stays until text_fini; later additions do nothing.
 * Threads: its owner's.
 */
#ifndef LIB_TEXT_H
#define LIB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *data;
	size_t n;		/* bytes used, the NUL not counted */
	size_t size;		/* bytes allocated */
	bool failed;
};

void text_fini(struct text *t);
/* Empties it; gives memory back when more than @keep_bytes are allocated. */
void text_reset(struct text *t, size_t keep_bytes);

/* Makes room for @n more bytes (and the NUL). False when there is no memory. */
bool text_reserve(struct text *t, size_t n);
void text_add(struct text *t, const void *bytes, size_t n);
void text_str(struct text *t, const char *s);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* @s in quotes, as a JSON string (RFC 8259, 7). Bytes that are not UTF-8 come out as U+FFFD. */
void text_json(struct text *t, const char *s);
/* Takes the first @n bytes away. */
void text_consume(struct text *t, size_t n);

#endif

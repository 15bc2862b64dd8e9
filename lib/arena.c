/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bits.h"

#define ALIGN 16
#define BLOCK_BYTES 65536

struct arena_block {
	struct arena_block *next;
	size_t bytes;		/* of data */
	_Alignas(ALIGN) uint8_t data[];
};

void arena_fini(struct arena *a)
{
	struct arena_block *next;

	for (struct arena_block *b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct arena){0};
}

static bool arena_grow(struct arena *a, size_t bytes)
{
	size_t size = max_of(bytes, (size_t)BLOCK_BYTES);
	struct arena_block *b = size < SIZE_MAX - sizeof(*b) ? calloc(1, sizeof(*b) + size) : NULL;

	if (!b) {
		a->failed = true;
		return false;
	}
	b->bytes = size;
	b->next = a->blocks;
	a->blocks = b;
	a->left = size;
	return true;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	uint8_t *p;

	if (bytes > SIZE_MAX / 2) {
		a->failed = true;
		return NULL;
	}
	bytes = (max_of(bytes, (size_t)1) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (bytes > a->left && !arena_grow(a, bytes))
		return NULL;
	p = a->blocks->data + a->blocks->bytes - a->left;
	a->left -= bytes;
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t bytes)
{
	size_t product;

	if (__builtin_mul_overflow(n, bytes, &product)) {
		a->failed = true;
		return NULL;
	}
	return arena_alloc(a, product);
}

char *arena_strndup(struct arena *a, const char *text, size_t bytes)
{
	char *copy = arena_alloc(a, bytes + 1);

	if (copy)
		memcpy(copy, text, bytes);
	return copy;
}

char *arena_strdup(struct arena *a, const char *text)
{
	return arena_strndup(a, text, strlen(text));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *text = NULL;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n >= 0)
		text = arena_alloc(a, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return text;
}

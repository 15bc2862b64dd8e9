/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is given back all at once: what is built in one go and lives and dies together.
 *
 * Invariants: what was handed out stays where it is until arena_fini, is zeroed and aligned to 16
 * bytes. A failed allocation is remembered: whoever builds something large may look at failed once,
 * at the end, as long as it survives the NULL.
 * Threads: an arena is one thread's.
 */
#ifndef LIB_ARENA_H
#define LIB_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;	/* newest first */
	size_t left;			/* bytes free at the end of the newest */
	bool failed;
};

/* A zeroed struct arena is an empty one. */
void arena_fini(struct arena *a);

/* NULL when there is no memory. */
void *arena_alloc(struct arena *a, size_t bytes);
/* @n elements of @bytes; NULL also when the product overflows. */
void *arena_array(struct arena *a, size_t n, size_t bytes);
char *arena_strndup(struct arena *a, const char *text, size_t bytes);
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

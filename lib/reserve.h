/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An array that may become huge and never moves: address space is reserved once, what is usable
 * of it grows by steps, and a page takes memory when it is first written.
 *
 * Invariants: base stays; the first `usable` bytes can be read and written, and are zero until
 * written. The rest is not accounted for (vm.overcommit_memory=2 counts what is usable).
 * Threads: the owner grows; others may use what is usable.
 */
#ifndef LIB_RESERVE_H
#define LIB_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESERVE_STEP ((size_t)2 << 20)	/* also the size of a huge page */

struct reserve {
	uint8_t *base;		/* at a multiple of RESERVE_STEP */
	size_t bytes;
	size_t usable;
};

/* A zeroed struct reserve is an empty one. @huge: in huge pages where the system has them.
 * -ENOMEM: the address space is not there. */
int reserve_init(struct reserve *r, size_t bytes, bool huge);
void reserve_fini(struct reserve *r);

/* Makes at least the first @bytes usable. -ENOMEM: no memory, or beyond the end. */
int reserve_grow(struct reserve *r, size_t bytes);
/* Gives memory back to the system, whole pages: they are zero afterwards, and still usable. */
void reserve_clear(struct reserve *r, size_t offset, size_t bytes);

/* Takes the memory for these bytes at once, for a fraction of what page faults cost. */
void memory_populate(void *memory, size_t bytes);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An array that may become huge and never moves: address space is reserved once, memory comes by
 * steps, and each page of it with its first use.
 *
 * Invariants: base stays; the first `usable` bytes can be read and written, and are zero until
 * written. The rest is not accounted for (vm.overcommit_memory=2 counts what is usable).
 * Threads: the owner grows; others may use what is usable.
 */
#ifndef LIB_RESERVE_H
#define LIB_RESERVE_H

#include <stddef.h>
#include <stdint.h>

#define RESERVE_STEP ((size_t)2 << 20)

struct reserve {
	uint8_t *base;
	size_t bytes;
	size_t usable;
};

/* A zeroed struct reserve is an empty one. -ENOMEM: the address space is not there. */
int reserve_init(struct reserve *r, size_t bytes);
void reserve_fini(struct reserve *r);

/* Makes at least the first @bytes usable. -ENOMEM: no memory, or beyond the end. */
int reserve_grow(struct reserve *r, size_t bytes);
/* Gives memory back to the system, whole pages: they are zero afterwards, and still usable. */
void reserve_clear(struct reserve *r, size_t offset, size_t bytes);

#endif

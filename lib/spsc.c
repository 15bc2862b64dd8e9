/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/spsc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int spsc_init(struct spsc *r, uint32_t capacity, uint32_t element_bytes)
{
	uint32_t size = 1;

	while (size < capacity)
		size *= 2;
	memset(r, 0, sizeof(*r));
	r->slots = calloc(size, element_bytes);
	if (!r->slots)
		return -ENOMEM;
	r->capacity = size;
	r->element_bytes = element_bytes;
	return 0;
}

void spsc_fini(struct spsc *r)
{
	free(r->slots);
	r->slots = NULL;
}

static void *slot(struct spsc *r, uint32_t index)
{
	return r->slots + (size_t)(index & (r->capacity - 1)) * r->element_bytes;
}

bool spsc_push(struct spsc *r, const void *element)
{
	uint32_t head = load_relaxed(&r->head);

	if (head - load_acquire(&r->tail) == r->capacity)
		return false;
	memcpy(slot(r, head), element, r->element_bytes);
	store_release(&r->head, head + 1);
	return true;
}

bool spsc_pop(struct spsc *r, void *element)
{
	uint32_t tail = load_relaxed(&r->tail);

	if (load_acquire(&r->head) == tail)
		return false;
	memcpy(element, slot(r, tail), r->element_bytes);
	store_release(&r->tail, tail + 1);
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which FDB entries were printed already: a dump that the daemon starts again prints none twice.
 *
 * Until then a key is only written down (eight bytes); the set is built when it is needed.
 */
#ifndef CLI_SEEN_H
#define CLI_SEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen {
	uint64_t *keys;
	size_t n, size;
	uint64_t *slots;	/* open addressing, 0 is empty; NULL before seen_restart */
	size_t mask;
	json_t *networks;	/* name -> number from 1 */
};

void seen_fini(struct seen *s);
/* The dump starts again. False: no memory. */
bool seen_restart(struct seen *s);
/* 1: new, 0: printed before, -1: no memory, or @mac is no MAC address. */
int seen_add(struct seen *s, const char *network, const char *mac);

#endif

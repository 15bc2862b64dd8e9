/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port's VLAN map in few words.
 */
#ifndef CLI_RANGES_H
#define CLI_RANGES_H

#include <jansson.h>

#include "lib/buffer.h"

/* {"100": "tenant.100", "101": "tenant.101", "2001": "red"} -> "100-101 tenant.100-101, 2001 red".
 * The VLAN ids come in ascending order. */
void ranges_add(struct buffer *out, const json_t *tagged);

#endif

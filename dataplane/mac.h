/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a MAC address in a frame forbids: the same at a port and inside a tunnel.
 */
#ifndef DATAPLANE_MAC_H
#define DATAPLANE_MAC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bytes.h"

/* 01:80:c2:00:00:00 to 0f, which no bridge forwards: IEEE 802.1Q, table 8-1. */
static inline bool mac_is_reserved(const uint8_t *mac)
{
	return get_be16(mac) == 0x0180 && get_be16(mac + 2) == 0xc200 && mac[4] == 0 && mac[5] < 16;
}

/* A group address or zero sends nothing. */
static inline bool mac_is_no_source(const uint8_t *mac)
{
	return mac[0] & 1 || !(get_u32(mac) | get_be16(mac + 4));
}

#endif

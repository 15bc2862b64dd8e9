/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Outer headers: where the fields are.
 */
#ifndef TUNNELS_WIRE_H
#define TUNNELS_WIRE_H

#include "lib/bytes.h"

#define ETHERTYPE_OFFSET 12
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd

#define IPV4_BYTES 20		/* without options */
#define IPV4_TOS 1
#define IPV4_LENGTH 2
#define IPV4_ID 4
#define IPV4_FRAGMENT 6
#define IPV4_TTL 8
#define IPV4_PROTOCOL 9
#define IPV4_CHECKSUM 10
#define IPV4_SOURCE 12
#define IPV4_DESTINATION 16
#define IPV4_DF 0x4000
#define IPV4_MF_AND_OFFSET 0x3fff

#define IPV6_BYTES 40
#define IPV6_LENGTH 4		/* of what follows the header */
#define IPV6_NEXT_HEADER 6
#define IPV6_HOP_LIMIT 7
#define IPV6_SOURCE 8
#define IPV6_DESTINATION 24

#define PROTOCOL_UDP 17
#define UDP_BYTES 8
#define UDP_SOURCE 0
#define UDP_DESTINATION 2
#define UDP_LENGTH 4
#define UDP_CHECKSUM 6

/* RFC 7348, 5 */
#define VXLAN_BYTES 8
#define VXLAN_FLAG_I 0x08
#define VXLAN_VNI 4

/* RFC 3168, 5 */
#define ECN_MASK 3
#define ECN_NOT_ECT 0
#define ECN_ECT_1 1
#define ECN_ECT_0 2
#define ECN_CE 3

static inline void put_be32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MAC and IP addresses: parse, format, compare.
 */
#ifndef LIB_ADDR_H
#define LIB_ADDR_H

#include <stdbool.h>
#include <stdint.h>

struct mac {
	uint8_t byte[6];
} __attribute__((packed));

/* An IPv4 address is kept as its IPv4-mapped IPv6 form (RFC 4291, 2.5.5.2), so that one 16-byte
 * compare serves both families. All zero is "none". */
struct ip {
	uint8_t byte[16];
} __attribute__((aligned(8)));

#define MAC_TEXT_BYTES 18
#define IP_TEXT_BYTES 46

/* "02:00:00:00:00:05" or with '-'; nothing may follow. False when it is not a MAC address. */
bool mac_parse(const char *text, struct mac *mac);
const char *mac_format(const struct mac *mac, char text[static MAC_TEXT_BYTES]);
static inline bool mac_is_group(const struct mac *mac)
{
	return mac->byte[0] & 1;
}
bool mac_is_zero(const struct mac *mac);

/* Either family, as inet_pton takes it. False when it is not an address. */
bool ip_parse(const char *text, struct ip *ip);
const char *ip_format(const struct ip *ip, char text[static IP_TEXT_BYTES]);
bool ip_equal(const struct ip *a, const struct ip *b);
bool ip_is_v4(const struct ip *ip);
bool ip_is_none(const struct ip *ip);
struct ip ip_from_v4(const void *four_bytes);
struct ip ip_from_v6(const void *sixteen_bytes);
/* The four bytes of an IPv4 address, in network order. */
static inline const uint8_t *ip_v4_bytes(const struct ip *ip)
{
	return ip->byte + 12;
}

#endif

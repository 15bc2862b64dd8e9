/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/addr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool mac_parse(const char *text, struct mac *mac)
{
	for (int i = 0; i < 6; i++) {
		int high = hex_digit(text[0]);
		int low = high < 0 ? -1 : hex_digit(text[1]);
		char end = low < 0 ? 0 : text[2];

		if (low < 0 || (i < 5 ? end != ':' && end != '-' : end != 0))
			return false;
		mac->byte[i] = (uint8_t)(high << 4 | low);
		text += 3;
	}
	return true;
}

const char *mac_format(const struct mac *mac, char text[static MAC_TEXT_BYTES])
{
	const uint8_t *b = mac->byte;

	snprintf(text, MAC_TEXT_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3],
		 b[4], b[5]);
	return text;
}

bool mac_is_zero(const struct mac *mac)
{
	static const struct mac zero;

	return memcmp(mac, &zero, sizeof(zero)) == 0;
}

bool ip_parse(const char *text, struct ip *ip)
{
	uint8_t four[4];

	if (inet_pton(AF_INET, text, four) == 1) {
		*ip = ip_from_v4(four);
		return true;
	}
	return inet_pton(AF_INET6, text, ip->byte) == 1;
}

const char *ip_format(const struct ip *ip, char text[static IP_TEXT_BYTES])
{
	if (ip_is_v4(ip))
		inet_ntop(AF_INET, ip_v4_bytes(ip), text, IP_TEXT_BYTES);
	else
		inet_ntop(AF_INET6, ip->byte, text, IP_TEXT_BYTES);
	return text;
}

bool ip_equal(const struct ip *a, const struct ip *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

bool ip_is_v4(const struct ip *ip)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(ip->byte, mapped, sizeof(mapped)) == 0;
}

bool ip_is_none(const struct ip *ip)
{
	static const struct ip none;

	return ip_equal(ip, &none);
}

struct ip ip_from_v4(const void *four_bytes)
{
	struct ip ip = {.byte = {[10] = 0xff, [11] = 0xff}};

	memcpy(ip.byte + 12, four_bytes, 4);
	return ip;
}

struct ip ip_from_v6(const void *sixteen_bytes)
{
	struct ip ip;

	memcpy(ip.byte, sixteen_bytes, 16);
	return ip;
}

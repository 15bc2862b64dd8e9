/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/scan.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/text.h"
#include "lib/bits.h"

/* How much of a wrong word is shown. */
#define SHOWN 40

const uint8_t scan_kinds[256] = {
	[' '] = SCAN_BLANK,   ['\t'] = SCAN_BLANK,  ['\r'] = SCAN_BLANK, ['\n'] = SCAN_BLANK,
	[','] = SCAN_COMMA,   ['#'] = SCAN_COMMENT,
};

bool scan_fail(struct scan *s, const char *word, const char *fmt, ...)
{
	va_list ap;

	s->error->line = 0;
	s->error->column = (uint32_t)(word - s->begin) + 1;
	va_start(ap, fmt);
	vsnprintf(s->error->why, sizeof(s->error->why), fmt, ap);
	va_end(ap);
	text_make_safe(s->error->why);
	return false;
}

const char *scan_word_end(const struct scan *s, const char *p)
{
	while (!scan_is_end(s, p))
		p++;
	return p;
}

static bool fail_value(struct scan *s, const char *what, const char *value, const char *wanted)
{
	size_t n = (size_t)(scan_word_end(s, value) - value);

	return n == 0 ? scan_fail(s, value, "%s: a value is missing, allowed: %s", what, wanted) :
			scan_fail(s, value, "%s: \"%.*s\" is not allowed here, allowed: %s", what,
				  (int)min_of(n, (size_t)SHOWN), value, wanted);
}

bool scan_end_of(struct scan *s, const char *what, const char *value)
{
	if (likely(scan_is_end(s, s->at)))
		return true;
	return scan_fail(s, s->at,
			 "%s: \"%.*s\" behind \"%.*s\", allowed: a comma, a blank or the end", what,
			 (int)min_of(scan_word_end(s, s->at) - s->at, SHOWN), s->at,
			 (int)min_of(s->at - value, SHOWN), value);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool fail_number(struct scan *s, const char *what, uint64_t max, bool is_number)
{
	const char *value = s->at;
	char wanted[64];

	snprintf(wanted, sizeof(wanted), max > UINT32_MAX ? "0..0x%llx" : "0..%llu",
		 (unsigned long long)max);
	if (is_number)
		return scan_fail(s, value, "%s: %.*s is out of range, allowed: %s", what,
				 (int)min_of(scan_word_end(s, value) - value, SHOWN), value,
				 wanted);
	return fail_value(s, what, value, wanted);
}

bool scan_number(struct scan *s, const char *what, uint64_t max, uint64_t *value)
{
	const char *start = s->at, *p = start;
	unsigned int base = 10;
	uint64_t v = 0;
	int d = 16;

	if (s->end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x') {
		base = 16;
		start = p += 2;
	}
	for (; p < s->end && (d = digit(*p)) < (int)base; p++) {
		if (unlikely(v >> 59) && v > (UINT64_MAX - (unsigned int)d) / base)
			return fail_number(s, what, max, true);
		v = v * base + (unsigned int)d;
	}
	if (unlikely(p == start || v > max))
		return fail_number(s, what, max, p > start);
	/* Octal for ovs-ofctl, decimal for people. */
	if (unlikely(base == 10 && *start == '0' && p - start > 1))
		return scan_fail(s, start, "%s: \"%.*s\" begins with 0, allowed: %llu or 0x%llx",
				 what, (int)min_of(p - start, SHOWN), start, (unsigned long long)v,
				 (unsigned long long)v);
	s->at = p;
	*value = v;
	return true;
}

bool scan_mac(struct scan *s, const char *what, uint8_t mac[static 6])
{
	const char *start = s->at, *p = start;

	for (int i = 0; i < 6; i++, p++) {
		int high, low;

		if (p == s->end || (high = digit(*p)) > 15)
			break;
		p++;
		low = p < s->end ? digit(*p) : 16;
		if (low < 16)
			p++;
		mac[i] = (uint8_t)(low < 16 ? high << 4 | low : high);
		if (i == 5) {
			s->at = p;
			return true;
		}
		if (p == s->end || (*p != ':' && *p != '-'))
			break;
	}
	return fail_value(s, what, start, "a MAC address like 02:00:00:00:00:05");
}

bool scan_ipv4(struct scan *s, const char *what, uint8_t ip[static 4])
{
	const char *start = s->at, *p = start;

	for (int i = 0; i < 4; i++, p++) {
		const char *first = p;
		unsigned int v = 0;

		for (; p < s->end && *p >= '0' && *p <= '9' && p - first < 4; p++)
			v = v * 10 + (unsigned int)(*p - '0');
		if (p == first || v > 255 || (*first == '0' && p - first > 1))
			break;
		ip[i] = (uint8_t)v;
		if (i == 3) {
			s->at = p;
			return true;
		}
		if (p == s->end || *p != '.')
			break;
	}
	return fail_value(s, what, start, "an IPv4 address");
}

bool scan_ipv6(struct scan *s, const char *what, uint8_t ip[static 16])
{
	const char *start = s->at, *p = start;
	char text[INET6_ADDRSTRLEN];

	while (p < s->end && (digit(*p) < 16 || *p == ':' || *p == '.'))
		p++;
	if ((size_t)(p - start) < sizeof(text)) {
		memcpy(text, start, (size_t)(p - start));
		text[p - start] = 0;
		if (inet_pton(AF_INET6, text, ip) == 1) {
			s->at = p;
			return true;
		}
	}
	return fail_value(s, what, start, "an IPv6 address");
}

bool scan_ip_mask(struct scan *s, const char *what, uint8_t *mask, size_t n)
{
	const char *p = s->at;
	uint64_t length;

	while (p < s->end && *p >= '0' && *p <= '9')
		p++;
	if (p < s->end && (digit(*p) < 16 || *p == '.' || *p == ':'))
		return n == 4 ? scan_ipv4(s, what, mask) : scan_ipv6(s, what, mask);
	if (!scan_number(s, what, n * 8, &length))
		return false;
	for (size_t i = 0; i < n; i++, length -= min_of(length, 8))
		mask[i] = (uint8_t)(length >= 8 ? 0xff : 0xff00 >> length);
	return true;
}

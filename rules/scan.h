/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a line from left to right: numbers and addresses, each with the complaint when it is
 * none. Every function reads at scan.at and leaves it behind what it took.
 *
 * Invariants: nothing at or behind end is looked at; columns count from begin.
 * Threads: values.
 */
#ifndef RULES_SCAN_H
#define RULES_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/rules.h"

struct scan {
	const char *begin;
	const char *at;
	const char *end;
	struct rules_error *error;
};

/* The word at @word is wrong. Returns false, so that a caller can return it. */
bool scan_fail(struct scan *s, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));

/* Where the value at @p ends: at a comma, a blank, a comment, or the end. */
const char *scan_word_end(const struct scan *s, const char *p);

/* What a character is where words end. */
enum scan_kind { SCAN_BLANK = 1, SCAN_COMMA = 2, SCAN_COMMENT = 4 };
extern const uint8_t scan_kinds[256];

static inline bool scan_is(char c, uint8_t kinds)
{
	return scan_kinds[(uint8_t)c] & kinds;
}

/* Between two fields. */
static inline bool scan_is_separator(char c)
{
	return scan_is(c, SCAN_BLANK | SCAN_COMMA);
}

/* @p stands behind a whole value. */
static inline bool scan_is_end(const struct scan *s, const char *p)
{
	return p == s->end || scan_is(*p, SCAN_BLANK | SCAN_COMMA | SCAN_COMMENT);
}

static inline void scan_skip_separators(struct scan *s)
{
	while (s->at < s->end && scan_is_separator(*s->at))
		s->at++;
}

/* Takes @c when it is next. */
static inline bool scan_take(struct scan *s, char c)
{
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* Decimal, or hexadecimal behind 0x; @what is the field that it belongs to. */
bool scan_number(struct scan *s, const char *what, uint64_t max, uint64_t *value);
/* Six bytes in hexadecimal, with ':' or '-'. */
bool scan_mac(struct scan *s, const char *what, uint8_t mac[static 6]);
/* Four or sixteen bytes, in network order. */
bool scan_ipv4(struct scan *s, const char *what, uint8_t ip[static 4]);
bool scan_ipv6(struct scan *s, const char *what, uint8_t ip[static 16]);
/* What may follow the '/' of an address of @n bytes: a length, or a mask as an address. */
bool scan_ip_mask(struct scan *s, const char *what, uint8_t *mask, size_t n);
/* The value has to be over here. */
bool scan_end_of(struct scan *s, const char *what, const char *value);

#endif

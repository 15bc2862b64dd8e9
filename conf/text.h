/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text as such: UTF-8, near misses, what YAML 1.1 would make of a plain word.
 */
#ifndef CONF_TEXT_H
#define CONF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the UTF-8 character at @p, of which @left bytes are there; its code point in *@c. 0
 * when there is no valid one (RFC 3629). */
size_t text_utf8(const uint8_t *p, size_t left, uint32_t *c);
/* A control character that a terminal might act on: C0, DEL, C1. */
bool text_is_control(uint32_t c);
/* Overwrites control characters and broken UTF-8 with '?'. */
void text_make_safe(char *text);

/* How many insertions, deletions, replacements and swaps of neighbours lead from @a to @b; '-' and
 * '_' are the same, and so are capitals. Words over 31 characters are very far from each other. */
unsigned int text_distance(const char *a, const char *b);
/* Whether that is near enough to be a slip. */
bool text_is_near(const char *word, const char *known, unsigned int *distance);

/* 1 for true, yes, on; 0 for false, no, off; -1 for all else. */
int text_bool(const char *text);
/* "010": eight in YAML 1.1. */
bool text_is_octal(const char *text);
/* "1:30": ninety in YAML 1.1. */
bool text_is_base60(const char *text);
/* One or more decimal digits and nothing else. */
bool text_is_digits(const char *text);
/* Decimal digits with a value up to @max. */
bool text_number(const char *text, uint64_t max, uint64_t *value);

#endif

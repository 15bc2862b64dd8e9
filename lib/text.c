/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256

void text_fini(struct text *t)
{
	free(t->data);
	*t = (struct text){0};
}

void text_reset(struct text *t, size_t keep_bytes)
{
	if (t->size > keep_bytes || t->failed) {
		text_fini(t);
		return;
	}
	t->n = 0;
	if (t->data)
		t->data[0] = '\0';
}

bool text_reserve(struct text *t, size_t n)
{
	size_t size = t->size ? t->size : FIRST_BYTES;
	char *data;

	if (t->failed)
		return false;
	if (t->n + n < t->size)
		return true;
	while (size <= t->n + n)
		size *= 2;
	data = realloc(t->data, size);
	if (!data) {
		t->failed = true;
		return false;
	}
	t->data = data;
	t->size = size;
	t->data[t->n] = '\0';
	return true;
}

void text_add(struct text *t, const void *bytes, size_t n)
{
	if (!text_reserve(t, n))
		return;
	if (n)
		memcpy(t->data + t->n, bytes, n);
	t->n += n;
	t->data[t->n] = '\0';
}

void text_str(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!text_reserve(t, 128))
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->data + t->n, t->size - t->n, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= t->size - t->n) {
		if (!text_reserve(t, (size_t)n))
			return;
		va_start(ap, fmt);
		vsnprintf(t->data + t->n, t->size - t->n, fmt, ap);
		va_end(ap);
	}
	t->n += (size_t)n;
}

/* Length of the UTF-8 sequence at @s, or 0 when it is none (RFC 3629: no surrogates, no overlong forms). */
static size_t utf8_length(const uint8_t *s)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || (s[1] & 0xc0) != 0x80)
		return 0;
	if (s[0] < 0xe0)
		return 2;
	if ((s[2] & 0xc0) != 0x80)
		return 0;
	if (s[0] < 0xf0) {
		bool overlong = s[0] == 0xe0 && s[1] < 0xa0;
		bool surrogate = s[0] == 0xed && s[1] >= 0xa0;

		return overlong || surrogate ? 0 : 3;
	}
	if ((s[3] & 0xc0) != 0x80 || s[0] > 0xf4 || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return 4;
}

void text_json(struct text *t, const char *string)
{
	const uint8_t *s = (const uint8_t *)string;

	text_str(t, "\"");
	while (*s) {
		size_t n = utf8_length(s);

		if (n == 0)
			text_str(t, "\xef\xbf\xbd");
		else if (*s == '"' || *s == '\\')
			text_printf(t, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			text_printf(t, "\\u%04x", *s);
		else
			text_add(t, s, n);
		s += n ? n : 1;
	}
	text_str(t, "\"");
}

void text_consume(struct text *t, size_t n)
{
	if (n == 0)
		return;
	t->n -= n;
	memmove(t->data, t->data + n, t->n + 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256

void buffer_fini(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){0};
}

void buffer_reset(struct buffer *b, size_t keep_bytes)
{
	if (b->size > keep_bytes || b->failed) {
		buffer_fini(b);
		return;
	}
	b->n = 0;
	if (b->data)
		b->data[0] = '\0';
}

bool buffer_reserve(struct buffer *b, size_t n)
{
	size_t size = b->size ? b->size : FIRST_BYTES;
	char *data;

	if (b->failed)
		return false;
	if (b->n + n < b->size)
		return true;
	while (size <= b->n + n)
		size *= 2;
	data = realloc(b->data, size);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->size = size;
	b->data[b->n] = '\0';
	return true;
}

void buffer_add(struct buffer *b, const void *bytes, size_t n)
{
	if (!buffer_reserve(b, n))
		return;
	if (n)
		memcpy(b->data + b->n, bytes, n);
	b->n += n;
	b->data[b->n] = '\0';
}

void buffer_str(struct buffer *b, const char *s)
{
	buffer_add(b, s, strlen(s));
}

void buffer_printf(struct buffer *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!buffer_reserve(b, 128))
		return;
	va_start(ap, fmt);
	n = vsnprintf(b->data + b->n, b->size - b->n, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= b->size - b->n) {
		if (!buffer_reserve(b, (size_t)n))
			return;
		va_start(ap, fmt);
		vsnprintf(b->data + b->n, b->size - b->n, fmt, ap);
		va_end(ap);
	}
	b->n += (size_t)n;
}

/* Length of the UTF-8 sequence at @s, or 0 when it is none (RFC 3629: no surrogates, no overlong
 * forms). */
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

void buffer_json(struct buffer *b, const char *string)
{
	const uint8_t *s = (const uint8_t *)string;

	buffer_str(b, "\"");
	while (*s) {
		size_t n = utf8_length(s);

		if (n == 0)
			buffer_str(b, "\xef\xbf\xbd");
		else if (*s == '"' || *s == '\\')
			buffer_printf(b, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			buffer_printf(b, "\\u%04x", *s);
		else
			buffer_add(b, s, n);
		s += n ? n : 1;
	}
	buffer_str(b, "\"");
}

void buffer_consume(struct buffer *b, size_t n)
{
	if (n == 0)
		return;
	b->n -= n;
	memmove(b->data, b->data + n, b->n + 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf/text.h"

#include <string.h>
#include <strings.h>

#include "lib/bits.h"

size_t text_utf8(const uint8_t *p, size_t left, uint32_t *c)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (n == 0 || n > left || p[0] > 0xf4)
		return 0;
	*c = n == 1 ? p[0] : p[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	if (*c < smallest[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
		return 0;
	return n;
}

bool text_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

void text_make_safe(char *text)
{
	size_t left = strlen(text);
	uint32_t c;

	while (left) {
		size_t n = text_utf8((uint8_t *)text, left, &c);
		size_t step = n ? n : 1;

		if (n == 0 || text_is_control(c))
			memset(text, '?', step);
		text += step;
		left -= step;
	}
}

static char fold(char c)
{
	if (c == '_')
		return '-';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Optimal string alignment, three rows. */
unsigned int text_distance(const char *a, const char *b)
{
	enum { LONGEST = 31 };
	unsigned int rows[3][LONGEST + 2];
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > LONGEST || b_len > LONGEST)
		return 1000;
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];
		unsigned int *two_above = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			bool same = fold(a[i - 1]) == fold(b[j - 1]);
			unsigned int best = min_of(above[j], row[j - 1]) + 1;

			best = min_of(best, above[j - 1] + !same);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]))
				best = min_of(best, two_above[j - 2] + 1);
			row[j] = best;
		}
	}
	return rows[a_len % 3][b_len];
}

bool text_is_near(const char *word, const char *known, unsigned int *distance)
{
	size_t shorter = min_of(strlen(word), strlen(known));

	*distance = text_distance(word, known);
	return *distance <= (shorter < 3 ? 0u : shorter < 6 ? 1u : 2u);
}

int text_bool(const char *text)
{
	static const char *const words[][3] = {{"false", "no", "off"}, {"true", "yes", "on"}};

	for (int value = 0; value < 2; value++)
		for (size_t i = 0; i < ARRAY_SIZE(words[value]); i++)
			if (strcasecmp(text, words[value][i]) == 0)
				return value;
	return -1;
}

bool text_is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == 0;
}

bool text_is_octal(const char *text)
{
	return text[0] == '0' && text[1] && text_is_digits(text);
}

bool text_is_base60(const char *text)
{
	size_t groups = 0;

	for (;; text++) {
		size_t digits = strspn(text, "0123456789");

		/* The first group may be any number, the others are 0..59. */
		if (digits == 0 || (groups && (digits > 2 || (digits == 2 && text[0] > '5'))))
			return false;
		groups++;
		text += digits;
		if (*text != ':')
			return *text == 0 && groups > 1;
	}
}

bool text_number(const char *text, uint64_t max, uint64_t *value)
{
	uint64_t v = 0;

	if (!text_is_digits(text))
		return false;
	for (; *text; text++) {
		v = v * 10 + (uint64_t)(*text - '0');
		if (v > max)
			return false;
	}
	*value = v;
	return true;
}

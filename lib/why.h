/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An error and its sentence in one statement: whoever makes the failing call says what and the
 * cure.
 */
#ifndef LIB_WHY_H
#define LIB_WHY_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Where the sentence goes. */
struct why {
	char *text;
	uint32_t bytes;
};

/* Writes the sentence, cut to the room there is, and returns @error. */
__attribute__((format(printf, 3, 4))) static inline int because(const struct why *why, int error,
								const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (why->bytes)
		vsnprintf(why->text, why->bytes, fmt, ap);
	va_end(ap);
	return error;
}

#endif

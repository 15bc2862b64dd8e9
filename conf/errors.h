/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collecting errors. The public part is in conf.h.
 *
 * Invariants: a text is one line of valid UTF-8 without control characters, whatever the file had
 * in it; the same text at the same place is kept once (an anchor used ten times is wrong once).
 */
#ifndef CONF_ERRORS_H
#define CONF_ERRORS_H

#include <stdarg.h>

#include "conf/conf.h"

#define CONF_ERRORS_MAX 100

/* Adds one; where.file is copied. Never fails visibly: what cannot be kept is counted in dropped.
 */
void conf_errors_add(struct conf_errors *errors, struct conf_where where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void conf_errors_vadd(struct conf_errors *errors, struct conf_where where, const char *fmt,
		      va_list ap);

/* Makes @file the next in the order of conf_errors_sort, if it is not yet known. Returns the copy
 * of the name that belongs to @errors, or NULL. */
const char *conf_errors_file(struct conf_errors *errors, const char *file);

/* By file (in the order that they were first named), line and column. */
void conf_errors_sort(struct conf_errors *errors);

/* True when anything was refused, kept or not. */
static inline bool conf_errors_any(const struct conf_errors *errors)
{
	return errors->n || errors->dropped;
}

/* No more are kept: whoever would search for a good suggestion need not. */
static inline bool conf_errors_full(const struct conf_errors *errors)
{
	return errors->n == CONF_ERRORS_MAX;
}

#endif

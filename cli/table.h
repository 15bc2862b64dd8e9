/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables for people: columns as wide as what is in them, headers in capitals.
 *
 * Cells are filled row by row, from left to right. Control characters come out as '?', so that no
 * name can talk to the terminal.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/buffer.h"

#define TABLE_COLUMNS_MAX 12

struct column {
	const char *head;
	bool right;		/* numbers */
};

struct table {
	const struct column *columns;
	size_t n_columns;
	size_t width[TABLE_COLUMNS_MAX];
	struct buffer cells;	/* each ends in a NUL */
	size_t n_cells;
	bool head_printed;
};

void table_init(struct table *t, const struct column *columns, size_t n_columns);
void table_fini(struct table *t);
/* The next cell; "-" for NULL and "". */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints what was filled in and forgets it; widths only grow, so a long table goes out in parts.
 * The headers are printed once, also when there are no rows. */
void table_print(struct table *t, FILE *out);

#define TABLE_WIDTH 80

/* @text and a newline, broken at spaces so that no line passes TABLE_WIDTH where a word does not.
 * @column: where the first line begins; the others are indented by @indent. Two spaces in a row
 * stay where they do not meet a break. */
void table_wrapped(FILE *out, const char *text, size_t column, size_t indent);

/* Overwrites control characters. */
void table_make_safe(char *text);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <stdarg.h>
#include <string.h>

#include "lib/bits.h"

/* Columns that @text takes, one for each UTF-8 character. */
static size_t text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void table_init(struct table *t, const struct column *columns, size_t n_columns)
{
	*t = (struct table){.columns = columns, .n_columns = n_columns};
	for (size_t i = 0; i < n_columns; i++)
		t->width[i] = text_width(columns[i].head);
}

void table_fini(struct table *t)
{
	buffer_fini(&t->cells);
}

void table_make_safe(char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool c1 = c == 0xc2 && ((unsigned char)text[1] & 0xe0) == 0x80;

		if (c < 0x20 || c == 0x7f)
			*text = '?';
		else if (c1)
			text[0] = text[1] = '?';
	}
}

void table_cell(struct table *t, const char *text)
{
	size_t *width = &t->width[t->n_cells % t->n_columns];
	size_t from = t->cells.n;

	buffer_str(&t->cells, text && *text ? text : "-");
	if (t->cells.failed)
		return;
	table_make_safe(t->cells.data + from);
	*width = max_of(*width, text_width(t->cells.data + from));
	buffer_add(&t->cells, "", 1);
	t->n_cells++;
}

void table_cellf(struct table *t, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_cell(t, text);
}

static void print_cell(const struct table *t, size_t column, const char *text, FILE *out)
{
	size_t pad = t->width[column] - text_width(text);
	bool last = column + 1 == t->n_columns;
	bool right = t->columns[column].right;

	if (right)
		fprintf(out, "%*s", (int)pad, "");
	fputs(text, out);
	if (!right && !last)
		fprintf(out, "%*s", (int)pad, "");
	fputc(last ? '\n' : ' ', out);
}

void table_print(struct table *t, FILE *out)
{
	const char *cell = t->cells.data;

	if (!t->head_printed)
		for (size_t i = 0; i < t->n_columns; i++)
			print_cell(t, i, t->columns[i].head, out);
	t->head_printed = true;
	for (size_t i = 0; i < t->n_cells; i++) {
		print_cell(t, i % t->n_columns, cell, out);
		cell += strlen(cell) + 1;
	}
	t->n_cells = 0;
	buffer_reset(&t->cells, SIZE_MAX);
}

void table_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t n_spaces = strspn(text, " ");
		size_t n_word = strcspn(text + n_spaces, " ");

		if (column + n_spaces + n_word > TABLE_WIDTH && column > indent) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else {
			fprintf(out, "%*s", (int)n_spaces, "");
			column += n_spaces;
		}
		fprintf(out, "%.*s", (int)n_word, text + n_spaces);
		column += n_word;
		text += n_spaces + n_word;
	}
	fputc('\n', out);
}

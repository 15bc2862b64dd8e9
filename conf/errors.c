/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf/errors.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/text.h"

#define ERROR_TEXT_BYTES 512

const char *conf_errors_file(struct conf_errors *errors, const char *file)
{
	char **files;
	char *copy;

	/* The newest is the likeliest. */
	for (size_t i = errors->n_files; i-- > 0;)
		if (strcmp(errors->files[i], file) == 0)
			return errors->files[i];
	copy = strdup(file);
	files = realloc(errors->files, (errors->n_files + 1) * sizeof(*files));
	if (files)
		errors->files = files;
	if (!copy || !files) {
		free(copy);
		return NULL;
	}
	files[errors->n_files++] = copy;
	return copy;
}

static bool is_known(const struct conf_errors *errors, const struct conf_where *where,
		     const char *text)
{
	for (size_t i = 0; i < errors->n; i++) {
		const struct conf_error *e = &errors->list[i];

		if (e->where.line == where->line && e->where.column == where->column &&
		    e->where.file == where->file && strcmp(e->text, text) == 0)
			return true;
	}
	return false;
}

void conf_errors_vadd(struct conf_errors *errors, struct conf_where where, const char *fmt,
		      va_list ap)
{
	char text[ERROR_TEXT_BYTES];
	struct conf_error *list;
	char *copy;

	if (!conf_errors_full(errors))
		where.file = conf_errors_file(errors, where.file);
	if (!where.file || conf_errors_full(errors)) {
		errors->dropped++;
		return;
	}
	vsnprintf(text, sizeof(text), fmt, ap);
	text_make_safe(text);
	if (is_known(errors, &where, text))
		return;
	copy = strdup(text);
	list = realloc(errors->list, (errors->n + 1) * sizeof(*list));
	if (list)
		errors->list = list;
	if (!copy || !list) {
		free(copy);
		errors->dropped++;
		return;
	}
	list[errors->n++] = (struct conf_error){.where = where, .text = copy};
}

void conf_errors_add(struct conf_errors *errors, struct conf_where where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conf_errors_vadd(errors, where, fmt, ap);
	va_end(ap);
}

static size_t file_rank(const struct conf_errors *errors, const char *file)
{
	size_t i = 0;

	while (i < errors->n_files && errors->files[i] != file)
		i++;
	return i;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct conf_where *x = &((const struct conf_error *)a)->where;
	const struct conf_where *y = &((const struct conf_error *)b)->where;
	size_t x_rank = file_rank(arg, x->file), y_rank = file_rank(arg, y->file);

	if (x_rank != y_rank)
		return x_rank < y_rank ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return strcmp(((const struct conf_error *)a)->text, ((const struct conf_error *)b)->text);
}

void conf_errors_sort(struct conf_errors *errors)
{
	if (errors->n > 1)
		qsort_r(errors->list, errors->n, sizeof(*errors->list), compare, errors);
}

void conf_errors_print(const struct conf_errors *errors, void *stream)
{
	for (size_t i = 0; i < errors->n; i++) {
		const struct conf_error *e = &errors->list[i];
		char file[4096];

		snprintf(file, sizeof(file), "%s", e->where.file);
		text_make_safe(file);
		fprintf(stream, "%s:%u:%u: %s\n", file, e->where.line, e->where.column, e->text);
	}
	if (errors->dropped)
		fprintf(stream, "and %zu more\n", errors->dropped);
}

void conf_errors_fini(struct conf_errors *errors)
{
	for (size_t i = 0; i < errors->n; i++)
		free(errors->list[i].text);
	for (size_t i = 0; i < errors->n_files; i++)
		free(errors->files[i]);
	free(errors->list);
	free(errors->files);
	*errors = (struct conf_errors){0};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A place in an argument: the text, and a mark under it.
 */
#ifndef CLI_EXCERPT_H
#define CLI_EXCERPT_H

#include <stddef.h>
#include <stdio.h>

/* Two lines: @text, or what of it is around @column (from 1, in bytes) when it is long, and a caret
 * below that column. */
void excerpt_print(FILE *out, const char *text, size_t column);

#endif

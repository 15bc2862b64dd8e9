/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a configuration names. A whole one in memory, so that one that is written while it is
 * read is read once; or one to be read in pieces.
 */
#ifndef CONF_FILE_H
#define CONF_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Up to @bytes_max bytes of a regular file; the caller frees *@data, also after an error. 0, -EFBIG
 * when there is more (*@bytes is 0 then), -EISDIR, -ENODEV when it is no regular file, or why it
 * cannot be read. */
int file_read(const char *path, size_t bytes_max, uint8_t **data, size_t *bytes, int64_t *mtime_s);

/* To read. The descriptor, -EISDIR, -ENODEV when it is no regular file (a FIFO would hold whoever
 * reads it), or why it cannot be opened. */
int file_open(const char *path);

/* An error of these as a sentence. */
const char *file_why(int err);

#endif

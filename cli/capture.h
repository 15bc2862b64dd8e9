/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of `culvert capture` have of each other.
 */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include <jansson.h>

#include "cli/live.h"

/* capture_list.c: the captures that run. */
int capture_list(struct cli *cli);

/* capture_file.c */

/* A descriptor for @file, "-" being standard output; -1 after a complaint. What is in it stays for
 * now. */
int capture_file_open(const struct cli *cli, const char *file);
/* Writes the stream to @fd, from its beginning, until a signal ends it. CLI_DONE with l->end: it is
 * complete, or nobody reads it any more. CLI_FAILED after a complaint; l->end may be set. */
int capture_file_write(struct live *l, int fd, const char *file);

#endif

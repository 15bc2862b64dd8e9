/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to the daemon, for client.c and upload.c only: cli.h has what commands call.
 *
 * These report their own errors.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <stddef.h>

#include "lib/buffer.h"

struct cli;

struct client {
	int fd;
	struct buffer in;
	size_t start;		/* of what is not used yet */
};

/* CLI_DONE also when the daemon hung up: it may have said why, which is read next. */
int client_send(struct cli *cli, const char *bytes, size_t n);
/* The next line, without its newline, valid until the next read. */
int client_read_line(struct cli *cli, char **line);

#endif

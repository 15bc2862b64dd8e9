/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to the daemon, for client.c, live.c and upload.c only: cli.h has what commands
 * call.
 *
 * These report their own errors.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <jansson.h>
#include <stddef.h>

#include "lib/buffer.h"

#define CLIENT_PATIENCE_S 15

struct cli;

struct client {
	int fd;
	struct buffer in;
	size_t start;		/* of what is not used yet */
};

/* CLI_DONE also when the daemon hung up: it may have said why, which is read next. */
int client_send(struct cli *cli, const char *bytes, size_t n);
/* Reads what there is, at least a byte. */
int client_fill(struct cli *cli);
/* The next line, without its newline, valid until the next read. */
int client_read_line(struct cli *cli, char **line);
/* The number of bytes of the chunk that @line announces. */
int client_chunk(const struct cli *cli, const char *line, size_t *n);
/* The notification behind the last chunk. CLI_DONE with *@end a new reference to its params;
 * CLI_FAILED also when they are the daemon's error. */
int client_end(const struct cli *cli, const char *line, json_t **end);

#endif

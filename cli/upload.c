/* SPDX-License-Identifier: BSD-2-Clause */
/* Uploads: docs/protocol.md, "Uploads". */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/client.h"
#include "cli/protocol.h"

#define HEAD_BYTES 16		/* a chunk's count and its newline */

/* Waits for something to send, from @fd. False: the daemon spoke before the upload has ended, so it
 * refuses it, or it is gone. */
static bool wait_for_input(const struct client *c, int fd)
{
	struct pollfd fds[] = {{.fd = c->fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	if (c->start < c->in.n)
		return false;
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !fds[0].revents;
}

/* The @n bytes behind the first HEAD_BYTES of @chunk, as one chunk. */
static int send_chunk(struct cli *cli, char *chunk, size_t n)
{
	char head[HEAD_BYTES];
	int bytes = snprintf(head, sizeof(head), "%zu\n", n);
	char *start = chunk + HEAD_BYTES - bytes;

	memcpy(start, head, (size_t)bytes);
	return client_send(cli, start, n + (size_t)bytes);
}

/* A file that cannot be read to its end must not take effect: the caller hangs up. */
static int send_chunks(struct cli *cli, int fd, const char *name, char *chunk)
{
	while (wait_for_input(cli->client, fd)) {
		ssize_t r = read(fd, chunk + HEAD_BYTES, PROTOCOL_CHUNK_BYTES);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return cli_fail(cli, "%s: %s; nothing was changed", name, strerror(errno));
		if (r == 0)
			break;
		if (send_chunk(cli, chunk, (size_t)r))
			return CLI_FAILED;
	}
	return client_send(cli, "0\n", 2);
}

static int read_end(struct cli *cli, json_t **end)
{
	json_t *message;
	char *line;

	if (client_read_line(cli, &line))
		return CLI_FAILED;
	message = json_loads(line, 0, NULL);
	*end = json_incref(json_object_get(message, "params"));
	json_decref(message);
	return *end ? CLI_DONE : cli_fail(cli, "the answer is cut off");
}

int client_upload(struct cli *cli, const char *method, int fd, const char *name, json_t **end)
{
	char *chunk = malloc(HEAD_BYTES + PROTOCOL_CHUNK_BYTES);
	json_t *invited = NULL;
	int status;

	*end = NULL;
	status = chunk ? client_call(cli, method, NULL, &invited) : cli_fail(cli, "out of memory");
	json_decref(invited);
	if (status == CLI_DONE)
		status = send_chunks(cli, fd, name, chunk);
	if (status == CLI_DONE)
		status = read_end(cli, end);
	free(chunk);
	client_close(cli);
	return status;
}

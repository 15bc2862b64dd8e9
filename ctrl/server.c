/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctrl/server_own.h"
#include "lib/bits.h"
#include "lib/log.h"

#define ACCEPT_PAUSE_MS 200

static bool is_root(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == 0;
}

static void turn_away(int fd)
{
	struct buffer line = {0};

	rpc_error(PROTOCOL_REFUSED, "too many clients: close some", &line);
	if (line.n)
		send(fd, line.data, line.n, MSG_DONTWAIT | MSG_NOSIGNAL);
	buffer_fini(&line);
	close(fd);
}

static void welcome(struct server *server, int fd)
{
	uint32_t max = SERVER_CLIENTS_MAX + (is_root(fd) ? SERVER_CLIENTS_ROOT : 0);

	if (server->n_clients < max)
		client_create(server, fd);
	else
		turn_away(fd);
}

static void accept_next(struct server *server)
{
	io_uring_prep_accept(loop_sqe(server->loop, &server->accept), server->listener.fd, NULL,
			     NULL, SOCK_CLOEXEC);
}

static void accept_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct server *server = container_of(op, struct server, accept);

	if (server->accept_pauses) {
		server->accept_pauses = false;
	} else if (result >= 0) {
		server->accept_fails = false;
		welcome(server, result);
	} else if (result == -ECANCELED) {
		return;
	} else if (result != -EINTR && result != -ECONNABORTED) {
		/* EMFILE, ENFILE, ENOMEM: the connection still waits; do not spin on it. */
		if (!server->accept_fails)
			log_warn("accept on %s: %s", server->options.path, strerror(-result));
		server->accept_fails = true;
		server->accept_pauses = true;
		io_uring_prep_timeout(loop_sqe(server->loop, op), &server->accept_pause, 0, 0);
		return;
	}
	accept_next(server);
}

int server_create(struct loop *loop, const struct server_options *options, struct server **server,
		  char *why, uint32_t why_bytes)
{
	struct server *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		snprintf(why, why_bytes, "out of memory");
		return -ENOMEM;
	}
	r = listen_open(&s->listener, options->path, options->group, options->mode, why, why_bytes);
	if (r < 0) {
		free(s);
		return r;
	}
	s->options = *options;
	s->options.path = s->listener.path;
	s->loop = loop;
	s->accept.done = accept_done;
	s->accept_pause.tv_nsec = ACCEPT_PAUSE_MS * 1000000;
	accept_next(s);
	*server = s;
	return 0;
}

void server_destroy(struct server *server)
{
	int fd;

	if (!server)
		return;
	fd = loop_forget(server->loop, &server->accept);
	if (fd >= 0 && !server->accept_pauses)
		close(fd);
	while (server->clients)
		client_free(server->clients);
	while (server->jobs)
		job_free(server->jobs);
	listen_close(&server->listener);
	free(server);
}

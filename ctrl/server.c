/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctrl/listen.h"
#include "lib/bits.h"
#include "lib/log.h"

#define READ_BYTES (64 * 1024)
#define KEEP_BYTES (2 * PROTOCOL_CHUNK_BYTES)
#define COUNT_LINE_BYTES 16	/* room in front of a chunk for its count */
#define ACCEPT_PAUSE_MS 200

enum client_step { CLIENT_RECEIVES, CLIENT_SENDS, CLIENT_YIELDS };

struct client {
	struct loop_op op;
	struct server *server;
	struct client *next;
	struct client *previous;
	int fd;
	uint8_t step;		/* enum client_step: what op is doing */
	bool last_words;	/* closed when out has been sent */
	struct buffer in;
	size_t in_start;	/* where the next line begins */
	size_t in_searched;	/* no newline before here */
	struct buffer out;
	size_t out_start;	/* the next byte to send */
	struct stream *stream;
	json_t *stream_id;
};

struct server {
	struct server_options options;
	struct loop *loop;
	struct listener listener;
	struct loop_op accept;
	struct __kernel_timespec accept_pause;
	bool accept_pauses;
	bool accept_fails;	/* said so already */
	struct client *clients;
	uint32_t n_clients;
};

static void client_free(struct client *c)
{
	if (c->previous)
		c->previous->next = c->next;
	else
		c->server->clients = c->next;
	if (c->next)
		c->next->previous = c->previous;
	c->server->n_clients--;
	if (c->stream)
		c->stream->end(c->stream);
	json_decref(c->stream_id);
	buffer_fini(&c->in);
	buffer_fini(&c->out);
	close(c->fd);
	free(c);
}

static void client_send(struct client *c)
{
	c->step = CLIENT_SENDS;
	io_uring_prep_send(loop_sqe(c->server->loop, &c->op), c->fd, c->out.data + c->out_start,
			   c->out.n - c->out_start, MSG_NOSIGNAL);
}

/* Only called when no whole line is left in the buffer, so it never holds more than a line that is
 * too long by READ_BYTES. */
static void client_receive(struct client *c)
{
	buffer_consume(&c->in, c->in_start);
	c->in_searched -= c->in_start;
	c->in_start = 0;
	if (c->in.n == 0)
		buffer_reset(&c->in, KEEP_BYTES);
	if (!buffer_reserve(&c->in, READ_BYTES)) {
		client_free(c);
		return;
	}
	c->step = CLIENT_RECEIVES;
	io_uring_prep_recv(loop_sqe(c->server->loop, &c->op), c->fd, c->in.data + c->in.n,
			   READ_BYTES, 0);
}

/* Gives the others a turn. */
static void client_yield(struct client *c)
{
	c->step = CLIENT_YIELDS;
	io_uring_prep_nop(loop_sqe(c->server->loop, &c->op));
}

/* Puts the count line in front of the chunk that is in out from COUNT_LINE_BYTES on. */
static void frame_chunk(struct client *c)
{
	char line[COUNT_LINE_BYTES + 1];
	size_t n = (size_t)snprintf(line, sizeof(line), "%zu\n", c->out.n - COUNT_LINE_BYTES);

	c->out_start = COUNT_LINE_BYTES - n;
	memcpy(c->out.data + c->out_start, line, n);
}

static void make_chunk(struct client *c)
{
	static const char room[COUNT_LINE_BYTES];
	int r;

	buffer_add(&c->out, room, sizeof(room));
	r = c->stream->next(c->stream, &c->out);
	if (c->out.failed)
		return;
	if (c->out.n > COUNT_LINE_BYTES)
		frame_chunk(c);
	else
		c->out_start = COUNT_LINE_BYTES;
	if (r > 0)
		return;
	buffer_str(&c->out, "0\n");
	rpc_stream_end(c->stream, c->stream_id, r, &c->out);
	c->stream->end(c->stream);
	c->stream = NULL;
	json_decref(c->stream_id);
	c->stream_id = NULL;
}

/* Answers the next line, if there is a whole one. */
static bool answer_line(struct client *c)
{
	const char *newline = NULL;
	const char *line;

	if (c->in.n > c->in_searched)
		newline = memchr(c->in.data + c->in_searched, '\n', c->in.n - c->in_searched);
	if (!newline) {
		c->in_searched = c->in.n;
		return false;
	}
	line = c->in.data + c->in_start;
	c->in_start = c->in_searched = (size_t)(newline - c->in.data) + 1;
	if (newline - line > PROTOCOL_LINE_MAX) {
		rpc_error(PROTOCOL_INVALID_REQUEST, "a line of more than 1 MiB: goodbye", &c->out);
		c->last_words = true;
	} else if (newline > line) {
		rpc_answer(&c->server->options, line, (size_t)(newline - line), &c->out, &c->stream,
			   &c->stream_id);
	}
	return true;
}

/* Starts the client's next operation; the client may be gone afterwards. */
static void client_go_on(struct client *c)
{
	if (c->out_start == c->out.n) {
		buffer_reset(&c->out, KEEP_BYTES);
		c->out_start = 0;
		if (c->last_words) {
			client_free(c);
			return;
		}
		if (c->stream) {
			make_chunk(c);
		} else if (!answer_line(c)) {
			if (c->in.n - c->in_start <= PROTOCOL_LINE_MAX) {
				client_receive(c);
				return;
			}
			rpc_error(PROTOCOL_INVALID_REQUEST, "a line of more than 1 MiB: goodbye",
				  &c->out);
			c->last_words = true;
		}
	}
	if (c->out.failed)
		client_free(c);
	else if (c->out_start < c->out.n)
		client_send(c);
	else
		client_yield(c);
}

static void client_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct client *c = container_of(op, struct client, op);

	if (result == -EINTR || result == -EAGAIN)
		result = 0;
	else if (result < 0 || (c->step == CLIENT_RECEIVES && result == 0)) {
		client_free(c);
		return;
	}
	if (c->step == CLIENT_RECEIVES)
		c->in.n += (size_t)result;
	else if (c->step == CLIENT_SENDS)
		c->out_start += (size_t)result;
	client_go_on(c);
}

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

static void client_create(struct server *server, int fd)
{
	uint32_t max = SERVER_CLIENTS_MAX + (is_root(fd) ? SERVER_CLIENTS_ROOT : 0);
	struct client *c = server->n_clients < max ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		turn_away(fd);
		return;
	}
	c->op.done = client_done;
	c->server = server;
	c->fd = fd;
	c->next = server->clients;
	if (c->next)
		c->next->previous = c;
	server->clients = c;
	server->n_clients++;
	client_receive(c);
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
		client_create(server, result);
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
	while (server->clients) {
		loop_forget(server->loop, &server->clients->op);
		client_free(server->clients);
	}
	listen_close(&server->listener);
	free(server);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctrl/server_own.h"
#include "lib/bits.h"

#define READ_BYTES (64 * 1024)	/* at once, where there is room */
#define ROOM_BYTES 4096		/* that there is at least; uploads: READ_BYTES */
#define KEEP_BYTES (2 * PROTOCOL_CHUNK_BYTES)
#define COUNT_LINE_BYTES 16	/* room for a chunk's count, newline included */

enum client_op {
	CLIENT_IDLE,
	CLIENT_RECEIVES,
	CLIENT_SENDS,
	CLIENT_LIVES,		/* a live stream is not ours: it is watched whether it is wanted */
};

enum client_upload {
	UPLOAD_NONE,
	UPLOAD_TAKES,		/* bytes go to the job */
	UPLOAD_DISCARDS,	/* the job refused; the rest is thrown away */
};

struct client {
	struct loop_op op;
	struct loop_task turn;	/* bulk: the next chunk, the next piece of an upload; also
				 * what a live stream left to say */
	struct server *server;
	struct client *next;
	struct client *previous;
	int fd;
	uint8_t doing;		/* enum client_op: what op is */
	uint8_t upload;		/* enum client_upload */
	bool last_words;	/* closed when out has been sent */
	struct buffer in;
	size_t in_start;	/* what is not used yet: the next line, or an upload's bytes */
	size_t in_searched;	/* no newline before here */
	size_t chunk_left;	/* of the upload's present chunk */
	struct buffer out;
	size_t out_start;	/* the next byte to send */
	struct rpc_rest rest;	/* of the answer to the present request */
};

void client_free(struct client *c)
{
	if (c->doing != CLIENT_IDLE)
		loop_forget(c->server->loop, &c->op);
	loop_not_later(c->server->loop, &c->turn);
	if (c->previous)
		c->previous->next = c->next;
	else
		c->server->clients = c->next;
	if (c->next)
		c->next->previous = c->previous;
	c->server->n_clients--;
	if (c->rest.stream)
		rpc_stream_free(c->rest.stream);
	if (c->rest.job)
		job_leave(c->rest.job);
	json_decref(c->rest.id);
	buffer_fini(&c->in);
	buffer_fini(&c->out);
	close(c->fd);
	free(c);
}

static void client_send(struct client *c)
{
	c->doing = CLIENT_SENDS;
	io_uring_prep_send(loop_sqe(c->server->loop, &c->op), c->fd, c->out.data + c->out_start,
			   c->out.n - c->out_start, MSG_NOSIGNAL);
}

/* Only called when all that is whole in the buffer was used, so it never holds more than a line
 * that is too long by READ_BYTES. */
static void client_receive(struct client *c)
{
	size_t room = c->upload ? READ_BYTES : ROOM_BYTES;

	buffer_consume(&c->in, c->in_start);
	c->in_searched -= c->in_start;
	c->in_start = 0;
	if (c->in.n == 0)
		buffer_reset(&c->in, KEEP_BYTES);
	if (!buffer_reserve(&c->in, room)) {
		client_free(c);
		return;
	}
	room = min_of(c->in.size - c->in.n - 1, (size_t)READ_BYTES);
	c->doing = CLIENT_RECEIVES;
	io_uring_prep_recv(loop_sqe(c->server->loop, &c->op), c->fd, c->in.data + c->in.n, room,
			   0);
}

/* What broke the protocol: the reason, and no more. */
static void say_goodbye(struct client *c, const char *why)
{
	rpc_error(PROTOCOL_INVALID_REQUEST, why, &c->out);
	c->last_words = true;
}

/* The request is answered to the end. */
static void forget_rest(struct client *c)
{
	json_decref(c->rest.id);
	c->rest = (struct rpc_rest){0};
}

/* Puts the count line in front of the chunk that is in out from COUNT_LINE_BYTES on. */
static void frame_chunk(struct client *c)
{
	char line[COUNT_LINE_BYTES + 1];
	size_t n = (size_t)snprintf(line, sizeof(line), "%zu\n", c->out.n - COUNT_LINE_BYTES);

	c->out_start = COUNT_LINE_BYTES - n;
	memcpy(c->out.data + c->out_start, line, n);
}

/* @error: 0 or -errno. */
static void end_stream(struct client *c, int error)
{
	buffer_str(&c->out, "0\n");
	rpc_stream_end(c->rest.stream, c->rest.id, error, &c->out);
	rpc_stream_free(c->rest.stream);
	forget_rest(c);
}

static void make_chunk(struct client *c)
{
	static const char room[COUNT_LINE_BYTES];
	struct stream *stream = c->rest.stream;
	int r;

	buffer_add(&c->out, room, sizeof(room));
	r = stream->next(stream, &c->out);
	if (c->out.failed)
		return;
	if (c->out.n > COUNT_LINE_BYTES)
		frame_chunk(c);
	else
		c->out_start = COUNT_LINE_BYTES;
	if (r <= 0)
		end_stream(c, r);
}

/* The stream is somebody else's from now on, until stream_ended(). The kernel tells when the client
 * has closed its sending half, whatever it has sent before. */
static void hand_over(struct client *c)
{
	struct stream *stream = c->rest.stream;

	stream->client = c;
	c->doing = CLIENT_LIVES;
	io_uring_prep_poll_add(loop_sqe(c->server->loop, &c->op), c->fd, POLLRDHUP);
	stream->take(stream, c->fd);
}

void stream_ended(struct stream *stream, int error)
{
	struct client *c = stream->client;

	if (c->doing == CLIENT_LIVES)
		loop_forget(c->server->loop, &c->op);
	c->doing = CLIENT_IDLE;
	end_stream(c, error);
	loop_later(c->server->loop, &c->turn);
}

static void use_bytes(struct client *c, size_t n)
{
	c->in_start += n;
	c->in_searched = c->in_start;
}

/* The upload's last chunk was there: now its job makes it take effect, and ends. */
static void end_upload(struct client *c)
{
	c->upload = UPLOAD_NONE;
	if (c->rest.job)
		job_wake(c->rest.job);
}

/* Reads the count line of an upload's next chunk. False: it is not there yet. */
static bool begin_chunk(struct client *c)
{
	const char *line = c->in.data + c->in_start;
	size_t n = min_of(c->in.n - c->in_start, (size_t)COUNT_LINE_BYTES);
	const char *newline = n ? memchr(line, '\n', n) : NULL;
	const char *p = line;
	size_t count = 0;

	if (!newline && n < COUNT_LINE_BYTES)
		return false;
	while (p < line + n && *p >= '0' && *p <= '9')
		count = count * 10 + (size_t)(*p++ - '0');
	if (p == line || p != newline || count > PROTOCOL_UPLOAD_CHUNK_MAX) {
		say_goodbye(c, "an upload goes in chunks of at most 1 MiB, each behind a line with "
			       "its number of bytes: goodbye");
		return true;
	}
	use_bytes(c, (size_t)(newline - line) + 1);
	c->chunk_left = count;
	if (count == 0)
		end_upload(c);
	return true;
}

static void take_piece(struct client *c)
{
	struct job *job = c->rest.job;
	size_t n = min_of(c->in.n - c->in_start, c->chunk_left);

	if (c->upload == UPLOAD_TAKES) {
		n = min_of(n, (size_t)UPLOAD_PIECE_BYTES);
		job->take(job, c->in.data + c->in_start, n);
	}
	use_bytes(c, n);
	c->chunk_left -= n;
	if (c->upload == UPLOAD_DISCARDS || !job->code)
		return;
	rpc_job_end(job, c->rest.id, &c->out);
	job_leave(job);
	forget_rest(c);
	c->upload = UPLOAD_DISCARDS;
}

/* False: more bytes have to come first. */
static bool go_on_with_upload(struct client *c)
{
	if (!c->chunk_left && !begin_chunk(c))
		return false;
	if (!c->chunk_left)
		return true;
	if (c->in_start == c->in.n)
		return false;
	take_piece(c);
	return true;
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
		if (c->in.n - c->in_start <= PROTOCOL_LINE_MAX)
			return false;
		say_goodbye(c, "a line of more than 1 MiB: goodbye");
		return true;
	}
	line = c->in.data + c->in_start;
	use_bytes(c, (size_t)(newline - line) + 1);
	if (newline - line > PROTOCOL_LINE_MAX)
		say_goodbye(c, "a line of more than 1 MiB: goodbye");
	else if (newline > line)
		rpc_answer(&c->server->options, line, (size_t)(newline - line), &c->out, &c->rest);
	if (c->rest.job)
		job_start(c->server, c, c->rest.job);
	return true;
}

static void go_on(struct client *c);

/* Nothing is left to send: finds what comes next. */
static void look_further(struct client *c)
{
	buffer_reset(&c->out, KEEP_BYTES);
	c->out_start = 0;
	if (c->rest.stream && !c->rest.stream->next)
		hand_over(c);
	else if (c->rest.stream || c->upload)
		loop_later(c->server->loop, &c->turn);
	else if (c->rest.job)
		return;		/* client_job() comes */
	else if (!answer_line(c))
		client_receive(c);
	else if (c->out.n || c->out.failed)
		go_on(c);
	else if (!c->rest.job)
		loop_later(c->server->loop, &c->turn);
}

/* The client may be gone afterwards. */
static void go_on(struct client *c)
{
	if (c->out.failed)
		client_free(c);
	else if (c->out_start < c->out.n)
		client_send(c);
	else if (c->last_words)
		client_free(c);
	else
		look_further(c);
}

static void take_turn(struct loop_task *task)
{
	struct client *c = container_of(task, struct client, turn);

	if (c->rest.stream)
		make_chunk(c);
	if (c->upload && !go_on_with_upload(c))
		client_receive(c);
	else
		go_on(c);
}

void client_job(struct client *c, enum job_step step)
{
	struct job *job = c->rest.job;

	if (step == JOB_TAKES) {
		rpc_upload_ready(c->rest.id, &c->out);
		job->invited = true;
		c->upload = UPLOAD_TAKES;
	} else {
		if (c->rest.id)
			rpc_job_end(job, c->rest.id, &c->out);
		job_free(job);
		forget_rest(c);
	}
	go_on(c);
}

static void client_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct client *c = container_of(op, struct client, op);
	uint8_t done = c->doing;

	c->doing = CLIENT_IDLE;
	if (done == CLIENT_LIVES) {
		c->rest.stream->finish(c->rest.stream);
		return;
	}
	if (result == -EINTR || result == -EAGAIN)
		result = 0;
	else if (result < 0 || (done == CLIENT_RECEIVES && result == 0)) {
		client_free(c);
		return;
	}
	if (done == CLIENT_RECEIVES)
		c->in.n += (size_t)result;
	else
		c->out_start += (size_t)result;
	go_on(c);
}

void client_create(struct server *server, int fd)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return;
	}
	c->op.done = client_done;
	c->turn.run = take_turn;
	c->server = server;
	c->fd = fd;
	c->next = server->clients;
	if (c->next)
		c->next->previous = c;
	server->clients = c;
	server->n_clients++;
	client_receive(c);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON-RPC 2.0 on a Unix socket: one message a line, bulk in chunks (docs/protocol.md).
 *
 * A client has one operation under way at a time: it is read, or sent to, or its job is done. Its
 * next request is looked at when the answer to the last one has been sent, the next chunk of a
 * stream is made when the last one has been sent, the next bytes of an upload are read when the
 * last ones were taken. So a client that stops costs its buffers (a line, a chunk) and holds up
 * nobody; a client that dies is freed with all that it asked for.
 *
 * Short answers are given as requests come in. Chunks, pieces of uploads and steps of jobs are
 * tasks of the loop: between two of them it looks for requests, timers and the rest. Each of them
 * is to take no more than LOOP_TASK_NS.
 * Threads: control only.
 */
#ifndef CTRL_SERVER_H
#define CTRL_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/protocol.h"
#include "ctrl/loop.h"
#include "lib/buffer.h"

#define SERVER_CLIENTS_MAX 256
#define SERVER_CLIENTS_ROOT 8	/* more, for root: others cannot lock the administrator out */
#define METHOD_PARAMS_MAX 12
#define UPLOAD_PIECE_BYTES (16 * 1024)

/* An answer in chunks. Belongs to the server from request_stream on. */
struct stream {
	/* Adds whole records to @out, at least one of them or none, about PROTOCOL_CHUNK_BYTES in
	 * all. 1: there is more (perhaps nothing was found yet: it is called again, after others
	 * had their turn); 0: that was all; -errno: the stream ends with an error. */
	int (*next)(struct stream *stream, struct buffer *out);
	/* Frees it; also when the client went away in between. */
	void (*end)(struct stream *stream);
	const char *kind;	/* "json": an object a line, "text", "pcapng" */
	uint64_t count;		/* records so far; told at the end */

	/*
	 * A live stream (next is NULL) goes on until the client closes its sending half, or both:
	 * somebody else has the socket's sending side meanwhile, to send chunks of his own to it or
	 * nothing. What the client sends meanwhile waits in the socket.
	 */
	/* The answer has been sent: @fd is yours until stream_ended(), which may be called from
	 * here on. */
	void (*take)(struct stream *stream, int fd);
	/* The client wants no more, or is gone: end soon, by stream_ended(). Called once at most;
	 * never before take(). */
	void (*finish)(struct stream *stream);
	json_t *about;		/* more fields of the answer, or NULL; the server lets go of it */
	json_t *totals;		/* more fields of the notification at the end, likewise */
	/* the server's */
	struct client *client;
};

/* A live stream that was taken has ended: the 0 chunk and the notification go out, with @error
 * (-errno) one that says that it broke off; calls end(). */
void stream_ended(struct stream *stream, int error);

enum job_step {
	JOB_DONE,		/* result, or code and error, are final */
	JOB_MORE,		/* call again */
	JOB_WAITS,		/* call again after job_wake() */
	JOB_TAKES,		/* an upload: give it to take(), call again behind the end */
};

/*
 * What is done in steps, others' turns in between: a request that takes long, or an upload. Belongs
 * to the server from request_job on.
 *
 * An upload's client is invited when a step returns JOB_TAKES (once); the steps after its last byte
 * make it take effect.
 */
struct job {
	enum job_step (*step)(struct job *job);
	/* Uploads: the next @n bytes, at most UPLOAD_PIECE_BYTES. job_refuse() ends the upload:
	 * the client hears of it at once, what else it sends is thrown away. NULL: no upload. */
	void (*take)(struct job *job, const char *bytes, size_t n);
	/* Uploads: the client went away, or take() refused. Steps go on until JOB_DONE, which
	 * nobody hears of. */
	void (*cancel)(struct job *job);
	/* Frees it; at any time when the server ends, else after JOB_DONE. */
	void (*end)(struct job *job);
	json_t *result;		/* an object, {} when it stays NULL; the server lets go of it */
	int code;		/* enum protocol_error, or 0 */
	char error[512];	/* one sentence, with the cure */
	json_t *data;		/* of the error, or NULL; the server lets go of it */
	/* the server's */
	struct loop_task task;
	struct server *server;
	struct client *client;	/* NULL: nobody waits for it any more */
	struct job *next, *previous;
	bool invited;		/* an upload's client is sending, or has sent */
};

/* One call of a method. */
struct request {
	void *context;		/* server_options.context */
	json_t *params;		/* an object, checked against the method's table; borrowed */
	json_t *result;		/* of 0: {} when it stays NULL */
	struct stream *stream;	/* or this */
	struct job *job;	/* or this */
	char error[512];	/* of another: one sentence, with the cure */
	json_t *data;		/* of the error, or NULL */
};

struct method_param {
	const char *name;
	json_type type;		/* JSON_TRUE stands for either boolean */
	bool required;
};

struct method {
	const char *name;
	/* 0, or enum protocol_error with @request->error filled in. NULL: not in this version. */
	int (*call)(struct request *request);
	struct method_param params[METHOD_PARAMS_MAX];	/* ends with a NULL name */
};

/* PROTOCOL_REFUSED, with the sentence in @request->error. */
int request_refuse(struct request *request, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The job's end with PROTOCOL_REFUSED and the sentence. JOB_DONE. */
enum job_step job_refuse(struct job *job, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A job that returned JOB_WAITS goes on. Harmless when it goes on already. */
void job_wake(struct job *job);

struct server_options {
	const char *path;	/* directories above it are made */
	const char *group;	/* of the socket; NULL or unknown: the daemon's own */
	uint32_t mode;
	const struct method *methods;
	size_t n_methods;
	void *context;
};

struct server;

/* Listens. -errno with a sentence in @why: -EADDRINUSE when another daemon answers there; a socket
 * that nobody listens on is replaced. @options are copied, what they point to must live on. */
int server_create(struct loop *loop, const struct server_options *options, struct server **server,
		  char *why, uint32_t why_bytes);
/* Ends all clients and takes the socket away. Accepts NULL. */
void server_destroy(struct server *server);

/*
 * rpc.c: a line in, a line out; no socket in it, for tests and fuzzers.
 */

/* What is still to come of an answer. */
struct rpc_rest {
	struct stream *stream;	/* or NULL */
	struct job *job;	/* or NULL */
	json_t *id;		/* the request's, a new reference; NULL: nobody wants to hear */
};

/*
 * Answers the request in @line (@n bytes, without the newline). The answer is added to @out as a
 * line, or nothing for a notification and where a job has to be done first.
 */
void rpc_answer(const struct server_options *options, const char *line, size_t n,
		struct buffer *out, struct rpc_rest *rest);
/* Nobody wants the stream any more. */
void rpc_stream_free(struct stream *stream);
/* The notification behind the last chunk. @error: 0 or -errno. */
void rpc_stream_end(const struct stream *stream, json_t *id, int error, struct buffer *out);
/* The upload may begin. */
void rpc_upload_ready(json_t *id, struct buffer *out);
/* What became of a job: the answer, or of an upload the notification behind it. */
void rpc_job_end(const struct job *job, json_t *id, struct buffer *out);
/* An error line for what was no request. */
void rpc_error(enum protocol_error code, const char *message, struct buffer *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server over real sockets: its loop runs in a thread, the tests are its clients.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctrl/server.h"
#include "lib/bits.h"

/* Methods of the test's own. */

static unsigned int streams_alive;
static uint64_t bytes_made;	/* by all streams */

struct numbers {
	struct stream stream;
	uint64_t n;
	int error_at_end;
};

static int numbers_next(struct stream *stream, struct buffer *out)
{
	struct numbers *s = container_of(stream, struct numbers, stream);
	size_t before = out->n;

	while (stream->count < s->n && out->n - before < PROTOCOL_CHUNK_BYTES)
		buffer_printf(out, "{\"n\":%llu}\n", (unsigned long long)stream->count++);
	__atomic_fetch_add(&bytes_made, out->n - before, __ATOMIC_RELAXED);
	return stream->count < s->n ? 1 : s->error_at_end;
}

static void numbers_end(struct stream *stream)
{
	__atomic_fetch_sub(&streams_alive, 1, __ATOMIC_RELAXED);
	free(stream);
}

static int m_numbers(struct request *request)
{
	struct numbers *s = calloc(1, sizeof(*s));

	s->stream = (struct stream){
		.next = numbers_next,
		.end = numbers_end,
		.kind = "json",
	};
	s->n = (uint64_t)json_integer_value(json_object_get(request->params, "n"));
	if (json_is_true(json_object_get(request->params, "fail")))
		s->error_at_end = -EIO;
	__atomic_fetch_add(&streams_alive, 1, __ATOMIC_RELAXED);
	request->stream = &s->stream;
	return 0;
}

/* Counts the 'a's of an upload; an 'x' is refused. One at a time: others wait. Taking effect and
 * taking back need a few steps. As a plain job it makes steps and no more. */
static unsigned int jobs_alive;
static unsigned int uploads_kept;
static struct counting *active;	/* the loop's thread only */
static struct counting *waiting[8];

struct counting {
	struct job job;
	unsigned int n_steps;	/* to make */
	unsigned int n;
	bool cancelled;
};

static void next_counting(void)
{
	active = waiting[0];
	memmove(waiting, waiting + 1, sizeof(waiting) - sizeof(waiting[0]));
	if (active)
		job_wake(&active->job);
}

static enum job_step counting_begin(struct counting *c)
{
	if (active && active != c) {
		for (size_t i = 0; i < ARRAY_SIZE(waiting); i++)
			if (!waiting[i] || waiting[i] == c) {
				waiting[i] = c;
				return JOB_WAITS;
			}
		return job_refuse(&c->job, "too many wait");
	}
	active = c;
	return JOB_TAKES;
}

static enum job_step counting_step(struct job *job)
{
	struct counting *c = container_of(job, struct counting, job);

	if (job->take && !job->invited)
		return counting_begin(c);
	if (c->n_steps) {
		c->n_steps--;
		return JOB_MORE;
	}
	if (c->cancelled)
		return JOB_DONE;
	if (job->take)
		__atomic_fetch_add(&uploads_kept, 1, __ATOMIC_RELAXED);
	job->result = json_pack("{s:i}", "a", (int)c->n);
	return JOB_DONE;
}

static void counting_take(struct job *job, const char *bytes, size_t n)
{
	struct counting *c = container_of(job, struct counting, job);

	assert_in_range(n, 1, UPLOAD_PIECE_BYTES);
	for (size_t i = 0; i < n; i++) {
		c->n += bytes[i] == 'a';
		if (bytes[i] == 'x') {
			job_refuse(job, "an x");
			job->data = json_pack("[{s:i}]", "column", (int)i);
			return;
		}
	}
}

static void counting_cancel(struct job *job)
{
	container_of(job, struct counting, job)->cancelled = true;
}

static void counting_end(struct job *job)
{
	struct counting *c = container_of(job, struct counting, job);

	if (c == active)
		next_counting();
	for (size_t i = 0; i < ARRAY_SIZE(waiting); i++)
		if (waiting[i] == c)
			waiting[i] = NULL;
	__atomic_fetch_sub(&jobs_alive, 1, __ATOMIC_RELAXED);
	free(c);
}

static int m_count(struct request *request)
{
	struct counting *c = calloc(1, sizeof(*c));

	c->job = (struct job){.step = counting_step, .end = counting_end};
	c->n_steps = (unsigned int)json_integer_value(json_object_get(request->params, "steps"));
	c->n = c->n_steps;
	if (json_is_true(json_object_get(request->params, "upload"))) {
		c->job.take = counting_take;
		c->job.cancel = counting_cancel;
		c->n = 0;
	}
	__atomic_fetch_add(&jobs_alive, 1, __ATOMIC_RELAXED);
	request->job = &c->job;
	return 0;
}

/* A live stream: a thread sends chunks to the client until there were @n, or the client wants no
 * more. */
struct live {
	struct stream stream;
	struct loop_watch over;
	pthread_t thread;
	int fd;
	int n;			/* -1: without end */
	int sent;
	int error;
	bool running;
	bool finished;		/* the client said so */
	bool stop;
};

static struct loop *live_loop;

static void *live_thread(void *arg)
{
	struct live *l = arg;
	struct pollfd writable = {.fd = l->fd, .events = POLLOUT};

	while (l->sent != l->n && !__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) {
		if (send(l->fd, "6\nhello\n", 8, MSG_DONTWAIT | MSG_NOSIGNAL) == 8)
			l->sent++;
		else if (errno == EPIPE)
			break;
		else
			poll(&writable, 1, 1);
	}
	eventfd_write(l->over.fd, 1);
	return NULL;
}

static void live_join(struct live *l)
{
	if (!l->running)
		return;
	__atomic_store_n(&l->stop, true, __ATOMIC_RELAXED);
	pthread_join(l->thread, NULL);
	loop_watch_stop(&l->over);
	close(l->over.fd);
	l->running = false;
}

static void live_over(struct loop_watch *watch)
{
	struct live *l = container_of(watch, struct live, over);

	live_join(l);
	l->stream.count = (uint64_t)l->sent;
	l->stream.totals = json_pack("{s:i, s:b}", "sent", l->sent, "finished", l->finished);
	stream_ended(&l->stream, l->error);
}

static void live_take(struct stream *stream, int fd)
{
	struct live *l = container_of(stream, struct live, stream);

	if (l->n == 0) {
		stream_ended(stream, l->error);
		return;
	}
	l->fd = fd;
	l->running = true;
	loop_watch_start(live_loop, &l->over, eventfd(0, EFD_CLOEXEC), live_over);
	pthread_create(&l->thread, NULL, live_thread, l);
}

static void live_finish(struct stream *stream)
{
	struct live *l = container_of(stream, struct live, stream);

	assert_false(l->finished);
	l->finished = true;
	__atomic_store_n(&l->stop, true, __ATOMIC_RELAXED);
}

static void live_end(struct stream *stream)
{
	live_join(container_of(stream, struct live, stream));
	__atomic_fetch_sub(&streams_alive, 1, __ATOMIC_RELAXED);
	free(stream);
}

static int m_live(struct request *request)
{
	struct live *l = calloc(1, sizeof(*l));

	l->stream = (struct stream){
		.end = live_end,
		.kind = "text",
		.take = live_take,
		.finish = live_finish,
		.about = json_pack("{s:s}", "name", "a"),
	};
	l->n = (int)json_integer_value(json_object_get(request->params, "n"));
	if (json_is_true(json_object_get(request->params, "fail")))
		l->error = -ENODEV;
	__atomic_fetch_add(&streams_alive, 1, __ATOMIC_RELAXED);
	request->stream = &l->stream;
	return 0;
}

static int m_echo(struct request *request)
{
	request->result = json_incref(request->params);
	return 0;
}

static int m_refuse(struct request *request)
{
	return request_refuse(request, "no: %s", (const char *)request->context);
}

static const struct method methods[] = {
	{"echo", m_echo, {{"text", JSON_STRING, false}, {"n", JSON_INTEGER, false}}},
	{"refuse", m_refuse, {{0}}},
	{"numbers", m_numbers, {{"n", JSON_INTEGER, true}, {"fail", JSON_TRUE, false}}},
	{"live", m_live, {{"n", JSON_INTEGER, true}, {"fail", JSON_TRUE, false}}},
	{"count", m_count, {{"steps", JSON_INTEGER, false}, {"upload", JSON_TRUE, false}}},
};

/* The server in its thread. */

struct fixture {
	char directory[64];
	char path[96];
	struct server_options options;
	struct loop *loop;
	struct server *server;
	struct loop_watch stop;
	pthread_t thread;
	unsigned int n_fds;
};

static unsigned int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void stop_ready(struct loop_watch *watch)
{
	loop_stop(watch->loop);
}

static void *run(void *arg)
{
	struct fixture *f = arg;

	loop_run(f->loop);
	return NULL;
}

static int start(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char why[512];

	f->n_fds = count_fds();
	strcpy(f->directory, "/tmp/culvert-server-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->path, sizeof(f->path), "%s/run/culvert.sock", f->directory);
	f->options = (struct server_options){
		.path = f->path,
		.group = "no-such-group-here",
		.mode = 0640,
		.methods = methods,
		.n_methods = ARRAY_SIZE(methods),
		.context = (void *)"because",
	};
	if (loop_create(&f->loop, why, sizeof(why)) < 0 ||
	    server_create(f->loop, &f->options, &f->server, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	live_loop = f->loop;
	loop_watch_start(f->loop, &f->stop, eventfd(0, EFD_CLOEXEC), stop_ready);
	pthread_create(&f->thread, NULL, run, f);
	*state = f;
	return 0;
}

static int stop(void **state)
{
	struct fixture *f = *state;
	char run_dir[96];

	eventfd_write(f->stop.fd, 1);
	pthread_join(f->thread, NULL);
	server_destroy(f->server);
	loop_watch_stop(&f->stop);
	close(f->stop.fd);
	loop_destroy(f->loop);
	assert_int_equal(streams_alive, 0);
	assert_int_equal(jobs_alive, 0);
	assert_int_equal(count_fds(), f->n_fds);
	/* Nothing is left behind: the directory is empty. */
	snprintf(run_dir, sizeof(run_dir), "%s/run", f->directory);
	assert_int_equal(rmdir(run_dir), 0);
	assert_int_equal(rmdir(f->directory), 0);
	free(f);
	return 0;
}

/* A client. */

static int dial(const struct fixture *f)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = 30};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, f->path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		assert_int_equal(errno, EINTR);
	return fd;
}

/* Sockets with a timeout do not go on by themselves after a signal. */
static void say(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n) {
		ssize_t r = send(fd, text, n, MSG_NOSIGNAL);

		if (r < 0 && errno == EINTR)
			continue;
		assert_true(r > 0);
		text += r;
		n -= (size_t)r;
	}
}

/* Less than @n when the connection ended. */
static size_t receive_n(int fd, char *buffer, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = recv(fd, buffer + got, n - got, 0);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	return got;
}

/* A line without its newline; "" when the connection ended. */
static const char *hear(int fd)
{
	static char line[PROTOCOL_LINE_MAX + 1024];
	size_t n = 0;

	while (n + 1 < sizeof(line) && receive_n(fd, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
	return line;
}

static int hear_code(int fd)
{
	json_t *m = json_loads(hear(fd), 0, NULL);
	int code = 0;

	assert_non_null(m);
	assert_non_null(json_object_get(m, "id"));
	code = (int)json_integer_value(
		json_object_get(json_object_get(m, "error"), "code"));
	assert_true(strlen(json_string_value(
			    json_object_get(json_object_get(m, "error"), "message"))) > 5);
	json_decref(m);
	return code;
}

/* Reads a stream to its end. Returns its bytes. */
static size_t hear_stream(int fd, const char *end)
{
	static char chunk[2 * PROTOCOL_CHUNK_BYTES];
	size_t total = 0;

	assert_string_equal(hear(fd),
			    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"stream\":\"json\"}}");
	for (;;) {
		size_t n = strtoul(hear(fd), NULL, 10);

		if (n == 0)
			break;
		assert_true(n <= sizeof(chunk));
		assert_int_equal(receive_n(fd, chunk, n), n);
		assert_int_equal(chunk[n - 1], '\n');
		total += n;
	}
	assert_string_equal(hear(fd), end);
	return total;
}

static void wait_for_none(unsigned int *alive)
{
	for (int i = 0; i < 5000 && __atomic_load_n(alive, __ATOMIC_RELAXED); i++)
		usleep(1000);
	assert_int_equal(*alive, 0);
}

static void answers(void **state)
{
	static const struct {
		const char *request;
		const char *answer;
	} rows[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"n\":5}}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":5}}"},
		{"\n\n {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"echo\"} \r\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}"},
		{"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"refuse\"}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":null,"
		 "\"error\":{\"code\":-32000,\"message\":\"no: because\"}}"},
		/* Notifications have no answer, whatever becomes of them. */
		{"{\"jsonrpc\":\"2.0\",\"method\":\"refuse\"}\n"
		 "{\"jsonrpc\":\"2.0\",\"method\":\"numbers\",\"params\":{\"n\":5}}\n"
		 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"echo\"}\n",
		 "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"},
	};
	int fd = dial(*state);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		say(fd, rows[i].request);
		assert_string_equal(hear(fd), rows[i].answer);
	}
	close(fd);
}

static void refusals(void **state)
{
	static const struct {
		const char *request;
		int code;
	} rows[] = {
		{"hello", PROTOCOL_PARSE_ERROR},
		{"{\"jsonrpc\":\"2.0\",", PROTOCOL_PARSE_ERROR},
		{"{\"a\":1,\"a\":2}", PROTOCOL_PARSE_ERROR},
		{"\xff\xfe", PROTOCOL_PARSE_ERROR},
		{"\"\\u0000\"", PROTOCOL_PARSE_ERROR},
		{"[]", PROTOCOL_INVALID_REQUEST},
		{"{}", PROTOCOL_INVALID_REQUEST},
		{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"echo\"}", PROTOCOL_INVALID_REQUEST},
		{"{\"jsonrpc\":\"2.0\",\"id\":1}", PROTOCOL_INVALID_REQUEST},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":4}", PROTOCOL_INVALID_REQUEST},
		{"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"echo\"}", PROTOCOL_INVALID_REQUEST},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ech\"}", PROTOCOL_UNKNOWN_METHOD},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[1]}",
		 PROTOCOL_INVALID_PARAMS},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"x\":1}}",
		 PROTOCOL_INVALID_PARAMS},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"n\":\"1\"}}",
		 PROTOCOL_INVALID_PARAMS},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"numbers\"}", PROTOCOL_INVALID_PARAMS},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"numbers\","
		 "\"params\":{\"n\":1,\"fail\":1}}",
		 PROTOCOL_INVALID_PARAMS},
	};
	int fd = dial(*state);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		say(fd, rows[i].request);
		say(fd, "\n");
		assert_int_equal(hear_code(fd), rows[i].code);
	}
	/* NUL bytes, and nesting deeper than the parser goes. */
	assert_int_equal(send(fd, "\0\0\n", 3, MSG_NOSIGNAL), 3);
	assert_int_equal(hear_code(fd), PROTOCOL_PARSE_ERROR);
	for (int i = 0; i < 10000; i++)
		say(fd, "[[[[[[[[[[");
	say(fd, "\n");
	assert_int_equal(hear_code(fd), PROTOCOL_PARSE_ERROR);
	close(fd);
}

static void a_byte_at_a_time(void **state)
{
	static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\"}\n";
	int fd = dial(*state);

	for (size_t i = 0; i + 1 < sizeof(request); i++) {
		assert_int_equal(send(fd, request + i, 1, MSG_NOSIGNAL), 1);
		usleep(200);
	}
	assert_string_equal(hear(fd), "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
	/* Hanging up in the middle of a line is no news. */
	say(fd, "{\"jsonrpc\":");
	close(fd);
}

static void pipelined(void **state)
{
	struct buffer all = {0};
	char want[64];
	int fd = dial(*state);

	for (int i = 0; i < 1000; i++)
		buffer_printf(&all, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"echo\"}\n", i);
	say(fd, all.data);
	/* All are answered though the client says that it will send no more. */
	shutdown(fd, SHUT_WR);
	for (int i = 0; i < 1000; i++) {
		snprintf(want, sizeof(want), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}", i);
		assert_string_equal(hear(fd), want);
	}
	assert_string_equal(hear(fd), "");
	buffer_fini(&all);
	close(fd);
}

static void line_bound(void **state)
{
	static const char head[] =
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"echo\",\"params\":{\"text\":\"";
	static const char tail[] = "\"}}";
	size_t n_text = PROTOCOL_LINE_MAX - (sizeof(head) - 1) - (sizeof(tail) - 1);
	char *big = malloc(PROTOCOL_LINE_MAX + 2);
	int fd = dial(*state);
	json_t *m;

	/* The longest line that is allowed comes back whole. */
	memset(big, 'x', PROTOCOL_LINE_MAX);
	memcpy(big, head, sizeof(head) - 1);
	memcpy(big + sizeof(head) - 1 + n_text, tail, sizeof(tail));
	say(fd, big);
	say(fd, "\n");
	m = json_loads(hear(fd), 0, NULL);
	assert_int_equal(json_string_length(json_object_get(json_object_get(m, "result"), "text")),
			 n_text);
	json_decref(m);

	/* One more byte ends the connection, newline or not, after a reason. */
	memset(big, 'x', PROTOCOL_LINE_MAX + 1);
	big[PROTOCOL_LINE_MAX + 1] = '\0';
	say(fd, big);
	assert_int_equal(hear_code(fd), PROTOCOL_INVALID_REQUEST);
	assert_string_equal(hear(fd), "");
	close(fd);
	free(big);
}

static void streams(void **state)
{
	int fd = dial(*state);

	say(fd, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"numbers\",\"params\":{\"n\":0}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"numbers\",\"params\":{\"n\":3}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"numbers\",\"params\":{\"n\":200000}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"numbers\","
		"\"params\":{\"n\":2,\"fail\":true}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"echo\"}\n");
	assert_int_equal(hear_stream(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"end\","
					 "\"params\":{\"id\":7,\"count\":0}}"), 0);
	assert_int_equal(hear_stream(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"end\","
					 "\"params\":{\"id\":7,\"count\":3}}"), 24);
	assert_int_equal(hear_stream(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"end\","
					 "\"params\":{\"id\":7,\"count\":200000}}"),
			 10 * 8 + 90 * 9 + 900 * 10 + 9000 * 11 + 90000 * 12 + 100000 * 13);
	assert_int_equal(hear_stream(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"end\","
					 "\"params\":{\"id\":7,\"error\":{\"code\":-32603,"
					 "\"message\":\"Input/output error\"}}}"), 16);
	assert_string_equal(hear(fd), "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}");
	close(fd);
}

/* 50 readers ask for 100 million records each and read nothing: the server makes no more than their
 * sockets and one chunk each hold, answers others meanwhile, and forgets all when they die. */
static void stopped_readers(void **state)
{
	int fds[50];
	uint64_t before = bytes_made;
	int fd = dial(*state);

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dial(*state);
		say(fds[i], "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"numbers\","
			    "\"params\":{\"n\":100000000}}\n");
	}
	for (int i = 0; i < 100; i++) {
		say(fd, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\"}\n");
		assert_string_equal(hear(fd), "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
		usleep(1000);
	}
	assert_int_equal(__atomic_load_n(&streams_alive, __ATOMIC_RELAXED), ARRAY_SIZE(fds));
	assert_true(__atomic_load_n(&bytes_made, __ATOMIC_RELAXED) - before <
		    ARRAY_SIZE(fds) * 1024 * 1024);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	wait_for_none(&streams_alive);
	close(fd);
}

#define COUNT(id, params)                                                                          \
	"{\"jsonrpc\":\"2.0\"," id "\"method\":\"count\",\"params\":{" params "}}\n"
#define UPLOAD COUNT("\"id\":5,", "\"upload\":true,\"steps\":20")
#define READY "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"ready\":true}}"
#define END(what) "{\"jsonrpc\":\"2.0\",\"method\":\"end\",\"params\":{\"id\":5," what "}}"
#define DONE(n) END("\"a\":" #n)
#define REFUSED(column)                                                                            \
	END("\"error\":{\"code\":-32000,\"message\":\"an x\",\"data\":[{\"column\":" #column "}]}")
#define ECHO "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"echo\"}\n"
#define ECHOED "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}"

/* A chunk of @n bytes, all of them @c. */
static void say_chunk(int fd, size_t n, char c)
{
	char *text = malloc(n + 32);
	int head = sprintf(text, "%zu\n", n);

	memset(text + head, c, n);
	text[(size_t)head + n] = '\0';
	say(fd, text);
	free(text);
}

static void uploads(void **state)
{
	int fd = dial(*state);

	/* Nothing at all; a little; all of it sent ahead, the next request too; many chunks. */
	say(fd, UPLOAD);
	assert_string_equal(hear(fd), READY);
	say(fd, "0\n");
	assert_string_equal(hear(fd), DONE(0));
	say(fd, UPLOAD "3\naba1\na0\n" ECHO);
	assert_string_equal(hear(fd), READY);
	assert_string_equal(hear(fd), DONE(3));
	assert_string_equal(hear(fd), ECHOED);
	say(fd, UPLOAD);
	assert_string_equal(hear(fd), READY);
	for (size_t n = 1; n <= PROTOCOL_UPLOAD_CHUNK_MAX; n *= 4)
		say_chunk(fd, n, 'a');
	say_chunk(fd, PROTOCOL_UPLOAD_CHUNK_MAX, 'b');
	say(fd, "0\n" ECHO);
	assert_string_equal(hear(fd), DONE(1398101));
	assert_string_equal(hear(fd), ECHOED);
	close(fd);
}

static void upload_a_byte_at_a_time(void **state)
{
	static const char text[] = UPLOAD "11\naabaaaaaaab2\nba0\n" ECHO;
	int fd = dial(*state);

	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		assert_int_equal(send(fd, text + i, 1, MSG_NOSIGNAL), 1);
		usleep(200);
	}
	assert_string_equal(hear(fd), READY);
	assert_string_equal(hear(fd), DONE(10));
	assert_string_equal(hear(fd), ECHOED);
	close(fd);
}

static void upload_refused(void **state)
{
	unsigned int kept = uploads_kept;
	int fd = dial(*state);

	/* The error comes before the rest was sent, which nobody looks at; then all is well. */
	say(fd, UPLOAD);
	assert_string_equal(hear(fd), READY);
	say(fd, "10\naaaaxa");
	assert_string_equal(hear(fd), REFUSED(4));
	say(fd, "xxxx");
	say_chunk(fd, PROTOCOL_UPLOAD_CHUNK_MAX, 'x');
	say(fd, "0\n" ECHO);
	assert_string_equal(hear(fd), ECHOED);
	/* One that stops early is done as early. */
	say(fd, UPLOAD "1\nx0\n" UPLOAD "1\na0\n");
	assert_string_equal(hear(fd), READY);
	assert_string_equal(hear(fd), REFUSED(0));
	assert_string_equal(hear(fd), READY);
	assert_string_equal(hear(fd), DONE(1));
	assert_int_equal(uploads_kept, kept + 1);
	close(fd);
}

/* No chunks: the reason, and goodbye; what was taken is taken back. */
static void upload_of_garbage(void **state)
{
	static const char *const garbage[] = {
		"\n",	 "x\n",	"-1\n",   "1048577\n",   "18446744073709551617\n",
		"0x10\n", "1 \n", " 1\n",   "1\r\n",     "5\naaaaa6",
		ECHO,	 "0,\n","1\nab\n", "1e3\n",     "00000000000000001",
	};
	unsigned int kept = uploads_kept;

	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		int fd = dial(*state);

		say(fd, UPLOAD);
		assert_string_equal(hear(fd), READY);
		say(fd, garbage[i]);
		if (garbage[i][0] == '5')
			say(fd, "a\n");
		assert_int_equal(hear_code(fd), PROTOCOL_INVALID_REQUEST);
		assert_string_equal(hear(fd), "");
		close(fd);
		wait_for_none(&jobs_alive);
	}
	assert_int_equal(uploads_kept, kept);
}

/* A client that hangs up anywhere in the conversation is forgotten, and only one that said 0 has
 * uploaded something. */
static void upload_hang_ups(void **state)
{
	static const char text[] = UPLOAD "5\nabaab3\naxa0\n" UPLOAD
					  "16\nabaaaaaabaaaaaab1\nb0\n";
	size_t n_all = sizeof(text) - 1;

	for (size_t n = 0; n <= n_all; n++) {
		unsigned int kept = __atomic_load_n(&uploads_kept, __ATOMIC_RELAXED);
		int fd = dial(*state);

		assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), n);
		if (n % 3 == 1)
			usleep(500);
		if (n % 3 == 2)
			shutdown(fd, SHUT_WR);
		while (n % 3 == 2 && *hear(fd))
			;
		close(fd);
		wait_for_none(&jobs_alive);
		if (n < n_all)
			assert_int_equal(uploads_kept, kept);
		else if (n % 3 == 2)
			assert_int_equal(uploads_kept, kept + 1);
	}
}

/* One is at it, others wait for their turn, in order, and are invited then. */
static void uploads_that_wait(void **state)
{
	int fds[5];
	char c;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dial(*state);
		say(fds[i], UPLOAD);
		if (i == 0)
			assert_string_equal(hear(fds[i]), READY);
		usleep(5000);
	}
	assert_int_equal(recv(fds[1], &c, 1, MSG_DONTWAIT), -1);
	/* Nobody hears that this one hung up until it is invited. */
	close(fds[2]);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (i == 2)
			continue;
		if (i > 0)
			assert_string_equal(hear(fds[i]), READY);
		say(fds[i], "1\na0\n");
		assert_string_equal(hear(fds[i]), DONE(1));
		close(fds[i]);
	}
}

static void jobs(void **state)
{
	int fd = dial(*state), other = dial(*state);

	say(fd, COUNT("\"id\":7,", "\"steps\":50000") COUNT("", "\"steps\":10") ECHO);
	/* Others have their turn, the same connection has to wait. */
	say(other, ECHO);
	assert_string_equal(hear(other), ECHOED);
	assert_string_equal(hear(fd), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":50000}}");
	assert_string_equal(hear(fd), ECHOED);
	/* Jobs that are done at once, with a request behind each. */
	for (int i = 0; i < 100; i++) {
		say(fd, COUNT("\"id\":7,", "\"steps\":0"));
		assert_string_equal(hear(fd),
				    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":0}}");
		say(fd, ECHO);
		assert_string_equal(hear(fd), ECHOED);
	}
	close(other);
	close(fd);
}

#define LIVE(n, more)                                                                              \
	"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"live\",\"params\":{\"n\":" #n more "}}\n"
#define LIVES "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"stream\":\"text\",\"name\":\"a\"}}"

/* Chunks up to the one of no bytes: how many there were. */
static int hear_live(int fd)
{
	const char *line;
	int n = 0;

	for (line = hear(fd); strcmp(line, "6") == 0; line = hear(fd)) {
		assert_string_equal(hear(fd), "hello");
		n++;
	}
	assert_string_equal(line, "0");
	return n;
}

static void live_streams(void **state)
{
	int fd = dial(*state);

	/* They end by themselves, well or not, late or at once; other requests wait for it. */
	say(fd, LIVE(3, "") LIVE(2, ",\"fail\":true") LIVE(0, "") ECHO);
	assert_string_equal(hear(fd), LIVES);
	assert_int_equal(hear_live(fd), 3);
	assert_string_equal(hear(fd), END("\"count\":3,\"sent\":3,\"finished\":false"));
	assert_string_equal(hear(fd), LIVES);
	assert_int_equal(hear_live(fd), 2);
	assert_string_equal(hear(fd),
			    END("\"error\":{\"code\":-32603,\"message\":\"No such device\"},"
				"\"sent\":2,\"finished\":false"));
	assert_string_equal(hear(fd), LIVES);
	assert_int_equal(hear_live(fd), 0);
	assert_string_equal(hear(fd), END("\"count\":0"));
	assert_string_equal(hear(fd), ECHOED);
	/* Nobody would know when one ends that nobody hears of. */
	say(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"live\",\"params\":{\"n\":-1}}\n" ECHO);
	assert_string_equal(hear(fd), ECHOED);
	assert_int_equal(streams_alive, 0);
	close(fd);
}

/* A client that says that it sends no more hears the end, and what it had asked for before. */
static void live_until_half_closed(void **state)
{
	char want[128];
	int fd = dial(*state), other = dial(*state);
	int n;

	say(fd, LIVE(-1, ""));
	assert_string_equal(hear(fd), LIVES);
	for (int i = 0; i < 100; i++) {
		assert_string_equal(hear(fd), "6");
		assert_string_equal(hear(fd), "hello");
	}
	say(fd, ECHO);
	say(other, ECHO);
	assert_string_equal(hear(other), ECHOED);
	shutdown(fd, SHUT_WR);
	n = 100 + hear_live(fd);
	snprintf(want, sizeof(want), END("\"count\":%d,\"sent\":%d,\"finished\":true"), n, n);
	assert_string_equal(hear(fd), want);
	assert_string_equal(hear(fd), ECHOED);
	assert_string_equal(hear(fd), "");
	close(other);
	close(fd);
}

/* One that is gone is noticed: having read all or nothing, and having sent whatever its socket
 * takes. The server holds none of that. */
static void live_hang_ups(void **state)
{
	for (int i = 0; i < 60; i++) {
		static const char more[4096];
		size_t n_sent = 0;
		int fd = dial(*state);

		say(fd, LIVE(-1, ""));
		if (i % 3)
			assert_string_equal(hear(fd), LIVES);
		if (i % 4 == 1)
			usleep(1000);
		while (i % 5 == 2 && send(fd, more, sizeof(more), MSG_DONTWAIT) > 0)
			n_sent += sizeof(more);
		assert_true(n_sent < 16 * 1024 * 1024);
		if (i % 2)
			shutdown(fd, SHUT_WR);
		close(fd);
	}
	wait_for_none(&streams_alive);
}

/* The server goes away while clients are in every state. */
static void destroyed_under_load(void **state)
{
	static const char *const text[] = {
		"{\"jsonrpc\":\"2.0\",",
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"numbers\","
		"\"params\":{\"n\":100000000}}\n",
		UPLOAD "10\naaaaa",	/* the first is at it, the others wait */
		COUNT("\"id\":7,", "\"steps\":100000000"),
		LIVE(-1, ""),
	};
	static int fds[20];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dial(*state);
		say(fds[i], text[i % ARRAY_SIZE(text)]);
	}
	usleep(20000);
	/* The fixture's stop checks that nothing is left of the server's ends. */
	((struct fixture *)*state)->n_fds += ARRAY_SIZE(fds);
}

static void too_many_clients(void **state)
{
	int fds[SERVER_CLIENTS_MAX + SERVER_CLIENTS_ROOT];
	size_t max = geteuid() == 0 ? ARRAY_SIZE(fds) : SERVER_CLIENTS_MAX;
	int one_more;

	for (size_t i = 0; i < max; i++)
		fds[i] = dial(*state);
	one_more = dial(*state);
	assert_int_equal(hear_code(one_more), PROTOCOL_REFUSED);
	assert_string_equal(hear(one_more), "");
	close(one_more);
	for (size_t i = 0; i < max; i++) {
		say(fds[i], "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\"}\n");
		assert_string_equal(hear(fds[i]), "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
		close(fds[i]);
	}
}

static void one_owner(void **state)
{
	struct fixture *f = *state;
	struct server_options options = f->options;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct server *second = NULL;
	struct loop *loop;
	struct stat st;
	char path[128];
	char why[512] = "";
	int fd;

	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(loop_create(&loop, why, sizeof(why)), 0);
	assert_int_equal(server_create(loop, &options, &second, why, sizeof(why)), -EADDRINUSE);
	assert_non_null(strstr(why, "another culvertd"));

	/* Somebody else's socket, without our lock: stale once nobody listens. */
	snprintf(path, sizeof(path), "%s/other.sock", f->directory);
	strcpy(address.sun_path, path);
	options.path = path;
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(server_create(loop, &options, &second, why, sizeof(why)), -EADDRINUSE);
	assert_int_equal(access(path, F_OK), 0);
	close(fd);
	assert_int_equal(server_create(loop, &options, &second, why, sizeof(why)), 0);
	server_destroy(second);
	assert_int_equal(access(path, F_OK), -1);

	/* A file that is no socket is left alone. */
	fclose(fopen(path, "w"));
	assert_int_equal(server_create(loop, &options, &second, why, sizeof(why)), -EEXIST);
	assert_int_equal(unlink(path), 0);

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(server_create(loop, &options, &second, why, sizeof(why)), -ENAMETOOLONG);
	loop_destroy(loop);
}

#define SERVER_TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVER_TEST(answers),	       SERVER_TEST(refusals),
		SERVER_TEST(a_byte_at_a_time), SERVER_TEST(pipelined),
		SERVER_TEST(line_bound),       SERVER_TEST(streams),
		SERVER_TEST(stopped_readers),  SERVER_TEST(destroyed_under_load),
		SERVER_TEST(too_many_clients), SERVER_TEST(one_owner),
		SERVER_TEST(uploads),	       SERVER_TEST(upload_a_byte_at_a_time),
		SERVER_TEST(upload_refused),   SERVER_TEST(upload_of_garbage),
		SERVER_TEST(upload_hang_ups),  SERVER_TEST(uploads_that_wait),
		SERVER_TEST(jobs),	       SERVER_TEST(live_streams),
		SERVER_TEST(live_until_half_closed), SERVER_TEST(live_hang_ups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

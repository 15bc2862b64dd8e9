/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The request parser against requests that were spoilt at random: every answer is one line of
 * JSON-RPC or nothing, whatever came in. ROUNDS in the environment makes it longer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/server.h"
#include "lib/bits.h"
#include "tests/unit/random.h"

static unsigned int n_streams;

static int no_next(struct stream *stream, struct buffer *out)
{
	return 0;
}

static void count_end(struct stream *stream)
{
	n_streams--;
	free(stream);
}

static int m_stream(struct request *request)
{
	struct stream *s = calloc(1, sizeof(*s));

	s->next = no_next;
	s->end = count_end;
	s->kind = "text";
	n_streams++;
	request->stream = s;
	return 0;
}

static void no_take_live(struct stream *stream, int fd)
{
}

static int m_live(struct request *request)
{
	m_stream(request);
	request->stream->next = NULL;
	request->stream->take = no_take_live;
	request->stream->about = json_pack("{s:i}", "device", 4);
	request->stream->totals = json_pack("{s:i}", "missed", 5);
	return 0;
}

static int m_echo(struct request *request)
{
	request->result = json_incref(request->params);
	return 0;
}

static int m_refuse(struct request *request)
{
	const char *text = json_string_value(json_object_get(request->params, "text"));

	request->result = json_object();
	return request_refuse(request, "no '%.20s'", text);
}

static void job_end(struct job *job)
{
	n_streams--;
	free(job);
}

static void no_take(struct job *job, const char *bytes, size_t n)
{
}

static int m_job(struct request *request)
{
	struct job *job = calloc(1, sizeof(*job));

	job->end = job_end;
	if (json_is_true(json_object_get(request->params, "upload")))
		job->take = no_take;
	n_streams++;
	request->job = job;
	return 0;
}

static const struct method methods[] = {
	{"echo", m_echo, {{"text", JSON_STRING, false}, {"n", JSON_INTEGER, false}}},
	{"refuse", m_refuse, {{"text", JSON_STRING, true}}},
	{"stream", m_stream, {{0}}},
	{"live", m_live, {{0}}},
	{"job", m_job, {{"upload", JSON_TRUE, false}}},
	{"later", NULL, {{0}}},
};

static const struct server_options options = {
	.methods = methods,
	.n_methods = ARRAY_SIZE(methods),
};

static const char *const seeds[] = {
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\","
	"\"params\":{\"text\":\"a\\u00e9b\",\"n\":5}}",
	"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"refuse\","
	"\"params\":{\"text\":\"\xc3\xa9\xe2\x82\xac\"}}",
	"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"stream\"}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"stream\",\"params\":{}}",
	"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"live\"}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"live\"}",
	"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"job\"}",
	"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"job\",\"params\":{\"upload\":true}}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"job\",\"params\":{\"upload\":true}}",
	"{\"jsonrpc\":\"2.0\",\"id\":1.5e3,\"method\":\"later\",\"params\":[1,{}]}",
	"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}]",
};

static size_t spoil(char *line, size_t n)
{
	static const char bytes[] = "{}[]\":,\\0e-.u\xff\xc3\n\x01 ";
	size_t at = random_below((uint32_t)n), length = 1 + random_below(6);

	length = min_of(length, n - at);
	switch (random_below(4)) {
	case 0:
		line[at] = bytes[random_below((uint32_t)sizeof(bytes))];
		return n;
	case 1:
		memmove(line + at, line + at + length, n - at - length);
		return n > length ? n - length : n;
	case 2:
		memmove(line + at + length, line + at, n - at);
		return n + length;
	default:
		return at ? at : n;
	}
}

static void check_answer(const struct buffer *out, const struct rpc_rest *rest)
{
	const char *newline = out->n ? strchr(out->data, '\n') : NULL;
	json_t *m, *result, *error;

	assert_false(out->failed);
	if (!out->n) {
		assert_null(rest->stream);
		return;
	}
	assert_null(rest->job);
	assert_ptr_equal(newline, out->data + out->n - 1);
	m = json_loadb(out->data, out->n, 0, NULL);
	assert_non_null(m);
	assert_string_equal(json_string_value(json_object_get(m, "jsonrpc")), "2.0");
	assert_non_null(json_object_get(m, "id"));
	result = json_object_get(m, "result");
	error = json_object_get(m, "error");
	assert_true(!result != !error);
	if (error) {
		assert_true(json_integer_value(json_object_get(error, "code")) <= -32000);
		assert_true(json_string_length(json_object_get(error, "message")) > 0);
	}
	assert_true(!rest->stream || (rest->id && result));
	json_decref(m);
}

static json_t *read_line(const struct buffer *out)
{
	json_t *m = json_loadb(out->data, out->n, 0, NULL);

	assert_non_null(m);
	assert_ptr_equal(strchr(out->data, '\n'), out->data + out->n - 1);
	return m;
}

/* All the ways in which a job can end, whoever waits for it. */
static void check_job(const struct rpc_rest *rest)
{
	struct buffer out = {0};
	struct job *job = rest->job;
	json_t *m, *params;

	assert_true(rest->id || !job->take);
	for (int i = 0; rest->id && i < 4; i++) {
		job->invited = i & 1;
		job->code = 0;
		if (i & 2)
			job_refuse(job, "no: '%s'", "\xc3");
		buffer_reset(&out, 0);
		rpc_job_end(job, rest->id, &out);
		m = read_line(&out);
		params = json_object_get(m, "params");
		assert_int_equal(!!json_object_get(m, "id"), !job->invited);
		assert_int_equal(!!json_object_get(params, "id"), job->invited);
		assert_int_equal(!!json_object_get(job->invited ? params : m, "error"), i >> 1);
		json_decref(m);
	}
	buffer_fini(&out);
	job->end(job);
}

static void one(const char *line, size_t n)
{
	struct buffer out = {0};
	struct rpc_rest rest;

	rpc_answer(&options, line, n, &out, &rest);
	check_answer(&out, &rest);
	if (rest.stream) {
		bool live = !rest.stream->next;

		assert_int_equal(!!strstr(out.data, "\"device\":4"), live);
		buffer_reset(&out, 0);
		rpc_stream_end(rest.stream, rest.id, 0, &out);
		assert_non_null(strstr(out.data, "\"method\":\"end\""));
		assert_int_equal(!!strstr(out.data, "\"missed\":5"), live);
		rpc_stream_free(rest.stream);
	}
	if (rest.job)
		check_job(&rest);
	json_decref(rest.id);
	assert_int_equal(n_streams, 0);
	buffer_fini(&out);
}

static void spoilt_requests(void **state)
{
	const char *rounds_text = getenv("ROUNDS");
	long n_rounds = rounds_text ? atol(rounds_text) : 20000;

	random_init("rpc");
	for (long i = 0; i < n_rounds; i++) {
		const char *start = seeds[random_below((uint32_t)ARRAY_SIZE(seeds))];
		char *line = malloc(strlen(start) + 8 * 6);
		size_t n = strlen(start);
		char *exact;

		memcpy(line, start, n);
		for (uint32_t k = random_below(8); k > 0; k--)
			n = spoil(line, n);
		/* Of exactly that size, so that a sanitizer sees what reads on. */
		exact = malloc(n);
		memcpy(exact, line, n);
		one(exact, n);
		free(exact);
		free(line);
	}
}

static void messages_that_are_no_utf8(void **state)
{
	/* request_refuse may cut a name in the middle of a character. */
	static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"refuse\","
				   "\"params\":{\"text\":\"1234567890123456789\xc3\xa9\"}}";

	struct buffer out = {0};
	struct rpc_rest rest;

	rpc_answer(&options, line, sizeof(line) - 1, &out, &rest);
	assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,"
				      "\"message\":\"no '1234567890123456789\xef\xbf\xbd'\"}}\n");
	buffer_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spoilt_requests),
		cmocka_unit_test(messages_that_are_no_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

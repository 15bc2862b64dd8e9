/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctrl/server.h"

int request_refuse(struct request *request, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(request->error, sizeof(request->error), fmt, ap);
	va_end(ap);
	return PROTOCOL_REFUSED;
}

enum job_step job_refuse(struct job *job, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(job->error, sizeof(job->error), fmt, ap);
	va_end(ap);
	job->code = PROTOCOL_REFUSED;
	return JOB_DONE;
}

/* Takes @message. */
static void add_line(struct buffer *out, json_t *message)
{
	char *dump = message ? json_dumps(message, PROTOCOL_JSON) : NULL;

	if (dump) {
		buffer_str(out, dump);
		buffer_str(out, "\n");
		free(dump);
	} else {
		out->failed = true;
	}
	json_decref(message);
}

/* Names that came in may be anything, and cut anywhere: what is no UTF-8 becomes U+FFFD. */
static json_t *safe_string(const char *text)
{
	struct buffer quoted = {0};
	json_t *string = NULL;

	buffer_json(&quoted, text);
	if (!quoted.failed)
		string = json_loadb(quoted.data, quoted.n, JSON_DECODE_ANY, NULL);
	buffer_fini(&quoted);
	return string;
}

/* @data may be NULL. */
static json_t *error_object(int code, const char *message, json_t *data)
{
	return json_pack("{s:i, s:o, s:O*}", "code", code, "message", safe_string(message), "data",
			 data);
}

static void add_error(struct buffer *out, json_t *id, json_t *error)
{
	add_line(out, json_pack("{s:s, s:O?, s:o}", "jsonrpc", "2.0", "id", id, "error", error));
}

void rpc_error(enum protocol_error code, const char *message, struct buffer *out)
{
	json_t *null = json_null();

	add_error(out, null, error_object(code, message, NULL));
}

static void add_end(struct buffer *out, json_t *params)
{
	add_line(out, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
				PROTOCOL_STREAM_END, "params", params));
}

void rpc_stream_free(struct stream *stream)
{
	json_decref(stream->about);
	json_decref(stream->totals);
	stream->end(stream);
}

void rpc_stream_end(const struct stream *stream, json_t *id, int error, struct buffer *out)
{
	json_t *params = json_pack("{s:O}", "id", id);

	if (params && error)
		json_object_set_new(params, "error",
				    error_object(PROTOCOL_INTERNAL, strerror(-error), NULL));
	else if (params)
		json_object_set_new(params, "count", json_integer((json_int_t)stream->count));
	if (params && stream->totals)
		json_object_update(params, stream->totals);
	add_end(out, params);
}

void rpc_upload_ready(json_t *id, struct buffer *out)
{
	add_line(out, json_pack("{s:s, s:O, s:{s:b}}", "jsonrpc", "2.0", "id", id, "result",
				"ready", true));
}

static void add_upload_end(const struct job *job, json_t *id, struct buffer *out)
{
	json_t *params = json_pack("{s:O}", "id", id);

	if (params && job->code)
		json_object_set_new(params, "error",
				    error_object(job->code, job->error, job->data));
	else if (params && job->result)
		json_object_update(params, job->result);
	add_end(out, params);
}

void rpc_job_end(const struct job *job, json_t *id, struct buffer *out)
{
	if (job->invited)
		add_upload_end(job, id, out);
	else if (job->code)
		add_error(out, id, error_object(job->code, job->error, job->data));
	else
		add_line(out, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result",
					job->result ? json_incref(job->result) : json_object()));
}

static const char *type_name(json_type type)
{
	switch (type) {
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_ARRAY:
		return "an array";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	default:
		return "of another type";
	}
}

static bool type_matches(json_type want, const json_t *value)
{
	return want == JSON_TRUE ? json_is_boolean(value) : json_typeof(value) == want;
}

static const struct method_param *find_param(const struct method *method, const char *name)
{
	for (const struct method_param *p = method->params; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static int unknown_param(const struct method *method, const char *name, struct request *request)
{
	struct buffer known = {0};

	for (const struct method_param *p = method->params; p->name; p++)
		buffer_printf(&known, "%s%s", p == method->params ? "" : ", ", p->name);
	snprintf(request->error, sizeof(request->error), "%s: unknown parameter '%.64s'; known: %s",
		 method->name, name, known.n ? known.data : "none");
	buffer_fini(&known);
	return PROTOCOL_INVALID_PARAMS;
}

static int check_params(const struct method *method, struct request *request)
{
	const char *name;
	json_t *value;

	if (!json_is_object(request->params)) {
		snprintf(request->error, sizeof(request->error),
			 "%s: params is to be an object: parameters go by name", method->name);
		return PROTOCOL_INVALID_PARAMS;
	}
	json_object_foreach(request->params, name, value) {
		const struct method_param *p = find_param(method, name);

		if (!p)
			return unknown_param(method, name, request);
		if (!type_matches(p->type, value)) {
			snprintf(request->error, sizeof(request->error), "%s: %s is to be %s",
				 method->name, name, type_name(p->type));
			return PROTOCOL_INVALID_PARAMS;
		}
	}
	for (const struct method_param *p = method->params; p->name; p++) {
		if (!p->required || json_object_get(request->params, p->name))
			continue;
		snprintf(request->error, sizeof(request->error), "%s: %s is missing, %s",
			 method->name, p->name, type_name(p->type));
		return PROTOCOL_INVALID_PARAMS;
	}
	return 0;
}

static int call(const struct server_options *options, const char *name, struct request *request)
{
	for (size_t i = 0; i < options->n_methods; i++) {
		const struct method *method = &options->methods[i];
		int r;

		if (strcmp(method->name, name) != 0)
			continue;
		if (!method->call) {
			snprintf(request->error, sizeof(request->error), "%s: not in this version",
				 name);
			return PROTOCOL_NOT_IN_THIS_VERSION;
		}
		r = check_params(method, request);
		return r ? r : method->call(request);
	}
	snprintf(request->error, sizeof(request->error),
		 "unknown method '%.64s': docs/protocol.md lists them", name);
	return PROTOCOL_UNKNOWN_METHOD;
}

/* The sentence that says what is wrong with the envelope, or NULL. */
static const char *check_envelope(const json_t *message)
{
	const json_t *version, *id;

	if (json_is_array(message))
		return "batches are not in this version: send one request a line";
	if (!json_is_object(message))
		return "a request is a JSON object";
	version = json_object_get(message, "jsonrpc");
	if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
		return "jsonrpc is to be \"2.0\"";
	if (!json_is_string(json_object_get(message, "method")))
		return "method is to be a string";
	id = json_object_get(message, "id");
	if (id && !json_is_string(id) && !json_is_number(id) && !json_is_null(id))
		return "id is to be a string, a number or null";
	return NULL;
}

static void add_result(struct buffer *out, json_t *id, struct request *request)
{
	json_t *result = request->result;

	if (request->stream)
		result = json_pack("{s:s}", "stream", request->stream->kind);
	else if (!result)
		result = json_object();
	if (request->stream && request->stream->about)
		json_object_update(result, request->stream->about);
	add_line(out, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

/* What nobody asks for any more, and did not begin. */
static void drop_rest(struct request *request)
{
	if (request->stream)
		rpc_stream_free(request->stream);
	if (request->job)
		request->job->end(request->job);
	json_decref(request->result);
}

static void answer_message(const struct server_options *options, json_t *message,
			   struct buffer *out, struct rpc_rest *rest)
{
	json_t *id = json_object_get(message, "id");
	json_t *params = json_object_get(message, "params");
	json_t *none = params ? NULL : json_object();
	struct request request = {.context = options->context, .params = params ? params : none};
	int r = call(options, json_string_value(json_object_get(message, "method")), &request);

	if (id && r)
		add_error(out, id, error_object(r, request.error, request.data));
	else if (id && !request.job)
		add_result(out, id, &request);
	/* A notification has no answer, not even a stream, and invites nobody. */
	if (r || (!id && (!request.job || request.job->take))) {
		drop_rest(&request);
	} else {
		rest->stream = request.stream;
		rest->job = request.job;
		rest->id = request.stream || request.job ? json_incref(id) : NULL;
	}
	json_decref(request.data);
	json_decref(none);
}

void rpc_answer(const struct server_options *options, const char *line, size_t n,
		struct buffer *out, struct rpc_rest *rest)
{
	json_error_t error;
	json_t *message = json_loadb(line, n, JSON_REJECT_DUPLICATES, &error);
	const char *wrong;

	*rest = (struct rpc_rest){0};
	if (!message) {
		char text[sizeof(error.text) + 32];

		snprintf(text, sizeof(text), "not JSON: %s, column %d", error.text, error.column);
		rpc_error(PROTOCOL_PARSE_ERROR, text, out);
		return;
	}
	wrong = check_envelope(message);
	if (wrong)
		rpc_error(PROTOCOL_INVALID_REQUEST, wrong, out);
	else
		answer_message(options, message, out, rest);
	json_decref(message);
}

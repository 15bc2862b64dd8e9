/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single rules change at once. Whatever looks at all rules, or changes many, is a stream or a job:
 * slot after slot for about LOOP_TASK_NS, then others have their turn.
 */
#include <stdlib.h>
#include <string.h>

#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "ctrl/flows.h"
#include "lib/bits.h"
#include "lib/clock.h"

#define STEP_SLOTS 64			/* between two looks at the clock */
#define STEP_BYTES (16 * 1024)		/* more than most rules of a step take as text */

/* --- what is wrong with a text */

json_t *rules_error_object(const struct rules_error *error)
{
	json_t *o = json_object();

	if (error->line)
		field_int(o, "line", error->line);
	field_int(o, "column", error->column);
	field_text(o, "text", error->why);
	return o;
}

static int refuse_text(struct request *request, const struct rules_error *error)
{
	request->data = json_array();
	json_array_append_new(request->data, rules_error_object(error));
	return request_refuse(request, "column %u: %s", error->column, error->why);
}

int request_selector(struct request *request, struct rules_selector *selector)
{
	const struct commands *c = request->context;
	const char *text = request_text(request, "match");
	bool strict = json_is_true(json_object_get(request->params, "strict"));
	struct rules_error error;

	if (!text)
		text = "";
	if (rules_parse_selector(flows_ports(c->g->flows), text, strlen(text), strict, selector,
				 &error))
		return 0;
	return refuse_text(request, &error);
}

/* --- flow.add */

int cmd_flow_add(struct request *request)
{
	const struct commands *c = request->context;
	const char *text = request_text(request, "rule");
	struct rules_error error;
	struct flow_spec spec;
	int r;

	if (!rules_parse(flows_ports(c->g->flows), text, strlen(text), &spec, &error))
		return refuse_text(request, &error);
	r = flows_add(c->g->flows, &spec);
	if (r < 0)
		return request_refuse(request, "%s", flows_why(r));
	request->result = json_object();
	field_int(request->result, "added", r == 1);
	field_int(request->result, "replaced", r == 0);
	return 0;
}

/* --- flow.dump */

struct dump {
	struct stream stream;
	struct flow_table *table;
	struct rules_selector selector;
	struct rules_format format;
	uint32_t cursor;
	bool json;
	struct buffer *out;	/* of the present chunk */
};

static void dump_rule(struct flow_table *t, const struct flow_rule *rule, void *arg)
{
	struct dump *d = arg;

	if (!rules_selects(t, &d->selector, rule))
		return;
	if (d->json)
		rules_print_json(t, rule, &d->format, d->out);
	else
		rules_print(t, rule, &d->format, d->out);
	d->stream.count++;
}

static int dump_next(struct stream *stream, struct buffer *out)
{
	struct dump *d = container_of(stream, struct dump, stream);
	size_t full = out->n + PROTOCOL_CHUNK_BYTES - STEP_BYTES;
	uint64_t stop_ns;

	d->out = out;
	d->format.now_ns = clock_ns();
	stop_ns = d->format.now_ns + LOOP_TASK_NS;
	while (out->n < full && clock_ns() < stop_ns) {
		flow_table_walk(d->table, &d->cursor, STEP_SLOTS, dump_rule, d);
		if (!d->cursor)
			return 0;
	}
	return 1;
}

static void dump_end(struct stream *stream)
{
	free(container_of(stream, struct dump, stream));
}

int cmd_flow_dump(struct request *request)
{
	const struct commands *c = request->context;
	bool json = json_is_true(json_object_get(request->params, "json"));
	struct dump *d = malloc(sizeof(*d));
	int r;

	if (!d)
		return request_refuse(request, "out of memory");
	*d = (struct dump){
		.stream = {.next = dump_next, .end = dump_end, .kind = json ? "json" : "text"},
		.table = c->g->flows->table,
		.format = {
			.ports = flows_ports(c->g->flows),
			.names = json_is_true(json_object_get(request->params, "names")),
			.stats = true,
		},
		.json = json,
	};
	r = request_selector(request, &d->selector);
	if (r) {
		free(d);
		return r;
	}
	request->stream = &d->stream;
	return 0;
}

/* --- flow.count */

struct count {
	struct job job;
	struct flows *flows;
	struct rules_selector selector;
	uint32_t cursor;
	uint64_t rules;
	struct flow_stats sum;
};

static void count_rule(struct flow_table *t, const struct flow_rule *rule, void *arg)
{
	struct count *c = arg;
	struct flow_stats stats;

	if (!rules_selects(t, &c->selector, rule))
		return;
	flow_rule_stats(t, rule, &stats);
	c->rules++;
	c->sum.packets += stats.packets;
	c->sum.bytes += stats.bytes;
}

static enum job_step count_step(struct job *job)
{
	struct count *c = container_of(job, struct count, job);

	if (flows_walk(c->flows, &c->cursor, count_rule, c))
		return JOB_MORE;
	job->result = json_object();
	field_int(job->result, "count", c->rules);
	field_int(job->result, "packets", c->sum.packets);
	field_int(job->result, "bytes", c->sum.bytes);
	return JOB_DONE;
}

static void count_end(struct job *job)
{
	free(container_of(job, struct count, job));
}

int cmd_flow_count(struct request *request)
{
	const struct commands *c = request->context;
	struct count *count = calloc(1, sizeof(*count));
	int r;

	if (!count)
		return request_refuse(request, "out of memory");
	r = request_selector(request, &count->selector);
	if (r) {
		free(count);
		return r;
	}
	count->job = (struct job){.step = count_step, .end = count_end};
	count->flows = c->g->flows;
	request->job = &count->job;
	return 0;
}

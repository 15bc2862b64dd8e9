/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many rules at once: flow.add_many and flow.replace (uploads), flow.del. What they change is
 * staged while others have their turn, and takes effect as a whole. One of them is at it at a time.
 *
 * An upload with an error in it changes nothing: from the first one on its rules are only looked
 * at, for more errors; they are told at the end, or when there are ERRORS_MAX.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "ctrl/flows.h"
#include "lib/bits.h"
#include "lib/clock.h"

#define ERRORS_MAX 20
#define WAIT_S 10		/* for others to end */
#define COMMIT_RULES 512	/* of one step */

enum phase {
	PHASE_WAIT,		/* for our turn */
	PHASE_STAGE,
	PHASE_COMMIT,
	PHASE_WATCH,		/* finds the rules with timeouts */
	PHASE_ABORT,
};

struct change {
	struct job job;
	struct flows *flows;
	struct flows_turn turn;
	enum flow_change_kind kind;
	enum phase phase;
	struct flow_change *staged;
	struct flow_change_counts counts;
	uint32_t cursor;
	/* del */
	struct rules_selector selector;
	/* uploads */
	struct rules_reader reader;
	uint64_t created_ns;	/* of the rules that are added, and of no others */
	bool timeouts;		/* some of them have some */
	uint32_t n_errors;
};

static enum job_step begin(struct change *c)
{
	uint64_t waited_ns;
	int r;

	if (!flows_take_turn(c->flows, &c->turn)) {
		waited_ns = clock_ns() - c->turn.since_ns;
		if (waited_ns < WAIT_S * NS_PER_S)
			return JOB_WAITS;
		return job_refuse(&c->job, "another client has been changing many rules for "
				  "%u s: try again when it has ended",
				  (uint32_t)((clock_ns() - c->flows->turns->since_ns) / NS_PER_S));
	}
	r = flow_change_begin(c->flows->table, c->kind, &c->staged);
	if (r < 0)
		return job_refuse(&c->job, "%s", flows_why(r));
	c->created_ns = clock_ns();
	c->phase = PHASE_STAGE;
	return c->job.take ? JOB_TAKES : JOB_MORE;
}

/* --- uploads */

static int stage_rule(void *arg, const struct flow_spec *spec, uint32_t line)
{
	struct change *c = arg;

	if (c->n_errors)
		return 0;
	c->timeouts |= spec->idle_timeout_s || spec->hard_timeout_s;
	return flow_change_add(c->staged, spec, c->created_ns);
}

/* The errors so far are the answer. */
static void refuse_errors(struct change *c)
{
	job_refuse(&c->job, "%u error%s%s: nothing was changed", c->n_errors,
		   c->n_errors == 1 ? "" : "s", c->n_errors == ERRORS_MAX ? ", perhaps more" : "");
}

/* What the reader returned. True: it is to go on behind an error. */
static bool note_error(struct change *c, int r, const struct rules_error *error)
{
	if (r == 0)
		return false;
	if (r != -EINVAL) {
		job_refuse(&c->job, "line %u: %s: nothing was changed", c->reader.line,
			   flows_why(r));
		return false;
	}
	if (!c->job.data)
		c->job.data = json_array();
	json_array_append_new(c->job.data, rules_error_object(error));
	if (++c->n_errors < ERRORS_MAX)
		return true;
	refuse_errors(c);
	return false;
}

static void change_take(struct job *job, const char *bytes, size_t n)
{
	struct change *c = container_of(job, struct change, job);
	struct rules_error error;
	int r = rules_reader_feed(&c->reader, bytes, n, &error);

	while (note_error(c, r, &error))
		r = rules_reader_feed(&c->reader, NULL, 0, &error);
}

/* The last line may have no newline. */
static void end_upload(struct change *c)
{
	struct rules_error error;

	note_error(c, rules_reader_end(&c->reader, &error), &error);
	if (c->n_errors && !c->job.code)
		refuse_errors(c);
}

static void watch_rule(struct flow_table *t, const struct flow_rule *rule, void *arg)
{
	struct change *c = arg;

	if (flow_rule_created_ns(rule) == c->created_ns)
		flows_watch(c->flows, rule);
}

static enum job_step upload_result(struct change *c)
{
	c->job.result = json_object();
	field_int(c->job.result, "added", c->counts.added);
	field_int(c->job.result, "kept", c->counts.kept);
	field_int(c->job.result, "removed", c->counts.removed);
	field_int(c->job.result, "repeated", c->counts.repeated);
	return JOB_DONE;
}

/* --- del */

static void stage_removal(struct flow_table *t, const struct flow_rule *rule, void *arg)
{
	struct change *c = arg;

	if (rules_selects(t, &c->selector, rule))
		flow_change_remove(c->staged, flow_rule_id(t, rule));
}

static enum job_step del_result(struct change *c)
{
	c->job.result = json_object();
	field_int(c->job.result, "removed", c->counts.removed);
	return JOB_DONE;
}

/* --- all of them */

/* Behind the last byte of an upload; a deletion looks for its rules here. */
static enum job_step stage(struct change *c)
{
	if (c->job.take)
		end_upload(c);
	else if (flows_walk(c->flows, &c->cursor, stage_removal, c))
		return JOB_MORE;
	c->phase = c->job.code ? PHASE_ABORT : PHASE_COMMIT;
	return JOB_MORE;
}

static enum job_step commit(struct change *c)
{
	if (flow_change_commit(c->staged, COMMIT_RULES, &c->counts) > 0)
		return JOB_MORE;
	c->phase = PHASE_WATCH;
	return JOB_MORE;
}

static enum job_step watch(struct change *c)
{
	if (c->timeouts && flows_walk(c->flows, &c->cursor, watch_rule, c))
		return JOB_MORE;
	return c->job.take ? upload_result(c) : del_result(c);
}

static enum job_step change_step(struct job *job)
{
	struct change *c = container_of(job, struct change, job);

	switch (c->phase) {
	case PHASE_WAIT:
		return begin(c);
	case PHASE_STAGE:
		return stage(c);
	case PHASE_COMMIT:
		return commit(c);
	case PHASE_WATCH:
		return watch(c);
	case PHASE_ABORT:
		break;
	}
	return c->staged && flow_change_abort(c->staged, COMMIT_RULES) > 0 ? JOB_MORE : JOB_DONE;
}

static void change_cancel(struct job *job)
{
	struct change *c = container_of(job, struct change, job);

	c->phase = PHASE_ABORT;
}

static void change_end(struct job *job)
{
	struct change *c = container_of(job, struct change, job);

	flow_change_free(c->staged);
	flows_leave_turn(c->flows, &c->turn);
	rules_reader_fini(&c->reader);
	free(c);
}

static struct change *change_create(const struct commands *commands, enum flow_change_kind kind)
{
	struct change *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->job = (struct job){.step = change_step, .end = change_end};
	c->turn.job = &c->job;
	c->flows = commands->g->flows;
	c->kind = kind;
	rules_reader_init(&c->reader, flows_ports(c->flows), stage_rule, c);
	return c;
}

static int upload(struct request *request, enum flow_change_kind kind)
{
	struct change *c = change_create(request->context, kind);

	if (!c)
		return request_refuse(request, "out of memory");
	c->job.take = change_take;
	c->job.cancel = change_cancel;
	request->job = &c->job;
	return 0;
}

int cmd_flow_add_many(struct request *request)
{
	return upload(request, FLOW_CHANGE_ADD);
}

int cmd_flow_replace(struct request *request)
{
	return upload(request, FLOW_CHANGE_REPLACE);
}

/* One rule at most: it is found, not looked for. */
static int del_strict(struct request *request, struct flow_table *t,
		      const struct rules_selector *selector)
{
	const struct flow_rule *rule = flow_table_find(t, &selector->match);
	bool selected = rule && rules_selects(t, selector, rule);

	if (selected)
		flow_table_remove(t, flow_rule_id(t, rule));
	request->result = json_object();
	field_int(request->result, "removed", selected);
	return 0;
}

int cmd_flow_del(struct request *request)
{
	struct change *c = change_create(request->context, FLOW_CHANGE_REMOVE);
	int r;

	if (!c)
		return request_refuse(request, "out of memory");
	r = request_selector(request, &c->selector);
	if (r == 0 && !c->selector.strict) {
		request->job = &c->job;
		return 0;
	}
	if (r == 0)
		r = del_strict(request, c->flows->table, &c->selector);
	change_end(&c->job);
	return r;
}

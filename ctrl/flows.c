/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/file.h"
#include "ctrl/flow_ports.h"
#include "ctrl/flow_timeouts.h"
#include "ctrl/gateway.h"
#include "ctrl/server.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/rcu.h"

#define WALK_SLOTS 64	/* between two looks at the clock */
#define READ_BYTES (256 * 1024)
#define ERRORS_MAX 100	/* told of a file */
#define COMMIT_RULES 65536

const struct rules_ports *flows_ports(const struct flows *f)
{
	return flow_ports_rules(f->ports);
}

const char *flows_why(int error)
{
	return error == -ENOSPC ? "there is no room for more rules, or for more different masks" :
				  "not enough memory for more rules";
}

int flows_add(struct flows *f, const struct flow_spec *spec)
{
	int r = flow_table_add(f->table, spec, clock_ns());

	if (r >= 0)
		flows_watch(f, flow_table_find(f->table, spec));
	return r;
}

void flows_watch(struct flows *f, const struct flow_rule *rule)
{
	if (flow_rule_idle_timeout_s(rule) || flow_rule_hard_timeout_s(rule))
		flow_timeouts_watch(f->timeouts, rule);
}

bool flows_walk(struct flows *f, uint32_t *cursor,
		void (*visit)(struct flow_table *t, const struct flow_rule *rule, void *arg),
		void *arg)
{
	uint64_t stop_ns = clock_ns() + LOOP_TASK_NS;

	do
		flow_table_walk(f->table, cursor, WALK_SLOTS, visit, arg);
	while (*cursor && clock_ns() < stop_ns);
	return *cursor;
}

/* --- the file at start */

struct loading {
	struct flows *f;
	const char *path;
	struct flow_change *change;
	struct rules_reader reader;
	uint64_t now_ns;
	uint32_t n_errors;
};

static int load_rule(void *arg, const struct flow_spec *spec, uint32_t line)
{
	struct loading *l = arg;
	int r = l->n_errors ? 0 : flow_change_add(l->change, spec, l->now_ns);

	if (r < 0)
		log_error("%s:%u: %s", l->path, line, flows_why(r));
	return r;
}

/* What the reader returned: an error in the text is told, and the rest is looked at for more. */
static int judge(struct loading *l, int r, const struct rules_error *error)
{
	if (r != -EINVAL)
		return r;
	log_error("%s:%u:%u: %s", l->path, error->line, error->column, error->why);
	return ++l->n_errors < ERRORS_MAX ? 1 : -EINVAL;
}

static int load_piece(struct loading *l, const char *text, size_t n)
{
	struct rules_error error;
	int r = judge(l, rules_reader_feed(&l->reader, text, n, &error), &error);

	while (r > 0)
		r = judge(l, rules_reader_feed(&l->reader, NULL, 0, &error), &error);
	return r;
}

static int load_all(struct loading *l, int fd)
{
	char *text = malloc(READ_BYTES);
	struct rules_error error;
	ssize_t n = 1;
	int r = text ? 0 : -ENOMEM;

	while (r == 0 && (n = read(fd, text, READ_BYTES)) > 0)
		r = load_piece(l, text, (size_t)n);
	if (r == 0 && n < 0) {
		r = -errno;
		log_error("%s: %s", l->path, strerror(errno));
	}
	if (r == 0)
		r = judge(l, rules_reader_end(&l->reader, &error), &error);
	free(text);
	return r < 0 || !l->n_errors ? min_of(r, 0) : -EINVAL;
}

static void watch_rule(struct flow_table *t, const struct flow_rule *rule, void *arg)
{
	flows_watch(arg, rule);
}

static void commit(struct flows *f, struct flow_change *change)
{
	struct flow_change_counts counts;
	uint32_t cursor = 0;

	while (flow_change_commit(change, COMMIT_RULES, &counts) > 0)
		rcu_quiescent_state();
	while (flows_walk(f, &cursor, watch_rule, f))
		;
}

static int load_file(struct flows *f, const char *path)
{
	struct loading l = {.f = f, .path = path, .now_ns = clock_ns()};
	int fd = file_open(path);
	int r = min_of(fd, 0);

	if (r < 0) {
		log_error("%s:%u:%u: flows: file: %s: %s", f->g->conf->flows_where.file,
			  f->g->conf->flows_where.line, f->g->conf->flows_where.column, path,
			  file_why(r));
		return r;
	}
	r = flow_change_begin(f->table, FLOW_CHANGE_ADD, &l.change);
	rules_reader_init(&l.reader, flows_ports(f), load_rule, &l);
	if (r == 0)
		r = load_all(&l, fd);
	if (r == 0)
		commit(f, l.change);
	else if (r == -EINVAL)
		log_error("%s: the rules are refused as they are: mend them, or leave flows.file "
			  "out", path);
	flow_change_free(l.change);
	rules_reader_fini(&l.reader);
	close(fd);
	if (r == 0)
		log_info("flow rules: %u from %s, in %u ms", flow_table_count(f->table), path,
			 (uint32_t)((clock_ns() - l.now_ns) / NS_PER_MS));
	return r;
}

static void tidy(struct loop_task *task)
{
	struct flows *f = container_of(task, struct flows, tidy);

	if (flow_table_tidy(f->table))
		loop_later(f->g->loop, task);
}

int flows_create(struct gateway *g, uint32_t n_workers, struct flows **flows)
{
	struct flows *f = calloc(1, sizeof(*f));
	int r = -ENOMEM;

	if (!f)
		return r;
	f->g = g;
	f->tidy.run = tidy;
	f->table = flow_table_create(n_workers);
	f->ports = flow_ports_create(g->conf, g->tunnels);
	if (f->table && f->ports)
		f->timeouts = flow_timeouts_create(g->loop, f->table);
	if (f->timeouts)
		r = g->conf->flows_file ? load_file(f, g->conf->flows_file) : 0;
	if (r < 0) {
		flows_destroy(f);
		return r;
	}
	g->tables->flows = f->table;
	*flows = f;
	return 0;
}

void flows_destroy(struct flows *f)
{
	if (!f)
		return;
	f->g->tables->flows = NULL;
	loop_not_later(f->g->loop, &f->tidy);
	flow_timeouts_destroy(f->timeouts);
	flow_ports_destroy(f->ports);
	flow_table_destroy(f->table);
	free(f);
}

/* --- whose turn it is */

bool flows_take_turn(struct flows *f, struct flows_turn *turn)
{
	struct flows_turn **at = &f->turns;

	if (!turn->queued) {
		while (*at)
			at = &(*at)->next;
		*at = turn;
		turn->next = NULL;
		turn->queued = true;
		turn->since_ns = clock_ns();
	}
	return f->turns == turn;
}

void flows_leave_turn(struct flows *f, struct flows_turn *turn)
{
	struct flows_turn **at = &f->turns;
	bool had_it = f->turns == turn;

	if (!turn->queued)
		return;
	while (*at != turn)
		at = &(*at)->next;
	*at = turn->next;
	turn->queued = false;
	if (!had_it || !f->turns)
		return;
	f->turns->since_ns = clock_ns();
	job_wake(f->turns->job);
}

void flows_every_second(struct flows *f)
{
	for (struct flows_turn *t = f->turns ? f->turns->next : NULL; t; t = t->next)
		job_wake(t->job);
	loop_later(f->g->loop, &f->tidy);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/permanent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/captures.h"
#include "ctrl/gateway.h"
#include "lib/clock.h"
#include "lib/log.h"

#define RETRY_NS (5 * NS_PER_S)

struct permanent {
	struct gateway *g;
	uint32_t n;
	struct permanent_one {
		struct permanent *all;
		const struct conf_capture *conf;
		struct capture_run *run;	/* NULL: it does not run */
		uint64_t since_ns;	/* of run or the lack of it */
		uint64_t retry_ns;
		char why[256];		/* it does not run */
	} one[];
};

/* False: there is no such tunnel. */
static bool find_source(const struct gateway *g, const struct conf_capture_source *from,
			struct capture_source *to)
{
	*to = (struct capture_source){.egress = EGRESS_NONE, .network = from->network};
	if (from->port >= 0)
		to->egress = (uint16_t)from->port;
	else if (!from->network)
		to->egress = g->tunnels ? tunnels_find(g->tunnels, &from->vtep) : EGRESS_NONE;
	return to->egress != EGRESS_NONE || to->network;
}

static int fill_wish(const struct gateway *g, const struct conf_capture *c,
		     struct capture_wish *wish, const struct why *why)
{
	struct pcap_filter *filter = NULL;

	*wish = (struct capture_wish){
		.name = c->name,
		.tap = {
			.n_sources = (uint32_t)c->n_sources,
			.dir = c->dir,
			.drops = c->drops,
			.inner = c->inner,
			.snaplen = (uint16_t)c->snaplen,
			.sample = c->sample,
		},
		.filter_text = c->filter_text,
		.device = c->device,
	};
	for (size_t i = 0; i < c->n_sources; i++)
		if (!find_source(g, &c->sources[i], &wish->tap.source[i]))
			return because(why, -ENOENT, "one of its tunnels is not there");
	if (c->filter && pcap_filter_take(c->filter->insn, c->filter->n, &filter) < 0)
		return because(why, -ENOMEM, "not enough memory for its filter");
	wish->tap.filter = filter;
	return 0;
}

static void one_fails(struct permanent_one *one, const char *before)
{
	one->retry_ns = clock_ns() + RETRY_NS;
	if (strcmp(one->why, before) != 0)
		log_warn("capture %s: %s", one->conf->name, one->why);
}

static void on_over(struct capture_run *run, const struct capture_counts *counts, int error)
{
	struct permanent_one *one = run->owner;

	one->run = NULL;
	one->since_ns = clock_ns();
	snprintf(one->why, sizeof(one->why), "it broke off: %s",
		 error ? strerror(-error) : "its device is gone");
	one_fails(one, "");
}

static void try(struct permanent_one *one)
{
	struct captures *captures = one->all->g->captures;
	struct why why = {one->why, sizeof(one->why)};
	struct capture_run *run = NULL;
	struct capture_wish wish;
	char before[sizeof(one->why)];
	int r;

	memcpy(before, one->why, sizeof(before));
	r = fill_wish(one->all->g, one->conf, &wish, &why);
	if (r == 0)
		r = captures_begin(captures, &wish, &run, &why);
	if (r < 0) {
		one_fails(one, before);
		return;
	}
	run->permanent = true;
	r = captures_start(run, -1);
	if (r < 0) {
		because(&why, r, "no thread: %s", strerror(-r));
		captures_end(run, true);
		one_fails(one, before);
		return;
	}
	run->over = on_over;
	run->owner = one;
	one->run = run;
	one->since_ns = run->since_ns;
	one->why[0] = 0;
}

void permanent_every_second(struct permanent *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (!p->one[i].run && clock_ns() >= p->one[i].retry_ns)
			try(&p->one[i]);
}

uint64_t permanent_problem(const struct permanent *p, uint32_t i, const char **why)
{
	*why = p->one[i].why;
	return p->one[i].run ? 0 : p->one[i].since_ns;
}

int permanent_create(struct gateway *g, struct permanent **permanent)
{
	uint32_t n = (uint32_t)g->conf->n_captures;
	struct permanent *p = calloc(1, sizeof(*p) + n * sizeof(p->one[0]));

	if (!p)
		return -ENOMEM;
	p->g = g;
	p->n = n;
	for (uint32_t i = 0; i < n; i++) {
		p->one[i].all = p;
		p->one[i].conf = &g->conf->captures[i];
		p->one[i].since_ns = clock_ns();
	}
	permanent_every_second(p);
	*permanent = p;
	return 0;
}

void permanent_destroy(struct permanent *p)
{
	free(p);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/captures.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ctrl/gateway.h"
#include "ctrl/ports.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/rcu.h"

/* A set that workers have, or had. */
struct published {
	struct rcu_head rcu;
	struct captures *captures;
	struct tap_set *set;
	uint64_t number;	/* counts up */
};

struct captures {
	struct gateway *g;
	struct capture_run *run[CAPTURE_MAX];
	uint32_t next_id;
	struct published *published;	/* that of g->tables; or NULL */
	uint64_t n_published;
	bool stale;		/* there was no memory for the set that there should be */
	struct loop_watch unused;	/* readable: unused_number has grown */
	struct capture_counts past;	/* of those that are over */
	/* RCU's thread writes, control reads */
	uint64_t unused_number;	/* no worker has the set of this number, or one before */
};

/* --- the set that the workers have */

/* RCU's thread: no worker has it any more. */
static void set_unused(struct rcu_head *head)
{
	struct published *p = container_of(head, struct published, rcu);

	store_release(&p->captures->unused_number, p->number);
	eventfd_write(p->captures->unused.fd, 1);
	tap_set_destroy(p->set);
	free(p);
}

/* The set of all that capture. NULL with *@failed when there is no memory for it. */
static struct published *make_set(struct captures *s, bool *failed)
{
	const struct tap_options *options[CAPTURE_MAX] = {0};
	struct tap *taps[CAPTURE_MAX] = {0};
	struct published *p;

	*failed = false;
	if (!captures_any(s))
		return NULL;
	for (uint32_t i = 0; i < CAPTURE_MAX; i++) {
		if (!s->run[i] || s->run[i]->state != RUN_CAPTURES)
			continue;
		options[i] = capture_tap_options(s->run[i]->capture);
		taps[i] = capture_taps(s->run[i]->capture);
	}
	p = calloc(1, sizeof(*p));
	if (p)
		p->set = tap_set_create(options, taps);
	if (p && p->set)
		return p;
	free(p);
	*failed = true;
	return NULL;
}

static void replace_set(struct captures *s, struct published *new)
{
	struct published *old = s->published;

	if (new) {
		new->captures = s;
		new->number = ++s->n_published;
		for (uint32_t i = 0; i < CAPTURE_MAX; i++)
			if (s->run[i] && s->run[i]->state == RUN_CAPTURES)
				s->run[i]->last_set = new->number;
	}
	rcu_assign_pointer(s->g->tables->taps, new ? new->set : NULL);
	s->published = new;
	if (!new != !old)
		ports_set_time(s->g, new);
	if (old)
		call_rcu(&old->rcu, set_unused);
}

/* The workers get those that capture now. False: there was no memory, and nothing has changed. */
static bool publish(struct captures *s)
{
	bool failed;
	struct published *p = make_set(s, &failed);

	s->stale = failed;
	if (!failed)
		replace_set(s, p);
	return !failed;
}

/* One has to leave: without memory all do, until there is some. */
static void withdraw(struct captures *s)
{
	if (publish(s))
		return;
	log_warn("captures: not enough memory: none sees anything until there is some");
	replace_set(s, NULL);
}

/* --- the end */

static void add_counts(struct capture_counts *sum, const struct capture_counts *counts)
{
	sum->matched += counts->matched;
	sum->captured += counts->captured;
	sum->missed += counts->missed;
	sum->cut += counts->cut;
}

/* The device goes first, so that it is gone when somebody hears of the end. */
static void run_over(struct capture_run *run)
{
	struct captures *s = run->captures;
	struct capture_counts counts;
	int error = run->error;

	loop_watch_stop(&run->done);
	capture_counts(run->capture, &counts);
	if (!error)
		error = capture_error(run->capture);
	/* The client is gone, then: as good an end as any. */
	if (error == -EPIPE || error == -ECONNRESET || error == -ECANCELED)
		error = 0;
	add_counts(&s->past, &counts);
	log_info("capture %u: over: %" PRIu64 " captured, %" PRIu64 " missed", run->id,
		 counts.captured, counts.missed);
	capture_destroy(run->capture);
	capture_device_leave(s->g, &run->device);
	s->run[run->slot] = NULL;
	if (run->over)
		run->over(run, &counts, error);
	free(run->filter_text);
	free(run);
}

static void on_done(struct loop_watch *watch)
{
	struct capture_run *run = container_of(watch, struct capture_run, done);

	if (run->state == RUN_DRAINS)
		run_over(run);
	else
		captures_end(run, true);
}

/* Those that no worker has any more may send what is left. */
static void drain_unused(struct captures *s)
{
	uint64_t unused = load_acquire(&s->unused_number);

	for (uint32_t i = 0; i < CAPTURE_MAX; i++) {
		struct capture_run *run = s->run[i];

		if (!run || run->state != RUN_LEAVES || run->last_set > unused)
			continue;
		run->state = RUN_DRAINS;
		capture_finish(run->capture, run->now);
		loop_watch_start(s->g->loop, &run->done, capture_done_fd(run->capture), on_done);
	}
}

static void on_unused(struct loop_watch *watch)
{
	eventfd_t n;

	eventfd_read(watch->fd, &n);
	drain_unused(container_of(watch, struct captures, unused));
}

void captures_end(struct capture_run *run, bool now)
{
	run->now |= now;
	switch (run->state) {
	case RUN_PAUSED:
		run_over(run);
		break;
	case RUN_CAPTURES:
		loop_watch_stop(&run->done);
		run->state = RUN_LEAVES;
		withdraw(run->captures);
		/* It was in no set, then, for want of memory. */
		drain_unused(run->captures);
		break;
	case RUN_DRAINS:
		if (now)
			capture_finish(run->capture, true);
		break;
	default:
		break;
	}
}

/* --- the beginning */

/* What egress ids are called in a file. NULL without memory. */
static char (*make_names(const struct gateway *g, uint32_t *n))[CAPTURE_NAME_BYTES]
{
	uint32_t n_tunnels = g->tunnels ? g->tunnels->n_tunnels : 0;
	char (*names)[CAPTURE_NAME_BYTES];

	*n = n_tunnels ? EGRESS_TUNNEL0 + n_tunnels : g->n_ports;
	names = calloc(*n + 1, sizeof(*names));
	for (uint32_t i = 0; names && i < *n; i++) {
		struct capture_source source = {.egress = (uint16_t)i};

		if (i < g->n_ports || i >= EGRESS_TUNNEL0)
			captures_source_name(g, &source, names[i]);
	}
	return names;
}

/* One that was made for another capture would go with that one. */
static int check_others(const struct captures *s, const struct capture_device *device,
			const struct why *why)
{
	for (uint32_t i = 0; i < CAPTURE_MAX; i++) {
		const struct capture_run *other = s->run[i];

		if (other && other->device.made && other->device.ifindex == device->ifindex)
			return because(why, -EBUSY, "%s was made for capture %u: name another "
				       "device, or none", device->name, other->id);
	}
	return 0;
}

static int make_device(const struct captures *s, const struct capture_wish *wish,
		       struct capture_device *device, const struct why *why)
{
	int r;

	if (wish->pcapng)
		return 0;
	if (wish->tap.snaplen < ETH_BYTES)
		return because(why, -EINVAL, "snaplen: a device takes no frame of less than %d "
			       "bytes: more of them, or write a file", ETH_BYTES);
	if (!wish->device)
		return capture_device_make(s->g, wish->name, device, why);
	r = capture_device_find(s->g, wish->device, device, why);
	return r < 0 ? r : check_others(s, device, why);
}

/* With its device; takes the wish's filter. */
static int make_capture(struct captures *s, const struct capture_wish *wish,
			struct capture_run *run, const struct why *why)
{
	struct capture_options o = {
		.tap = wish->tap,
		.n_workers = s->g->n_workers,
		.filter_text = wish->filter_text,
	};
	int r = make_device(s, wish, &run->device, why);

	if (r < 0) {
		free((void *)o.tap.filter);
		return r;
	}
	o.ifindex = run->device.ifindex;
	o.device_max = run->device.frame_max;
	o.names = make_names(s->g, &o.n_names);
	if (o.names) {
		r = capture_create(&o, &run->capture, why);
	} else {
		free((void *)o.tap.filter);
		r = because(why, -ENOMEM, "not enough memory for a capture");
	}
	if (r < 0)
		capture_device_leave(s->g, &run->device);
	return r;
}

static uint32_t free_slot(const struct captures *s)
{
	uint32_t i = 0;

	while (i < CAPTURE_MAX && s->run[i])
		i++;
	return i;
}

int captures_begin(struct captures *s, const struct capture_wish *wish, struct capture_run **run,
		   const struct why *why)
{
	struct capture_run *new = calloc(1, sizeof(*new));
	uint32_t slot = free_slot(s);
	int r = 0;

	if (slot == CAPTURE_MAX)
		r = because(why, -ENOSPC, "%d captures run already, no more are possible: "
			    "'culvert capture' lists them", CAPTURE_MAX);
	else if (!new || (wish->filter_text && !(new->filter_text = strdup(wish->filter_text))))
		r = because(why, -ENOMEM, "not enough memory for a capture");
	if (r < 0)
		free((void *)wish->tap.filter);
	else
		r = make_capture(s, wish, new, why);
	if (r < 0) {
		if (new)
			free(new->filter_text);
		free(new);
		return r;
	}
	snprintf(new->name, sizeof(new->name), "%s", wish->name);
	new->id = ++s->next_id;
	new->slot = slot;
	new->pcapng = wish->pcapng;
	new->since_ns = clock_ns();
	new->captures = s;
	s->run[slot] = new;
	*run = new;
	return 0;
}

int captures_start(struct capture_run *run, int client)
{
	struct captures *s = run->captures;
	int r = capture_start(run->capture, client);

	if (r < 0)
		return r;
	log_info("capture %u: %s%s%s", run->id, run->name, run->pcapng ? "" : " to ",
		 run->device.name);
	run->state = RUN_CAPTURES;
	run->since_ns = clock_ns();
	loop_watch_start(s->g->loop, &run->done, capture_done_fd(run->capture), on_done);
	/* Without memory it is tried again every second. */
	publish(s);
	return 0;
}

/* --- all of them */

bool captures_any(const struct captures *s)
{
	for (uint32_t i = 0; i < CAPTURE_MAX; i++)
		if (s->run[i] && s->run[i]->state == RUN_CAPTURES)
			return true;
	return false;
}

struct capture_run *captures_at(const struct captures *s, uint32_t i)
{
	return s->run[i];
}

struct capture_run *captures_find(const struct captures *s, uint32_t id)
{
	for (uint32_t i = 0; i < CAPTURE_MAX; i++)
		if (s->run[i] && s->run[i]->id == id)
			return s->run[i];
	return NULL;
}

uint32_t captures_sum(const struct captures *s, uint64_t *captured, uint64_t *missed)
{
	struct capture_counts sum = s->past;
	uint32_t n = 0;

	for (uint32_t i = 0; i < CAPTURE_MAX; i++) {
		struct capture_counts counts;

		if (!s->run[i])
			continue;
		capture_counts(s->run[i]->capture, &counts);
		add_counts(&sum, &counts);
		n += s->run[i]->state == RUN_CAPTURES;
	}
	*captured = sum.captured;
	*missed = sum.missed;
	return n;
}

const char *captures_source_name(const struct gateway *g, const struct capture_source *source,
				 char *text)
{
	char address[IP_TEXT_BYTES];
	const char *kind = "", *name;

	if (source->egress == EGRESS_NONE) {
		kind = "network:";
		name = g->conf->networks[source->network].name;
	} else {
		kind = egress_is_tunnel(source->egress) ? "tunnel:" : "";
		name = gateway_egress_name(g, source->egress, address);
	}
	snprintf(text, CAPTURE_NAME_BYTES, "%s%s", kind, name);
	return text;
}

void captures_every_second(struct captures *s)
{
	if (s->stale)
		publish(s);
	for (uint32_t i = 0; i < CAPTURE_MAX; i++) {
		struct capture_run *run = s->run[i];

		if (!run || !run->device.ifindex || run->state > RUN_CAPTURES ||
		    capture_device_is_there(&run->device))
			continue;
		run->error = -ENODEV;
		captures_end(run, true);
	}
}

int captures_create(struct gateway *g, struct captures **captures)
{
	struct captures *s = calloc(1, sizeof(*s));
	int fd;

	if (!s)
		return -ENOMEM;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0) {
		free(s);
		return -errno;
	}
	s->g = g;
	loop_watch_start(g->loop, &s->unused, fd, on_unused);
	*captures = s;
	return 0;
}

void captures_destroy(struct captures *s)
{
	if (!s)
		return;
	replace_set(s, NULL);
	/* RCU's thread is done with us. */
	rcu_barrier();
	/* All of them first: their threads end side by side. */
	for (uint32_t i = 0; i < CAPTURE_MAX; i++)
		if (s->run[i])
			capture_finish(s->run[i]->capture, true);
	for (uint32_t i = 0; i < CAPTURE_MAX; i++) {
		if (!s->run[i])
			continue;
		s->run[i]->over = NULL;
		run_over(s->run[i]);
	}
	loop_watch_stop(&s->unused);
	close(s->unused.fd);
	free(s);
}

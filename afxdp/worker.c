/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/worker.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "afxdp/pcap_port.h"
#include "afxdp/pipeline.h"
#include "afxdp/worker_own.h"
#include "dataplane/flow_cache.h"
#include "dataplane/flow_table.h"
#include "lib/aligned.h"
#include "lib/clock.h"
#include "lib/rcu.h"
#include "lib/thread.h"

#define LEARN_EVENTS 8192
#define RESOLVE_EVENTS 256
/* How long an adaptive worker goes on polling without a packet before it sleeps. */
#define SPIN_NS (100 * NS_PER_US)
/* The longest sleep with nothing to do, and the sleeps while something is owed: the kernel has not
 * taken all descriptors, or the pool was too empty to fill FILL, and no event will tell when that
 * ends. */
#define SLEEP_NS NS_PER_S
#define NAP_MIN_NS (50 * NS_PER_US)
#define NAP_MAX_NS (20 * NS_PER_MS)
/* While a port gives full bursts, a loop takes this many packets before it tells the kernel what to
 * send: a system call costs as much as some ten packets. */
#define LOOP_PACKETS 256
/* Control hears of news at most this often. */
#define TELL_NS NS_PER_MS

int worker_event_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A call from control. */
static void take_call(struct worker *w)
{
	void (*fn)(struct worker *, void *) = load_acquire(&w->call_fn);

	if (!fn)
		return;
	store_relaxed(&w->call_fn, NULL);
	fn(w, w->call_arg);
	sem_post(&w->call_done);
}

void worker_call(struct worker *w, void (*fn)(struct worker *, void *), void *arg)
{
	if (!w->running) {
		fn(w, arg);
		return;
	}
	w->call_arg = arg;
	store_release(&w->call_fn, fn);
	eventfd_write(w->wake_fd, 1);
	while (sem_wait(&w->call_done) < 0 && errno == EINTR)
		;
}

/* Tells control that a ring has something, but not in every loop: a flood of new MACs must not
 * become a flood of system calls. @now: do not put it off, the worker is about to sleep. */
static void tell_control(struct worker *w, bool now)
{
	if (w->learn_events.head != w->learn_seen || w->resolve_events.head != w->resolve_seen) {
		w->learn_seen = w->learn_events.head;
		w->resolve_seen = w->resolve_events.head;
		w->news = true;
	}
	if (!w->news || (!now && w->lane.now_ns - w->told_ns < TELL_NS))
		return;
	eventfd_write(w->event_fd, 1);
	w->told_ns = w->lane.now_ns;
	w->news = false;
}

static void set_time(struct lane *lane, uint64_t now_ns)
{
	lane->now_ns = now_ns;
	lane->now_s = (uint32_t)(now_ns / NS_PER_S);
}

/* Closes the account of a loop and begins the next one. */
static void account_loop(struct worker *w, bool moved)
{
	uint64_t now_ns = clock_ns();
	uint64_t loop_ns = now_ns - w->lane.now_ns;

	if (moved)
		counter_add(&w->busy_ns, loop_ns);
	if (loop_ns > load_relaxed(&w->longest_loop_ns))
		store_relaxed(&w->longest_loop_ns, loop_ns);
	set_time(&w->lane, now_ns);
}

/* A file that was not read to its end gave nothing: the pool is empty. */
static bool is_reading_file(const struct worker *w)
{
	uint32_t i;

	for (i = 0; i < w->n_polled; i++)
		if (w->polled[i]->kind == QUEUE_PCAP && pcap_port_reading(w->polled[i]->pcap))
			return true;
	return false;
}

static bool is_fill_short(const struct worker *w)
{
	uint32_t i;

	for (i = 0; i < w->n_polled; i++)
		if (w->polled[i]->fill_missing)
			return true;
	return false;
}

static void flush_files(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < PORT_MAX; i++)
		if (w->tx.queue[i] && w->tx.queue[i]->kind == QUEUE_PCAP)
			pcap_port_flush(w->tx.queue[i]->pcap);
}

/* How long to sleep. Naps get longer as long as nothing moves: a peer that never takes its packets
 * must not cost a core. */
static uint64_t sleep_length(struct worker *w, bool owed)
{
	uint64_t ns = w->nap_ns;

	if (!owed)
		return SLEEP_NS;
	w->nap_ns = min_of(w->nap_ns * 2, NAP_MAX_NS);
	return ns;
}

/*
 * Sleeps until a socket has packets or control calls. Nothing is lost in between: ppoll looks at
 * every ring and at wake_fd (both level-triggered) after it has queued itself on them.
 */
static void worker_sleep(struct worker *w, uint64_t ns)
{
	struct timespec timeout = {.tv_sec = (time_t)(ns / NS_PER_S),
				   .tv_nsec = (long)(ns % NS_PER_S)};
	eventfd_t n;
	uint32_t i;

	rcu_thread_offline();
	if (ppoll(w->sleep_on, w->n_sleep_on, &timeout, NULL) > 0) {
		if (w->sleep_on[0].revents)
			eventfd_read(w->wake_fd, &n);
		/* The device of this socket is gone; until it is detached it must not end every
		 * sleep. */
		for (i = 1; i < w->n_sleep_on; i++)
			if (w->sleep_on[i].revents & (POLLERR | POLLHUP | POLLNVAL))
				w->sleep_on[i].fd = -1;
	}
	rcu_thread_online();
	set_time(&w->lane, clock_ns());
}

/* After a loop that moved nothing. */
static void worker_rest(struct worker *w, bool waiting)
{
	bool owed;

	if (w->lane.now_ns - w->moved_ns < SPIN_NS || w->stop)
		return;
	if (!w->quiet)
		flush_files(w);
	w->quiet = true;
	if (w->options.busy)
		return;
	tell_control(w, true);
	owed = waiting || is_fill_short(w) || is_reading_file(w);
	worker_sleep(w, sleep_length(w, owed));
}

/* Takes turns among the ports. */
static unsigned int receive(struct worker *w)
{
	unsigned int received = 0, n;
	bool more;

	do {
		more = false;
		for (uint32_t i = 0; i < w->n_polled; i++) {
			n = pipeline_run(w, w->polled[i]);
			more = more || n == BURST_MAX;
			received += n;
		}
	} while (more && received < LOOP_PACKETS);
	return received;
}

static void worker_loop(struct worker *w)
{
	struct tx_state sent;
	unsigned int received = receive(w);

	sent = tx_progress(&w->tx, &w->pool);
	take_call(w);
	tell_control(w, false);
	rcu_quiescent_state();
	account_loop(w, received > 0);
	if (received || sent.completed) {
		w->moved_ns = w->lane.now_ns;
		w->nap_ns = NAP_MIN_NS;
		w->quiet = false;
	} else {
		worker_rest(w, sent.waiting > 0);
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	rcu_register_thread();
	set_time(&w->lane, clock_ns());
	while (!w->stop)
		worker_loop(w);
	flush_files(w);
	rcu_unregister_thread();
	return NULL;
}

static void list_sleepers(struct worker *w)
{
	uint32_t i;

	w->sleep_on[0] = (struct pollfd){.fd = w->wake_fd, .events = POLLIN};
	w->n_sleep_on = 1;
	for (i = 0; i < w->n_polled; i++)
		if (w->polled[i]->kind == QUEUE_XSK)
			w->sleep_on[w->n_sleep_on++] =
				(struct pollfd){.fd = w->polled[i]->fd, .events = POLLIN};
}

void worker_attach(struct worker *w, struct port_queue *q)
{
	tx_add(&w->tx, q);
	if (q->polled)
		w->polled[w->n_polled++] = q;
	list_sleepers(w);
	w->moved_ns = w->lane.now_ns;
}

void worker_detach(struct worker *w, struct port_queue *q)
{
	uint32_t i;

	tx_remove(&w->tx, q);
	for (i = 0; i < w->n_polled; i++)
		if (w->polled[i] == q)
			w->polled[i--] = w->polled[--w->n_polled];
	list_sleepers(w);
}

static int worker_init(struct worker *w)
{
	struct lane *lane = &w->lane;
	int error;

	w->event_fd = worker_event_fd();
	w->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->event_fd < 0 || w->wake_fd < 0)
		return w->event_fd < 0 ? w->event_fd : -errno;
	w->counters = aligned_zalloc(sizeof(*w->counters));
	if (!w->counters)
		return -ENOMEM;
	error = pool_init(&w->pool, w->area.base, w->options.n_frames);
	if (!error)
		error = spsc_init(&w->learn_events, LEARN_EVENTS, sizeof(struct learn_event));
	if (!error)
		error = spsc_init(&w->resolve_events, RESOLVE_EVENTS, sizeof(uint16_t));
	if (!error && w->options.tables->flows) {
		lane->flow_cells = flow_table_cells(w->options.tables->flows, w->options.index);
		lane->flow_cache = flow_cache_create();
		error = lane->flow_cache ? 0 : -ENOMEM;
	}
	lane->index = w->options.index;
	lane->tables = w->options.tables;
	lane->pool = &w->pool;
	lane->counters = w->counters;
	lane->learn_events = &w->learn_events;
	lane->resolve_events = &w->resolve_events;
	w->started_ns = clock_ns();
	w->nap_ns = NAP_MIN_NS;
	set_time(lane, w->started_ns);
	list_sleepers(w);
	return error;
}

int worker_create(const struct worker_options *options, struct worker **worker, char *why,
		  uint32_t why_bytes)
{
	size_t bytes = (size_t)options->n_frames * FRAME_BYTES;
	struct worker *w = aligned_zalloc(sizeof(*w));
	int error;

	if (!w) {
		snprintf(why, why_bytes, "worker %u: out of memory", options->index);
		return -ENOMEM;
	}
	w->options = *options;
	w->wake_fd = -1;
	sem_init(&w->call_done, 0, 0);
	error = area_map(&w->area, bytes);
	if (error) {
		snprintf(why, why_bytes,
			 "worker %u: no %zu MiB of memory for its frames (%s); lower workers.ring "
			 "or the number of ports",
			 options->index, bytes >> 20, strerror(-error));
		goto fail;
	}
	error = worker_init(w);
	if (error) {
		snprintf(why, why_bytes, "worker %u: %s", options->index, strerror(-error));
		goto fail;
	}
	*worker = w;
	return 0;
fail:
	worker_destroy(w);
	return error;
}

void worker_destroy(struct worker *w)
{
	if (!w)
		return;
	worker_stop(w);
	flow_cache_destroy(w->lane.flow_cache);
	spsc_fini(&w->resolve_events);
	spsc_fini(&w->learn_events);
	pool_fini(&w->pool);
	free(w->counters);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	area_unmap(&w->area);
	sem_destroy(&w->call_done);
	free(w);
}

int worker_start(struct worker *w)
{
	pthread_attr_t attr;
	cpu_set_t cores;
	char name[16];
	int error;

	w->stop = false;
	pthread_attr_init(&attr);
	if (w->options.core >= 0) {
		CPU_ZERO(&cores);
		CPU_SET((unsigned int)w->options.core, &cores);
		pthread_attr_setaffinity_np(&attr, sizeof(cores), &cores);
	}
	snprintf(name, sizeof(name), "culvert-w%u", w->options.index);
	error = thread_start(&w->thread, &attr, name, worker_main, w);
	pthread_attr_destroy(&attr);
	w->running = !error;
	return error;
}

static void order_stop(struct worker *w, void *arg)
{
	w->stop = true;
}

void worker_stop(struct worker *w)
{
	if (!w->running)
		return;
	worker_call(w, order_stop, NULL);
	pthread_join(w->thread, NULL);
	w->running = false;
}

struct lane *worker_lane(struct worker *w)
{
	return &w->lane;
}

uint32_t worker_cookie(const struct worker *w)
{
	return w->options.cookie;
}

const struct counters *worker_counters(const struct worker *w)
{
	return w->counters;
}

uint64_t worker_busy_ns(const struct worker *w)
{
	return load_relaxed(&w->busy_ns);
}

void worker_stats(struct worker *w, struct worker_stats *stats)
{
	*stats = (struct worker_stats){
		.busy_ns = worker_busy_ns(w),
		.total_ns = clock_ns() - w->started_ns,
		.longest_loop_ns = __atomic_exchange_n(&w->longest_loop_ns, 0, __ATOMIC_RELAXED),
		.frames_free = load_relaxed(&w->pool.n_free),
		.n_frames = w->options.n_frames,
		.hugepages = w->area.hugepages,
		.core = w->options.core,
	};
}

struct spsc *worker_learn_events(struct worker *w)
{
	return &w->learn_events;
}

struct spsc *worker_resolve_events(struct worker *w)
{
	return &w->resolve_events;
}

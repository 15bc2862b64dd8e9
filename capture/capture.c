/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/capture.h"

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capture/feed.h"
#include "capture/mirror.h"
#include "lib/aligned.h"
#include "lib/clock.h"
#include "lib/thread.h"

#define RING_BYTES (4ull * 1024 * 1024)
/* What the device gets of one ring before the worker may have its room again. */
#define PIECE_BYTES (RING_BYTES / 16)
/* Naps while frames come; when none did, the next one is twice as long, and behind the longest one
 * it sleeps until a worker calls. That one may have overlooked the sleeper: not for ever. */
#define NAP_MIN_NS NS_PER_MS
#define NAP_MAX_NS (4 * NS_PER_MS)
#define SLEEP_NS (100 * NS_PER_MS)

/* What the thread is told, each overrides what is before it. */
enum capture_stop {
	STOP_NOT,
	STOP_EMPTY,		/* when the rings are */
	STOP_NOW,
};

/* What was done in one turn. */
enum turn {
	TURN_IDLE,
	TURN_EMPTIED,		/* what was in the rings at its beginning is out */
	TURN_MORE,		/* something is left in them */
};

struct capture {
	/* fixed before the thread starts */
	struct capture_options options;
	struct tap *taps;	/* [worker] */
	struct mirror *mirror;	/* to a device, */
	struct feed *feed;	/* or to a client */
	int wake_fd;
	int done_fd;
	bool running;		/* control's: there is a thread to join */
	pthread_t thread;
	/* control writes, the thread reads */
	uint32_t stop;		/* enum capture_stop */
	/* the thread writes, control reads */
	int error;		/* final when done_fd is readable */
	uint64_t refused;
	uint64_t cut;
};

/* --- the thread */

/* Until somebody calls, the client takes more (when that is waited for), or the time is over. 0, or
 * -EPIPE when the client is gone. */
static int wait_for(struct capture *c, short client_events, const struct timespec *timeout)
{
	struct pollfd fds[] = {
		{.fd = c->wake_fd, .events = POLLIN},
		{.fd = c->feed ? feed_fd(c->feed) : -1, .events = client_events},
	};
	eventfd_t n;

	if (ppoll(fds, ARRAY_SIZE(fds), timeout, NULL) <= 0)
		return 0;
	if (fds[0].revents)
		eventfd_read(c->wake_fd, &n);
	return fds[1].revents & (POLLERR | POLLHUP) ? -EPIPE : 0;
}

static int nap(struct capture *c, uint64_t ns)
{
	return wait_for(c, 0, &(struct timespec){.tv_nsec = (long)ns});
}

/* Takes as long as the client does; what comes meanwhile fills the rings. */
static int send_to_client(struct capture *c)
{
	int r;

	while ((r = feed_send(c->feed)) == -EAGAIN) {
		if (load_acquire(&c->stop) == STOP_NOW)
			return -ECANCELED;
		r = wait_for(c, POLLOUT, NULL);
		if (r < 0)
			return r;
	}
	return r;
}

/* Until a worker has something: it calls, unless both looked at the same moment. */
static int sleep_long(struct capture *c)
{
	const struct record *first, *end;
	bool any = false;
	int r;

	for (uint32_t i = 0; i < c->options.n_workers; i++)
		store_relaxed(&c->taps[i].asleep, 1u);
	for (uint32_t i = 0; i < c->options.n_workers && !any; i++)
		any = ring_peek(&c->taps[i].ring, &first, &end);
	r = any ? 0 : nap(c, SLEEP_NS);
	for (uint32_t i = 0; i < c->options.n_workers; i++)
		store_relaxed(&c->taps[i].asleep, 0u);
	return r;
}

/* After @turn, which left nothing. 0 or -errno. */
static int rest(struct capture *c, int turn, uint64_t *nap_ns)
{
	int r = 0;

	if (turn == TURN_IDLE && *nap_ns >= NAP_MAX_NS) {
		if (c->feed)
			r = send_to_client(c);
		return r < 0 ? r : sleep_long(c);
	}
	*nap_ns = turn == TURN_IDLE ? *nap_ns * 2 : NAP_MIN_NS;
	return nap(c, *nap_ns);
}

/* A turn, or -errno. */
static int turn_to_client(struct capture *c)
{
	bool any = feed_fill(c->feed), due = feed_is_due(c->feed);
	int r = due ? send_to_client(c) : 0;

	if (r < 0)
		return r;
	if (!any)
		return TURN_IDLE;
	return due ? TURN_MORE : TURN_EMPTIED;
}

/* Where the records have gone on for PIECE_BYTES, or @end. */
static const struct record *piece_end(const struct record *first, const struct record *end)
{
	const uint8_t *at = (const uint8_t *)first, *enough = at + PIECE_BYTES;

	if ((const uint8_t *)end <= enough)
		return end;
	while (at < enough)
		at += ((const struct record *)at)->bytes;
	return (const struct record *)at;
}

/* Likewise. */
static int turn_to_device(struct capture *c)
{
	struct mirror_counts counts = {.refused = c->refused, .cut = c->cut};
	int done = TURN_IDLE, r = 0;

	for (uint32_t i = 0; i < c->options.n_workers && !r; i++) {
		struct ring *ring = &c->taps[i].ring;
		const struct record *first, *end, *all;

		if (!ring_peek(ring, &first, &all))
			continue;
		end = piece_end(first, all);
		done = max_of(done, end == all ? TURN_EMPTIED : TURN_MORE);
		r = mirror_send(c->mirror, first, end, &counts);
		ring_release(ring, (uint64_t)((const uint8_t *)end - (const uint8_t *)first));
	}
	store_relaxed(&c->refused, counts.refused);
	store_relaxed(&c->cut, counts.cut);
	return r < 0 ? r : done;
}

/* 0 or -errno. */
static int work(struct capture *c)
{
	uint64_t nap_ns = NAP_MIN_NS;
	int r = 0;

	while (r >= 0) {
		uint32_t stop = load_acquire(&c->stop);

		r = c->mirror ? turn_to_device(c) : turn_to_client(c);
		if (r < 0 || stop == STOP_NOW || (stop && r == TURN_IDLE))
			break;
		if (r == TURN_MORE || stop)
			continue;
		r = rest(c, r, &nap_ns);
	}
	if (r < 0 || !c->feed)
		return min_of(r, 0);
	feed_end(c->feed);
	return send_to_client(c);
}

static void *capture_main(void *arg)
{
	struct capture *c = arg;
	int r = work(c);

	if (r < 0 && c->feed)
		feed_give_up(c->feed);
	store_release(&c->error, r);
	eventfd_write(c->done_fd, 1);
	return NULL;
}

/* --- life: control's */

static int make_taps(struct capture *c)
{
	int r = 0;

	c->taps = aligned_zalloc(c->options.n_workers * sizeof(*c->taps));
	if (!c->taps)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->options.n_workers && !r; i++) {
		c->taps[i].options = &c->options.tap;
		c->taps[i].wake_fd = c->wake_fd;
		r = ring_init(&c->taps[i].ring, RING_BYTES);
	}
	return r;
}

static int make_fds(struct capture *c)
{
	c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return c->wake_fd < 0 || c->done_fd < 0 ? -errno : 0;
}

int capture_create(const struct capture_options *options, struct capture **capture,
		   const struct why *why)
{
	struct capture *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		free((void *)options->tap.filter);
		free(options->names);
		return because(why, -ENOMEM, "no memory for a capture");
	}
	c->options = *options;
	c->options.filter_text = NULL;
	c->wake_fd = c->done_fd = -1;
	r = make_fds(c);
	if (!r && options->filter_text && !(c->options.filter_text = strdup(options->filter_text)))
		r = -ENOMEM;
	if (!r)
		r = make_taps(c);
	if (r < 0) {
		because(why, r, "the capture's rings, %u of %llu KiB: %s", options->n_workers,
			RING_BYTES / 1024, strerror(-r));
		goto fail;
	}
	if (options->ifindex) {
		r = mirror_open(options->ifindex, options->device_max, &c->mirror);
		if (r < 0) {
			because(why, r, "cannot send to the capture's device: %s", strerror(-r));
			goto fail;
		}
	}
	*capture = c;
	return 0;
fail:
	capture_destroy(c);
	return r;
}

const struct tap_options *capture_tap_options(const struct capture *capture)
{
	return &capture->options.tap;
}

struct tap *capture_taps(struct capture *capture)
{
	return capture->taps;
}

int capture_start(struct capture *capture, int client)
{
	int r = 0;

	if (!capture->mirror)
		r = feed_create(&capture->options, capture->taps, client, &capture->feed);
	if (r < 0)
		return r;
	r = thread_start(&capture->thread, NULL, "capture", capture_main, capture);
	if (r < 0) {
		feed_destroy(capture->feed);
		capture->feed = NULL;
		return r;
	}
	capture->running = true;
	return 0;
}

void capture_finish(struct capture *capture, bool now)
{
	uint32_t stop = now ? STOP_NOW : STOP_EMPTY;

	if (stop > capture->stop)
		store_release(&capture->stop, stop);
	eventfd_write(capture->running ? capture->wake_fd : capture->done_fd, 1);
}

int capture_done_fd(const struct capture *capture)
{
	return capture->done_fd;
}

int capture_error(const struct capture *capture)
{
	return load_acquire(&capture->error);
}

void capture_counts(const struct capture *capture, struct capture_counts *counts)
{
	uint64_t refused = load_relaxed(&capture->refused);

	*counts = (struct capture_counts){.missed = refused, .cut = load_relaxed(&capture->cut)};
	for (uint32_t i = 0; i < capture->options.n_workers; i++) {
		const struct tap *tap = &capture->taps[i];

		counts->matched += load_relaxed(&tap->matched);
		counts->captured += load_relaxed(&tap->captured);
		counts->missed += load_relaxed(&tap->missed);
	}
	counts->captured -= min_of(refused, counts->captured);
}

void capture_destroy(struct capture *capture)
{
	if (!capture)
		return;
	if (capture->running) {
		capture_finish(capture, true);
		pthread_join(capture->thread, NULL);
	}
	feed_destroy(capture->feed);
	mirror_close(capture->mirror);
	for (uint32_t i = 0; capture->taps && i < capture->options.n_workers; i++)
		ring_fini(&capture->taps[i].ring);
	free(capture->taps);
	close(capture->wake_fd);
	close(capture->done_fd);
	free((void *)capture->options.filter_text);
	free(capture->options.names);
	free((void *)capture->options.tap.filter);
	free(capture);
}

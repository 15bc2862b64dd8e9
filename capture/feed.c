/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/pcapng.h"
#include "dataplane/packet.h"
#include "lib/buffer.h"
#include "lib/clock.h"

#define CHUNK_BYTES (64 * 1024)
/* What a chunk may be longer: the record that filled it. */
#define RECORD_BYTES_MAX (CAPTURE_SNAPLEN_MAX + 1024)
/* A frame is not kept longer than this for others that would fill the chunk. */
#define FLUSH_NS (50 * NS_PER_MS)
/* A NIC's clock that is further off is not set, or keeps another time: TAI is 37 s ahead. Behind us
 * it may be by as long as the record has waited. */
#define NIC_AHEAD_NS NS_PER_S
#define NIC_BEHIND_NS (60 * NS_PER_S)

/* A worker's records. */
struct strand {
	struct tap *tap;
	const struct record *first;	/* all the same: none */
	const struct record *next;
	const struct record *end;
	uint64_t time_ns;		/* of `next`, UTC */
	uint64_t told;			/* of the tap's missed ones */
};

/* An interface of the file. */
struct place {
	uint32_t number;		/* from 1; 0: not described yet */
	uint64_t told;			/* packets missed */
	uint64_t written;		/* packets */
};

struct feed {
	const struct capture_options *options;
	int fd;
	struct buffer out;		/* the chunk */
	size_t sent;			/* of it and the line before it */
	uint64_t now_ns;		/* CLOCK_MONOTONIC */
	uint64_t begun_ns;		/* when the chunk was */
	uint64_t to_utc_ns;		/* added to CLOCK_MONOTONIC it makes CLOCK_REALTIME */
	uint32_t n_places;
	struct place *last;
	/* by egress id, whatever is none at EGRESS_MAX; inner ones behind the others */
	struct place place[2 * (EGRESS_MAX + 1)];
	struct strand strand[];
};

/* --- time */

static uint64_t utc_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The difference of the clocks changes only when somebody sets the time. What is measured wavers,
 * so the old one stays unless it cannot be any more. */
static void look_at_clocks(struct feed *feed)
{
	uint64_t before_ns = clock_ns(), now_utc_ns = utc_ns();
	uint64_t most_ns = now_utc_ns - before_ns, least_ns;

	feed->now_ns = clock_ns();
	least_ns = now_utc_ns - feed->now_ns;
	if (feed->to_utc_ns < least_ns || feed->to_utc_ns > most_ns)
		feed->to_utc_ns = least_ns + (most_ns - least_ns) / 2;
}

static uint64_t time_of(const struct feed *feed, const struct record *r)
{
	uint64_t now_ns = feed->now_ns + feed->to_utc_ns;

	if (!(r->flags & RECORD_NIC_TIME))
		return r->time_ns + feed->to_utc_ns;
	if (r->time_ns + NIC_BEHIND_NS < now_ns || r->time_ns > now_ns + NIC_AHEAD_NS)
		return now_ns;
	return r->time_ns;
}

/* --- records to blocks */

static const char *name_of(const struct feed *feed, uint16_t where)
{
	const struct capture_options *o = feed->options;

	return where < o->n_names && o->names[where][0] ? o->names[where] : "unknown";
}

static struct place *place_of(struct feed *feed, uint16_t where, bool inner)
{
	struct place *place = &feed->place[min_of(where, EGRESS_MAX) + inner * (EGRESS_MAX + 1)];
	struct pcapng_interface interface = {
		.name = name_of(feed, where),
		.description = inner ? "inside VXLAN" : NULL,
		.filter = feed->options->filter_text,
		.snaplen = feed->options->tap.snaplen,
	};

	if (!place->number) {
		place->number = ++feed->n_places;
		pcapng_interface(&feed->out, &interface);
	}
	return place;
}

static const char *comment_of(const struct record *r, char *text, size_t bytes)
{
	if (!r->drop)
		return NULL;
	snprintf(text, bytes, "dropped: %s (%s)", drop_name(r->drop), drop_sentence(r->drop));
	return text;
}

/* Of the frames that were missed, those that nobody was told of yet. */
static uint64_t missed_since(struct strand *s)
{
	uint64_t missed = load_relaxed(&s->tap->missed), n = missed - s->told;

	s->told = missed;
	return n;
}

static void add_packet(struct feed *feed, struct strand *s)
{
	const struct record *r = s->next;
	struct place *place = place_of(feed, r->where, r->flags & RECORD_INNER);
	char comment[256];
	struct pcapng_packet packet = {
		.interface = place->number - 1,
		.time_ns = s->time_ns,
		.frame = r->frame,
		.caplen = r->caplen,
		.len = r->len,
		.inbound = r->dir == CAPTURE_IN,
		.missed = r->flags & RECORD_GAP ? missed_since(s) : 0,
		.comment = comment_of(r, comment, sizeof(comment)),
	};

	pcapng_packet(&feed->out, &packet);
	place->written++;
	place->told += packet.missed;
	feed->last = place;
}

/* --- rings to the chunk */

static bool strand_begin(const struct feed *feed, struct strand *s)
{
	s->first = s->next = s->end = NULL;
	if (!ring_peek(&s->tap->ring, &s->first, &s->end))
		return false;
	s->next = s->first;
	s->time_ns = time_of(feed, s->next);
	return true;
}

static void strand_step(const struct feed *feed, struct strand *s)
{
	s->next = (const void *)((const uint8_t *)s->next + s->next->bytes);
	if (s->next != s->end)
		s->time_ns = time_of(feed, s->next);
}

static void strand_end(struct strand *s)
{
	if (s->next != s->first)
		ring_release(&s->tap->ring,
			     (uint64_t)((const uint8_t *)s->next - (const uint8_t *)s->first));
}

static struct strand *oldest(struct feed *feed)
{
	struct strand *found = NULL;

	for (uint32_t i = 0; i < feed->options->n_workers; i++) {
		struct strand *s = &feed->strand[i];

		if (s->next != s->end && (!found || s->time_ns < found->time_ns))
			found = s;
	}
	return found;
}

bool feed_fill(struct feed *feed)
{
	struct strand *s;
	bool any = false;

	look_at_clocks(feed);
	for (uint32_t i = 0; i < feed->options->n_workers; i++)
		any |= strand_begin(feed, &feed->strand[i]);
	if (!feed->out.n)
		feed->begun_ns = feed->now_ns;
	while (feed->out.n < CHUNK_BYTES && (s = oldest(feed))) {
		add_packet(feed, s);
		strand_step(feed, s);
	}
	for (uint32_t i = 0; i < feed->options->n_workers; i++)
		strand_end(&feed->strand[i]);
	return any;
}

bool feed_is_due(const struct feed *feed)
{
	return feed->out.n >= CHUNK_BYTES ||
	       (feed->out.n && feed->now_ns - feed->begun_ns >= FLUSH_NS);
}

void feed_end(struct feed *feed)
{
	uint64_t now_ns = feed->now_ns + feed->to_utc_ns;

	/* A file without an interface is none to some readers. */
	if (!feed->last)
		feed->last = place_of(feed, EGRESS_NONE, false);
	for (uint32_t i = 0; i < feed->options->n_workers; i++)
		feed->last->told += missed_since(&feed->strand[i]);
	for (uint32_t i = 0; i < ARRAY_SIZE(feed->place); i++) {
		const struct place *p = &feed->place[i];

		if (p->number)
			pcapng_statistics(&feed->out, p->number - 1, now_ns, p->written + p->told,
					  p->told);
	}
}

/* --- the chunk to the socket */

/* What is left of the chunk and of the line before it. */
static ssize_t send_rest(const struct feed *feed, char *line, size_t line_bytes)
{
	size_t of_line = min_of(feed->sent, line_bytes), of_chunk = feed->sent - of_line;
	struct iovec iov[] = {
		{line + of_line, line_bytes - of_line},
		{feed->out.data + of_chunk, feed->out.n - of_chunk},
	};
	struct msghdr message = {.msg_iov = iov, .msg_iovlen = ARRAY_SIZE(iov)};

	return sendmsg(feed->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int feed_send(struct feed *feed)
{
	char line[24];
	size_t line_bytes = (size_t)snprintf(line, sizeof(line), "%zu\n", feed->out.n);

	if (feed->out.failed)
		return -ENOMEM;
	/* The line alone would be the stream's end. */
	if (!feed->out.n)
		return 0;
	while (feed->sent < line_bytes + feed->out.n) {
		ssize_t n = send_rest(feed, line, line_bytes);

		if (n >= 0)
			feed->sent += (size_t)n;
		else if (errno == ECONNRESET)	/* it went with something unread */
			return -EPIPE;
		else if (errno != EINTR)
			return -errno;
	}
	feed->sent = 0;
	buffer_reset(&feed->out, SIZE_MAX);
	return 0;
}

void feed_give_up(struct feed *feed)
{
	if (feed->sent)
		shutdown(feed->fd, SHUT_RDWR);
}

int feed_fd(const struct feed *feed)
{
	return feed->fd;
}

/* --- life */

static void begin_section(struct buffer *out)
{
	struct utsname host;
	char os[sizeof(host.sysname) + sizeof(host.release)];

	uname(&host);
	snprintf(os, sizeof(os), "%s %s", host.sysname, host.release);
	pcapng_begin(out, "culvert " CULVERT_VERSION, os);
}

int feed_create(const struct capture_options *options, struct tap *taps, int client,
		struct feed **feed)
{
	struct feed *f = calloc(1, sizeof(*f) + options->n_workers * sizeof(f->strand[0]));
	int r;

	if (!f)
		return -ENOMEM;
	f->options = options;
	for (uint32_t i = 0; i < options->n_workers; i++)
		f->strand[i].tap = &taps[i];
	f->fd = fcntl(client, F_DUPFD_CLOEXEC, 0);
	if (f->fd < 0) {
		r = -errno;
		goto fail;
	}
	if (!buffer_reserve(&f->out, CHUNK_BYTES + RECORD_BYTES_MAX)) {
		r = -ENOMEM;
		goto fail;
	}
	begin_section(&f->out);
	look_at_clocks(f);
	*feed = f;
	return 0;
fail:
	feed_destroy(f);
	return r;
}

void feed_destroy(struct feed *feed)
{
	if (!feed)
		return;
	if (feed->fd >= 0)
		close(feed->fd);
	buffer_fini(&feed->out);
	free(feed);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "dataplane/vlan.h"
#include "lib/clock.h"

/* A frame as captures are to see it. */
struct sight {
	const uint8_t *frame;
	uint16_t len;
	uint16_t where;
	uint8_t dir;
	uint8_t drop;
	uint8_t flags;
	uint64_t nic_time_ns;	/* 0: unknown */
	uint64_t now_ns;	/* 0: nobody has looked at the clock yet */
};

/* --- one frame for one capture */

static bool is_skipped(struct tap *tap)
{
	if (tap->to_skip) {
		tap->to_skip--;
		return true;
	}
	tap->to_skip = tap->options->sample - 1;
	return false;
}

static void set_time(struct record *r, struct sight *s)
{
	if (s->nic_time_ns) {
		r->time_ns = s->nic_time_ns;
		r->flags |= RECORD_NIC_TIME;
		return;
	}
	if (!s->now_ns)
		s->now_ns = clock_ns();
	r->time_ns = s->now_ns;
}

/* NULL: it is not wanted, or missed. */
static struct record *take(struct tap *tap, struct sight *s)
{
	const struct tap_options *o = tap->options;
	uint32_t caplen = pcap_filter_run(o->filter, s->frame, s->len);
	struct record *r;

	if (!caplen)
		return NULL;
	counter_add(&tap->matched, 1);
	if (o->sample > 1 && is_skipped(tap))
		return NULL;
	caplen = min_of(min_of(caplen, (uint32_t)o->snaplen), (uint32_t)s->len);
	r = ring_reserve(&tap->ring, (uint16_t)caplen);
	if (!r) {
		counter_add(&tap->missed, 1);
		tap->gap = RECORD_GAP;
		return NULL;
	}
	counter_add(&tap->captured, 1);
	r->len = s->len;
	r->where = s->where;
	r->dir = s->dir;
	r->drop = s->drop;
	r->flags = s->flags | tap->gap;
	tap->gap = 0;
	set_time(r, s);
	memcpy(r->frame, s->frame, caplen);
	return r;
}

static struct tap *tap_of(const struct lane *lane, uint64_t capture)
{
	return &lane->taps->taps[capture][lane->index];
}

static void take_all(const struct lane *lane, uint32_t captures, struct sight *s)
{
	for_each_bit(c, captures)
		take(tap_of(lane, c), s);
}

static uint32_t of_egress(const struct tap_masks *masks, uint16_t egress)
{
	return egress < EGRESS_MAX ? masks->egress[egress] : 0;
}

static uint32_t of_network(const struct tap_masks *masks, uint16_t network)
{
	return masks->network ? masks->network[network] : 0;
}

static void look_at(struct sight *s, const struct packet *p, uint32_t offset, uint16_t where)
{
	s->frame = p->data + offset;
	s->len = (uint16_t)(p->len - offset);
	s->where = where;
}

/* A tag that is not in the frame is put there for as long as captures look at it. False: there is
 * none to take out again. */
static bool show_tag(const struct lane *lane, struct packet *p)
{
	if (likely(p->tag != TAG_STRIPPED) || p->len < ETHERTYPE_AT ||
	    pool_headroom(lane->pool, p->data) < VLAN_BYTES)
		return false;
	vlan_push(p, TPID_C, p->tci);
	return true;
}

/* --- where frames come in */

/* The record is open until the end of the burst, in which the packet is number @i. */
static void take_in(const struct lane *lane, struct tap *tap, struct sight *s, struct packet *p,
		    enum tap_depth depth, uint32_t i, uint16_t where)
{
	bool shown = show_tag(lane, p);
	struct record *r;

	p->tap = (uint8_t)(i + 1);
	s->nic_time_ns = p->drop ? 0 : p->rx_time_ns;
	look_at(s, p, 0, where);
	r = take(tap, s);
	if (r) {
		tap->record[depth][i] = r;
		tap->open[depth] |= 1ull << i;
	}
	if (shown)
		vlan_pop(p);
}

void tap_rx(struct lane *lane, struct burst *burst)
{
	uint16_t port = burst->packet[0].rx_port;
	uint32_t captures = lane->taps->in.egress[port];
	struct sight s = {.dir = CAPTURE_IN};

	for_each_bit(c, captures) {
		struct tap *tap = tap_of(lane, c);

		for (uint32_t i = 0; i < burst->n; i++)
			take_in(lane, tap, &s, &burst->packet[i], TAP_OUTSIDE, i, port);
	}
}

static void take_late(const struct lane *lane, uint32_t captures, struct sight *s, struct packet *p,
		      enum tap_depth depth, uint32_t i, uint16_t where)
{
	for_each_bit(c, captures)
		take_in(lane, tap_of(lane, c), s, p, depth, i, where);
}

/* A frame that came in by a tunnel. An underlay port's captures have seen its outside; those with
 * `inner` want this as theirs, the others only when they are of the tunnel or network, too. */
static void take_inside(const struct lane *lane, struct sight *s, struct packet *p, uint32_t i)
{
	const struct tap_masks *in = &lane->taps->in;
	uint32_t of_port = in->egress[p->rx_port] & lane->taps->inner;
	uint32_t others = of_egress(in, p->ingress) | of_network(in, p->network);

	s->flags = RECORD_INNER;
	take_late(lane, of_port, s, p, TAP_INSIDE, i, p->rx_port);
	s->flags = 0;
	take_late(lane, others & ~of_port, s, p, TAP_INSIDE, i, p->ingress);
}

void tap_in(struct lane *lane, struct burst *burst)
{
	const struct tap_masks *in = &lane->taps->in;
	struct sight s = {.dir = CAPTURE_IN};

	if (!lane->taps->late)
		return;
	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (p->drop)
			continue;
		if (p->ingress != p->rx_port)
			take_inside(lane, &s, p, i);
		else	/* what tap_rx has not seen */
			take_late(lane, of_network(in, p->network) & ~in->egress[p->rx_port], &s,
				  p, TAP_OUTSIDE, i, p->rx_port);
	}
}

/* --- where they leave */

/* Inside is what an outer header was put in front of; else there is no difference. */
static void look_inside(struct sight *s, const struct packet *p)
{
	look_at(s, p, p->outer, p->outer ? p->tunnel : p->egress);
}

/* The captures, among @masks, of what @p was on its way to before it was encapsulated. */
static uint32_t of_inside(const struct tap_masks *masks, const struct packet *p)
{
	return of_network(masks, p->network) | (p->outer ? of_egress(masks, p->tunnel) : 0);
}

static void take_sent(const struct lane *lane, struct sight *s, const struct packet *p)
{
	const struct tap_set *set = lane->taps;
	uint32_t of_port = of_egress(&set->out, p->egress);
	uint32_t others = of_inside(&set->out, p);

	if (!(of_port | others))
		return;
	s->dir = CAPTURE_OUT;
	s->drop = DROP_NONE;
	s->flags = 0;
	look_at(s, p, 0, p->egress);
	take_all(lane, of_port, s);
	if (p->outer)
		of_port &= set->inner;
	look_inside(s, p);
	take_all(lane, others & ~of_port, s);
	if (!p->outer || !of_port)
		return;
	s->where = p->egress;
	s->flags = RECORD_INNER;
	take_all(lane, of_port, s);
}

/* --- where they die */

static void amend(struct tap *tap, enum tap_depth depth, uint32_t i, uint8_t drop)
{
	if (tap->open[depth] >> i & 1 && !tap->record[depth][i]->drop)
		tap->record[depth][i]->drop = drop;
}

/* The frame that came in, as it was recorded, gets its end; a copy's death counts as well. */
static void tell_fate(const struct lane *lane, const struct packet *p, uint8_t drop)
{
	for_each_bit(c, lane->taps->in.any) {
		struct tap *tap = tap_of(lane, c);

		amend(tap, TAP_OUTSIDE, p->tap - 1u, drop);
		amend(tap, TAP_INSIDE, p->tap - 1u, drop);
	}
}

/* By where it came from. Returns the captures that have seen it. */
static uint32_t take_dropped_in(const struct lane *lane, struct sight *s, const struct packet *p)
{
	const struct tap_masks *in = &lane->taps->drop_in;
	uint32_t captures = of_egress(in, p->ingress) | of_network(in, p->network);
	uint32_t of_port = in->egress[p->rx_port] & ~captures;

	s->dir = CAPTURE_IN;
	s->flags = 0;
	look_at(s, p, p->outer, p->ingress);
	take_all(lane, captures, s);
	/* Came in by a tunnel, or it were among those. */
	s->flags = RECORD_INNER;
	s->where = p->rx_port;
	take_all(lane, of_port, s);
	return captures | of_port;
}

static void take_dropped_out(const struct lane *lane, struct sight *s, const struct packet *p,
			     uint32_t seen)
{
	const struct tap_masks *out = &lane->taps->drop_out;
	uint32_t of_port = of_egress(out, p->egress) & ~seen;

	if (p->egress >= EGRESS_MAX)
		return;
	s->dir = CAPTURE_OUT;
	s->flags = 0;
	look_at(s, p, 0, p->egress);
	take_all(lane, of_port, s);
	look_inside(s, p);
	take_all(lane, of_inside(out, p) & ~seen & ~of_port, s);
}

/* @p died, or copies of it that found no frame (DROP_NO_FRAME): where to nobody knows any more. */
static void take_dropped(const struct lane *lane, struct sight *s, struct packet *p, uint8_t drop)
{
	const struct tap_set *set = lane->taps;
	uint32_t seen;
	bool shown;

	if (p->tap)
		tell_fate(lane, p, drop);
	if (!(set->drop_in.any | set->drop_out.any))
		return;
	shown = show_tag(lane, p);
	s->drop = drop;
	seen = take_dropped_in(lane, s, p);
	if (drop != DROP_NO_FRAME)
		take_dropped_out(lane, s, p, seen);
	if (shown)
		vlan_pop(p);
}

void tap_out(struct lane *lane, struct burst *burst)
{
	const struct tap_set *set = lane->taps;
	struct sight s = {0};

	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (unlikely(p->no_frame))
			take_dropped(lane, &s, p, DROP_NO_FRAME);
		if (p->drop)
			take_dropped(lane, &s, p, p->drop);
		else if (set->out.any)
			take_sent(lane, &s, p);
	}
}

/* A thread that falls asleep right now may be overlooked: no barrier here, it looks again before
 * long. */
static void publish(struct tap *tap)
{
	bool news = tap->ring.head != tap->ring.reserved;

	ring_publish(&tap->ring);
	if (likely(!news || !load_relaxed(&tap->asleep)))
		return;
	store_relaxed(&tap->asleep, 0);
	eventfd_write(tap->wake_fd, 1);
}

void tap_publish(struct lane *lane)
{
	for_each_bit(c, lane->taps->used) {
		struct tap *tap = tap_of(lane, c);

		publish(tap);
		tap->open[TAP_OUTSIDE] = tap->open[TAP_INSIDE] = 0;
	}
}

/* --- the set */

/* False without memory. */
static bool add_source(struct tap_masks *masks, const struct capture_source *source, uint32_t bit)
{
	masks->any |= bit;
	if (source->egress != EGRESS_NONE) {
		masks->egress[source->egress] |= bit;
		return true;
	}
	if (!masks->network)
		masks->network = calloc(NETWORK_MAX, sizeof(*masks->network));
	if (!masks->network)
		return false;
	masks->network[source->network] |= bit;
	return true;
}

static bool add_capture(struct tap_set *set, const struct tap_options *o, uint32_t bit)
{
	bool ok = true;

	set->used |= bit;
	if (o->inner)
		set->inner |= bit;
	for (uint32_t i = 0; i < o->n_sources && ok; i++) {
		if (o->dir & CAPTURE_IN)
			ok = add_source(o->drops ? &set->drop_in : &set->in, &o->source[i], bit);
		if (ok && o->dir & CAPTURE_OUT)
			ok = add_source(o->drops ? &set->drop_out : &set->out, &o->source[i], bit);
		if (o->dir & CAPTURE_IN && !o->drops &&
		    (o->inner || o->source[i].egress >= EGRESS_TUNNEL0))
			set->late |= bit;
	}
	return ok;
}

struct tap_set *tap_set_create(const struct tap_options *const options[CAPTURE_MAX],
			       struct tap *const taps[CAPTURE_MAX])
{
	struct tap_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	for (uint32_t c = 0; c < CAPTURE_MAX; c++) {
		if (!options[c])
			continue;
		set->taps[c] = taps[c];
		if (!add_capture(set, options[c], 1u << c)) {
			tap_set_destroy(set);
			return NULL;
		}
	}
	return set;
}

void tap_set_destroy(struct tap_set *set)
{
	if (!set)
		return;
	free(set->in.network);
	free(set->out.network);
	free(set->drop_in.network);
	free(set->drop_out.network);
	free(set);
}

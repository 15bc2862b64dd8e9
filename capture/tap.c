/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/tap.h"

#include <stdlib.h>
#include <string.h>

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

static struct tap *tap_of(const struct lane *lane, uint32_t captures)
{
	return &lane->taps->taps[__builtin_ctz(captures)][lane->index];
}

static void take_all(const struct lane *lane, uint32_t captures, struct sight *s)
{
	for (; captures; captures &= captures - 1)
		take(tap_of(lane, captures), s);
}

/* Likewise; the records are open until the end of the burst, in which the packet is number @i. */
static void take_open(const struct lane *lane, uint32_t captures, struct sight *s, uint32_t i)
{
	for (; captures; captures &= captures - 1) {
		struct tap *tap = tap_of(lane, captures);
		struct record *r = take(tap, s);

		if (!r)
			continue;
		tap->record[i] = r;
		tap->open |= 1ull << i;
	}
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

/* --- where frames come in */

static void take_in(const struct lane *lane, uint32_t captures, struct sight *s, struct packet *p,
		    uint32_t i, uint16_t where)
{
	/* The tag that is not in the frame is put there for as long as they look. */
	bool tagged = p->tag == TAG_STRIPPED && p->len >= ETHERTYPE_AT;

	if (tagged)
		vlan_push(p, TPID_C, p->tci);
	p->tap = (uint8_t)(i + 1);
	s->nic_time_ns = p->drop ? 0 : p->rx_time_ns;
	look_at(s, p, 0, where);
	take_open(lane, captures, s, i);
	if (tagged)
		vlan_pop(p);
}

void tap_rx(struct lane *lane, struct burst *burst)
{
	uint16_t port = burst->packet[0].rx_port;
	uint32_t captures = lane->taps->in.egress[port];
	struct sight s = {.dir = CAPTURE_IN};

	if (!captures)
		return;
	for (uint32_t i = 0; i < burst->n; i++)
		take_in(lane, captures, &s, &burst->packet[i], i, port);
}

/* Frames from a port's own captures were taken by tap_rx already; what it has not seen is the
 * inside of an underlay port's. */
static void take_late(const struct lane *lane, struct sight *s, struct packet *p, uint32_t i)
{
	const struct tap_set *set = lane->taps;
	uint32_t of_port = set->in.egress[p->rx_port];
	uint32_t captures = of_network(&set->in, p->network);

	s->flags = 0;
	if (p->ingress == p->rx_port) {
		captures &= ~of_port;
	} else {
		captures |= of_egress(&set->in, p->ingress);
		of_port &= set->inner;
		captures &= ~of_port;
	}
	if (captures)
		take_in(lane, captures, s, p, i, p->ingress);
	if (p->ingress == p->rx_port || !of_port)
		return;
	s->flags = RECORD_INNER;
	take_in(lane, of_port, s, p, i, p->rx_port);
}

void tap_in(struct lane *lane, struct burst *burst)
{
	struct sight s = {.dir = CAPTURE_IN};

	if (!lane->taps->late)
		return;
	for (uint32_t i = 0; i < burst->n; i++)
		if (!burst->packet[i].drop)
			take_late(lane, &s, &burst->packet[i], i);
}

/* --- where they leave */

static void take_sent(const struct lane *lane, struct sight *s, const struct packet *p)
{
	const struct tap_set *set = lane->taps;
	uint32_t of_port = of_egress(&set->out, p->egress);
	uint32_t captures = of_network(&set->out, p->network);

	s->dir = CAPTURE_OUT;
	s->drop = DROP_NONE;
	s->flags = 0;
	look_at(s, p, 0, p->egress);
	take_all(lane, of_port, s);
	if (!p->outer) {
		take_all(lane, captures & ~of_port, s);
		return;
	}
	of_port &= set->inner;
	captures |= of_egress(&set->out, p->tunnel);
	look_at(s, p, p->outer, p->tunnel);
	take_all(lane, captures & ~of_port, s);
	look_at(s, p, p->outer, p->egress);
	s->flags = RECORD_INNER;
	take_all(lane, of_port, s);
}

/* --- where they die */

/* The frame that came in, as it was recorded, gets its end; a copy's death counts as well. */
static void tell_fate(const struct lane *lane, const struct packet *p)
{
	uint32_t captures = lane->taps->used;
	uint64_t bit = 1ull << (p->tap - 1);

	for (; captures; captures &= captures - 1) {
		struct tap *tap = tap_of(lane, captures);

		if (tap->open & bit && !tap->record[p->tap - 1]->drop)
			tap->record[p->tap - 1]->drop = p->drop;
	}
}

static void take_dropped(const struct lane *lane, struct sight *s, const struct packet *p)
{
	const struct tap_set *set = lane->taps;
	uint32_t in = of_egress(&set->drop_in, p->rx_port) | of_egress(&set->drop_in, p->ingress) |
		      of_network(&set->drop_in, p->network);
	uint32_t out = of_egress(&set->drop_out, p->egress) |
		       of_network(&set->drop_out, p->network);

	if (p->outer)
		out |= of_egress(&set->drop_out, p->tunnel);
	s->drop = p->drop;
	s->flags = 0;
	s->dir = CAPTURE_IN;
	look_at(s, p, 0, p->ingress);
	take_all(lane, in, s);
	s->dir = CAPTURE_OUT;
	look_at(s, p, 0, p->egress);
	take_all(lane, out & ~in, s);
}

void tap_out(struct lane *lane, struct burst *burst)
{
	const struct tap_set *set = lane->taps;
	struct sight s = {0};

	for (uint32_t i = 0; i < burst->n; i++) {
		const struct packet *p = &burst->packet[i];

		if (!p->drop) {
			if (set->out.any)
				take_sent(lane, &s, p);
			continue;
		}
		if (p->tap)
			tell_fate(lane, p);
		if (set->drop_in.any | set->drop_out.any)
			take_dropped(lane, &s, p);
	}
}

void tap_publish(struct lane *lane)
{
	for (uint32_t captures = lane->taps->used; captures; captures &= captures - 1) {
		struct tap *tap = tap_of(lane, captures);

		ring_publish(&tap->ring);
		tap->open = 0;
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
		if (o->inner || o->source[i].egress >= EGRESS_TUNNEL0)
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

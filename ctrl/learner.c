/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/learner.h"

#include <errno.h>
#include <stdlib.h>

#include "ctrl/gateway.h"
#include "lib/clock.h"

/* 16384 buckets are a megabyte read in order: 0.3 ms. A million entries are through in 7
 * seconds. */
#define SWEEP_BUCKETS 16384
#define SWEEP_PERIOD_MS 100
#define FLUSH_BUCKETS (1u << 20)
/* A limit that was not hit for so long is no trouble any more. */
#define LIMIT_QUIET_NS (60 * NS_PER_S)

struct learner {
	struct gateway *g;
	struct fdb *fdb;
	uint64_t cursor;	/* of the sweep; 0: a round begins */
	uint32_t round_s;	/* when this round began */
	bool ages;		/* some network does */
	struct loop_timer sweep;
};

int learner_create(struct gateway *g, struct learner **learner)
{
	struct learner *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->g = g;
	l->fdb = g->tables->fdb;
	for (uint32_t i = 1; i < g->n_networks; i++)
		l->ages |= g->conf->networks[i].ageing_s != 0;
	*learner = l;
	return 0;
}

void learner_destroy(struct learner *l)
{
	free(l);
}

/* Keeps the counters true when an entry comes (@n = 1) or goes (@n = -1). */
static void count(struct learner *l, uint64_t key, uint16_t egress, uint16_t flags, int n)
{
	struct gateway *g = l->g;

	g->network[fdb_key_network(key)].macs += (uint32_t)n;
	if (egress < g->n_ports && !(flags & FDB_STATIC))
		g->port[egress].macs += (uint32_t)n;
}

static void note_limit(struct mac_limit *limit, uint64_t now_ns)
{
	if (!limit->last_ns || now_ns - limit->last_ns > LIMIT_QUIET_NS)
		limit->since_ns = now_ns;
	limit->last_ns = now_ns;
	limit->hits++;
}

/* Whether @egress may have one more learned entry. */
static bool port_has_room(struct learner *l, uint16_t network, uint16_t egress, uint64_t now_ns)
{
	struct gateway_port *port;

	if (egress >= l->g->n_ports)
		return true;
	port = &l->g->port[egress];
	if (!port->conf->mac_limit || port->macs < port->conf->mac_limit)
		return true;
	note_limit(&port->limit, now_ns);
	l->g->network[network].limit_hits++;
	return false;
}

static bool network_has_room(struct learner *l, uint16_t network, uint64_t now_ns)
{
	struct gateway_network *n = &l->g->network[network];

	if (n->macs < l->g->conf->networks[network].mac_limit)
		return true;
	note_limit(&n->limit, now_ns);
	n->limit_hits++;
	return false;
}

/* Whether what comes from @egress is still news: events wait in a ring, and their port may be gone
 * by now. */
static bool learns_from(const struct learner *l, uint16_t network, uint16_t egress)
{
	uint8_t learn = l->g->conf->networks[network].learn;
	uint8_t state;

	if (egress_is_tunnel(egress))
		return learn == CONF_LEARN_ALL;
	if (egress >= l->g->n_ports || learn == CONF_LEARN_OFF)
		return false;
	state = l->g->port[egress].state;
	return state == GATEWAY_PORT_UP || state == GATEWAY_PORT_DONE;
}

static void move(struct learner *l, const struct learn_event *e, const struct fdb_entry *old,
		 uint64_t now_ns)
{
	uint16_t network = fdb_key_network(e->key);

	if (!port_has_room(l, network, e->egress, now_ns))
		return;
	if (fdb_set(l->fdb, e->key, e->egress, 0, e->seen_s) < 0)
		return;
	count(l, e->key, old->egress, 0, -1);
	count(l, e->key, e->egress, 0, 1);
	l->g->network[network].moves++;
}

void learner_event(struct learner *l, const struct learn_event *e, uint64_t now_ns)
{
	uint16_t network = fdb_key_network(e->key);
	struct fdb_entry old;

	if (network == NETWORK_NONE || network >= l->g->n_networks ||
	    !learns_from(l, network, e->egress))
		return;
	if (fdb_lookup(l->fdb, e->key, &old)) {
		if (!(old.flags & FDB_STATIC) && old.egress != e->egress)
			move(l, e, &old, now_ns);
		return;
	}
	if (!network_has_room(l, network, now_ns) ||
	    !port_has_room(l, network, e->egress, now_ns))
		return;
	if (fdb_set(l->fdb, e->key, e->egress, 0, e->seen_s) == 1)
		count(l, e->key, e->egress, 0, 1);
}

bool learner_drain(struct learner *l, uint32_t max)
{
	uint64_t now_ns = clock_ns();
	struct learn_event event;
	bool more = false;

	for (uint32_t i = 0; i < l->g->n_workers; i++) {
		struct spsc *ring = worker_learn_events(l->g->worker[i]);
		uint32_t share = max / l->g->n_workers;

		for (; share && spsc_pop(ring, &event); share--)
			learner_event(l, &event, now_ns);
		more |= !share;
	}
	return more;
}

struct sweep {
	struct learner *l;
	uint32_t now_s;
};

static bool is_old(const struct fdb_entry *entry, void *arg)
{
	struct sweep *s = arg;
	uint16_t network = fdb_key_network(entry->key);
	uint32_t ageing_s = s->l->g->conf->networks[network].ageing_s;
	uint32_t age_s = s->now_s - load_relaxed(&entry->seen_s);

	/* A worker's clock may be a moment ahead of ours. */
	if (entry->flags & FDB_STATIC || !ageing_s || (int32_t)age_s < 0 || age_s < ageing_s)
		return false;
	count(s->l, entry->key, entry->egress, entry->flags, -1);
	return true;
}

bool learner_sweep(struct learner *l, uint32_t now_s)
{
	struct sweep s = {.l = l, .now_s = now_s};

	fdb_walk(l->fdb, &l->cursor, SWEEP_BUCKETS, is_old, &s);
	return l->cursor == 0;
}

static void on_sweep(struct loop_timer *timer)
{
	struct learner *l = container_of(timer, struct learner, sweep);
	uint32_t now_s = (uint32_t)(clock_ns() / NS_PER_S);

	if (!l->ages || (l->cursor == 0 && now_s == l->round_s))
		return;
	if (l->cursor == 0)
		l->round_s = now_s;
	learner_sweep(l, now_s);
}

void learner_start(struct learner *l)
{
	loop_timer_start(l->g->loop, &l->sweep, SWEEP_PERIOD_MS, on_sweep);
}

void learner_stop(struct learner *l)
{
	loop_timer_stop(&l->sweep);
}

int learner_add(struct learner *l, uint64_t key, uint16_t egress)
{
	struct fdb_entry old;
	bool had = fdb_lookup(l->fdb, key, &old);
	int r = fdb_set(l->fdb, key, egress, FDB_STATIC, 0);

	if (r < 0)
		return r;
	if (had)
		count(l, key, old.egress, old.flags, -1);
	count(l, key, egress, FDB_STATIC, 1);
	return 0;
}

int learner_del(struct learner *l, uint64_t key)
{
	struct fdb_entry old;

	if (!fdb_lookup(l->fdb, key, &old) || fdb_del(l->fdb, key) < 0)
		return -ENOENT;
	count(l, key, old.egress, old.flags, -1);
	return 0;
}

struct flush {
	struct learner *l;
	uint16_t network;
	uint16_t egress;
	uint32_t n;
};

static bool is_flushed(const struct fdb_entry *entry, void *arg)
{
	struct flush *f = arg;

	if (entry->flags & FDB_STATIC ||
	    (f->network != NETWORK_NONE && f->network != fdb_key_network(entry->key)) ||
	    (f->egress != EGRESS_NONE && f->egress != entry->egress))
		return false;
	count(f->l, entry->key, entry->egress, entry->flags, -1);
	f->n++;
	return true;
}

uint32_t learner_flush(struct learner *l, uint16_t network, uint16_t egress)
{
	struct flush f = {.l = l, .network = network, .egress = egress};
	uint64_t cursor = 0;

	/* Nothing to look for, and a table of a million entries takes a while to walk. */
	if (egress < l->g->n_ports && !l->g->port[egress].macs)
		return 0;
	do
		fdb_walk(l->fdb, &cursor, FLUSH_BUCKETS, is_flushed, &f);
	while (cursor);
	return f.n;
}

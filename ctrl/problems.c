/* SPDX-License-Identifier: BSD-2-Clause */
/* What needs a person: found from the state of things whenever somebody asks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/gateway.h"
#include "ctrl/permanent.h"
#include "ctrl/views.h"
#include "lib/clock.h"
#include "lib/log.h"

/* Trouble that comes in events is over when there were none for so long. */
#define QUIET_NS (60 * NS_PER_S)
/* Counters that stood still for so long are at rest, and not those of a worker that had to wait for
 * its CPU in the middle of a burst. */
#define REST_NS (3 * NS_PER_S)

static uint64_t limit_since(const struct mac_limit *limit)
{
	bool fresh = limit->last_ns && clock_ns() - limit->last_ns < QUIET_NS;

	return fresh ? limit->since_ns : 0;
}

static uint64_t port_since(struct gateway *g, uint32_t i)
{
	uint8_t state = g->port[i].state;

	return state == GATEWAY_PORT_MISSING || state == GATEWAY_PORT_FAILED ? g->port[i].since_ns
									      : 0;
}

static void port_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	const struct gateway_port *port = &g->port[i];

	snprintf(p->what, sizeof(p->what), "port %s", port->conf->name);
	snprintf(p->text, sizeof(p->text), "%s", port->why);
	if (port->conf->device)
		snprintf(p->cure, sizeof(p->cure), "ip link show %s", port->conf->device);
}

static uint64_t offload_since(struct gateway *g, uint32_t i)
{
	const struct gateway_port *port = &g->port[i];

	return port->port && !port->conf->underlay && port->peer_offload[0] ? port->since_ns : 0;
}

static void offload_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	const struct gateway_port *port = &g->port[i];

	snprintf(p->what, sizeof(p->what), "port %s", port->conf->name);
	snprintf(p->text, sizeof(p->text),
		 "%s leaves checksums to the hardware, and a veth has none: its TCP and UDP break",
		 port->peer_offload);
	snprintf(p->cure, sizeof(p->cure), "ethtool -K %s tx off", port->peer_offload);
}

/* A veth whose peer is in another network namespace: what port_open saw there. Of one that is in
 * ours links.c knows better, and at once. An underlay's peer mostly forwards what others send. */
static uint64_t warning_since(struct gateway *g, uint32_t i)
{
	const struct gateway_port *port = &g->port[i];
	bool counts = port->port && !port->conf->underlay && !port->peer_ifindex &&
		      strcmp(port->info.driver, "veth") == 0;

	return counts && port->info.warning[0] ? port->since_ns : 0;
}

static void warning_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	snprintf(p->what, sizeof(p->what), "port %s", g->port[i].conf->name);
	snprintf(p->text, sizeof(p->text), "%s", g->port[i].info.warning);
}

static uint64_t port_limit_since(struct gateway *g, uint32_t i)
{
	return limit_since(&g->port[i].limit);
}

static void port_limit_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	const struct gateway_port *port = &g->port[i];

	snprintf(p->what, sizeof(p->what), "port %s", port->conf->name);
	snprintf(p->text, sizeof(p->text), "MAC limit %u reached; %" PRIu64 " not learned",
		 port->conf->mac_limit, port->limit.hits);
	snprintf(p->cure, sizeof(p->cure), "culvert fdb port %s", port->conf->name);
}

static uint64_t network_limit_since(struct gateway *g, uint32_t i)
{
	return limit_since(&g->network[i].limit);
}

static void network_limit_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	const struct conf_network *c = &g->conf->networks[i];

	snprintf(p->what, sizeof(p->what), "network %s", c->name);
	snprintf(p->text, sizeof(p->text), "MAC limit %u reached; %" PRIu64 " not learned",
		 c->mac_limit, g->network[i].limit.hits);
	snprintf(p->cure, sizeof(p->cure), "culvert fdb network %s", c->name);
}

static uint64_t tunnel_since(struct gateway *g, uint32_t i)
{
	return g->tunnels->tunnel[i]->state == TUNNEL_OK ? 0 : g->tunnel[i].since_ns;
}

static void name_tunnel(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	char remote[IP_TEXT_BYTES];

	snprintf(p->what, sizeof(p->what), "tunnel %s",
		 ip_format(&g->tunnels->tunnel[i]->remote, remote));
}

/* Where to look: at our address, the route, the underlay port, the neighbour; in this order. */
static void tunnel_cure(const struct gateway *g, uint32_t i, char *cure, size_t bytes)
{
	const struct gateway_tunnel *t = &g->tunnel[i];
	const struct tunnel *tunnel = g->tunnels->tunnel[i];
	char address[IP_TEXT_BYTES];

	if (t->local_missing)
		snprintf(cure, bytes, "ip address");
	else if (!t->device[0])
		snprintf(cure, bytes, "ip route get %s", ip_format(&tunnel->remote, address));
	else if (tunnel->state == TUNNEL_NO_ROUTE)
		snprintf(cure, bytes, "culvert port");
	else
		snprintf(cure, bytes, "ip neigh show %s dev %s", ip_format(&t->next_hop, address),
			 t->device);
}

static void tunnel_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	struct tunnel_counters counters;

	gateway_tunnel_counters(g, (uint16_t)(EGRESS_TUNNEL0 + i), &counters);
	name_tunnel(g, i, p);
	snprintf(p->text, sizeof(p->text), "%s; %" PRIu64 " lost so far", g->tunnel[i].why,
		 counters.lost);
	tunnel_cure(g, i, p->cure, sizeof(p->cure));
}

/* Longest frame that the tunnel's networks may bring. */
static uint32_t inner_needed(struct gateway *g, uint32_t i)
{
	uint32_t mtu = views_tunnel_mtu(g->views, (uint16_t)(EGRESS_TUNNEL0 + i));

	return mtu ? mtu + ETH_BYTES : 0;
}

static uint64_t mtu_since(struct gateway *g, uint32_t i)
{
	const struct tunnel *t = g->tunnels->tunnel[i];

	return t->state == TUNNEL_OK && t->inner_max < inner_needed(g, i) ? g->tunnel[i].since_ns
									   : 0;
}

static void mtu_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	const struct tunnel *t = g->tunnels->tunnel[i];
	uint32_t needed = inner_needed(g, i) - ETH_BYTES + t->header_bytes;

	name_tunnel(g, i, p);
	snprintf(p->text, sizeof(p->text),
		 "MTU %u by %s, but its networks need %u; larger packets are dropped as too-big",
		 g->tunnel[i].mtu, g->tunnel[i].device, needed);
	snprintf(p->cure, sizeof(p->cure), "ip link set %s mtu %u", g->tunnel[i].device, needed);
}

static uint64_t capture_since(struct gateway *g, uint32_t i)
{
	const char *why;

	return permanent_problem(g->permanent, i, &why);
}

static void capture_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	const char *why = "";

	permanent_problem(g->permanent, i, &why);
	snprintf(p->what, sizeof(p->what), "capture %s", g->conf->captures[i].name);
	snprintf(p->text, sizeof(p->text), "%s", why);
	snprintf(p->cure, sizeof(p->cure), "culvert capture");
}

static uint64_t books_since(struct gateway *g, uint32_t i)
{
	return g->watch.books_since_ns;
}

static void books_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	struct gateway_books b;

	gateway_books(g, &b);
	snprintf(p->what, sizeof(p->what), "books");
	snprintf(p->text, sizeof(p->text),
		 "out of balance by %" PRId64 " at rest: packets uncounted, a defect of culvert",
		 (int64_t)(b.rx + b.copied + b.generated - b.tx - b.drops));
	snprintf(p->cure, sizeof(p->cure), "culvert drops");
}

static uint64_t overflow_since(struct gateway *g, uint32_t i)
{
	return g->watch.overflow_since_ns;
}

static void overflow_render(struct gateway *g, uint32_t i, struct gateway_problem *p)
{
	snprintf(p->what, sizeof(p->what), "learning");
	snprintf(p->text, sizeof(p->text),
		 "MACs appear faster than they can be learned: %" PRIu64
		 " events lost, their frames flood",
		 g->learn_overflow_seen);
	snprintf(p->cure, sizeof(p->cure), "culvert network");
}

/* One row for each kind of problem: since when object @i has it (0: it has not), and how to say
 * it. */
static const struct kind {
	enum { OF_PORTS, OF_NETWORKS, OF_TUNNELS, OF_CAPTURES, OF_GATEWAY } of;
	uint64_t (*since)(struct gateway *g, uint32_t i);
	void (*render)(struct gateway *g, uint32_t i, struct gateway_problem *problem);
} kinds[] = {
	{OF_PORTS, port_since, port_render},
	{OF_PORTS, offload_since, offload_render},
	{OF_PORTS, warning_since, warning_render},
	{OF_PORTS, port_limit_since, port_limit_render},
	{OF_NETWORKS, network_limit_since, network_limit_render},
	{OF_TUNNELS, tunnel_since, tunnel_render},
	{OF_TUNNELS, mtu_since, mtu_render},
	{OF_CAPTURES, capture_since, capture_render},
	{OF_GATEWAY, books_since, books_render},
	{OF_GATEWAY, overflow_since, overflow_render},
};

struct found {
	uint64_t since_ns;
	const struct kind *kind;
	uint32_t object;
};

static uint32_t n_objects(const struct gateway *g, const struct kind *kind)
{
	switch (kind->of) {
	case OF_PORTS:
		return g->n_ports;
	case OF_NETWORKS:
		return g->n_networks;
	case OF_TUNNELS:
		return g->tunnels ? g->tunnels->n_tunnels : 0;
	case OF_CAPTURES:
		return (uint32_t)g->conf->n_captures;
	default:
		return 1;
	}
}

/* All that there are, into @found when it is not NULL. */
static uint32_t find(struct gateway *g, struct found *found)
{
	uint32_t n = 0;

	for (const struct kind *kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++)
		for (uint32_t i = 0; i < n_objects(g, kind); i++) {
			uint64_t since_ns = kind->since(g, i);

			if (since_ns && found)
				found[n] = (struct found){since_ns, kind, i};
			n += since_ns != 0;
		}
	return n;
}

static int older_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->since_ns > y->since_ns) - (x->since_ns < y->since_ns);
}

uint32_t gateway_problems(struct gateway *g, struct gateway_problem *problems, uint32_t max)
{
	uint32_t n = find(g, NULL);
	struct found *found = calloc(n + 1, sizeof(*found));

	if (!found)
		return n;
	/* Perhaps fewer than a moment ago: what is quiet for long enough is over. Never more. */
	n = find(g, found);
	qsort(found, n, sizeof(*found), older_first);
	for (uint32_t i = 0; i < n && i < max; i++) {
		memset(&problems[i], 0, sizeof(problems[i]));
		problems[i].since_ns = found[i].since_ns;
		found[i].kind->render(g, found[i].object, &problems[i]);
	}
	free(found);
	return n;
}

static void watch_books(struct gateway *g, uint64_t now_ns)
{
	struct gateway_watch *w = &g->watch;
	struct gateway_books b;
	uint64_t in, out;
	bool off;

	gateway_books(g, &b);
	in = b.rx + b.copied + b.generated;
	out = b.tx + b.drops;
	if (in + out != w->books_sum)
		w->rest_since_ns = now_ns;
	w->books_sum = in + out;
	off = in != out && now_ns - w->rest_since_ns >= REST_NS;
	if (off && !w->books_since_ns)
		log_error("the books do not balance at rest: rx %" PRIu64 " + copied %" PRIu64
			  " + generated %" PRIu64 ", tx %" PRIu64 " + drops %" PRIu64,
			  b.rx, b.copied, b.generated, b.tx, b.drops);
	if (in == out)
		w->books_since_ns = 0;
	else if (off && !w->books_since_ns)
		w->books_since_ns = now_ns;
}

static void watch_overflow(struct gateway *g, uint64_t now_ns)
{
	struct gateway_watch *w = &g->watch;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->n_workers; i++)
		sum += load_relaxed(&worker_counters(g->worker[i])->learn_overflow);
	if (sum != g->learn_overflow_seen) {
		w->overflow_last_ns = now_ns;
		if (!w->overflow_since_ns)
			w->overflow_since_ns = now_ns;
	} else if (now_ns - w->overflow_last_ns > QUIET_NS) {
		w->overflow_since_ns = 0;
	}
	g->learn_overflow_seen = sum;
}

void gateway_watch_counters(struct gateway *g)
{
	uint64_t now_ns = clock_ns();

	watch_books(g, now_ns);
	watch_overflow(g, now_ns);
}

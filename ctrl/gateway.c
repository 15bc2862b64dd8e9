/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/gateway.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "ctrl/captures.h"
#include "ctrl/cores.h"
#include "ctrl/flows.h"
#include "ctrl/learner.h"
#include "ctrl/links.h"
#include "ctrl/netlink.h"
#include "ctrl/permanent.h"
#include "ctrl/ports.h"
#include "ctrl/underlay.h"
#include "ctrl/views.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/rcu.h"

#define FDB_CAPACITY 4096	/* at first; it grows */
/* Events taken before the loop gets its turn again, 0.2 us each. */
#define EVENTS_PER_WAKE 4096

static int make_tunnels(struct gateway *g)
{
	const struct conf_tunnels *t = &g->conf->tunnels;
	static const uint8_t df[] = {
		[CONF_DF_SET] = DF_SET,
		[CONF_DF_UNSET] = DF_UNSET,
		[CONF_DF_INHERIT] = DF_INHERIT,
	};
	static const uint8_t checksum[] = {
		[CONF_CHECKSUM_AUTO] = CHECKSUM_AUTO,
		[CONF_CHECKSUM_ON] = CHECKSUM_ON,
		[CONF_CHECKSUM_OFF] = CHECKSUM_OFF,
	};
	struct tunnel_options o = {
		.udp_port = t->udp_port,
		.source_port_min = t->source_port_min,
		.source_port_max = t->source_port_max,
		.ttl = t->ttl,
		.dscp = t->dscp,
		.dscp_inherit = t->dscp_inherit,
		.df = df[t->df],
		.checksum = checksum[t->checksum],
	};

	if (!t->present)
		return 0;
	if (t->n_local > VTEP_LOCAL_MAX) {
		log_error("tunnels: local: more than %d VTEP addresses", VTEP_LOCAL_MAX);
		return -EINVAL;
	}
	o.n_local = (uint32_t)t->n_local;
	memcpy(o.local, t->local, t->n_local * sizeof(*t->local));
	g->tunnels = tunnels_create(&o);
	g->vnis = calloc(g->n_networks, sizeof(*g->vnis));
	if (!g->tunnels || !g->vnis)
		return -ENOMEM;
	for (uint32_t i = 1; i < g->n_networks; i++) {
		if (!g->conf->networks[i].vni)
			continue;
		tunnels_set_vni(g->tunnels, g->conf->networks[i].vni, (uint16_t)i);
		g->vnis[g->n_vnis++] = g->conf->networks[i].vni;
	}
	g->tables->tunnels = g->tunnels;
	return 0;
}

/* Everything that is memory and nothing else. */
static int make_tables(struct gateway *g)
{
	int r;

	g->tables = calloc(1, sizeof(*g->tables));
	g->port = calloc(g->n_ports + 1, sizeof(*g->port));
	g->network = calloc(g->n_networks + 1, sizeof(*g->network));
	g->tunnel = calloc(TUNNEL_MAX, sizeof(*g->tunnel));
	if (!g->tables || !g->port || !g->network || !g->tunnel)
		return -ENOMEM;
	g->tables->fdb = fdb_create(FDB_CAPACITY);
	if (!g->tables->fdb)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_ports; i++) {
		struct gateway_port *port = &g->port[i];

		port->conf = &g->conf->ports[i];
		port->shut = !port->conf->enabled;
		port->closed_state = GATEWAY_PORT_MISSING;
		port->checked = true;	/* conf_check_host came before us */
		port->state = port->shut ? GATEWAY_PORT_SHUT : GATEWAY_PORT_MISSING;
		port->since_ns = g->started_ns;
	}
	r = make_tunnels(g);
	return r ? r : views_create(g, &g->views);
}

/* Ports with a socket for each worker. */
static uint32_t n_sockets(const struct conf *conf)
{
	uint32_t n = 0;

	for (size_t i = 0; i < conf->n_ports; i++)
		n += conf->ports[i].type == CONF_PORT_NETDEV ||
		     conf->ports[i].type == CONF_PORT_INTERNAL;
	return n;
}

static uint32_t n_workers(const struct conf *conf)
{
	return conf->cores ? (uint32_t)conf->n_cores : 1;
}

static int make_workers(struct gateway *g)
{
	int lone = cores_default();
	const int *cores = g->conf->cores ? g->conf->cores : &lone;
	uint32_t n = n_workers(g->conf);
	uint32_t n_frames = port_frames_needed(n_sockets(g->conf), g->conf->ring);
	uint32_t cookie;
	char why[256];
	int r;

	if (n > WORKER_MAX) {
		log_error("workers: cores: %u cores, at most %d", n, WORKER_MAX);
		return -EINVAL;
	}
	log_info("memory: %u worker%s with %u frames of %u bytes, %" PRIu64 " MiB in all", n,
		 n == 1 ? "" : "s", n_frames, FRAME_BYTES,
		 (uint64_t)n * n_frames * FRAME_BYTES >> 20);
	if (getrandom(&cookie, sizeof(cookie), 0) != sizeof(cookie))
		cookie = (uint32_t)clock_ns();
	for (uint32_t i = 0; i < n; i++) {
		struct worker_options o = {
			.index = i,
			.core = cores[i],
			.busy = g->conf->busy,
			.n_frames = n_frames,
			.cookie = cookie,
			.tables = g->tables,
		};

		r = worker_create(&o, &g->worker[i], why, sizeof(why));
		if (r < 0) {
			log_error("%s", why);
			return r;
		}
		g->n_workers++;
	}
	cores_avoid(cores, n);
	if (worker_event_fd() >= 0)
		return 0;
	log_error("eventfd: %s", strerror(-worker_event_fd()));
	return worker_event_fd();
}

static int add_static(struct gateway *g, uint16_t network, const struct conf_static *s)
{
	uint16_t egress = (uint16_t)s->port;

	if (s->port < 0)
		egress = g->tunnels ? tunnels_find(g->tunnels, &s->vtep) : EGRESS_NONE;
	if (!views_carries(g->views, network, egress)) {
		log_warn("%s:%u:%u: this static entry has no way: the network is not there",
			 s->where.file, s->where.line, s->where.column);
		return 0;
	}
	return learner_add(g->learner, fdb_key(network, s->mac.byte), egress);
}

static int make_learner(struct gateway *g)
{
	int r = learner_create(g, &g->learner);

	for (uint32_t i = 1; i < g->n_networks && r == 0; i++) {
		const struct conf_network *c = &g->conf->networks[i];

		for (size_t k = 0; k < c->n_statics && r == 0; k++)
			r = add_static(g, (uint16_t)i, &c->statics[k]);
	}
	return r;
}

static void on_netlink_event(void *arg, const struct nlmsghdr *m)
{
	struct gateway *g = arg;

	if (m->nlmsg_type == RTM_NEWLINK || m->nlmsg_type == RTM_DELLINK)
		links_event(g->links, m);
	else if (g->underlay)
		underlay_event(g->underlay, m);
}

static void on_netlink_resync(void *arg)
{
	struct gateway *g = arg;

	links_resync(g->links);
	if (g->underlay)
		underlay_refresh(g->underlay);
}

static int make_netlink(struct gateway *g)
{
	/* The first is all that a gateway without tunnels has to hear. */
	static const unsigned int groups[] = {
		RTNLGRP_LINK,	     RTNLGRP_NEIGH,	  RTNLGRP_IPV4_ROUTE,  RTNLGRP_IPV6_ROUTE,
		RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_RULE,   RTNLGRP_IPV6_RULE,
		RTNLGRP_NEXTHOP,
	};
	struct netlink_options o = {
		.loop = g->loop,
		.groups = groups,
		.n_groups = g->tunnels ? ARRAY_SIZE(groups) : 1,
		.event = on_netlink_event,
		.resync = on_netlink_resync,
		.arg = g,
	};
	int r = links_create(g, &g->links);

	if (r == 0 && g->tunnels)
		r = underlay_create(g, &g->underlay);
	return r ? r : netlink_create(&o, &g->netlink);
}

static int start_workers(struct gateway *g)
{
	for (uint32_t i = 0; i < g->n_workers; i++) {
		int r = worker_start(g->worker[i]);

		if (r < 0) {
			log_error("worker %u: no thread: %s", i, strerror(-r));
			return r;
		}
	}
	return 0;
}

static void take_resolve_events(struct gateway *g)
{
	uint16_t egress;

	for (uint32_t i = 0; i < g->n_workers; i++)
		for (uint32_t n = EVENTS_PER_WAKE / g->n_workers;
		     n && spsc_pop(worker_resolve_events(g->worker[i]), &egress); n--)
			if (g->underlay)
				underlay_wanted(g->underlay, egress);
}

static void on_worker_events(struct loop_watch *watch)
{
	struct gateway *g = container_of(watch, struct gateway, worker_events);
	uint64_t counter = 1;
	ssize_t n;

	/* Emptied first: an event that comes from here on makes it readable again. */
	n = read(watch->fd, &counter, sizeof(counter));
	take_resolve_events(g);
	counter = 1;
	if (learner_drain(g->learner, EVENTS_PER_WAKE))
		n = write(watch->fd, &counter, sizeof(counter));
	(void)n;
}

static void on_second(struct loop_timer *timer)
{
	struct gateway *g = container_of(timer, struct gateway, every_second);

	ports_every_second(g);
	/* A wake-up that got lost would else wait for the next event. */
	take_resolve_events(g);
	learner_drain(g->learner, EVENTS_PER_WAKE);
	flows_every_second(g->flows);
	captures_every_second(g->captures);
	permanent_every_second(g->permanent);
	if (g->underlay)
		underlay_every_second(g->underlay);
	gateway_watch_counters(g);
}

/* Nothing here fails: from now on the loop has operations of ours. */
static void start_loop(struct gateway *g)
{
	netlink_start(g->netlink);
	links_resync(g->links);
	if (g->underlay)
		underlay_refresh(g->underlay);
	learner_start(g->learner);
	loop_watch_start(g->loop, &g->worker_events, worker_event_fd(), on_worker_events);
	loop_timer_start(g->loop, &g->every_second, 1000, on_second);
}

int gateway_create(const struct conf *conf, struct loop *loop, const char *run_dir,
		   struct gateway **gateway)
{
	struct gateway *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return -ENOMEM;
	/* An RCU reader that reads nothing while it waits for events. */
	rcu_register_thread();
	loop_set_rest(loop, rcu_thread_offline, rcu_thread_online);
	g->conf = conf;
	g->loop = loop;
	g->run_dir = run_dir;
	g->started_ns = clock_ns();
	g->n_ports = (uint32_t)conf->n_ports;
	g->n_networks = (uint32_t)max_of(conf->n_networks, (size_t)1);
	r = -E2BIG;
	if (conf->n_ports > PORT_MAX || conf->n_networks > NETWORK_MAX)
		log_error("at most %d ports and %d networks", PORT_MAX, NETWORK_MAX - 1);
	else
		r = make_tables(g);
	if (r == 0)
		r = flows_create(g, n_workers(conf), &g->flows);
	if (r == 0)
		r = make_workers(g);
	if (r == 0)
		r = make_learner(g);
	/* Listens before the ports are opened, so that nothing is missed in between. */
	if (r == 0)
		r = make_netlink(g);
	if (r == 0)
		r = captures_create(g, &g->captures);
	if (r == 0)
		r = ports_open_all(g);
	if (r == 0)
		r = start_workers(g);
	if (r == 0)
		r = permanent_create(g, &g->permanent);
	if (r < 0) {
		if (r == -ENOMEM)
			log_error("not enough memory");
		gateway_destroy(g);
		return r;
	}
	start_loop(g);
	*gateway = g;
	return 0;
}

static void log_books(const struct gateway *g)
{
	struct gateway_books b;

	gateway_books(g, &b);
	if (b.rx + b.copied + b.generated == b.tx + b.drops)
		log_info("books: rx %" PRIu64 " + copied %" PRIu64 " + generated %" PRIu64
			 " = tx %" PRIu64 " + drops %" PRIu64 ": balanced",
			 b.rx, b.copied, b.generated, b.tx, b.drops);
	else
		log_error("books: rx %" PRIu64 " + copied %" PRIu64 " + generated %" PRIu64
			  ", but tx %" PRIu64 " + drops %" PRIu64 ": NOT balanced",
			  b.rx, b.copied, b.generated, b.tx, b.drops);
}

static void stop_loop(struct gateway *g)
{
	loop_timer_stop(&g->every_second);
	loop_watch_stop(&g->worker_events);
	if (g->learner)
		learner_stop(g->learner);
	if (g->underlay && g->netlink)
		underlay_release(g->underlay);
	netlink_destroy(g->netlink);
}

void gateway_destroy(struct gateway *g)
{
	if (!g)
		return;
	stop_loop(g);
	for (uint32_t i = 0; i < g->n_workers; i++)
		worker_stop(g->worker[i]);
	if (g->n_workers)
		log_books(g);
	captures_destroy(g->captures);
	permanent_destroy(g->permanent);
	ports_close_all(g);
	links_destroy(g->links);
	underlay_destroy(g->underlay);
	learner_destroy(g->learner);
	for (uint32_t i = 0; i < g->n_workers; i++)
		worker_destroy(g->worker[i]);
	rcu_barrier();
	flows_destroy(g->flows);
	views_destroy(g->views);
	tunnels_destroy(g->tunnels);
	if (g->tables)
		fdb_destroy(g->tables->fdb);
	free(g->tables);
	free(g->vnis);
	free(g->tunnel);
	free(g->network);
	free(g->port);
	loop_set_rest(g->loop, NULL, NULL);
	rcu_unregister_thread();
	free(g);
}

int gateway_port_shut(struct gateway *g, uint16_t port, bool shut)
{
	if (port >= g->n_ports)
		return -ENOENT;
	if (g->port[port].shut == shut)
		return 0;
	g->port[port].shut = shut;
	ports_settle(g, port);
	return 0;
}

int gateway_fdb_add(struct gateway *g, uint16_t network, const struct mac *mac, uint16_t egress,
		    char *why, uint32_t why_bytes)
{
	char text[IP_TEXT_BYTES];

	if (network == NETWORK_NONE || network >= g->n_networks) {
		snprintf(why, why_bytes, "no such network");
		return -ENOENT;
	}
	if (mac_is_group(mac) || mac_is_zero(mac)) {
		snprintf(why, why_bytes, "a group address or zero is nobody's address");
		return -EINVAL;
	}
	if (!views_carries(g->views, network, egress)) {
		snprintf(why, why_bytes, "network %s does not reach %s: give it there first",
			 g->conf->networks[network].name, gateway_egress_name(g, egress, text));
		return -EINVAL;
	}
	if (learner_add(g->learner, fdb_key(network, mac->byte), egress) < 0) {
		snprintf(why, why_bytes, "no memory");
		return -ENOMEM;
	}
	return 0;
}

int gateway_fdb_del(struct gateway *g, uint16_t network, const struct mac *mac, char *why,
		    uint32_t why_bytes)
{
	char text[MAC_TEXT_BYTES];

	if (network == NETWORK_NONE || network >= g->n_networks) {
		snprintf(why, why_bytes, "no such network");
		return -ENOENT;
	}
	if (learner_del(g->learner, fdb_key(network, mac->byte)) < 0) {
		snprintf(why, why_bytes, "%s is not in network %s", mac_format(mac, text),
			 g->conf->networks[network].name);
		return -ENOENT;
	}
	return 0;
}

uint32_t gateway_fdb_flush(struct gateway *g, uint16_t network, uint16_t egress)
{
	return learner_flush(g->learner, network, egress);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/underlay_own.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/log.h"

#define ASK_AGAIN_NS (1 * NS_PER_S)	/* what a packet wants is asked for no more often */
#define USE_FAILED_NS (2 * NS_PER_S)	/* a neighbour that does not answer is tried so often */
#define USE_FRESH_NS (15 * NS_PER_S)	/* one that the kernel does not manage is kept fresh */
#define REFRESH_S 60			/* everything, in case an event has no message */

/* Way @k has a new outcome: @port and @hop_address, or why not. */
static void set_way(struct underlay *u, uint32_t k, const struct ip *hop_address, uint16_t port,
		    uint32_t mtu)
{
	struct way *way = &u->way[k];
	uint32_t old = way->hop;

	way->routed = hop_address;
	way->hop = HOP_NONE;
	if (hop_address) {
		way->port = port;
		way->mtu = (uint16_t)min_of(mtu, 65535u);
		way->hop = hops_get(&u->hops, u->g->port[port].info.ifindex, hop_address);
		if (way->hop == HOP_NONE)
			snprintf(way->why, sizeof(way->why), "no memory");
	}
	hops_put(&u->hops, old);
	underlay_publish(u, k);
}

__attribute__((format(printf, 3, 4)))
static void no_way(struct underlay *u, uint32_t k, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(u->way[k].why, sizeof(u->way[k].why), format, ap);
	va_end(ap);
	set_way(u, k, NULL, 0, 0);
}

static int port_of_link(const struct underlay *u, int ifindex)
{
	for (uint32_t i = 0; i < u->g->n_ports; i++)
		if (u->g->port[i].conf->underlay && u->g->port[i].port &&
		    u->g->port[i].info.ifindex == ifindex)
			return (int)i;
	return -1;
}

/* The kernel's answer for way @k is in u->route. */
static void take_route(struct underlay *u, uint32_t k, int error)
{
	const struct rtnl_route *route = &u->route;
	char device[IF_NAMESIZE] = "?";
	int port = port_of_link(u, route->oif);
	uint32_t mtu;

	if (error == -EINVAL || error == -EACCES) {
		/* fib_props of the kernel: blackhole and prohibit */
		no_way(u, k, "the route is %s", error == -EINVAL ? "a blackhole" : "prohibited");
	} else if (error) {
		no_way(u, k, "no route (%s)", strerror(-error));
	} else if (!u->answered) {
		no_way(u, k, "no route (the kernel's answer made no sense)");
	} else if (route->type == RTN_LOCAL) {
		no_way(u, k, "this address is on this host");
	} else if (route->type != RTN_UNICAST) {
		no_way(u, k, "the route is no unicast route");
	} else if (port < 0) {
		if_indextoname((unsigned int)route->oif, device);
		no_way(u, k, "the route leaves by %s, which is not in tunnels: underlay", device);
	} else {
		mtu = u->g->port[port].info.mtu;
		if (route->mtu && route->mtu < mtu)
			mtu = route->mtu;
		set_way(u, k, ip_is_none(&route->gateway) ? remote_of(u, k) : &route->gateway,
			(uint16_t)port, mtu);
	}
}

static void mark(struct underlay *u, uint32_t k)
{
	u->way[k].dirty = true;
	u->first_dirty = min_of(u->first_dirty, k);
}

static void send_question(struct underlay *u, enum question question, uint32_t subject)
{
	u->question = question;
	u->subject = subject;
	u->answered = false;
	netlink_send(u->g->netlink, &u->request);
}

/* Asks for way @k, unless it is settled without: then false. */
static bool ask_route(struct underlay *u, uint32_t k)
{
	const struct tunnel_options *o = &u->g->tunnels->options;
	uint32_t local = underlay_local_for(u, remote_of(u, k));
	char address[IP_TEXT_BYTES];

	u->way[k].dirty = false;
	u->way[k].asked_ns = clock_ns();
	if (local == o->n_local) {
		no_way(u, k, "tunnels: local has no %s address",
		       ip_is_v4(remote_of(u, k)) ? "IPv4" : "IPv6");
		return false;
	}
	if (!u->local[local].present) {
		no_way(u, k, "our VTEP address %s is not on this host",
		       ip_format(&o->local[local], address));
		return false;
	}
	rtnl_get_route(u->request.message, remote_of(u, k), &o->local[local]);
	send_question(u, ASK_ROUTE, k);
	return true;
}

static bool ask_local(struct underlay *u)
{
	static const struct ip none;

	for (uint32_t i = 0; i < u->g->tunnels->options.n_local; i++) {
		if (!u->local[i].dirty)
			continue;
		u->local[i].dirty = false;
		rtnl_get_route(u->request.message, &u->g->tunnels->options.local[i], &none);
		send_question(u, ASK_LOCAL, i);
		return true;
	}
	return false;
}

static bool ask_hop(struct underlay *u)
{
	for (uint32_t i = 0; i < u->hops.n; i++) {
		struct hop *hop = &u->hops.hop[i];

		if (hop->want_get) {
			hop->want_get = false;
			rtnl_get_neigh(u->request.message, hop->ifindex, &hop->address);
			send_question(u, ASK_NEIGH, i);
			return true;
		}
		/* The kernel would forget that an entry is permanent, and resolve it. */
		if (hop->want_use && hop->fixed) {
			hop->want_use = false;
			if (!hop->users)
				*hop = (struct hop){0};
		}
		if (hop->want_use) {
			hop->want_use = false;
			hop->used_ns = clock_ns();
			u->managed = hop->users && !u->unmanaged;
			rtnl_use_neigh(u->request.message, hop->ifindex, &hop->address,
				       u->managed);
			send_question(u, TELL_USE, i);
			return true;
		}
	}
	return false;
}

/* The next piece of work, when none is under way: addresses, then routes, then neighbours. */
static void proceed(struct underlay *u)
{
	if (u->question != ASK_NOTHING || ask_local(u))
		return;
	while (u->first_dirty < u->g->tunnels->n_tunnels) {
		if (u->way[u->first_dirty].dirty && ask_route(u, u->first_dirty))
			return;
		u->first_dirty++;
	}
	ask_hop(u);
}

static void publish_hop(struct underlay *u, uint32_t hop)
{
	for (uint32_t k = 0; k < u->g->tunnels->n_tunnels; k++)
		if (u->way[k].hop == hop)
			underlay_publish(u, k);
}

static void take_neigh(struct underlay *u, const struct nlmsghdr *m)
{
	struct rtnl_neigh neigh;
	uint32_t hop;

	if (!rtnl_parse_neigh(m, &neigh))
		return;
	hop = hops_learn(&u->hops, &neigh);
	if (hop != HOP_NONE)
		publish_hop(u, hop);
}

/* The kernel has answered for hop @i; that it knows no such neighbour (-ENOENT) is an answer
 * too. */
static void know_hop(struct underlay *u, uint32_t i)
{
	if (u->hops.hop[i].known)
		return;
	u->hops.hop[i].known = true;
	publish_hop(u, i);
}

static void on_reply(struct netlink_request *request, const struct nlmsghdr *m)
{
	struct underlay *u = container_of(request, struct underlay, request);

	if (u->question == ASK_NEIGH)
		take_neigh(u, m);
	else if (u->question == ASK_LOCAL || u->question == ASK_ROUTE)
		u->answered = rtnl_parse_route(m, &u->route);
}

static void mark_all(struct underlay *u)
{
	for (uint32_t k = 0; k < u->g->tunnels->n_tunnels; k++)
		u->way[k].dirty = true;
	u->first_dirty = 0;
}

static void take_local(struct underlay *u, uint32_t i, int error)
{
	bool present = !error && u->answered && u->route.type == RTN_LOCAL;
	char address[IP_TEXT_BYTES];

	if (present == u->local[i].present)
		return;
	u->local[i].present = present;
	ip_format(&u->g->tunnels->options.local[i], address);
	if (present)
		log_info("VTEP address %s is on this host", address);
	else
		log_error("VTEP address %s is not on this host: its tunnels are down until `ip "
			  "addr add %s dev lo`",
			  address, address);
	mark_all(u);
}

static void take_use(struct underlay *u, uint32_t i, int error)
{
	struct hop *hop = &u->hops.hop[i];

	if (!hop->users && !hop->want_use) {
		*hop = (struct hop){0};
		return;
	}
	hop->managed = u->managed && !error;
	if (u->managed && (error == -EINVAL || error == -EOPNOTSUPP)) {
		u->unmanaged = true;
		hop->want_use = true;
	}
}

static void on_done(struct netlink_request *request, int error)
{
	struct underlay *u = container_of(request, struct underlay, request);
	enum question question = u->question;
	bool again = error == -ENOBUFS || error == -EINTR;
	uint32_t i = u->subject;

	u->question = ASK_NOTHING;
	if (question == ASK_LOCAL && again)
		u->local[i].dirty = true;
	else if (question == ASK_LOCAL)
		take_local(u, i, error);
	else if (question == ASK_ROUTE && again)
		mark(u, i);
	else if (question == ASK_ROUTE)
		take_route(u, i, error);
	else if (question == ASK_NEIGH && again)
		u->hops.hop[i].want_get = true;
	else if (question == ASK_NEIGH)
		know_hop(u, i);
	else
		take_use(u, i, error);
	proceed(u);
}

void underlay_refresh(struct underlay *u)
{
	for (uint32_t i = 0; i < u->g->tunnels->options.n_local; i++)
		u->local[i].dirty = true;
	for (uint32_t i = 0; i < u->hops.n; i++)
		u->hops.hop[i].want_get = u->hops.hop[i].users;
	mark_all(u);
	proceed(u);
}

void underlay_wanted(struct underlay *u, uint16_t egress)
{
	uint32_t k = (uint32_t)egress - EGRESS_TUNNEL0;
	uint64_t now_ns = clock_ns();
	struct way *way;
	struct hop *hop;

	if (!egress_is_tunnel(egress) || k >= u->g->tunnels->n_tunnels)
		return;
	way = &u->way[k];
	if (!way->routed || way->hop == HOP_NONE) {
		if (now_ns - way->asked_ns >= ASK_AGAIN_NS)
			mark(u, k);
	} else {
		hop = &u->hops.hop[way->hop];
		if (!hop->usable && now_ns - hop->used_ns >= ASK_AGAIN_NS)
			hop->want_use = true;
	}
	proceed(u);
}

/* Marks the tunnels whose remote a changed route covers. */
static void take_route_event(struct underlay *u, const struct nlmsghdr *m)
{
	struct rtnl_route route;

	if (!rtnl_parse_route(m, &route))
		return;
	for (uint32_t k = 0; k < u->g->tunnels->n_tunnels; k++)
		if (rtnl_prefix_covers(&route.dst, route.dst_bits, remote_of(u, k)))
			mark(u, k);
	proceed(u);
}

void underlay_event(struct underlay *u, const struct nlmsghdr *m)
{
	switch (m->nlmsg_type) {
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		take_neigh(u, m);
		proceed(u);
		break;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		take_route_event(u, m);
		break;
	default:
		underlay_refresh(u);
	}
}

void underlay_every_second(struct underlay *u)
{
	uint64_t now_ns = clock_ns();

	for (uint32_t i = 0; i < u->hops.n; i++) {
		struct hop *hop = &u->hops.hop[i];
		uint64_t age_ns = now_ns - hop->used_ns;

		if (hop->users && ((!hop->usable && age_ns >= USE_FAILED_NS) ||
				   (!hop->managed && age_ns >= USE_FRESH_NS)))
			hop->want_use = true;
	}
	if (++u->seconds % REFRESH_S == 0)
		underlay_refresh(u);
	else
		proceed(u);
}

int underlay_create(struct gateway *g, struct underlay **underlay)
{
	struct underlay *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->g = g;
	u->request.reply = on_reply;
	u->request.done = on_done;
	for (uint32_t i = 0; i < VTEP_LOCAL_MAX; i++)
		u->local[i].present = true;
	for (uint32_t k = 0; k < TUNNEL_MAX; k++) {
		u->way[k].hop = HOP_NONE;
		g->tunnel[k].since_ns = clock_ns();
		snprintf(g->tunnel[k].why, sizeof(g->tunnel[k].why), "not asked for yet");
	}
	*underlay = u;
	return 0;
}

void underlay_release(struct underlay *u)
{
	uint32_t message[RTNL_REQUEST_BYTES / 4];

	for (uint32_t i = 0; i < u->hops.n; i++) {
		if (!u->hops.hop[i].managed)
			continue;
		rtnl_use_neigh(message, u->hops.hop[i].ifindex, &u->hops.hop[i].address, false);
		netlink_post(u->g->netlink, message);
	}
}

void underlay_destroy(struct underlay *u)
{
	if (!u)
		return;
	hops_fini(&u->hops);
	free(u);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What underlay.c (asks, hears, decides) and underlay_publish.c (tells workers and people) share.
 */
#ifndef CTRL_UNDERLAY_OWN_H
#define CTRL_UNDERLAY_OWN_H

#include "ctrl/gateway.h"
#include "ctrl/hops.h"
#include "ctrl/underlay.h"

enum question { ASK_NOTHING, ASK_LOCAL, ASK_ROUTE, ASK_NEIGH, TELL_USE };

/* What is known of the way to one remote VTEP. */
struct way {
	bool dirty;		/* to be asked for */
	bool routed;
	uint16_t port;		/* the underlay port */
	uint16_t mtu;
	uint32_t hop;
	uint64_t asked_ns;
	char why[128];		/* when it is not routed */
	struct tunnel_path published;
};

struct local {
	bool dirty;
	bool present;		/* the host has this address */
};

struct underlay {
	struct gateway *g;
	struct netlink_request request;
	uint8_t question;	/* that request stands for; ASK_NOTHING: none is under way */
	uint32_t subject;
	bool managed;		/* that the request asked for */
	bool answered;
	struct rtnl_route route;
	bool unmanaged;		/* this kernel knows no managed neighbours */
	uint32_t seconds;
	struct local local[VTEP_LOCAL_MAX];
	struct way way[TUNNEL_MAX];
	uint32_t first_dirty;	/* no way below it is */
	struct hops hops;
};

static inline const struct ip *remote_of(const struct underlay *u, uint32_t k)
{
	return &u->g->tunnels->tunnel[k]->remote;
}

/* Which of our addresses is the source for @remote; n_local when none is of its family. */
uint32_t underlay_local_for(const struct underlay *u, const struct ip *remote);

/* Way @k or what it stands on has changed: its path is derived anew, published when it is another,
 * and logged when its state is. */
void underlay_publish(struct underlay *u, uint32_t k);

#endif

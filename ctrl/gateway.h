/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gateway: everything that runs, built from a struct conf. Commands read it and call it.
 *
 * Life: gateway_create (tables, workers, ports that are there; traffic flows when it returns 0),
 * gateway_destroy (undone in reverse). Between the two control's timers and netlink keep it true:
 * ports that are missing are opened when they appear, tunnels follow routes and neighbours, learn
 * events become FDB entries, old entries age.
 *
 * Index i of port[] is egress id i and conf->ports[i]. Network ids are indices of conf->networks[].
 * Threads: control only.
 */
#ifndef CTRL_GATEWAY_H
#define CTRL_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>

#include "afxdp/port.h"
#include "afxdp/worker.h"
#include "conf/conf.h"
#include "ctrl/loop.h"
#include "dataplane/lane.h"
#include "tunnels/tunnel.h"

enum gateway_port_state {
	GATEWAY_PORT_UP,
	GATEWAY_PORT_NO_LINK,
	GATEWAY_PORT_MISSING,	/* the device is not there; opened when it appears */
	GATEWAY_PORT_SHUT,	/* enabled: false, or `culvert port disable` */
	GATEWAY_PORT_FAILED,	/* the device is there, but refused: see why; tried again */
	GATEWAY_PORT_DONE,	/* a pcap file was read to its end */
};

/* A MAC limit that was reached. */
struct mac_limit {
	uint64_t hits;		/* MACs not learned because of it */
	uint64_t since_ns;	/* of the first hit of the present trouble */
	uint64_t last_ns;	/* of the newest; 0: never */
};

struct gateway_port {
	const struct conf_port *conf;
	struct port *port;	/* NULL when it is not open */
	uint8_t state;		/* enum gateway_port_state */
	bool shut;
	uint64_t since_ns;	/* of state */
	uint32_t macs;		/* learned here, now */
	struct mac_limit limit;
	char why[256];		/* of MISSING and FAILED: what, and the cure */
	struct port_info info;	/* refreshed once a second */
	/* ports.c */
	char device[16];	/* what the port was opened with */
	uint8_t closed_state;	/* MISSING or FAILED, while port is NULL */
	bool checked;		/* the device may be taken: it is not how we are logged in, ... */
	uint32_t retry_s;	/* pause before the next try to open it */
	uint64_t retry_ns;	/* when that is */
	/* links.c */
	int peer_ifindex;	/* veth: its other end, when in our network namespace; or 0 */
	char peer_offload[16];	/* the other end's name, when it leaves checksums to us */
};

struct gateway_network {
	uint32_t macs;		/* entries now, static ones included */
	uint64_t moves;		/* a MAC appeared behind another port or tunnel */
	uint64_t limit_hits;	/* not learned: a MAC limit was reached, its own or a port's */
	struct mac_limit limit;	/* its own */
};

struct gateway_tunnel {
	uint64_t since_ns;	/* of the state */
	char why[128];		/* when it is not OK */
	char device[16];	/* that it would leave by, as far as is known */
	bool local_missing;	/* our VTEP address of this family is not on this host */
	struct ip source;
	struct ip next_hop;
	struct mac next_hop_mac;
	uint16_t mtu;
};

/* Something that needs a person. */
struct gateway_problem {
	uint64_t since_ns;
	char what[64];		/* "port srv1", "tunnel 192.0.2.9" */
	char text[256];
	char cure[256];		/* a command to look or to mend; may be empty */
};

struct underlay;		/* ctrl/underlay.h */
struct learner;			/* ctrl/learner.h */
struct links;			/* ctrl/links.h */
struct netlink;			/* ctrl/netlink.h */
struct views;			/* ctrl/views.h */
struct flows;			/* ctrl/flows.h */
struct captures;		/* ctrl/captures.h */
struct permanent;		/* ctrl/permanent.h */

/* What only two looks at the counters can tell; see problems.c. */
struct gateway_watch {
	uint64_t books_sum;	/* both sides, at the last look: the same again at rest */
	uint64_t rest_since_ns;	/* they have been the same since */
	uint64_t books_since_ns;	/* out of balance at rest since; 0: they balance */
	uint64_t overflow_since_ns;	/* learn events are being lost since; 0: they are not */
	uint64_t overflow_last_ns;
};

struct gateway {
	const struct conf *conf;
	struct loop *loop;
	struct tables *tables;
	struct tunnels *tunnels;	/* NULL without tunnels in the configuration */
	const char *run_dir;
	uint64_t started_ns;
	uint32_t n_workers;
	struct worker *worker[WORKER_MAX];
	uint32_t n_ports;
	struct gateway_port *port;
	uint32_t n_networks;	/* including [0], unused */
	struct gateway_network *network;
	struct gateway_tunnel *tunnel;	/* tunnels->n_tunnels used, TUNNEL_MAX long */
	struct underlay *underlay;
	struct learner *learner;
	struct links *links;
	struct netlink *netlink;
	struct views *views;
	struct flows *flows;
	struct captures *captures;
	struct permanent *permanent;
	uint32_t *vnis;		/* all of ours, for the XDP program */
	uint32_t n_vnis;
	struct loop_timer every_second;
	struct loop_watch worker_events;
	uint64_t learn_overflow_seen;
	struct gateway_watch watch;
};

/* Builds everything; conf_check_host has passed. -errno after a log line that names the object and
 * the cure. */
int gateway_create(const struct conf *conf, struct loop *loop, const char *run_dir,
		   struct gateway **gateway);
/* Accepts NULL. Logs when the books do not balance. */
void gateway_destroy(struct gateway *g);

/* `culvert port enable|disable`. The socket stays; frames that still come in are dropped as
 * port-shut. */
int gateway_port_shut(struct gateway *g, uint16_t port, bool shut);

/* `culvert fdb add|del|flush`. -ENOENT, -EINVAL with a sentence in @why. network 0 and port
 * EGRESS_NONE select all in flush, which returns how many entries went; static entries stay. */
int gateway_fdb_add(struct gateway *g, uint16_t network, const struct mac *mac, uint16_t egress,
		    char *why, uint32_t why_bytes);
int gateway_fdb_del(struct gateway *g, uint16_t network, const struct mac *mac, char *why,
		    uint32_t why_bytes);
uint32_t gateway_fdb_flush(struct gateway *g, uint16_t network, uint16_t egress);

/* Once a second: what only two looks can tell. */
void gateway_watch_counters(struct gateway *g);
/* Fills up to @max problems, oldest first; returns how many there are. */
uint32_t gateway_problems(struct gateway *g, struct gateway_problem *problems, uint32_t max);

/* Names. */
int gateway_find_port(const struct gateway *g, const char *name);	/* index or -1 */
int gateway_find_network(const struct gateway *g, const char *name);	/* id or -1 */
const char *gateway_port_state_name(uint8_t state);
/* "srv1", or the VTEP's address; @text holds IP_TEXT_BYTES. */
const char *gateway_egress_name(const struct gateway *g, uint16_t egress, char *text);

/* All workers added up. */
void gateway_port_counters(const struct gateway *g, uint16_t port, struct port_counters *sum);
void gateway_tunnel_counters(const struct gateway *g, uint16_t egress, struct tunnel_counters *sum);

/* The books over all ports and workers. */
struct gateway_books {
	uint64_t rx, copied, generated, tx, drops;
	bool balanced;		/* within what is on its way right now: exact at rest */
};
void gateway_books(const struct gateway *g, struct gateway_books *books);

#endif

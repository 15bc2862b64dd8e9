/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtnetlink through the loop: requests with their answers, and what the kernel tells unasked.
 *
 * Two sockets, so that a flood of events cannot drown an answer. Requests are queued; one is under
 * way at a time, an answer is matched by its sequence number, and whatever goes wrong ends in done
 * with an error: nothing is waited for forever.
 *
 * Invariants: a request's memory is the caller's and stays where it is until done was called.
 * Only what the kernel sent (port id 0) is read.
 * Threads: control only.
 */
#ifndef CTRL_NETLINK_H
#define CTRL_NETLINK_H

#include <libmnl/libmnl.h>
#include <stdint.h>

#include "ctrl/loop.h"
#include "ctrl/rtnl.h"

struct netlink;

struct netlink_request {
	/* Each message of the answer; NULL when nobody wants them. */
	void (*reply)(struct netlink_request *request, const struct nlmsghdr *m);
	/* The end: 0 or -errno; -EINTR and -ENOBUFS: the answer has gaps, ask again. May free or
	 * resend. */
	void (*done)(struct netlink_request *request, int error);
	struct netlink_request *next;
	uint32_t message[RTNL_REQUEST_BYTES / 4];
};

struct netlink_options {
	struct loop *loop;
	const unsigned int *groups;	/* RTNLGRP_* */
	uint32_t n_groups;
	void (*event)(void *arg, const struct nlmsghdr *m);
	/* Events were lost: what is known may be old, ask for all of it. */
	void (*resync)(void *arg);
	void *arg;
};

/* Opens the sockets: events queue up from now on. 0 or -errno after a log line. */
int netlink_create(const struct netlink_options *options, struct netlink **netlink);
/* Begins to read. */
void netlink_start(struct netlink *netlink);
/* Requests that are still under way get no done. Accepts NULL. */
void netlink_destroy(struct netlink *netlink);

/* Queues @request, whose message is ready but for its sequence number. */
void netlink_send(struct netlink *netlink, struct netlink_request *request);

/* Sends a message now and forgets it: for the last moments, when no loop runs any more. */
void netlink_post(struct netlink *netlink, void *message);

#endif

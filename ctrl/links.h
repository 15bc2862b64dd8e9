/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Link events: devices that appear, vanish, get and lose their link, for the ports that stand on
 * them.
 *
 * Threads: control only.
 */
#ifndef CTRL_LINKS_H
#define CTRL_LINKS_H

#include <stdbool.h>

#include "ctrl/netlink.h"

struct gateway;
struct links;

/* -ENOMEM. */
int links_create(struct gateway *g, struct links **links);
/* After netlink_destroy. Accepts NULL. */
void links_destroy(struct links *l);

/* Asks for all links and compares: at start, and when events were lost. */
void links_resync(struct links *l);

/* RTM_NEWLINK or RTM_DELLINK. */
void links_event(struct links *l, const struct nlmsghdr *m);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/links.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctrl/gateway.h"
#include "ctrl/ports.h"
#include "ctrl/underlay.h"
#include "ctrl/views.h"
#include "lib/log.h"

struct links {
	struct gateway *g;
	struct netlink_request dump;
	bool dumping;
	bool again;		/* events were lost while the dump went on */
	bool seen[PORT_MAX];	/* ports whose device the dump has named */
};

/* Whether @ifindex computes the checksums of what it sends. Sets @name when it does not. */
static void check_offload(int ifindex, char name[16])
{
	struct ethtool_value value = {.cmd = ETHTOOL_GTXCSUM};
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	name[0] = 0;
	request.ifr_data = (void *)&value;
	if (fd >= 0 && if_indextoname((unsigned int)ifindex, request.ifr_name) &&
	    ioctl(fd, SIOCETHTOOL, &request) == 0 && value.data)
		memcpy(name, request.ifr_name, 16);
	if (fd >= 0)
		close(fd);
}

/* A port stays with its device, not with the name. A restart goes by the name again. */
static void follow_name(struct links *l, uint16_t i, const struct rtnl_link *link)
{
	struct gateway_port *port = &l->g->port[i];

	if (port->conf->type != CONF_PORT_NETDEV || !link->name[0] ||
	    strcmp(link->name, port->device) == 0)
		return;
	log_warn("port %s: its device %s is called %s now; a restart looks for what the "
		 "configuration says", port->conf->name, port->device, link->name);
	snprintf(port->device, sizeof(port->device), "%s", link->name);
	port_renamed(port->port, link->name);
}

/* The device of port @i as it is now. */
static void refresh(struct links *l, uint16_t i, const struct rtnl_link *link)
{
	struct gateway_port *port = &l->g->port[i];
	struct port_info old = port->info;

	l->seen[i] = true;
	follow_name(l, i, link);
	port_info(port->port, &port->info);
	if (port->info.mtu != old.mtu)
		views_update_port(l->g->views, i);
	if (port->conf->underlay && l->g->underlay &&
	    (port->info.mtu != old.mtu || port->info.link != old.link ||
	     memcmp(&port->info.mac, &old.mac, sizeof(old.mac)) != 0))
		underlay_refresh(l->g->underlay);
	ports_settle(l->g, i);
	if (port->conf->type != CONF_PORT_NETDEV || strcmp(port->info.driver, "veth") != 0)
		return;
	port->peer_ifindex = link->peer_elsewhere ? 0 : link->peer_ifindex;
	port->peer_offload[0] = 0;
	if (port->peer_ifindex)
		check_offload(port->peer_ifindex, port->peer_offload);
}

/* A device that no port has: perhaps the one that port @i waits for. One that was tried already and
 * failed is the timer's: opening it makes events too. */
static void try_waiting(struct links *l, uint16_t i, const struct rtnl_link *link)
{
	struct gateway_port *port = &l->g->port[i];
	char device[16];

	if (port->conf->type != CONF_PORT_NETDEV || port->closed_state != GATEWAY_PORT_MISSING)
		return;
	if (conf_port_device(port->conf, device) == 0 &&
	    if_nametoindex(device) == (unsigned int)link->ifindex)
		ports_try(l->g, i);
}

static void take_link(struct links *l, const struct rtnl_link *link)
{
	for (uint16_t i = 0; i < l->g->n_ports; i++) {
		struct gateway_port *port = &l->g->port[i];

		if (!port->port && !link->gone)
			try_waiting(l, i, link);
		else if (port->port && port->info.ifindex == link->ifindex && link->gone)
			ports_vanished(l->g, i);
		else if (port->port && port->info.ifindex == link->ifindex)
			refresh(l, i, link);
		else if (port->port && port->peer_ifindex == link->ifindex)
			check_offload(link->ifindex, port->peer_offload);
	}
}

void links_event(struct links *l, const struct nlmsghdr *m)
{
	struct rtnl_link link;

	if (rtnl_parse_link(m, &link))
		take_link(l, &link);
}

static void dump_reply(struct netlink_request *request, const struct nlmsghdr *m)
{
	links_event(container_of(request, struct links, dump), m);
}

static void dump_done(struct netlink_request *request, int error)
{
	struct links *l = container_of(request, struct links, dump);

	l->dumping = false;
	if (error && error != -EINTR && error != -ENOBUFS) {
		log_error("netlink: the list of links: %s", strerror(-error));
		return;
	}
	if (error || l->again) {
		l->again = false;
		links_resync(l);
		return;
	}
	for (uint16_t i = 0; i < l->g->n_ports; i++)
		if (l->g->port[i].port && l->g->port[i].info.ifindex && !l->seen[i])
			ports_vanished(l->g, i);
}

void links_resync(struct links *l)
{
	if (l->dumping) {
		l->again = true;
		return;
	}
	l->dumping = true;
	/* One that is opened while the dump goes on may have been passed already. */
	for (uint16_t i = 0; i < l->g->n_ports; i++)
		l->seen[i] = !l->g->port[i].port;
	rtnl_get_links(l->dump.message);
	netlink_send(l->g->netlink, &l->dump);
}

int links_create(struct gateway *g, struct links **links)
{
	struct links *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->g = g;
	l->dump.reply = dump_reply;
	l->dump.done = dump_done;
	*links = l;
	return 0;
}

void links_destroy(struct links *l)
{
	free(l);
}

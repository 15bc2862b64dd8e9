/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/capture_device.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "afxdp/netdev.h"
#include "capture/dummy.h"
#include "conf/links.h"
#include "ctrl/gateway.h"

/* What the kernel says of @device->name. */
static int look(struct capture_device *device, const struct why *why)
{
	struct netdev dev = {0};
	uint32_t mtu = 0, up = 0;
	int r = netdev_open(&dev, device->name);
	bool ethernet;

	if (r == 0)
		r = netdev_get(&dev, NETDEV_MTU, &mtu);
	if (r == 0)
		r = netdev_get(&dev, NETDEV_UP, &up);
	if (r == 0)
		r = netdev_ifindex(&dev);
	ethernet = r > 0 && netdev_is_ethernet(&dev);
	netdev_close(&dev);
	if (r < 0)
		return because(why, r, "cannot ask for device %s: %s", device->name, strerror(-r));
	if (!ethernet)
		return because(why, -EINVAL, "%s is no Ethernet device, and frames need one: name "
			       "another", device->name);
	if (!up)
		return because(why, -ENETDOWN, "%s is down: 'ip link set %s up'", device->name,
			       device->name);
	device->ifindex = r;
	device->frame_max = mtu + ETH_BYTES;
	return 0;
}

/* What is sent on a port's device, or on the other end of its pair, would not stay there. */
static int check_ports(const struct gateway *g, const struct capture_device *device,
		       const struct why *why)
{
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct gateway_port *port = &g->port[i];
		char name[16];

		if (port->info.ifindex == device->ifindex ||
		    (conf_port_device(port->conf, name) == 0 && strcmp(name, device->name) == 0))
			return because(why, -EBUSY, "%s is the device of port %s: name another",
				       device->name, port->conf->name);
		if (port->peer_ifindex == device->ifindex)
			return because(why, -EBUSY, "%s is the other end of port %s, where what "
				       "is captured would come in: name another", device->name,
				       port->conf->name);
	}
	return 0;
}

int capture_device_find(const struct gateway *g, const char *name, struct capture_device *device,
			const struct why *why)
{
	int r;

	*device = (struct capture_device){0};
	if (link_name(name, device->name) < 0)
		return because(why, -ENODEV, "there is no device '%.64s': 'ip link' lists them",
			       name);
	r = look(device, why);
	return r < 0 ? r : check_ports(g, device, why);
}

int capture_device_make(const struct gateway *g, const char *name, struct capture_device *device,
			const struct why *why)
{
	int r;

	*device = (struct capture_device){.made = true};
	dummy_name(name, device->name);
	r = dummy_create(device->name, g->run_dir, why);
	if (r < 0)
		return r;
	r = look(device, why);
	if (r < 0)
		capture_device_leave(g, device);
	return r;
}

void capture_device_leave(const struct gateway *g, const struct capture_device *device)
{
	if (device->made)
		dummy_delete(device->name, g->run_dir);
}

bool capture_device_is_there(const struct capture_device *device)
{
	char name[IF_NAMESIZE];

	return if_indextoname((unsigned int)device->ifindex, name);
}

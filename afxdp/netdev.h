/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything that is read from or set on a network device. No memory: what it was set to before is
 * kept by saved.h.
 *
 * Threads: control's.
 */
#ifndef AFXDP_NETDEV_H
#define AFXDP_NETDEV_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

/* A device by name, and the socket through which it is spoken to: names belong to the socket's
 * network namespace. */
struct netdev {
	int fd;
	char name[16];
};

/* What can be set. The order is the order in which a port sets them; they are put back in reverse.
 */
enum netdev_key {
	NETDEV_MTU,      /* bytes */
	NETDEV_COMBINED, /* queue pairs */
	NETDEV_RX_QUEUES,
	NETDEV_TX_QUEUES,
	NETDEV_RXVLAN, /* the driver takes VLAN tags out: 0 or 1, as those below */
	NETDEV_TXVLAN,
	NETDEV_TX_CHECKSUM,
	NETDEV_GRO,
	NETDEV_UP,
	NETDEV_KEYS,
};

struct netdev_channels {
	uint32_t combined;
	uint32_t max_combined; /* 0: this device has no such thing */
	uint32_t rx;
	uint32_t max_rx;
	uint32_t tx;
	uint32_t max_tx;
};

/* Opens the socket in this thread's network namespace. 0 or -errno; -ENODEV when the name cannot be
 * one. */
int netdev_open(struct netdev *dev, const char *name);
/* Accepts one that was never opened (all zero) or is closed. */
void netdev_close(struct netdev *dev);

/* "mtu", "rxvlan": as they stand in a file of saved.h. */
const char *netdev_key_name(enum netdev_key key);

/* 0 or -errno: the kernel's own. A setting that does not stick is -EOPNOTSUPP. */
int netdev_get(const struct netdev *dev, enum netdev_key key, uint32_t *value);
int netdev_set(const struct netdev *dev, enum netdev_key key, uint32_t value);

int netdev_ifindex(const struct netdev *dev); /* or -errno */
int netdev_channels(const struct netdev *dev, struct netdev_channels *channels);
/* Receive queues in use, as sysfs counts them; 0 when it does not show this namespace's devices. */
uint32_t netdev_rx_queues_in_use(const struct netdev *dev);
/* Empty text when the kernel does not tell. */
void netdev_driver(const struct netdev *dev, char driver[static 32]);
int netdev_mac(const struct netdev *dev, struct mac *mac);
bool netdev_is_ethernet(const struct netdev *dev);
uint32_t netdev_speed_mbps(const struct netdev *dev); /* 0: unknown */
bool netdev_link(const struct netdev *dev);

/* Promiscuous as long as the returned descriptor is open: the kernel ends it, even when we are
 * killed. -errno. */
int netdev_promiscuous(int ifindex);

#endif

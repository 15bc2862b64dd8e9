/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/device.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "afxdp/internal.h"
#include "afxdp/peer.h"
#include "afxdp/steer.h"
#include "lib/bits.h"
#include "lib/nl.h"

/* What is peculiar about a driver. */
static const struct driver {
	const char *name;
	uint32_t native_mtu;    /* 0: the driver says so itself when it is too much */
	bool passes_tags_aside; /* tags travel beside the frame whatever rxvlan says */
	const char *hint;       /* NULL: none */
} drivers[] = {
    {"veth", MTU_LIMIT_PAGE, true, NULL},
    {"virtio_net", MTU_LIMIT_PAGE, false, NULL},
    {"bonding", 0, true, "AF_XDP does little on a bond: name its members as ports instead"},
    {"team", 0, true, "AF_XDP does little on a team: name its members as ports instead"},
    {"bridge", 0, true, "AF_XDP is slow on a bridge: name its members as ports instead"},
    {"macvlan", 0, true, NULL},
    {"dummy", 0, true, NULL},
    {"ixgbe", 0, false,
     "hashes UDP on addresses only; for an even spread of VXLAN source ports: "
     "ethtool -N DEV rx-flow-hash udp4 sdfn"},
    {"igc", 0, false,
     "hashes UDP on addresses only; for an even spread of VXLAN source ports: "
     "ethtool -N DEV rx-flow-hash udp4 sdfn"},
};

static const struct driver *find_driver(const char *name)
{
	static const struct driver other;

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(drivers[i].name, name) == 0)
			return &drivers[i];
	return &other;
}

uint32_t device_native_mtu_limit(const struct device *d)
{
	uint32_t limit = find_driver(d->driver)->native_mtu;

	return limit ? limit : MTU_LIMIT_CHUNK;
}

bool device_is_veth(const struct device *d)
{
	return strcmp(d->driver, "veth") == 0;
}

const char *device_peer(const struct device *d)
{
	return d->peer[0] ? d->peer : "PEER";
}

uint32_t device_mtu(const struct device *d)
{
	uint32_t mtu;

	return netdev_get(&d->netdev, NETDEV_MTU, &mtu) ? 0 : mtu;
}

static int find(struct device *d, const struct why *why)
{
	const struct port_options *o = d->options;
	char name[16];
	int r;

	if (o->kind == PORT_INTERNAL) {
		r = internal_open(o->device, &o->mac, o->persist, o->run_dir, why);
		if (r)
			return r;
		internal_our_end(o->device, name);
		r = netdev_open(&d->netdev, name);
	} else {
		r = netdev_open(&d->netdev, o->device);
	}
	d->ifindex = r ? r : netdev_ifindex(&d->netdev);
	if (d->ifindex < 0)
		return because(
		    why, d->ifindex,
		    "%s: no such device; `ip link` lists those there are, `missing: wait` "
		    "waits for it",
		    o->device);
	netdev_driver(&d->netdev, d->driver);
	return 0;
}

static int explain_change(const struct device *d, enum netdev_key key, uint32_t value, int error,
			  const struct why *why)
{
	return because(why, error, "%s: setting %s to %u failed: %s", d->netdev.name,
		       netdev_key_name(key), value, strerror(-error));
}

static int set_mtu(struct device *d, const struct why *why)
{
	uint32_t mtu = d->options->mtu ? d->options->mtu : device_mtu(d);
	struct netdev host;
	int r;

	if (mtu > MTU_LIMIT_CHUNK)
		return because(
		    why, -ERANGE,
		    "%s: MTU %u is over the limit of %u (native mode of veth and virtio_net: "
		    "%u); ip link set dev %s mtu %u, or set mtu: of the port",
		    d->options->device, mtu, MTU_LIMIT_CHUNK, MTU_LIMIT_PAGE, d->options->device,
		    device_native_mtu_limit(d));
	if (!d->options->mtu)
		return 0;
	r = saved_change(&d->saved, &d->netdev, NETDEV_MTU, mtu);
	if (r)
		return explain_change(d, NETDEV_MTU, mtu, r, why);
	/* The host's end may live in another namespace: its owner sets it there. */
	if (d->options->kind == PORT_INTERNAL && !netdev_open(&host, d->options->device)) {
		netdev_set(&host, NETDEV_MTU, mtu);
		netdev_close(&host);
	}
	return 0;
}

static int refuse_queues(const struct device *d, uint32_t have, uint32_t n, const struct why *why)
{
	return because(why, -ENOSPC,
		       "%s: has %u queues that cannot be changed, and there are %u workers; set "
		       "workers.cores to %u core%s",
		       d->options->device, have, n, have, have == 1 ? "" : "s");
}

static int change_queues(struct device *d, enum netdev_key key, uint32_t max, uint32_t n,
			 const struct why *why)
{
	const char *what = key == NETDEV_COMBINED    ? "combined"
			   : key == NETDEV_RX_QUEUES ? "rx"
						     : "tx";
	int r;

	if (n > max)
		return because(
		    why, -ENOSPC,
		    "%s: has at most %u %s queues, and there are %u workers; set "
		    "workers.cores to %u core%s%s",
		    d->options->device, max, what, n, max, max == 1 ? "" : "s",
		    device_is_veth(d) ? ", or make the veth with numrxqueues and numtxqueues" : "");
	r = saved_change(&d->saved, &d->netdev, key, n);
	if (r)
		return because(
		    why, -ENOSPC,
		    "%s: setting %u %s queues, one a worker, failed: %s; stop what uses them "
		    "and try: ethtool -L %s %s %u%s",
		    d->options->device, n, what, strerror(-r), d->netdev.name, what, n,
		    device_is_veth(d) ? " (the peer first, when it has an XDP program)" : "");
	return 0;
}

static int set_queues(struct device *d, uint32_t n, const struct why *why)
{
	struct netdev_channels channels;
	struct nl_link link;
	int r;

	if (d->options->queues && d->options->queues != n)
		return because(
		    why, -ENOSPC,
		    "%s: queues: %u, but there are %u workers, and every worker needs one; "
		    "set queues: auto, or workers.cores to %u cores",
		    d->options->device, d->options->queues, n, d->options->queues);
	if (netdev_channels(&d->netdev, &channels)) {
		if (nl_link_by_index(d->ifindex, &link) || link.rx_queues == n)
			return 0;
		return refuse_queues(d, link.rx_queues, n, why);
	}
	if (channels.max_combined)
		return change_queues(d, NETDEV_COMBINED, channels.max_combined, n, why);
	r = change_queues(d, NETDEV_RX_QUEUES, channels.max_rx, n, why);
	return r ? r : change_queues(d, NETDEV_TX_QUEUES, channels.max_tx, n, why);
}

/* On an underlay device the kernel goes on receiving, and tagged frames are the kernel's anyhow. */
static void keep_tags_in_frames(struct device *d)
{
	uint32_t strips = 0;

	d->tag_taken = find_driver(d->driver)->passes_tags_aside;
	if (d->options->underlay || d->tag_taken)
		return;
	if (netdev_get(&d->netdev, NETDEV_RXVLAN, &strips) || !strips)
		return;
	d->tag_taken = saved_change(&d->saved, &d->netdev, NETDEV_RXVLAN, 0) != 0;
}

static int bring_up(struct device *d, const struct why *why)
{
	int r = saved_change(&d->saved, &d->netdev, NETDEV_UP, 1);

	if (r)
		return explain_change(d, NETDEV_UP, 1, r, why);
	if (d->options->underlay || d->options->kind == PORT_INTERNAL)
		return 0;
	d->promiscuous_fd = netdev_promiscuous(d->ifindex);
	if (d->promiscuous_fd < 0)
		return because(why, d->promiscuous_fd, "%s: setting promiscuous mode failed: %s",
			       d->netdev.name, strerror(-d->promiscuous_fd));
	return 0;
}

/* What a veth's peer does to frames before we see them. Of an internal port's it was set by us. */
static void look_at_peer(struct device *d)
{
	uint32_t checksum_left = 0, tag_aside = 1;
	struct netdev peer;

	if (!device_is_veth(d))
		return;
	if (d->options->kind == PORT_INTERNAL) {
		d->tag_taken = false;
		return;
	}
	if (peer_open(d->ifindex, &peer))
		return;
	memcpy(d->peer, peer.name, sizeof(d->peer));
	if (!netdev_get(&peer, NETDEV_TXVLAN, &tag_aside) && !tag_aside)
		d->tag_taken = false;
	if (!netdev_get(&peer, NETDEV_TX_CHECKSUM, &checksum_left) && checksum_left)
		snprintf(
		    d->warning, sizeof(d->warning),
		    "its peer %s leaves checksums to hardware that does not exist: TCP and UDP "
		    "from there may arrive broken; there: ethtool -K %s tx off",
		    d->peer, d->peer);
	netdev_close(&peer);
}

static int make_ready(struct device *d, uint32_t n_workers, const struct why *why)
{
	const struct port_options *o = d->options;
	const char *hint = find_driver(d->driver)->hint;
	int r = steer_clear(d->ifindex, d->netdev.name, why);

	if (r)
		return r;
	/* What becomes of our end of an internal pair is nobody's business. */
	r = saved_open(&d->saved, o->kind == PORT_INTERNAL ? NULL : o->run_dir, &d->netdev);
	if (r)
		return because(why, r, "%s: its settings cannot be kept in %s: %s", o->device,
			       o->run_dir, strerror(-r));
	if (hint)
		snprintf(d->warning, sizeof(d->warning), "%s", hint);
	r = set_mtu(d, why);
	if (!r)
		r = set_queues(d, n_workers, why);
	if (r)
		return r;
	keep_tags_in_frames(d);
	look_at_peer(d);
	return bring_up(d, why);
}

int device_open(struct device *d, const struct port_options *options, uint32_t n_workers,
		const struct why *why)
{
	int r;

	memset(d, 0, sizeof(*d));
	d->options = options;
	d->promiscuous_fd = -1;
	r = find(d, why);
	if (!r)
		r = make_ready(d, n_workers, why);
	if (r) {
		device_close(d, false);
		return r;
	}
	d->rx_metadata_known = !nl_rx_metadata(d->ifindex, &d->rx_metadata);
	return 0;
}

void device_close(struct device *d, bool gone)
{
	const struct port_options *o = d->options;

	if (d->promiscuous_fd >= 0)
		close(d->promiscuous_fd);
	d->promiscuous_fd = -1;
	if (gone)
		saved_forget(&d->saved);
	else if (d->saved.known)
		saved_restore(&d->saved, &d->netdev);
	netdev_close(&d->netdev);
	if (o->kind == PORT_INTERNAL && !o->persist)
		internal_delete(o->device, o->run_dir);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port's netdev, made ready: ours alone, up, with as many queues as there are workers, handing
 * over every frame with its VLAN tag. device_close puts everything back.
 *
 * Threads: control's.
 */
#ifndef AFXDP_DEVICE_H
#define AFXDP_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "afxdp/netdev.h"
#include "afxdp/port.h"
#include "afxdp/saved.h"
#include "lib/why.h"

/* A frame has one chunk of the UMEM less the headroom: MTU + Ethernet header + two tags. */
#define MTU_LIMIT_CHUNK (4096 - 256 - 14 - 8)
/* Drivers that put a received frame into one page, with room for the kernel's own bookkeeping. */
#define MTU_LIMIT_PAGE 3506

struct device {
	const struct port_options *options;
	struct netdev
	    netdev; /* the end that we drive: of an internal port not the one it is named by */
	int ifindex;
	int promiscuous_fd; /* -1: not */
	char driver[32];
	struct saved saved;
	uint64_t rx_metadata;   /* RX_METADATA_*: what the driver tells a bound program */
	bool rx_metadata_known; /* the kernel said so; else a driver may have it all the same */
	bool tag_taken;         /* a tag may be taken out of a frame before XDP sees it */
	char peer[16];          /* of a veth whose peer could be looked at; or empty */
	char warning[200];      /* what will lose packets or more, and the cure; or empty */
};

/* 0 or -errno with a sentence, as port_open. On an error everything is as it was. */
int device_open(struct device *device, const struct port_options *options, uint32_t n_workers,
		const struct why *why);
void device_close(struct device *device, bool gone);

uint32_t device_mtu(const struct device *device);
/* The largest MTU with which this driver takes a native XDP program; MTU_LIMIT_CHUNK where only the
 * driver knows. */
uint32_t device_native_mtu_limit(const struct device *device);
/* The peer's name for a sentence. */
const char *device_peer(const struct device *device);
/* Whether the driver is veth: what its peer is set to then counts as well. */
bool device_is_veth(const struct device *device);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short questions and orders to the kernel about a device, over netlink, each on a socket of its
 * own. What follows the kernel's news over time is ctrl's.
 *
 * Threads: control's.
 */
#ifndef LIB_NL_H
#define LIB_NL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

/* netlink/specs/netdev.yaml, xdp-rx-metadata (6.3; as an answer 6.8) */
#define RX_METADATA_TIMESTAMP (1u << 0)
#define RX_METADATA_HASH (1u << 1)
#define RX_METADATA_VLAN (1u << 2)

struct nl_link {
	int ifindex;
	char name[16];
	char kind[16]; /* "veth"; empty for hardware */
	char alias[64];
	int peer;           /* IFLA_LINK: for a veth the other end's ifindex; 0: none */
	int peer_netns;     /* netnsid that peer lives in; -1: here */
	uint32_t rx_queues; /* that it was made with, not those in use */
	struct mac mac;
};

/* Sends @message on NETLINK protocol @bus and gives every answer to @answer (or NULL). 0 or -errno:
 * the kernel's own. */
int nl_ask(int bus, struct nlmsghdr *message, mnl_cb_t answer, void *arg);

/* An rtnetlink link message in @buffer (MNL_SOCKET_BUFFER_SIZE bytes) for device @ifindex. */
struct nlmsghdr *nl_link_message(void *buffer, uint16_t type, uint16_t flags, int ifindex);

/* What there is to know of a device. 0, or -ENODEV. */
int nl_link_by_name(const char *name, struct nl_link *link);
int nl_link_by_index(int ifindex, struct nl_link *link);
int nl_link_delete(int ifindex);
/* Both are refused at creation. */
int nl_link_set_alias(int ifindex, const char *alias);
/* It takes no IPv6 address by itself, and so announces none. A kernel without IPv6 refuses, and
 * needs it not. */
int nl_link_set_no_ipv6(int ifindex);

/* What the driver can say of a received frame: RX_METADATA_* in @bits. -errno where the kernel does
 * not tell (before 6.8). */
int nl_rx_metadata(int ifindex, uint64_t *bits);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel says of network devices, read once over netlink: a picture of this moment.
 */
#ifndef CONF_LINKS_H
#define CONF_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"

#define LINK_NAME_BYTES 16	/* IFNAMSIZ */
#define LINK_KIND_BYTES 32
#define LINK_PROGRAMS_MAX 4

struct link {
	int ifindex;
	int master;		/* ifindex, 0 = none */
	int lower; /* what a VLAN, macvlan, ... sits on; 0 = nothing in this namespace */
	char name[LINK_NAME_BYTES];
	char kind[LINK_KIND_BYTES];	/* "veth", "bridge", ...; "" for hardware */
	char bus_name[32]; /* of the parent: "0000:01:00.0", "virtio2"; "" for virtual devices */
	bool loopback;
	bool has_mac;
	bool has_permanent_mac;
	struct mac mac;
	struct mac permanent_mac;
	uint32_t programs[LINK_PROGRAMS_MAX];	/* ids of XDP programs */
	size_t n_programs;
};

struct link_name {		/* name or altname */
	char *name;
	int ifindex;
};

struct link_address {
	int ifindex;
	struct ip ip;
};

struct links {
	struct link *link;
	size_t n_links;
	struct link_name *names;
	size_t n_names;
	struct link_address *addresses;
	size_t n_addresses;
	int *default_routes;	/* ifindex of each default route's way out */
	size_t n_default_routes;
};

/* Devices, addresses and (when @routes) default routes of this network namespace. 0 or -errno;
 * links_fini in either case. */
int links_read(struct links *links, bool routes);
void links_fini(struct links *links);

/* By name or altname; NULL when there is none. */
const struct link *links_find(const struct links *links, const char *name);
const struct link *links_by_index(const struct links *links, int ifindex);
/* The device whose permanent address this is, else the first one that has it as its address. */
const struct link *links_by_mac(const struct links *links, const struct mac *mac);
const struct link *links_by_pci(const struct links *links, const char *pci);

/* The name of the device with this name or altname. 0 or -ENODEV (or why the kernel cannot be
 * asked). */
int link_name(const char *name, char device[static LINK_NAME_BYTES]);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf/links.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/bits.h"

#define BUFFER_BYTES 65536	/* a device with many virtual functions has a long message */
#define TRIES 5			/* a dump is repeated when devices changed meanwhile */
#define ALTNAME_BYTES 128	/* ALTIFNAMSIZ, whose header is at odds with <net/if.h> */

#ifndef RTEXT_FILTER_SKIP_STATS
#define RTEXT_FILTER_SKIP_STATS (1 << 3)
#endif

struct request {
	struct mnl_socket *socket;
	uint8_t buffer[BUFFER_BYTES];
	struct nlmsghdr *header;
};

/* An array that grows by one; NULL (and -ENOMEM later) when it cannot. */
static void *grow(void *array, size_t n, size_t element_bytes)
{
	if (n & (n - 1) || n == 1)
		return array;
	return realloc(array, (n ? 2 * n : 2) * element_bytes);
}

#define APPEND(array, n, value)                                                                    \
	({                                                                                         \
		void *grown = grow(array, n, sizeof(*(array)));                                    \
		if (grown) {                                                                       \
			(array) = grown;                                                           \
			(array)[(n)++] = (value);                                                  \
		}                                                                                  \
		grown ? 0 : -ENOMEM;                                                               \
	})

static int request_open(struct request **request)
{
	struct request *q = calloc(1, sizeof(*q));
	int err;

	*request = NULL;
	if (!q)
		return -ENOMEM;
	q->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!q->socket || mnl_socket_bind(q->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		err = -errno;
		if (q->socket)
			mnl_socket_close(q->socket);
		free(q);
		return err;
	}
	*request = q;
	return 0;
}

static void request_close(struct request *q)
{
	if (!q)
		return;
	mnl_socket_close(q->socket);
	free(q);
}

static void *request_start(struct request *q, uint16_t type, uint16_t flags, size_t header_bytes)
{
	q->header = mnl_nlmsg_put_header(q->buffer);
	q->header->nlmsg_type = type;
	q->header->nlmsg_flags = NLM_F_REQUEST | flags;
	q->header->nlmsg_seq = 1;
	return mnl_nlmsg_put_extra_header(q->header, header_bytes);
}

static int request_run(struct request *q, mnl_cb_t each, void *arg)
{
	unsigned int port = mnl_socket_get_portid(q->socket);
	int more = MNL_CB_OK;

	if (mnl_socket_sendto(q->socket, q->header, q->header->nlmsg_len) < 0)
		return -errno;
	while (more > MNL_CB_STOP) {
		ssize_t n = mnl_socket_recvfrom(q->socket, q->buffer, sizeof(q->buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		more = mnl_cb_run(q->buffer, (size_t)n, 1, port, each, arg);
	}
	return more < 0 ? -errno : 0;
}

static void copy_text(char *to, size_t bytes, const struct nlattr *a)
{
	snprintf(to, bytes, "%.*s", (int)mnl_attr_get_payload_len(a),
		 (const char *)mnl_attr_get_payload(a));
}

static bool copy_mac(struct mac *mac, const struct nlattr *a)
{
	if (mnl_attr_get_payload_len(a) != sizeof(*mac))
		return false;
	memcpy(mac, mnl_attr_get_payload(a), sizeof(*mac));
	return !mac_is_zero(mac);
}

static void read_programs(struct link *link, const struct nlattr *xdp)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, xdp) {
		uint16_t type = mnl_attr_get_type(a);
		bool is_id = type == IFLA_XDP_PROG_ID || type == IFLA_XDP_DRV_PROG_ID ||
			     type == IFLA_XDP_SKB_PROG_ID || type == IFLA_XDP_HW_PROG_ID;

		if (is_id && mnl_attr_get_u32(a) && link->n_programs < LINK_PROGRAMS_MAX)
			link->programs[link->n_programs++] = mnl_attr_get_u32(a);
	}
}

static int add_name(struct links *links, const struct nlattr *a, int ifindex)
{
	struct link_name name = {.ifindex = ifindex};

	name.name = strndup(mnl_attr_get_payload(a), mnl_attr_get_payload_len(a));
	if (name.name && APPEND(links->names, links->n_names, name) == 0)
		return 0;
	free(name.name);
	return -ENOMEM;
}

static int add_altnames(struct links *links, const struct nlattr *list, int ifindex)
{
	const struct nlattr *a;
	int err = 0;

	mnl_attr_for_each_nested(a, list)
		if (mnl_attr_get_type(a) == IFLA_ALT_IFNAME && !err)
			err = add_name(links, a, ifindex);
	return err;
}

static void read_kind(struct link *link, const struct nlattr *info)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, info)
		if (mnl_attr_get_type(a) == IFLA_INFO_KIND)
			copy_text(link->kind, sizeof(link->kind), a);
}

/* IFLA_LINK of a veth is its peer, not something that it sits on. */
static void forget_peer(struct link *link, bool other_namespace)
{
	static const char *const upper[] = {"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap",
					    "macsec"};

	for (size_t i = 0; i < ARRAY_SIZE(upper) && !other_namespace; i++)
		if (strcmp(link->kind, upper[i]) == 0)
			return;
	link->lower = 0;
}

static int add_link(const struct nlmsghdr *header, void *arg)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
	struct link link = {.ifindex = info->ifi_index,
			    .loopback = info->ifi_flags & IFF_LOOPBACK};
	struct links *links = arg;
	bool other_namespace = false;
	const struct nlattr *a;
	int err = 0;

	if (header->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	mnl_attr_for_each(a, header, sizeof(*info)) {
		switch (mnl_attr_get_type(a)) {
		case IFLA_IFNAME:
			copy_text(link.name, sizeof(link.name), a);
			err = add_name(links, a, link.ifindex);
			break;
		case IFLA_PROP_LIST:
			err = add_altnames(links, a, link.ifindex);
			break;
		case IFLA_MASTER:
			link.master = (int)mnl_attr_get_u32(a);
			break;
		case IFLA_LINK:
			link.lower = (int)mnl_attr_get_u32(a);
			break;
		case IFLA_LINK_NETNSID:
			other_namespace = true;
			break;
		case IFLA_ADDRESS:
			link.has_mac = copy_mac(&link.mac, a);
			break;
		case IFLA_PERM_ADDRESS:
			link.has_permanent_mac = copy_mac(&link.permanent_mac, a);
			break;
		case IFLA_LINKINFO:
			read_kind(&link, a);
			break;
		case IFLA_XDP:
			read_programs(&link, a);
			break;
		case IFLA_PARENT_DEV_NAME:
			copy_text(link.bus_name, sizeof(link.bus_name), a);
			break;
		}
		if (err)
			goto no_memory;
	}
	forget_peer(&link, other_namespace);
	err = APPEND(links->link, links->n_links, link);
	if (!err)
		return MNL_CB_OK;
no_memory:
	errno = ENOMEM;
	return MNL_CB_ERROR;
}

static int add_address(const struct nlmsghdr *header, void *arg)
{
	const struct ifaddrmsg *info = mnl_nlmsg_get_payload(header);
	struct link_address address = {.ifindex = (int)info->ifa_index};
	const struct nlattr *a, *local = NULL;
	struct links *links = arg;
	size_t bytes = info->ifa_family == AF_INET ? 4 : 16;

	if (info->ifa_family != AF_INET && info->ifa_family != AF_INET6)
		return MNL_CB_OK;
	/* IFA_LOCAL is ours; IFA_ADDRESS may be the other end of a point-to-point link. */
	mnl_attr_for_each(a, header, sizeof(*info))
		if (mnl_attr_get_type(a) == IFA_LOCAL ||
		    (mnl_attr_get_type(a) == IFA_ADDRESS && !local))
			local = a;
	if (!local || mnl_attr_get_payload_len(local) != bytes)
		return MNL_CB_OK;
	address.ip = bytes == 4 ? ip_from_v4(mnl_attr_get_payload(local)) :
				  ip_from_v6(mnl_attr_get_payload(local));
	if (APPEND(links->addresses, links->n_addresses, address) == 0)
		return MNL_CB_OK;
	errno = ENOMEM;
	return MNL_CB_ERROR;
}

static int add_hops(struct links *links, const struct nlattr *multipath)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(multipath);
	size_t left = mnl_attr_get_payload_len(multipath);
	int err = 0;

	while (!err && left >= sizeof(*hop) && hop->rtnh_len >= sizeof(*hop) &&
	       hop->rtnh_len <= left) {
		size_t step = RTNH_ALIGN(hop->rtnh_len);

		err = APPEND(links->default_routes, links->n_default_routes, hop->rtnh_ifindex);
		left -= min_of(step, left);
		hop = (const struct rtnexthop *)((const uint8_t *)hop + step);
	}
	return err;
}

static int add_route(const struct nlmsghdr *header, void *arg)
{
	const struct rtmsg *info = mnl_nlmsg_get_payload(header);
	struct links *links = arg;
	const struct nlattr *a;
	int err = 0;

	if (info->rtm_dst_len || info->rtm_type != RTN_UNICAST || info->rtm_flags & RTM_F_CLONED)
		return MNL_CB_OK;
	mnl_attr_for_each(a, header, sizeof(*info)) {
		if (mnl_attr_get_type(a) == RTA_OIF)
			err = APPEND(links->default_routes, links->n_default_routes,
				     (int)mnl_attr_get_u32(a));
		else if (mnl_attr_get_type(a) == RTA_MULTIPATH)
			err = add_hops(links, a);
		if (err) {
			errno = ENOMEM;
			return MNL_CB_ERROR;
		}
	}
	return MNL_CB_OK;
}

static int dump_links(struct request *q, struct links *links)
{
	struct ifinfomsg *info = request_start(q, RTM_GETLINK, NLM_F_DUMP, sizeof(*info));

	info->ifi_family = AF_UNSPEC;
	mnl_attr_put_u32(q->header, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return request_run(q, add_link, links);
}

static int dump_addresses(struct request *q, struct links *links)
{
	struct ifaddrmsg *info = request_start(q, RTM_GETADDR, NLM_F_DUMP, sizeof(*info));

	info->ifa_family = AF_UNSPEC;
	return request_run(q, add_address, links);
}

static int dump_routes(struct request *q, struct links *links, uint8_t family)
{
	struct rtmsg *info = request_start(q, RTM_GETROUTE, NLM_F_DUMP, sizeof(*info));

	info->rtm_family = family;
	return request_run(q, add_route, links);
}

static int read_once(struct request *q, struct links *links, bool routes)
{
	int err = dump_links(q, links);

	if (!err)
		err = dump_addresses(q, links);
	if (!err && routes)
		err = dump_routes(q, links, AF_INET);
	if (!err && routes)
		err = dump_routes(q, links, AF_INET6);
	/* A kernel without IPv6. */
	return err == -EOPNOTSUPP ? 0 : err;
}

int links_read(struct links *links, bool routes)
{
	int err = -EINTR;

	for (int try = 0; try < TRIES && err == -EINTR; try++) {
		struct request *q;

		links_fini(links);
		err = request_open(&q);
		if (!err)
			err = read_once(q, links, routes);
		request_close(q);
	}
	return err;
}

void links_fini(struct links *links)
{
	for (size_t i = 0; i < links->n_names; i++)
		free(links->names[i].name);
	free(links->link);
	free(links->names);
	free(links->addresses);
	free(links->default_routes);
	*links = (struct links){0};
}

const struct link *links_by_index(const struct links *links, int ifindex)
{
	for (size_t i = 0; i < links->n_links; i++)
		if (links->link[i].ifindex == ifindex)
			return &links->link[i];
	return NULL;
}

const struct link *links_find(const struct links *links, const char *name)
{
	for (size_t i = 0; i < links->n_names; i++)
		if (strcmp(links->names[i].name, name) == 0)
			return links_by_index(links, links->names[i].ifindex);
	return NULL;
}

static bool mac_equal(const struct mac *a, const struct mac *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

const struct link *links_by_mac(const struct links *links, const struct mac *mac)
{
	for (size_t i = 0; i < links->n_links; i++)
		if (links->link[i].has_permanent_mac &&
		    mac_equal(&links->link[i].permanent_mac, mac))
			return &links->link[i];
	/* VLANs, bonds and bridges borrow an address; what lent it was there first. */
	for (size_t i = 0; i < links->n_links; i++)
		if (links->link[i].has_mac && mac_equal(&links->link[i].mac, mac))
			return &links->link[i];
	return NULL;
}

/* virtio sits on a bus of its own: the PCI function is the last one on the way to it in sysfs. */
static bool sits_on_pci(const char *device, const char *pci)
{
	char path[64], target[512], last[16] = "";
	unsigned int unused;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/class/net/%s", device);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = 0;
	for (char *rest = target, *part; (part = strsep(&rest, "/"));)
		if (strlen(part) < sizeof(last) &&
		    sscanf(part, "%4x:%2x:%2x.%1x", &unused, &unused, &unused, &unused) == 4)
			strcpy(last, part);
	return strcmp(last, pci) == 0;
}

const struct link *links_by_pci(const struct links *links, const char *pci)
{
	for (size_t i = 0; i < links->n_links; i++)
		if (strcmp(links->link[i].bus_name, pci) == 0)
			return &links->link[i];
	for (size_t i = 0; i < links->n_links; i++)
		if (links->link[i].bus_name[0] && sits_on_pci(links->link[i].name, pci))
			return &links->link[i];
	return NULL;
}

static int take_name(const struct nlmsghdr *header, void *arg)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, header, sizeof(struct ifinfomsg))
		if (mnl_attr_get_type(a) == IFLA_IFNAME)
			copy_text(arg, LINK_NAME_BYTES, a);
	return MNL_CB_STOP;
}

int link_name(const char *name, char device[static LINK_NAME_BYTES])
{
	struct request *q;
	int err;

	device[0] = 0;
	if (strlen(name) >= ALTNAME_BYTES)
		return -ENODEV;
	err = request_open(&q);
	if (err)
		return err;
	request_start(q, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_u32(q->header, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	/* Finds names, too. */
	mnl_attr_put_strz(q->header, IFLA_ALT_IFNAME, name);
	err = request_run(q, take_name, device);
	request_close(q);
	return err ? err : device[0] ? 0 : -ENODEV;
}

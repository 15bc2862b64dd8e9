/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/nl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

/* linux/netdev.h, which headers before 6.3 lack */
#define NETDEV_FAMILY "netdev"
#define NETDEV_DEV_GET 1
#define NETDEV_DEV_IFINDEX 1
#define NETDEV_DEV_RX_METADATA 5

#define ALIGNED_BUFFER __attribute__((aligned(NLMSG_ALIGNTO)))

static int receive_answers(struct mnl_socket *s, uint32_t seq, mnl_cb_t answer, void *arg)
{
	char buffer[32768] ALIGNED_BUFFER;
	uint32_t port = mnl_socket_get_portid(s);
	int r = MNL_CB_OK;

	while (r == MNL_CB_OK) {
		ssize_t bytes = mnl_socket_recvfrom(s, buffer, sizeof(buffer));

		if (bytes < 0)
			return -errno;
		r = mnl_cb_run(buffer, (size_t)bytes, seq, port, answer, arg);
		if (r == MNL_CB_ERROR)
			return -errno;
	}
	return 0;
}

int nl_ask(int bus, struct nlmsghdr *message, mnl_cb_t answer, void *arg)
{
	struct mnl_socket *s = mnl_socket_open2(bus, SOCK_CLOEXEC);
	int r = 0;

	if (!s)
		return -errno;
	message->nlmsg_seq = 1;
	/* The acknowledgement ends the answers. */
	message->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(s, message, message->nlmsg_len) < 0)
		r = -errno;
	else
		r = receive_answers(s, message->nlmsg_seq, answer, arg);
	mnl_socket_close(s);
	return r;
}

struct nlmsghdr *nl_link_message(void *buffer, uint16_t type, uint16_t flags, int ifindex)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *info;

	message->nlmsg_type = type;
	message->nlmsg_flags = flags;
	info = mnl_nlmsg_put_extra_header(message, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	info->ifi_index = ifindex;
	return message;
}

static void copy_text(char *to, size_t bytes, const struct nlattr *attr)
{
	snprintf(to, bytes, "%.*s", (int)mnl_attr_get_payload_len(attr),
		 (const char *)mnl_attr_get_payload(attr));
}

static int read_kind(const struct nlattr *attr, void *arg)
{
	struct nl_link *link = arg;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
		copy_text(link->kind, sizeof(link->kind), attr);
	return MNL_CB_OK;
}

static int read_link_attr(const struct nlattr *attr, void *arg)
{
	struct nl_link *link = arg;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		copy_text(link->name, sizeof(link->name), attr);
		break;
	case IFLA_IFALIAS:
		copy_text(link->alias, sizeof(link->alias), attr);
		break;
	case IFLA_LINK:
		link->peer = (int)mnl_attr_get_u32(attr);
		break;
	case IFLA_LINK_NETNSID:
		link->peer_netns = (int)mnl_attr_get_u32(attr);
		break;
	case IFLA_NUM_RX_QUEUES:
		link->rx_queues = mnl_attr_get_u32(attr);
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(attr) == sizeof(link->mac))
			memcpy(&link->mac, mnl_attr_get_payload(attr), sizeof(link->mac));
		break;
	case IFLA_LINKINFO:
		mnl_attr_parse_nested(attr, read_kind, link);
		break;
	}
	return MNL_CB_OK;
}

static int read_link(const struct nlmsghdr *message, void *arg)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct nl_link *link = arg;

	memset(link, 0, sizeof(*link));
	link->ifindex = info->ifi_index;
	link->peer_netns = -1;
	mnl_attr_parse(message, sizeof(*info), read_link_attr, link);
	return MNL_CB_OK;
}

int nl_link_by_name(const char *name, struct nl_link *link)
{
	char buffer[MNL_NLMSG_HDRLEN + 256] ALIGNED_BUFFER;
	struct nlmsghdr *message = nl_link_message(buffer, RTM_GETLINK, 0, 0);

	if (strlen(name) >= sizeof(link->name))
		return -ENODEV;
	mnl_attr_put_strz(message, IFLA_IFNAME, name);
	return nl_ask(NETLINK_ROUTE, message, read_link, link);
}

int nl_link_by_index(int ifindex, struct nl_link *link)
{
	char buffer[MNL_NLMSG_HDRLEN + 256] ALIGNED_BUFFER;

	return nl_ask(NETLINK_ROUTE, nl_link_message(buffer, RTM_GETLINK, 0, ifindex), read_link,
		      link);
}

int nl_link_delete(int ifindex)
{
	char buffer[MNL_NLMSG_HDRLEN + 256] ALIGNED_BUFFER;

	return nl_ask(NETLINK_ROUTE, nl_link_message(buffer, RTM_DELLINK, 0, ifindex), NULL, NULL);
}

int nl_link_set_alias(int ifindex, const char *alias)
{
	char buffer[MNL_NLMSG_HDRLEN + 512] ALIGNED_BUFFER;
	struct nlmsghdr *message = nl_link_message(buffer, RTM_NEWLINK, 0, ifindex);

	mnl_attr_put_strz(message, IFLA_IFALIAS, alias);
	return nl_ask(NETLINK_ROUTE, message, NULL, NULL);
}

int nl_link_set_no_ipv6(int ifindex)
{
	char buffer[MNL_NLMSG_HDRLEN + 256] ALIGNED_BUFFER;
	struct nlmsghdr *message = nl_link_message(buffer, RTM_NEWLINK, 0, ifindex);
	struct nlattr *families = mnl_attr_nest_start(message, IFLA_AF_SPEC);
	struct nlattr *inet6 = mnl_attr_nest_start(message, AF_INET6);

	mnl_attr_put_u8(message, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
	mnl_attr_nest_end(message, inet6);
	mnl_attr_nest_end(message, families);
	return nl_ask(NETLINK_ROUTE, message, NULL, NULL);
}

static struct nlmsghdr *generic_message(void *buffer, uint16_t family, uint8_t command)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *generic;

	message->nlmsg_type = family;
	generic = mnl_nlmsg_put_extra_header(message, sizeof(*generic));
	generic->cmd = command;
	generic->version = 1;
	return message;
}

static int read_family_attr(const struct nlattr *attr, void *arg)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		*(uint16_t *)arg = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int read_family(const struct nlmsghdr *message, void *arg)
{
	mnl_attr_parse(message, sizeof(struct genlmsghdr), read_family_attr, arg);
	return MNL_CB_OK;
}

struct metadata_answer {
	bool told;
	uint64_t bits;
};

static int read_metadata_attr(const struct nlattr *attr, void *arg)
{
	struct metadata_answer *answer = arg;

	if (mnl_attr_get_type(attr) == NETDEV_DEV_RX_METADATA) {
		answer->told = true;
		answer->bits = mnl_attr_get_payload_len(attr) >= 8 ? mnl_attr_get_u64(attr)
								   : mnl_attr_get_u32(attr);
	}
	return MNL_CB_OK;
}

static int read_metadata(const struct nlmsghdr *message, void *arg)
{
	mnl_attr_parse(message, sizeof(struct genlmsghdr), read_metadata_attr, arg);
	return MNL_CB_OK;
}

int nl_rx_metadata(int ifindex, uint64_t *bits)
{
	char buffer[MNL_NLMSG_HDRLEN + 256] ALIGNED_BUFFER;
	struct metadata_answer answer = {0};
	struct nlmsghdr *message;
	uint16_t family = 0;
	int r;

	message = generic_message(buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(message, CTRL_ATTR_FAMILY_NAME, NETDEV_FAMILY);
	r = nl_ask(NETLINK_GENERIC, message, read_family, &family);
	if (r)
		return r;
	message = generic_message(buffer, family, NETDEV_DEV_GET);
	mnl_attr_put_u32(message, NETDEV_DEV_IFINDEX, (uint32_t)ifindex);
	r = nl_ask(NETLINK_GENERIC, message, read_metadata, &answer);
	if (r)
		return r;
	*bits = answer.bits;
	return answer.told ? 0 : -EOPNOTSUPP;
}

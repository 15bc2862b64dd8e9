/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/rtnl.h"

#include <string.h>

/* The attributes of one message, by type. */
struct attrs {
	const struct nlattr **table;
	uint16_t max;
};

static int collect(const struct nlattr *attr, void *arg)
{
	struct attrs *attrs = arg;
	uint16_t type = mnl_attr_get_type(attr);

	if (type <= attrs->max)
		attrs->table[type] = attr;
	return MNL_CB_OK;
}

/* The header of @header_bytes behind @m's, with the attributes in @table (of @max + 1). NULL: too
 * short. */
static const void *open_message(const struct nlmsghdr *m, size_t header_bytes,
				const struct nlattr **table, uint16_t max)
{
	struct attrs attrs = {.table = table, .max = max};

	memset(table, 0, (max + 1u) * sizeof(*table));
	if (m->nlmsg_len < MNL_NLMSG_HDRLEN + MNL_ALIGN(header_bytes))
		return NULL;
	if (mnl_attr_parse(m, (unsigned int)header_bytes, collect, &attrs) < 0)
		return NULL;
	return mnl_nlmsg_get_payload(m);
}

/* A missing attribute is fine and leaves @value; one that is too short is not. */
static bool read_u32(const struct nlattr *attr, void *value)
{
	if (!attr)
		return true;
	if (mnl_attr_get_payload_len(attr) < sizeof(uint32_t))
		return false;
	memcpy(value, mnl_attr_get_payload(attr), sizeof(uint32_t));
	return true;
}

static bool read_ip(const struct nlattr *attr, uint8_t family, struct ip *ip)
{
	if (!attr)
		return true;
	if (mnl_attr_get_payload_len(attr) != (family == AF_INET ? 4 : 16))
		return false;
	*ip = family == AF_INET ? ip_from_v4(mnl_attr_get_payload(attr))
				: ip_from_v6(mnl_attr_get_payload(attr));
	return true;
}

/* Other lengths are other kinds of link layer: no MAC, but no mistake. */
static bool read_mac(const struct nlattr *attr, struct mac *mac)
{
	if (!attr || mnl_attr_get_payload_len(attr) != sizeof(*mac))
		return false;
	memcpy(mac, mnl_attr_get_payload(attr), sizeof(*mac));
	return true;
}

bool rtnl_parse_link(const struct nlmsghdr *m, struct rtnl_link *link)
{
	const struct nlattr *a[IFLA_LINK_NETNSID + 1];
	const struct ifinfomsg *info = open_message(m, sizeof(*info), a, IFLA_LINK_NETNSID);

	memset(link, 0, sizeof(*link));
	if (m->nlmsg_type != RTM_NEWLINK && m->nlmsg_type != RTM_DELLINK)
		return false;
	/* A bridge tells of its ports with the same message types and its own family. */
	if (!info || info->ifi_family != AF_UNSPEC || info->ifi_index <= 0)
		return false;
	link->gone = m->nlmsg_type == RTM_DELLINK;
	link->running = (info->ifi_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
	link->ifindex = info->ifi_index;
	if (a[IFLA_IFNAME]) {
		if (mnl_attr_validate(a[IFLA_IFNAME], MNL_TYPE_NUL_STRING) < 0 ||
		    mnl_attr_get_payload_len(a[IFLA_IFNAME]) > sizeof(link->name))
			return false;
		strcpy(link->name, mnl_attr_get_str(a[IFLA_IFNAME]));
	}
	link->has_mac = read_mac(a[IFLA_ADDRESS], &link->mac);
	link->peer_elsewhere = a[IFLA_LINK_NETNSID];
	return read_u32(a[IFLA_MTU], &link->mtu) && read_u32(a[IFLA_LINK], &link->peer_ifindex);
}

static bool read_metrics(const struct nlattr *metrics, uint32_t *mtu)
{
	const struct nlattr *attr;
	int left = 0;

	if (!metrics)
		return true;
	left = mnl_attr_get_payload_len(metrics);
	for (attr = mnl_attr_get_payload(metrics); mnl_attr_ok(attr, left);
	     attr = mnl_attr_next(attr)) {
		if (mnl_attr_get_type(attr) == RTAX_MTU && !read_u32(attr, mtu))
			return false;
		left -= MNL_ALIGN(attr->nla_len);
	}
	return true;
}

/* RTA_VIA: a next hop of the other family (RFC 8950). */
static bool read_via(const struct nlattr *attr, struct ip *gateway)
{
	const struct rtvia *via;
	uint16_t length;

	if (!attr)
		return true;
	length = mnl_attr_get_payload_len(attr);
	if (length < sizeof(*via))
		return false;
	via = mnl_attr_get_payload(attr);
	if (length != sizeof(*via) + (via->rtvia_family == AF_INET ? 4 : 16))
		return false;
	*gateway = via->rtvia_family == AF_INET ? ip_from_v4(via->rtvia_addr)
						: ip_from_v6(via->rtvia_addr);
	return true;
}

bool rtnl_parse_route(const struct nlmsghdr *m, struct rtnl_route *route)
{
	const struct nlattr *a[RTA_VIA + 1];
	const struct rtmsg *rt = open_message(m, sizeof(*rt), a, RTA_VIA);
	bool v4;

	memset(route, 0, sizeof(*route));
	if (m->nlmsg_type != RTM_NEWROUTE && m->nlmsg_type != RTM_DELROUTE)
		return false;
	if (!rt || (rt->rtm_family != AF_INET && rt->rtm_family != AF_INET6))
		return false;
	v4 = rt->rtm_family == AF_INET;
	if (rt->rtm_dst_len > (v4 ? 32 : 128))
		return false;
	route->gone = m->nlmsg_type == RTM_DELROUTE;
	route->type = rt->rtm_type;
	route->dst_bits = (uint8_t)(rt->rtm_dst_len + (v4 ? 96 : 0));
	if (v4)
		route->dst = ip_from_v4((const uint8_t[4]){0});
	return read_ip(a[RTA_DST], rt->rtm_family, &route->dst) &&
	       read_ip(a[RTA_GATEWAY], rt->rtm_family, &route->gateway) &&
	       read_via(a[RTA_VIA], &route->gateway) && read_u32(a[RTA_OIF], &route->oif) &&
	       read_metrics(a[RTA_METRICS], &route->mtu);
}

bool rtnl_parse_neigh(const struct nlmsghdr *m, struct rtnl_neigh *neigh)
{
	const struct nlattr *a[NDA_LLADDR + 1];
	const struct ndmsg *nd = open_message(m, sizeof(*nd), a, NDA_LLADDR);

	memset(neigh, 0, sizeof(*neigh));
	if (m->nlmsg_type != RTM_NEWNEIGH && m->nlmsg_type != RTM_DELNEIGH)
		return false;
	/* AF_BRIDGE: entries of a bridge's or a vxlan device's FDB. */
	if (!nd || (nd->ndm_family != AF_INET && nd->ndm_family != AF_INET6) || !a[NDA_DST])
		return false;
	neigh->gone = m->nlmsg_type == RTM_DELNEIGH;
	neigh->state = nd->ndm_state;
	neigh->ifindex = nd->ndm_ifindex;
	neigh->has_mac = read_mac(a[NDA_LLADDR], &neigh->mac);
	return read_ip(a[NDA_DST], nd->ndm_family, &neigh->address);
}

bool rtnl_prefix_covers(const struct ip *a, uint8_t bits, const struct ip *b)
{
	unsigned int whole = bits / 8;
	uint8_t mask = (uint8_t)(0xff00 >> (bits % 8));

	if (memcmp(a->byte, b->byte, whole) != 0)
		return false;
	return bits % 8 == 0 || ((a->byte[whole] ^ b->byte[whole]) & mask) == 0;
}

static void *start(void *buffer, uint16_t type, uint16_t flags, size_t header_bytes)
{
	struct nlmsghdr *m = mnl_nlmsg_put_header(buffer);

	m->nlmsg_type = type;
	m->nlmsg_flags = NLM_F_REQUEST | flags;
	return mnl_nlmsg_put_extra_header(m, header_bytes);
}

static uint8_t family_of(const struct ip *ip)
{
	return ip_is_v4(ip) ? AF_INET : AF_INET6;
}

static void put_ip(struct nlmsghdr *m, uint16_t type, const struct ip *ip)
{
	if (ip_is_v4(ip))
		mnl_attr_put(m, type, 4, ip_v4_bytes(ip));
	else
		mnl_attr_put(m, type, 16, ip->byte);
}

void rtnl_get_links(void *buffer)
{
	struct ifinfomsg *info = start(buffer, RTM_GETLINK, NLM_F_DUMP, sizeof(*info));

	info->ifi_family = AF_UNSPEC;
}

void rtnl_get_route(void *buffer, const struct ip *dst, const struct ip *src)
{
	struct rtmsg *rt = start(buffer, RTM_GETROUTE, 0, sizeof(*rt));
	uint8_t bits = ip_is_v4(dst) ? 32 : 128;

	rt->rtm_family = family_of(dst);
	rt->rtm_dst_len = bits;
	put_ip(buffer, RTA_DST, dst);
	if (ip_is_none(src))
		return;
	rt->rtm_src_len = bits;
	put_ip(buffer, RTA_SRC, src);
}

void rtnl_get_neigh(void *buffer, int ifindex, const struct ip *address)
{
	struct ndmsg *nd = start(buffer, RTM_GETNEIGH, 0, sizeof(*nd));

	nd->ndm_family = family_of(address);
	nd->ndm_ifindex = ifindex;
	put_ip(buffer, NDA_DST, address);
}

void rtnl_use_neigh(void *buffer, int ifindex, const struct ip *address, bool managed)
{
	struct ndmsg *nd =
		start(buffer, RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, sizeof(*nd));

	nd->ndm_family = family_of(address);
	nd->ndm_ifindex = ifindex;
	nd->ndm_flags = NTF_USE;
	put_ip(buffer, NDA_DST, address);
	if (managed)
		mnl_attr_put_u32(buffer, NDA_FLAGS_EXT, NTF_EXT_MANAGED);
}

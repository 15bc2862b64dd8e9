/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtnetlink messages: as kernels send them (put together by hand from the attributes that a 6.18
 * kernel sends), and the same ones cut, stretched and with wrong bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/hops.h"
#include "ctrl/rtnl.h"
#include "lib/bits.h"
#include "tests/unit/random.h"

#define MESSAGE_BYTES 1024

static struct ip ip(const char *text)
{
	struct ip parsed;

	assert_true(ip_parse(text, &parsed));
	return parsed;
}

static struct nlmsghdr *begin(void *buffer, uint16_t type)
{
	struct nlmsghdr *m = mnl_nlmsg_put_header(buffer);

	m->nlmsg_type = type;
	return m;
}

static struct nlmsghdr *a_link(void *buffer, uint16_t type, unsigned int flags)
{
	struct nlmsghdr *m = begin(buffer, type);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(m, sizeof(*info));

	info->ifi_index = 7;
	info->ifi_type = 1;
	info->ifi_flags = flags;
	mnl_attr_put_strz(m, IFLA_IFNAME, "enp1s0f0np0abcd");
	mnl_attr_put_u32(m, IFLA_MTU, 9000);
	mnl_attr_put_u8(m, IFLA_OPERSTATE, 6);
	mnl_attr_put(m, IFLA_ADDRESS, 6, "\x02\0\0\0\x01\x07");
	mnl_attr_put_u32(m, IFLA_LINK, 12);
	return m;
}

static struct nlmsghdr *a_route(void *buffer, uint16_t type, const char *dst, uint8_t bits,
				const char *gateway)
{
	struct nlmsghdr *m = begin(buffer, type);
	struct rtmsg *rt = mnl_nlmsg_put_extra_header(m, sizeof(*rt));
	struct ip d = ip(dst), g = ip(gateway);
	bool v4 = ip_is_v4(&d);
	struct nlattr *metrics;

	rt->rtm_family = v4 ? AF_INET : AF_INET6;
	rt->rtm_dst_len = bits;
	rt->rtm_type = RTN_UNICAST;
	mnl_attr_put(m, RTA_DST, v4 ? 4 : 16, v4 ? ip_v4_bytes(&d) : d.byte);
	mnl_attr_put_u32(m, RTA_OIF, 7);
	if (ip_is_v4(&g) == v4) {
		mnl_attr_put(m, RTA_GATEWAY, v4 ? 4 : 16, v4 ? ip_v4_bytes(&g) : g.byte);
	} else {
		uint8_t via[18] = {AF_INET6 & 0xff, AF_INET6 >> 8};

		memcpy(via + 2, g.byte, 16);
		mnl_attr_put(m, RTA_VIA, sizeof(via), via);
	}
	metrics = mnl_attr_nest_start(m, RTA_METRICS);
	mnl_attr_put_u32(m, RTAX_LOCK, 0);
	mnl_attr_put_u32(m, RTAX_MTU, 1400);
	mnl_attr_nest_end(m, metrics);
	return m;
}

static struct nlmsghdr *a_neigh(void *buffer, uint16_t type, uint16_t state, const char *address,
				bool mac)
{
	struct nlmsghdr *m = begin(buffer, type);
	struct ndmsg *nd = mnl_nlmsg_put_extra_header(m, sizeof(*nd));
	struct ip a = ip(address);
	bool v4 = ip_is_v4(&a);

	nd->ndm_family = v4 ? AF_INET : AF_INET6;
	nd->ndm_ifindex = 7;
	nd->ndm_state = state;
	mnl_attr_put(m, NDA_DST, v4 ? 4 : 16, v4 ? ip_v4_bytes(&a) : a.byte);
	if (mac)
		mnl_attr_put(m, NDA_LLADDR, 6, "\x02\0\0\0\0\x09");
	return m;
}

static void links(void **state)
{
	uint32_t buffer[MESSAGE_BYTES / 4];
	struct rtnl_link link;
	struct nlmsghdr *m = a_link(buffer, RTM_NEWLINK, IFF_UP | IFF_RUNNING);

	assert_true(rtnl_parse_link(m, &link));
	assert_false(link.gone);
	assert_true(link.running);
	assert_true(link.has_mac);
	assert_false(link.peer_elsewhere);
	assert_int_equal(link.ifindex, 7);
	assert_int_equal(link.peer_ifindex, 12);
	assert_int_equal(link.mtu, 9000);
	assert_string_equal(link.name, "enp1s0f0np0abcd");
	assert_int_equal(link.mac.byte[5], 7);
	assert_true(rtnl_parse_link(a_link(buffer, RTM_DELLINK, IFF_UP), &link));
	assert_true(link.gone);
	assert_false(link.running);
	/* A bridge speaks of its ports. */
	m = a_link(buffer, RTM_DELLINK, IFF_UP);
	((struct ifinfomsg *)mnl_nlmsg_get_payload(m))->ifi_family = AF_BRIDGE;
	assert_false(rtnl_parse_link(m, &link));
	/* A name that does not fit or does not end. */
	m = a_link(buffer, RTM_NEWLINK, 0);
	mnl_attr_put_strz(m, IFLA_IFNAME, "sixteencharacter");
	assert_false(rtnl_parse_link(m, &link));
	m = a_link(buffer, RTM_NEWLINK, 0);
	mnl_attr_put_str(m, IFLA_IFNAME, "noend");
	assert_false(rtnl_parse_link(m, &link));
	/* InfiniBand has longer addresses. */
	m = a_link(buffer, RTM_NEWLINK, 0);
	mnl_attr_put(m, IFLA_ADDRESS, 20, buffer);
	assert_true(rtnl_parse_link(m, &link));
	assert_false(link.has_mac);
}

static void routes(void **state)
{
	static const struct {
		const char *dst;
		uint8_t bits;
		const char *gateway;
		uint8_t expected_bits;
	} table[] = {
		{"192.0.2.0", 24, "10.0.0.9", 120},
		{"0.0.0.0", 0, "10.0.0.9", 96},
		{"192.0.2.9", 32, "fe80::9", 128},
		{"2001:db8::", 32, "fe80::1", 32},
	};
	uint32_t buffer[MESSAGE_BYTES / 4];
	struct rtnl_route route;
	struct ip expected;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_true(rtnl_parse_route(a_route(buffer, RTM_NEWROUTE, table[i].dst,
						     table[i].bits, table[i].gateway),
					     &route));
		assert_int_equal(route.dst_bits, table[i].expected_bits);
		expected = ip(table[i].dst);
		assert_true(ip_equal(&route.dst, &expected));
		expected = ip(table[i].gateway);
		assert_true(ip_equal(&route.gateway, &expected));
		assert_int_equal(route.oif, 7);
		assert_int_equal(route.mtu, 1400);
		assert_int_equal(route.type, RTN_UNICAST);
	}
	assert_false(rtnl_parse_route(a_route(buffer, RTM_NEWROUTE, "192.0.2.0", 33, "10.0.0.1"),
				      &route));
	/* An address of the wrong length. */
	struct nlmsghdr *m = a_route(buffer, RTM_NEWROUTE, "192.0.2.0", 24, "10.0.0.1");
	mnl_attr_put(m, RTA_DST, 16, buffer);
	assert_false(rtnl_parse_route(m, &route));
}

static void prefixes(void **state)
{
	static const struct {
		const char *prefix;
		uint8_t bits;
		const char *address;
		bool covered;
	} table[] = {
		{"192.0.2.0", 120, "192.0.2.255", true},
		{"192.0.2.0", 120, "192.0.3.0", false},
		{"192.0.2.128", 121, "192.0.2.1", false},
		{"192.0.2.128", 121, "192.0.2.200", true},
		{"0.0.0.0", 96, "203.0.113.1", true},
		{"0.0.0.0", 96, "2001:db8::1", false},
		{"192.0.2.9", 128, "192.0.2.9", true},
		{"192.0.2.9", 128, "192.0.2.8", false},
		{"::", 0, "192.0.2.9", true},
		{"2001:db8::", 29, "2001:dbf::1", true},
		{"2001:db8::", 29, "2001:dc0::1", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct ip prefix = ip(table[i].prefix), address = ip(table[i].address);

		assert_int_equal(rtnl_prefix_covers(&prefix, table[i].bits, &address),
				 table[i].covered);
	}
}

/* A next hop's life, as the kernel tells it. */
static void neighbours(void **state)
{
	uint32_t buffer[MESSAGE_BYTES / 4];
	struct ip address = ip("10.0.0.9");
	struct hops hops = {0};
	struct rtnl_neigh neigh;
	uint32_t hop = hops_get(&hops, 7, &address);

	assert_int_equal(hops_get(&hops, 7, &address), hop);
	assert_int_equal(hops.hop[hop].users, 2);
	assert_true(hops.hop[hop].want_use);
	assert_true(rtnl_parse_neigh(a_neigh(buffer, RTM_NEWNEIGH, NUD_INCOMPLETE, "10.0.0.9",
					     false), &neigh));
	assert_int_equal(hops_learn(&hops, &neigh), hop);	/* known now */
	assert_false(hops.hop[hop].usable);
	assert_true(rtnl_parse_neigh(a_neigh(buffer, RTM_NEWNEIGH, NUD_REACHABLE, "10.0.0.9",
					     true), &neigh));
	assert_int_equal(hops_learn(&hops, &neigh), hop);
	assert_true(hops.hop[hop].usable);
	assert_int_equal(hops.hop[hop].mac.byte[5], 9);
	assert_true(rtnl_parse_neigh(a_neigh(buffer, RTM_NEWNEIGH, NUD_STALE, "10.0.0.9", true),
				     &neigh));
	assert_int_equal(hops_learn(&hops, &neigh), HOP_NONE);	/* changes nothing */
	hops.hop[hop].want_use = false;
	assert_true(rtnl_parse_neigh(a_neigh(buffer, RTM_DELNEIGH, NUD_STALE, "10.0.0.9", true),
				     &neigh));
	assert_int_equal(hops_learn(&hops, &neigh), hop);
	assert_false(hops.hop[hop].usable);
	assert_true(hops.hop[hop].want_use);
	/* Of another device, and of another address. */
	neigh.ifindex = 8;
	assert_int_equal(hops_learn(&hops, &neigh), HOP_NONE);
	assert_true(rtnl_parse_neigh(a_neigh(buffer, RTM_NEWNEIGH, NUD_REACHABLE, "fe80::9", true),
				     &neigh));
	assert_int_equal(hops_learn(&hops, &neigh), HOP_NONE);
	hops_put(&hops, hop);
	hops.hop[hop].want_use = false;
	hops_put(&hops, hop);
	assert_true(hops.hop[hop].want_use);
	hops_fini(&hops);
}

/* What the kernel has to be able to read back. */
static void requests(void **state)
{
	uint32_t buffer[RTNL_REQUEST_BYTES / 4];
	struct ip dst = ip("2001:db8::2"), src = ip("2001:db8::1");
	struct nlmsghdr *m = (void *)buffer;

	rtnl_get_route(buffer, &dst, &src);
	assert_int_equal(m->nlmsg_type, RTM_GETROUTE);
	assert_int_equal(m->nlmsg_flags, NLM_F_REQUEST);
	assert_int_equal(m->nlmsg_len, 16 + sizeof(struct rtmsg) + 20 + 20);
	assert_int_equal(((struct rtmsg *)mnl_nlmsg_get_payload(m))->rtm_flags, 0);
	rtnl_use_neigh(buffer, 7, &dst, true);
	assert_true(m->nlmsg_len <= RTNL_REQUEST_BYTES);
	assert_int_equal(((struct ndmsg *)mnl_nlmsg_get_payload(m))->ndm_flags, NTF_USE);
	rtnl_get_neigh(buffer, 7, &dst);
	assert_int_equal(m->nlmsg_flags, NLM_F_REQUEST);
	rtnl_get_links(buffer);
	assert_true(m->nlmsg_flags & NLM_F_DUMP);
}

static void parse_all(const struct nlmsghdr *m)
{
	struct rtnl_link link;
	struct rtnl_route route;
	struct rtnl_neigh neigh;

	if (rtnl_parse_link(m, &link))
		assert_true(strnlen(link.name, sizeof(link.name)) < sizeof(link.name));
	if (rtnl_parse_route(m, &route))
		assert_true(route.dst_bits <= 128);
	rtnl_parse_neigh(m, &neigh);
}

/* On memory of exactly the message's length (aligned, as libmnl takes for granted), so that a
 * sanitizer sees a byte read past it. */
static void parse_copy(const void *message, uint32_t bytes)
{
	struct nlmsghdr *m = malloc(MNL_ALIGN(max_of(bytes, (uint32_t)sizeof(*m))));

	memcpy(m, message, bytes);
	if (mnl_nlmsg_ok(m, (int)bytes))
		parse_all(m);
	free(m);
}

static uint32_t some_message(uint32_t *buffer)
{
	switch (random_below(5)) {
	case 0:
		return a_link(buffer, RTM_NEWLINK, (unsigned int)random_u64())->nlmsg_len;
	case 1:
		return a_route(buffer, RTM_NEWROUTE, "192.0.2.0", 24, "10.0.0.1")->nlmsg_len;
	case 2:
		return a_route(buffer, RTM_DELROUTE, "192.0.2.1", 32, "fe80::1")->nlmsg_len;
	case 3:
		return a_route(buffer, RTM_NEWROUTE, "2001:db8::", 64, "fe80::1")->nlmsg_len;
	default:
		return a_neigh(buffer, RTM_NEWNEIGH, NUD_STALE, "fe80::1", true)->nlmsg_len;
	}
}

static void hostile(void **state)
{
	uint32_t buffer[MESSAGE_BYTES / 4] = {0};

	random_init("rtnl");
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t bytes = some_message(buffer);
		uint8_t *byte = (uint8_t *)buffer;

		for (uint32_t n = random_below(4); n; n--)
			byte[random_below(bytes)] = (uint8_t)random_u64();
		if (random_below(2)) {
			bytes = random_below(bytes + 1);
			((struct nlmsghdr *)buffer)->nlmsg_len = bytes;
		}
		parse_copy(buffer, bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(routes),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(neighbours),
		cmocka_unit_test(requests),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of flow rules: tables of what is understood and what is refused, random rules printed
 * and read back, readers fed in pieces, and rules of a real table. tests/rules/ovs-ofctl.py
 * compares with Open vSwitch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "lib/bits.h"
#include "lib/bytes.h"
#include "lib/rcu.h"
#include "rules/fields.h"
#include "rules/names.h"
#include "rules/write.h"
#include "tests/unit/random.h"
#include "tests/unit/rules_ports.h"

static const struct rules_format by_number = {.ports = &test_ports};
static const struct rules_format by_name = {.ports = &test_ports, .names = true};

static bool parse(const char *text, struct flow_spec *spec, struct rules_error *error)
{
	return rules_parse(&test_ports, text, strlen(text), spec, error);
}

static const char *print(const struct flow_spec *spec, const struct rules_format *format)
{
	static struct buffer out;

	buffer_reset(&out, SIZE_MAX);
	rules_print_spec(spec, format, &out);
	assert_false(out.failed);
	return out.data;
}

static const struct {
	const char *text;
	const char *printed;
} good[] = {
	{"actions=drop", "actions=drop"},
	{"actions=", "actions=drop"},
	{"actions=normal # the rest", "actions=NORMAL"},
	{"priority=0,actions=NORMAL", "priority=0 actions=NORMAL"},
	{"priority=32768 actions=drop", "actions=drop"},
	{"tp_dst=80,tcp,nw_dst=10.1.2.3/8,in_port=1,priority=10 actions=2",
	 "priority=10,tcp,in_port=1,nw_dst=10.0.0.0/8,tp_dst=80 actions=output:2"},
	{"tcp,tcp_dst=80,actions=drop", "tcp,tp_dst=80 actions=drop"},
	{"udp6,udp_src=0x10/0xf0,actions=all", "udp6,tp_src=0x10/0xf0 actions=ALL"},
	{"sctp,sctp_src=5,actions=in_port", "sctp,tp_src=5 actions=IN_PORT"},
	{"eth,eth_type=0x800,ip_proto=6,ipv4_src=1.2.3.4,actions=flood",
	 "tcp,nw_src=1.2.3.4 actions=FLOOD"},
	{"ip,ip,dl_type=0x0800,actions=drop", "ip actions=drop"},
	{"dl_type=0x88cc,actions=drop", "dl_type=0x88cc actions=drop"},
	{"dl_type=0x8847,actions=drop", "mpls actions=drop"},
	{"ip,nw_proto=47,actions=drop", "ip,nw_proto=47 actions=drop"},
	{"ip,nw_src=1.2.3.4/255.0.255.0,actions=drop",
	 "ip,nw_src=1.0.3.0/255.0.255.0 actions=drop"},
	{"ip,nw_src=1.2.3.4/0,actions=drop", "ip actions=drop"},
	{"ip,ip_dscp=46,ip_ecn=1,actions=drop", "ip,nw_tos=184,nw_ecn=1 actions=drop"},
	{"ip,nw_ttl=1,ip_frag=later,actions=drop", "ip,nw_ttl=1,nw_frag=later actions=drop"},
	{"ipv6,ipv6_dst=fe80::1:2/10,actions=drop", "ipv6,ipv6_dst=fe80::/10 actions=drop"},
	{"ipv6,ipv6_src=::1.2.3.4,actions=drop", "ipv6,ipv6_src=::1.2.3.4 actions=drop"},
	{"ipv6,ipv6_src=1::5/ff::f,actions=drop", "ipv6,ipv6_src=1::5/ff::f actions=drop"},
	{"arp,nw_src=1.2.3.4,nw_proto=2,actions=drop", "arp,arp_spa=1.2.3.4,arp_op=2 actions=drop"},
	{"rarp,arp_sha=0:0:0:0:0:5,actions=drop", "rarp,arp_sha=00:00:00:00:00:05 actions=drop"},
	{"icmp6,nd_target=fe80::/64,icmpv6_type=135,actions=drop",
	 "icmp6,icmp_type=135,nd_target=fe80::/64 actions=drop"},
	{"tcp,tcp_flags=+ack-syn,actions=drop", "tcp,tcp_flags=-syn+ack actions=drop"},
	{"tcp,tcp_flags=syn|ack,actions=drop", "tcp,tcp_flags=syn|ack actions=drop"},
	{"tcp,tcp_flags=0,actions=drop", "tcp,tcp_flags=0 actions=drop"},
	{"dl_vlan=0xffff,actions=drop", "vlan_tci=0x0000 actions=drop"},
	{"dl_vlan=5,vlan_pcp=3,actions=drop", "dl_vlan=5,dl_vlan_pcp=3 actions=drop"},
	{"vlan_vid=0x1005,actions=drop", "dl_vlan=5 actions=drop"},
	{"vlan_vid=0x1000/0x1000,actions=drop", "vlan_tci=0x1000/0x1000 actions=drop"},
	{"vlan_tci=0x7005,actions=drop", "dl_vlan=5,dl_vlan_pcp=3 actions=drop"},
	{"tun_id=5,actions=drop", "tun_id=0x5 actions=drop"},
	{"tunnel_id=0/0xf00,actions=drop", "tun_id=0/0xf00 actions=drop"},
	{"tun_id=5/0xffffffffffffffff,actions=drop", "tun_id=0x5 actions=drop"},
	{"dl_dst=01:00:00:00:00:00/01:00:00:00:00:00,actions=drop",
	 "dl_dst=01:00:00:00:00:00/01:00:00:00:00:00 actions=drop"},
	{"in_port=p7,actions=p8,output:\"p9\",output:60000",
	 "in_port=7 actions=output:8,output:9,output:60000"},
	{"in_port=192.0.2.1,actions=192.0.2.1", "in_port=60000 actions=output:60000"},
	{"actions=output=2,OUTPUT:3", "actions=output:2,output:3"},
	{"actions=push_vlan:0x88a8,set_field:0x1005->vlan_vid,set_field:3->vlan_pcp,pop_vlan",
	 "actions=push_vlan:0x88a8,mod_vlan_vid:5,mod_vlan_pcp:3,strip_vlan"},
	{"ip,actions=set_field:1.2.3.4->ip_src,mod_nw_dst:1.2.3.5,dec_ttl,mod_nw_ttl:3",
	 "ip actions=mod_nw_src:1.2.3.4,mod_nw_dst:1.2.3.5,dec_ttl,mod_nw_ttl:3"},
	{"actions=mod_nw_src:1.2.3.4,mod_tp_dst:5,1",
	 "actions=mod_nw_src:1.2.3.4,mod_tp_dst:5,output:1"},
	{"ip,actions=set_field:46->ip_dscp,set_field:8->nw_tos,mod_nw_ecn:2",
	 "ip actions=mod_nw_tos:184,mod_nw_tos:8,mod_nw_ecn:2"},
	{"icmp6,actions=set_field:1->icmpv6_type,set_field:2->icmp_code",
	 "icmp6 actions=set_field:1->icmpv6_type,set_field:2->icmpv6_code"},
	{"ipv6,actions=set_field:fe80::1->ipv6_src", "ipv6 actions=set_field:fe80::1->ipv6_src"},
	{"ipv6,actions=load:0x1->NXM_NX_IPV6_DST[0..63],load:0xfe80000000000000->NXM_NX_IPV6_DST["
	 "64..127]",
	 "ipv6 actions=set_field:fe80::1->ipv6_dst"},
	{"arp,actions=load:0x2->NXM_OF_ARP_OP[],load:0x0a0000000001->NXM_NX_ARP_SHA[],in_port",
	 "arp actions=set_field:2->arp_op,set_field:0a:00:00:00:00:01->arp_sha,IN_PORT"},
	{"ip,actions=load:0x01020304->NXM_OF_IP_SRC[],load:0x1->NXM_NX_IP_ECN[]",
	 "ip actions=mod_nw_src:1.2.3.4,mod_nw_ecn:1"},
	{"dl_vlan=1,actions=load:0x1005->OXM_OF_VLAN_VID[],load:3->OXM_OF_VLAN_PCP[]",
	 "dl_vlan=1 actions=mod_vlan_vid:5,mod_vlan_pcp:3"},
	{"actions=load:7->NXM_NX_TUN_ID[],set_tunnel64:8", "actions=set_tunnel:0x7,set_tunnel:0x8"},
	/* dumps */
	{" cookie=0x55, duration=2.031s, table=0, n_packets=7, n_bytes=98, idle_timeout=10, "
	 "hard_timeout=7, idle_age=1, hard_age=2, importance=3, reset_counts "
	 "priority=10,tcp,tun_id=0x5,"
	 "in_port=p1 actions=output:p2",
	 "priority=10,tcp,tun_id=0x5,in_port=1 actions=output:2"},
	{" cookie=0x0, duration=2.1s, table=0, n_packets=0, n_bytes=0, priority=0 actions=NORMAL\r",
	 "priority=0 actions=NORMAL"},
};

static void test_good(void **state)
{
	struct flow_spec spec;
	struct rules_error error;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		if (!parse(good[i].text, &spec, &error))
			fail_msg("%s: column %u: %s", good[i].text, error.column, error.why);
		assert_string_equal(print(&spec, &by_number), good[i].printed);
		/* What is printed stays as it is. */
		assert_true(parse(good[i].printed, &spec, &error));
		assert_string_equal(print(&spec, &by_number), good[i].printed);
	}
}

static const struct {
	const char *text;
	uint32_t column;
	const char *why;	/* a part */
} bad[] = {
	{"", 1, "actions=... is missing"},
	{"ip", 3, "actions=... is missing"},
	{"ip,actions", 11, "a value is missing, allowed: actions=VALUE"},
	{"tp_dst=80,actions=drop", 1,
	 "tp_dst needs tcp, tcp6, udp, udp6, sctp, sctp6, icmp or icmp6 in"},
	{"ip,tp_dst=80,nw_src=1.2.3.4,actions=drop", 4, "tp_dst needs"},
	{"nw_src=1.2.3.4,actions=drop", 1, "nw_src needs ip, arp or rarp"},
	{"ipv6,nw_src=1.2.3.4,actions=drop", 6, "nw_src needs"},
	{"tcp,ipv6_src=::1,actions=drop", 5, "ipv6_src needs ipv6"},
	{"tcp,udp_dst=1,actions=drop", 5, "udp_dst needs udp or udp6"},
	{"icmp6,nd_target=::1,actions=drop", 7,
	 "icmp6 with icmp_type=135 or icmp6 with icmp_type=136"},
	{"dl_type=0x88cc,nw_tos=4,actions=drop", 16, "nw_tos needs ip or ipv6"},
	{"tcp,udp,actions=drop", 5, "udp: contradicts"},
	{"ip,ipv6,actions=drop", 4, "ipv6: contradicts"},
	{"ip,dl_type=0x806,actions=drop", 4, "dl_type: contradicts"},
	{"dl_vlan=5,vlan_tci=0,actions=drop", 11, "vlan_tci: contradicts"},
	{"arp,arp_spa=1.2.3.4,nw_src=1.2.3.5,actions=drop", 21, "nw_src: contradicts"},
	{"in_port=1,in_port=1,actions=drop", 11, "in_port: here and at column 1"},
	{"priority=1,priority=2,actions=drop", 12, "priority: here and at column 1"},
	{"actions=drop,actions=drop", 9, "drop: in a list"},
	{"tcp,tp_dst=80000,actions=drop", 12, "80000 is out of range, allowed: 0..65535"},
	{"tcp,tp_dst=,actions=drop", 12, "a value is missing, allowed: 0..65535"},
	{"tcp,tp_dst=http,actions=drop", 12, "\"http\" is not allowed"},
	{"tcp,tp_dst=8x,actions=drop", 13, "\"x\" behind \"8\""},
	{"tcp,tp_dst=080,actions=drop", 12, "begins with 0, allowed: 80"},
	{"tcp,tp_dst=1/2/3,actions=drop", 15, "\"/3\" behind"},
	{"priority=65536,actions=drop", 10, "0..65535"},
	{"priority=-1,actions=drop", 10, "\"-1\" is not allowed"},
	{"cookie=0x10000000000000000,actions=drop", 8, "out of range"},
	{"cookie=99999999999999999999,actions=drop", 8, "out of range"},
	{"cookie=1/1,actions=drop", 9, "a mask is for selecting rules"},
	{"table=1,actions=drop", 7, "there is one, allowed: 0"},
	{"idle_timeout=70000,actions=drop", 14, "0..65535"},
	{"dl_vlan=4096,actions=drop", 9, "0..4095, or 0xffff"},
	{"dl_vlan=5/1,actions=drop", 10, "\"/1\" behind"},
	{"dl_vlan_pcp=8,actions=drop", 13, "0..7"},
	{"vlan_vid=5,actions=drop", 10, "allowed: 0x1005, or dl_vlan=5"},
	{"ip,nw_tos=5,actions=drop", 11, "ECN bits, allowed: 4, with nw_ecn=1"},
	{"ip,nw_frag=maybe,actions=drop", 12, "allowed: no, yes, first, later or not_later"},
	{"ip,nw_src=1.2.3,actions=drop", 11, "an IPv4 address"},
	{"ip,nw_src=1.2.3.256,actions=drop", 11, "an IPv4 address"},
	{"ip,nw_src=1.2.3.4/33,actions=drop", 19, "0..32"},
	{"ip,nw_src=1.2.3.4/1.2,actions=drop", 19, "an IPv4 address"},
	{"ipv6,ipv6_src=1::2::3,actions=drop", 15, "an IPv6 address"},
	{"ipv6,ipv6_src=1::/129,actions=drop", 19, "0..128"},
	{"dl_src=02:00:00:00:05,actions=drop", 8, "a MAC address"},
	{"dl_src=02:00:00:00:00:05:06,actions=drop", 25, "\":06\" behind"},
	{"dl_src=02:00:00:00:00:05/24,actions=drop", 26, "a MAC address"},
	{"tcp,tcp_flags=+syn+syn,actions=drop", 15, "one flag twice"},
	{"tcp,tcp_flags=+syn+x,actions=drop", 20, "\"x\" is no flag"},
	{"tcp,tcp_flags=0x1000,actions=drop", 15, "0..4095"},
	{"tun_id=0x1000000,actions=drop", 8, "0..16777215"},
	{"in_port=LOCAL,actions=drop", 9, "LOCAL is not supported"},
	{"in_port=250,actions=drop", 9, "no port 250 that rules may use"},
	{"in_port=eth7,actions=drop", 9, "no port eth7"},
	{"in_port=\"p1,actions=drop", 9, "a quote that does not end"},
	{"in_port=1/2,actions=drop", 9, "no port 1/2"},
	{"tcp=1,actions=drop", 4, "tcp: takes no value"},
	{"in_port,actions=drop", 8, "a value is missing, allowed: in_port=VALUE"},
	{"nw_scr=1.2.3.4,actions=drop", 1, "did you mean nw_src?"},
	{"TCP,actions=drop", 1, "did you mean tcp?"},
	{"bridge=1,actions=drop", 1, "\"bridge\" is not known"},
	{"metadata=1,actions=drop", 1, "metadata: not supported"},
	{"reg12=1,actions=drop", 1, "reg12: not supported"},
	{"actions=output", 15, "allowed: output:VALUE"},
	{"actions=output:", 16, "a value is missing"},
	{"actions=output:250", 16, "no port 250"},
	{"actions=250", 9, "no port 250"},
	{"actions=1,drop", 11, "drop: in a list"},
	{"actions=normal:1", 15, "normal: takes no value"},
	{"actions=outptu:1", 9, "did you mean output?"},
	{"actions=nowhere", 9, "neither an action nor a port"},
	{"actions=:1", 9, "neither an action nor a port"},
	{"actions=resubmit(,1)", 9, "resubmit: not supported"},
	{"actions=1,CONTROLLER:64", 11, "CONTROLLER: not supported"},
	{"actions=mod_vlan_vid:4096", 22, "0..4095"},
	{"actions=mod_vlan_vid:0xffff", 22, "0..4095"},
	{"actions=push_vlan:0x800", 19, "0x800 is no tag"},
	{"actions=set_field:1.2.3.4->ip_src", 28, "ip_src needs ip in the same rule"},
	{"arp,actions=set_field:1.2.3.4->ip_src", 32, "ip_src needs ip in the same rule"},
	{"icmp,actions=set_field:1->tp_src", 27, "tp_src needs tcp"},
	{"actions=set_field:5->vlan_vid", 22, "vlan_vid needs dl_vlan or push_vlan"},
	{"dl_vlan=1,actions=pop_vlan,set_field:5->vlan_vid", 41,
	 "vlan_vid needs dl_vlan or push_vlan"},
	{"ip,actions=set_field:1.2.3.4", 22, "no \"->\""},
	{"ip,actions=set_field:1.2.3.4->", 31, "cannot be set"},
	{"ip,actions=set_field:6->nw_proto", 25, "\"nw_proto\" cannot be set"},
	{"ip,actions=set_field:1.2.3.4/8->ip_src", 29, "a mask where a value is set"},
	{"ip,actions=load:1->NXM_OF_IP_SRC[0..7]", 33, "part of nw_src"},
	{"ip,actions=load:0x100000000->NXM_OF_IP_SRC[]", 17, "too large, allowed: 0..0xffffffff"},
	{"icmp,actions=load:256->NXM_OF_ICMP_TYPE[]", 19, "too large, allowed: 0..0xff"},
	{"icmp,actions=set_field:256->icmp_type", 24, "0..255"},
	{"ip,actions=load:4->NXM_NX_IP_ECN[]", 17, "too large, allowed: 0..0x3"},
	{"ipv6,actions=load:1->NXM_NX_IPV6_SRC[0..63],1", 44, "half of ipv6_src"},
	{"ipv6,actions=load:1->NXM_NX_IPV6_SRC[]", 37, "part of ipv6_src"},
	{"\001\002=1,actions=drop", 1, "\"?\?\" is not known"},
};

static void test_bad(void **state)
{
	struct flow_spec spec;
	struct rules_error error;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (parse(bad[i].text, &spec, &error))
			fail_msg("%s: not refused", bad[i].text);
		if (error.column != bad[i].column || !strstr(error.why, bad[i].why))
			fail_msg("%s: column %u: %s", bad[i].text, error.column, error.why);
		assert_int_equal(error.line, 0);
	}
}

/* 0xffff is for matches, and a VLAN id to set must not offer it. */
static void test_vlan_id_to_set(void **state)
{
	struct flow_spec spec;
	struct rules_error error;

	assert_false(parse("actions=mod_vlan_vid:4096", &spec, &error));
	assert_string_equal(error.why, "dl_vlan: 4096 is out of range, allowed: 0..4095");
	assert_false(parse("dl_vlan=1,actions=set_field:0xffff->dl_vlan", &spec, &error));
	assert_string_equal(error.why, "dl_vlan: 0xffff is out of range, allowed: 0..4095");
	assert_int_equal(error.column, 29);
}

static void test_too_many_actions(void **state)
{
	struct flow_spec spec;
	struct rules_error error;
	struct buffer text = {0};

	buffer_str(&text, "actions=1");
	for (uint32_t i = 1; i < FLOW_ACTIONS_MAX; i++)
		buffer_str(&text, ",1");
	assert_true(parse(text.data, &spec, &error));
	assert_int_equal(spec.n_actions, FLOW_ACTIONS_MAX);
	buffer_str(&text, ",1");
	assert_false(parse(text.data, &spec, &error));
	assert_non_null(strstr(error.why, "too many, allowed: 64"));
	assert_int_equal(error.column, text.n);
	buffer_fini(&text);
}

/* A name in the wrong row of its table would never be found. */
static void test_every_field_has_its_name(void **state)
{
	for (int id = 0; id < FIELDS; id++) {
		const char *name = fields[id].name;

		if (id != FIELD_COUNTER && id != FIELD_FLAG)
			assert_int_equal(name_field(name, strlen(name), name + strlen(name)), id);
	}
}

static void random_mask(uint8_t *mask, size_t n)
{
	static const uint8_t likely_bytes[] = {0, 0xff, 0xff, 0xf0};
	uint32_t kind = random_below(4);

	memset(mask, 0, n);
	for (size_t i = 0; i < n; i++)
		mask[i] = kind == 0 ? 0 :
			  kind == 1 ? 0xff :
			  kind == 2 ? likely_bytes[random_below(4)] :
				      (uint8_t)random_u64();
}

static uint16_t random_mask16(void)
{
	uint16_t mask;

	random_mask((uint8_t *)&mask, sizeof(mask));
	return mask;
}

static void random_vlan(struct flow_spec *s)
{
	static const uint16_t masks[] = {0, 0xffff, 0x1fff, 0x1000, 0xf000, 0xffff};

	s->mask.vlan_tci =
		random_below(4) ? masks[random_below(ARRAY_SIZE(masks))] : random_mask16();
	s->key.vlan_tci = (uint16_t)random_u64();
}

static void random_ip(struct flow_spec *s, size_t bytes)
{
	static const uint8_t protos[] = {1, 6, 17, 58, 132, 47};
	static const uint8_t tos[] = {0, 0xfc, 3, 0xff};
	static const uint8_t frags[][2] = {{0, 0}, {0, 3}, {1, 1}, {1, 3}, {3, 3}, {0, 2}};
	uint32_t frag = random_below(ARRAY_SIZE(frags));
	uint8_t proto;

	random_mask(s->mask.src, bytes);
	random_mask(s->mask.dst, bytes);
	s->mask.nw_tos = tos[random_below(4)];
	s->mask.nw_ttl = random_below(2) ? 0xff : 0;
	s->mask.nw_frag = frags[frag][1];
	s->key.nw_frag = frags[frag][0];
	if (random_below(3) == 0)
		return;
	s->mask.nw_proto = 0xff;
	s->key.nw_proto = proto = protos[random_below(ARRAY_SIZE(protos))];
	if (proto == 6 || proto == 17 || proto == 132) {
		s->mask.tp_src = random_mask16();
		s->mask.tp_dst = random_mask16();
		if (proto == 6)
			s->mask.tcp_flags = random_mask16() & 0xfff;
	} else if (proto == (bytes == 4 ? 1 : 58)) {
		s->mask.tp_src = random_below(2) ? 0xffff : 0;
		s->mask.tp_dst = random_below(2) ? 0xffff : 0;
		s->key.tp_src = (uint16_t)(random_below(2) ? 135 : random_below(256));
		s->key.tp_dst = (uint16_t)random_below(256);
		if (bytes == 16 && s->mask.tp_src && s->key.tp_src == 135)
			random_mask(s->mask.nd_target, 16);
	}
}

static void random_match(struct flow_spec *s)
{
	static const uint16_t types[] = {0x0800, 0x86dd, 0x0806, 0x8035, 0x88cc, 0};
	uint8_t *key = (uint8_t *)&s->key;
	const uint8_t *mask = (const uint8_t *)&s->mask;
	uint16_t type = types[random_below(ARRAY_SIZE(types))];

	random_bytes(key, sizeof(s->key));
	s->mask.in_port = random_below(2) ? 0xffff : 0;
	s->key.in_port =
		(uint16_t)(random_below(5) ? 1 + random_below(TEST_PORTS) : EGRESS_TUNNEL0);
	random_vlan(s);
	s->mask.tun_id = random_below(3) == 0 ? 0xffffff :
			 random_below(2)      ? random_below(1 << 24) :
						0;
	random_mask(s->mask.dl_src, 6);
	random_mask(s->mask.dl_dst, 6);
	if (type) {
		s->mask.dl_type = 0xffff;
		s->key.dl_type = type;
	}
	if (type == 0x0800 || type == 0x86dd) {
		random_ip(s, type == 0x0800 ? 4 : 16);
	} else if (type == 0x0806 || type == 0x8035) {
		random_mask(s->mask.src, 4);
		random_mask(s->mask.dst, 4);
		s->mask.nw_proto = random_below(2) ? 0xff : 0;
		random_mask(s->mask.arp_sha, 6);
		random_mask(s->mask.arp_tha, 6);
	}
	for (size_t i = 0; i < sizeof(s->key); i++)
		key[i] &= mask[i];
	/* A VLAN id without a tag is refused. */
	if (s->mask.vlan_tci & FLOW_TCI_PRESENT && !(s->key.vlan_tci & FLOW_TCI_PRESENT))
		s->key.vlan_tci = 0;
}

static void random_action(struct flow_action *a, bool ipv6)
{
	*a = (struct flow_action){.type = (uint16_t)random_below(FLOW_DEC_TTL + 1)};
	if (random_below(2))
		a->type = (uint16_t)(FLOW_SET_DL_SRC + random_below(8));
	switch (a->type) {
	case FLOW_OUTPUT:
		a->arg = (uint16_t)(1 + random_below(TEST_PORTS));
		break;
	case FLOW_PUSH_VLAN:
		a->arg = random_below(2) ? 0x8100 : 0x88a8;
		break;
	case FLOW_SET_VLAN_VID:
		a->arg = (uint16_t)random_below(4096);
		break;
	case FLOW_SET_VLAN_PCP:
		a->arg = (uint16_t)random_below(8);
		break;
	case FLOW_SET_TUNNEL:
		a->value[0] = random_below(1 << 24);
		break;
	case FLOW_SET_DL_SRC:
	case FLOW_SET_DL_DST:
		random_bytes(a->byte, 6);
		break;
	case FLOW_SET_NW_SRC:
	case FLOW_SET_NW_DST:
		random_bytes(a->byte, 4);
		break;
	case FLOW_SET_IPV6_SRC:
	case FLOW_SET_IPV6_DST:
		if (ipv6)
			random_bytes(a->byte, 16);
		else
			a->type = FLOW_NORMAL;
		break;
	case FLOW_SET_NW_DSCP:
		a->arg = (uint16_t)random_below(64);
		break;
	case FLOW_SET_NW_ECN:
		a->arg = (uint16_t)random_below(4);
		break;
	}
}

static void random_spec(struct flow_spec *s)
{
	memset(s, 0, sizeof(*s));
	s->priority = (uint16_t)(random_below(2) ? random_u64() : RULES_PRIORITY);
	random_match(s);
	s->n_actions = (uint16_t)random_below(random_below(8) ? 5 : FLOW_ACTIONS_MAX + 1);
	for (uint32_t i = 0; i < s->n_actions; i++)
		random_action(&s->action[i], s->key.dl_type == 0x86dd);
}

static void test_random_rules_come_back(void **state)
{
	struct flow_spec spec, back;
	struct rules_error error;

	random_init("rules");
	for (int i = 0; i < 50000; i++) {
		const struct rules_format *format = i & 1 ? &by_name : &by_number;
		const char *text;

		random_spec(&spec);
		text = print(&spec, format);
		if (!parse(text, &back, &error))
			fail_msg("%s: column %u: %s", text, error.column, error.why);
		if (memcmp(&spec, &back, offsetof(struct flow_spec, action)) ||
		    memcmp(spec.action, back.action, spec.n_actions * sizeof(spec.action[0])))
			fail_msg("%s", text);
	}
}

static void test_ipv6_as_inet_ntop(void **state)
{
	char wanted[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN];

	random_init("rules, IPv6");
	for (int i = 0; i < 200000; i++) {
		uint8_t ip[16];
		uint32_t zeros = random_below(9);

		random_bytes(ip, sizeof(ip));
		for (int group = 0; group < 8; group++)
			if (random_below(8) < zeros)
				put_be16(ip + 2 * group, random_below(8) ? 0 : 0xffff);
		*write_ipv6(text, ip) = 0;
		assert_string_equal(text, inet_ntop(AF_INET6, ip, wanted, sizeof(wanted)));
	}
}

static void test_names(void **state)
{
	struct flow_spec spec;
	struct rules_error error;

	assert_true(parse("in_port=1,actions=2,60000", &spec, &error));
	assert_string_equal(print(&spec, &by_name),
			    "in_port=p1 actions=output:p2,output:\"192.0.2.1\"");
}

static const struct {
	const char *text;
	bool strict;
	uint32_t column;  /* 0: good */
	const char *what;	/* the match printed, or a part of the refusal */
} selectors[] = {
	{"", false, 0, "actions=drop"},
	{"ip,nw_dst=10.0.0.0/8", false, 0, "ip,nw_dst=10.0.0.0/8 actions=drop"},
	{"cookie=0x5/-1,ip", false, 0, "ip actions=drop"},
	{"priority=7,ip", true, 0, "priority=7,ip actions=drop"},
	{"table=0", false, 0, "actions=drop"},
	{"priority=7", false, 1, "only with --strict"},
	{"ip,idle_timeout=7", false, 4, "rules are not selected by it"},
	{"ip,actions=drop", false, 4, "rules are not selected by them"},
	{"tp_src=5", false, 1, "tp_src needs"},
	{"out_port=5", false, 1, "out_port: not supported"},
};

static void test_selectors(void **state)
{
	struct rules_selector selector;
	struct rules_error error;

	for (size_t i = 0; i < ARRAY_SIZE(selectors); i++) {
		bool ok = rules_parse_selector(&test_ports, selectors[i].text,
					       strlen(selectors[i].text), selectors[i].strict,
					       &selector, &error);

		assert_int_equal(ok, selectors[i].column == 0);
		if (ok) {
			assert_string_equal(print(&selector.match, &by_number), selectors[i].what);
			continue;
		}
		assert_int_equal(error.column, selectors[i].column);
		assert_non_null(strstr(error.why, selectors[i].what));
	}
	assert_true(
		rules_parse_selector(&test_ports, "cookie=0xab/0xf", 15, false, &selector, &error));
	assert_int_equal(selector.cookie, 0xb);
	assert_int_equal(selector.cookie_mask, 0xf);
}

/* What a reader made of a text: a line each. */
static int note_rule(void *arg, const struct flow_spec *spec, uint32_t line)
{
	struct buffer *notes = arg;

	buffer_printf(notes, "%u: ", line);
	rules_print_spec(spec, &by_number, notes);
	buffer_str(notes, "\n");
	return 0;
}

static void note_errors(struct rules_reader *reader, int r, struct buffer *notes,
			struct rules_error *error)
{
	while (r == -EINVAL) {
		buffer_printf(notes, "%u:%u: %s\n", error->line, error->column, error->why);
		r = rules_reader_feed(reader, NULL, 0, error);
	}
	assert_int_equal(r, 0);
}

static void read_in_pieces(const char *text, size_t n, size_t piece, struct buffer *notes)
{
	struct rules_reader reader;
	struct rules_error error;

	rules_reader_init(&reader, &test_ports, note_rule, notes);
	for (size_t at = 0; at < n; at += piece)
		note_errors(&reader,
			    rules_reader_feed(&reader, text + at, min_of(piece, n - at), &error),
			    notes, &error);
	note_errors(&reader, rules_reader_end(&reader, &error), notes, &error);
	rules_reader_fini(&reader);
}

static void test_pieces(void **state)
{
	static const char text[] =
		"# comment\n"
		"\n"
		"NXST_FLOW reply (xid=0x4):\n"
		" cookie=0x0, duration=1s, table=0, tcp,tp_dst=80 actions=output:2\r\n"
		"OFPST_FLOW reply (OF1.3) (xid=0x2):\n"
		"  \t \n"
		"ip actions=1 # one\n"
		"ip,bad actions=1\n"
		"   # nothing\n"
		"tp_src=1 actions=1\n"
		"arp actions=3";
	static const char wanted[] =
		"4: tcp,tp_dst=80 actions=output:2\n"
		"7: ip actions=output:1\n"
		"8:4: \"bad\" is not known, allowed: a field to match, like in_port=1 or tcp, or "
		"actions=...\n"
		"10:1: tp_src needs tcp, tcp6, udp, udp6, sctp, sctp6, icmp or icmp6 in the same "
		"rule\n"
		"11: arp actions=output:3\n";

	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		struct buffer notes = {0};

		read_in_pieces(text, sizeof(text) - 1, piece, &notes);
		assert_string_equal(notes.data, wanted);
		buffer_fini(&notes);
	}
}

/* A line without an end costs no more memory than one of the longest, and is refused once. */
static void test_long_line(void **state)
{
	static const size_t pieces[] = {1000, 4096, 65536, 1 << 20};
	struct buffer text = {0};

	buffer_str(&text, "ip actions=1\nip ");
	while (text.n < 300000)
		buffer_str(&text, "                ");
	buffer_str(&text, "actions=2\narp actions=3\n");
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		struct buffer notes = {0};

		read_in_pieces(text.data, text.n, pieces[i], &notes);
		assert_string_equal(notes.data,
				    "1: ip actions=output:1\n"
				    "2:65537: the line is too long, allowed: 65536 bytes\n"
				    "3: arp actions=output:3\n");
		buffer_fini(&notes);
	}
	buffer_fini(&text);
}

static int stop(void *arg, const struct flow_spec *spec, uint32_t line)
{
	return -ENOSPC;
}

static void test_a_rule_may_stop_the_reader(void **state)
{
	struct rules_reader reader;
	struct rules_error error;

	rules_reader_init(&reader, &test_ports, stop, NULL);
	assert_int_equal(rules_reader_feed(&reader, "actions=1\n", 10, &error), -ENOSPC);
	assert_int_equal(rules_reader_feed(&reader, "actions=1", 9, &error), 0);
	assert_int_equal(rules_reader_end(&reader, &error), -ENOSPC);
	rules_reader_fini(&reader);
}

/* What ovs-ofctl dump-flows said of an Open vSwitch 3.1, with OpenFlow 1.0 and with 1.3. */
static void test_dumps_of_open_vswitch(void **state)
{
	static const char *const files[] = {"/tests/rules/dump-1.0.txt",
					    "/tests/rules/dump-1.3.txt"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[4096], text[16384];
		struct buffer notes = {0};
		size_t n, n_rules = 0;
		FILE *f;

		snprintf(path, sizeof(path), "%s%s", SOURCE_ROOT, files[i]);
		f = fopen(path, "r");
		assert_non_null(f);
		n = fread(text, 1, sizeof(text), f);
		fclose(f);
		read_in_pieces(text, n, sizeof(text), &notes);
		for (const char *p = notes.data; (p = strchr(p, '\n')); p++)
			n_rules++;
		assert_int_equal(n_rules, 22);
		assert_null(strstr(notes.data, "error"));
		assert_non_null(strstr(notes.data, "set_field:fe80::1->ipv6_src"));
		buffer_fini(&notes);
	}
}

static struct flow_table *table_with(const char *text, uint64_t now_ns)
{
	struct flow_table *t = flow_table_create(1);
	struct flow_spec spec;
	struct rules_error error;

	assert_non_null(t);
	assert_true(parse(text, &spec, &error));
	assert_int_equal(flow_table_add(t, &spec, now_ns), 1);
	return t;
}

static const struct flow_rule *the_rule(struct flow_table *t)
{
	for (uint32_t id = 1; id < 1000; id++)
		if (flow_table_get(t, id))
			return flow_table_get(t, id);
	return NULL;
}

static void test_rules_of_a_table(void **state)
{
	static const char text[] =
		"cookie=0x55,idle_timeout=10,hard_timeout=7,priority=9,in_port=1,tcp,"
		"actions=mod_tp_dst:8080,p2";
	const uint64_t second = 1000000000;
	struct flow_table *t = table_with(text, 5 * second);
	const struct flow_rule *rule = the_rule(t);
	struct rules_format format = {
		.ports = &test_ports, .stats = true, .now_ns = 10 * second + 123 * second / 1000};
	struct flow_cell *cell = flow_table_cells(t, 0) + flow_rule_id(t, rule);
	struct buffer out = {0};
	json_t *json, *match, *actions;

	cell->packets = 3;
	cell->bytes = 294;
	rules_print(t, rule, &format, &out);
	assert_string_equal(out.data,
			    " cookie=0x55, duration=5.123s, table=0, n_packets=3, n_bytes=294, "
			    "idle_timeout=10, hard_timeout=7, priority=9,tcp,in_port=1 "
			    "actions=mod_tp_dst:8080,output:2\n");
	buffer_reset(&out, SIZE_MAX);
	format.now_ns = 6 * second;
	format.names = true;
	rules_print(t, rule, &format, &out);
	assert_non_null(strstr(out.data, "duration=1s, "));
	assert_non_null(strstr(out.data, "in_port=p1 actions=mod_tp_dst:8080,output:p2\n"));
	buffer_reset(&out, SIZE_MAX);
	rules_print_json(t, rule, &format, &out);
	json = json_loads(out.data, 0, NULL);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "cookie")), "0x55");
	assert_int_equal(json_integer_value(json_object_get(json, "n_bytes")), 294);
	match = json_object_get(json, "match");
	assert_int_equal(json_object_size(match), 2);
	assert_string_equal(json_string_value(json_object_get(match, "proto")), "tcp");
	assert_string_equal(json_string_value(json_object_get(match, "in_port")), "p1");
	actions = json_object_get(json, "actions");
	assert_int_equal(json_array_size(actions), 2);
	assert_string_equal(json_string_value(json_array_get(actions, 0)), "mod_tp_dst:8080");
	json_decref(json);
	buffer_reset(&out, SIZE_MAX);
	format.stats = format.names = false;
	rules_print(t, rule, &format, &out);
	assert_string_equal(out.data,
			    " cookie=0x55, idle_timeout=10, hard_timeout=7, "
			    "priority=9,tcp,in_port=1 actions=mod_tp_dst:8080,output:2\n");
	buffer_fini(&out);
	flow_table_destroy(t);
}

static void test_json_of_random_rules(void **state)
{
	struct flow_table *t = flow_table_create(1);
	struct rules_format format = {.ports = &test_ports, .stats = true, .names = true};
	struct flow_spec spec;

	random_init("rules, JSON");
	for (int i = 0; i < 2000; i++) {
		struct buffer out = {0};
		json_t *json;

		random_spec(&spec);
		assert_true(flow_table_add(t, &spec, 0) >= 0);
		rules_print_json(t, flow_table_find(t, &spec), &format, &out);
		json = json_loads(out.data, JSON_REJECT_DUPLICATES, NULL);
		if (!json)
			fail_msg("%s", out.data);
		assert_int_equal(json_array_size(json_object_get(json, "actions")),
				 max_of(spec.n_actions, 1));
		json_decref(json);
		buffer_fini(&out);
	}
	flow_table_destroy(t);
}

static void test_selection(void **state)
{
	static const struct {
		const char *text;
		bool strict;
		bool selects;
	} cases[] = {
		{"", false, true},
		{"ip", false, true},
		{"tcp", false, true},
		{"tcp,nw_dst=10.0.0.0/8", false, true},
		{"tcp,nw_dst=10.1.0.0/16", false, true},
		{"tcp,nw_dst=10.1.2.0/24", false, false},
		{"udp", false, false},
		{"tcp,nw_dst=11.0.0.0/8", false, false},
		{"cookie=0x55/-1", false, true},
		{"cookie=0x5/0xf", false, true},
		{"cookie=0x56/-1", false, false},
		{"tcp,nw_dst=10.1.0.0/16", true, false},
		{"priority=9,tcp,nw_dst=10.1.0.0/16", true, true},
		{"priority=9,tcp", true, false},
		{"priority=9,tcp,nw_dst=10.2.0.0/16", true, false},
	};
	struct flow_table *t =
		table_with("cookie=0x55,priority=9,tcp,nw_dst=10.1.0.0/16,actions=1", 0);
	struct rules_selector selector;
	struct rules_error error;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(rules_parse_selector(&test_ports, cases[i].text, strlen(cases[i].text),
						 cases[i].strict, &selector, &error));
		if (rules_selects(t, &selector, the_rule(t)) != cases[i].selects)
			fail_msg("%s", cases[i].text);
	}
	flow_table_destroy(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_vlan_id_to_set),
		cmocka_unit_test(test_too_many_actions),
		cmocka_unit_test(test_every_field_has_its_name),
		cmocka_unit_test(test_random_rules_come_back),
		cmocka_unit_test(test_ipv6_as_inet_ntop),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_selectors),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_a_rule_may_stop_the_reader),
		cmocka_unit_test(test_dumps_of_open_vswitch),
		cmocka_unit_test(test_rules_of_a_table),
		cmocka_unit_test(test_json_of_random_rules),
		cmocka_unit_test(test_selection),
	};
	int r;

	rcu_register_thread();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return r;
}

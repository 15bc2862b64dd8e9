/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/fields.h"

#include <stdio.h>
#include <string.h>

#include "dataplane/wire.h"
#include "lib/bits.h"
#include "rules/match.h"

/* Of the rule. */

static bool read_u16(struct draft *d, const struct field *f, uint16_t *value)
{
	const char *start = d->scan.at;
	uint64_t v;

	if (!scan_number(&d->scan, f->name, UINT16_MAX, &v))
		return false;
	*value = (uint16_t)v;
	return scan_end_of(&d->scan, f->name, start);
}

static bool read_priority(struct draft *d, const struct field *f)
{
	if (d->selector && !d->selector->strict)
		return scan_fail(&d->scan, d->where[FIELD_PRIORITY], "priority: selects only with "
				 "--strict");
	return read_u16(d, f, &d->spec->priority);
}

static bool read_timeout(struct draft *d, const struct field *f)
{
	if (d->selector)
		return scan_fail(&d->scan, d->where[field_id(f)],
				 "%s: rules are not selected by it, allowed: a match, "
				 "cookie=VALUE/MASK",
				 f->name);
	return read_u16(d, f,
			field_id(f) == FIELD_IDLE_TIMEOUT ? &d->spec->idle_timeout_s :
							    &d->spec->hard_timeout_s);
}

/* ovs-ofctl(8) has people write -1 for all bits. */
static bool read_cookie_number(struct scan *s, const struct field *f, uint64_t *value)
{
	if (s->end - s->at >= 2 && memcmp(s->at, "-1", 2) == 0) {
		s->at += 2;
		*value = UINT64_MAX;
		return true;
	}
	return scan_number(s, f->name, UINT64_MAX, value);
}

static bool read_cookie(struct draft *d, const struct field *f)
{
	struct scan *s = &d->scan;
	const char *start = s->at;
	uint64_t value, mask = UINT64_MAX;

	if (!read_cookie_number(s, f, &value))
		return false;
	if (s->at < s->end && *s->at == '/') {
		if (!d->selector)
			return scan_fail(s, s->at, "cookie: a mask is for selecting rules, "
					 "allowed: a whole value");
		s->at++;
		if (!read_cookie_number(s, f, &mask))
			return false;
	}
	if (d->selector) {
		d->selector->cookie = value & mask;
		d->selector->cookie_mask = mask;
	} else {
		d->spec->cookie = value;
	}
	return scan_end_of(s, f->name, start);
}

static bool read_table(struct draft *d, const struct field *f)
{
	const char *start = d->scan.at;
	uint64_t value;

	if (!scan_number(&d->scan, f->name, 255, &value) || !scan_end_of(&d->scan, f->name, start))
		return false;
	return value == 0 || scan_fail(&d->scan, start, "table: there is one, allowed: 0");
}

static bool read_counter(struct draft *d, const struct field *f)
{
	d->scan.at = scan_word_end(&d->scan, d->scan.at);
	return true;
}

#define AT(member_) .offset = offsetof(struct flow_key, member_), \
	.bytes = sizeof(((struct flow_key *)0)->member_)
#define NUMBER(member_, bits_) .read = match_number, AT(member_), .bits = (bits_)
#define ADDRESS(member_, bytes_) .read = match_ip, .offset = offsetof(struct flow_key, member_), \
	.bytes = (bytes_), .masks = true
#define MAC(member_) .read = match_mac, AT(member_), .masks = true
#define NEED_IP (NEED_IPV4 | NEED_IPV6)
#define NEED_PORTS (NEED_TCP | NEED_UDP | NEED_SCTP)

const struct field fields[FIELDS] = {
	[FIELD_IN_PORT] = {"in_port", match_in_port, AT(in_port), .bits = 16},
	[FIELD_TUN_ID] = {"tun_id", NUMBER(tun_id, 24), .masks = true, .set = FLOW_SET_TUNNEL},
	[FIELD_DL_SRC] = {"dl_src", MAC(dl_src), .set = FLOW_SET_DL_SRC},
	[FIELD_DL_DST] = {"dl_dst", MAC(dl_dst), .set = FLOW_SET_DL_DST},
	[FIELD_DL_TYPE] = {"dl_type", NUMBER(dl_type, 16)},
	[FIELD_DL_VLAN] = {"dl_vlan", match_vlan, AT(vlan_tci), .bits = 12,
			   .plus = FLOW_TCI_PRESENT, .set = FLOW_SET_VLAN_VID},
	[FIELD_DL_VLAN_PCP] = {"dl_vlan_pcp", NUMBER(vlan_tci, 3), .shift = 13,
			       .plus = FLOW_TCI_PRESENT, .set = FLOW_SET_VLAN_PCP},
	[FIELD_VLAN_TCI] = {"vlan_tci", NUMBER(vlan_tci, 16), .masks = true},
	[FIELD_VLAN_VID] = {"vlan_vid", match_vid, AT(vlan_tci), .bits = 13, .masks = true,
			    .set = FLOW_SET_VLAN_VID},
	[FIELD_NW_SRC] = {"nw_src", ADDRESS(src, 4), .needs = NEED_IPV4, .also = NEED_ARP,
			  .set = FLOW_SET_NW_SRC},
	[FIELD_NW_DST] = {"nw_dst", ADDRESS(dst, 4), .needs = NEED_IPV4, .also = NEED_ARP,
			  .set = FLOW_SET_NW_DST},
	[FIELD_IPV6_SRC] = {"ipv6_src", ADDRESS(src, 16), .needs = NEED_IPV6,
			    .set = FLOW_SET_IPV6_SRC},
	[FIELD_IPV6_DST] = {"ipv6_dst", ADDRESS(dst, 16), .needs = NEED_IPV6,
			    .set = FLOW_SET_IPV6_DST},
	[FIELD_NW_PROTO] = {"nw_proto", NUMBER(nw_proto, 8), .needs = NEED_IP | NEED_ARP},
	[FIELD_NW_TOS] = {"nw_tos", match_tos, AT(nw_tos), .needs = NEED_IP,
			  .set = FLOW_SET_NW_DSCP},
	[FIELD_IP_DSCP] = {"ip_dscp", NUMBER(nw_tos, 6), .shift = 2, .needs = NEED_IP,
			   .set = FLOW_SET_NW_DSCP},
	[FIELD_NW_ECN] = {"nw_ecn", NUMBER(nw_tos, 2), .needs = NEED_IP, .set = FLOW_SET_NW_ECN},
	[FIELD_NW_TTL] = {"nw_ttl", NUMBER(nw_ttl, 8), .needs = NEED_IP, .set = FLOW_SET_NW_TTL},
	[FIELD_NW_FRAG] = {"nw_frag", match_frag, AT(nw_frag), .needs = NEED_IP},
	[FIELD_TP_SRC] = {"tp_src", NUMBER(tp_src, 16), .masks = true,
			  .needs = NEED_PORTS, .also = NEED_ICMP | NEED_ICMP6,
			  .set = FLOW_SET_TP_SRC},
	[FIELD_TP_DST] = {"tp_dst", NUMBER(tp_dst, 16), .masks = true,
			  .needs = NEED_PORTS, .also = NEED_ICMP | NEED_ICMP6,
			  .set = FLOW_SET_TP_DST},
	[FIELD_TCP_SRC] = {"tcp_src", NUMBER(tp_src, 16), .masks = true, .needs = NEED_TCP,
			   .set = FLOW_SET_TP_SRC},
	[FIELD_TCP_DST] = {"tcp_dst", NUMBER(tp_dst, 16), .masks = true, .needs = NEED_TCP,
			   .set = FLOW_SET_TP_DST},
	[FIELD_UDP_SRC] = {"udp_src", NUMBER(tp_src, 16), .masks = true, .needs = NEED_UDP,
			   .set = FLOW_SET_TP_SRC},
	[FIELD_UDP_DST] = {"udp_dst", NUMBER(tp_dst, 16), .masks = true, .needs = NEED_UDP,
			   .set = FLOW_SET_TP_DST},
	[FIELD_SCTP_SRC] = {"sctp_src", NUMBER(tp_src, 16), .masks = true, .needs = NEED_SCTP,
			    .set = FLOW_SET_TP_SRC},
	[FIELD_SCTP_DST] = {"sctp_dst", NUMBER(tp_dst, 16), .masks = true, .needs = NEED_SCTP,
			    .set = FLOW_SET_TP_DST},
	[FIELD_TCP_FLAGS] = {"tcp_flags", match_tcp_flags, AT(tcp_flags), .bits = 12, .masks = true,
			     .needs = NEED_TCP},
	[FIELD_ICMP_TYPE] = {"icmp_type", match_icmp, AT(tp_src), .needs = NEED_ICMP | NEED_ICMP6,
			     .bits = 8, .set = FLOW_SET_ICMP_TYPE},
	[FIELD_ICMP_CODE] = {"icmp_code", match_icmp, AT(tp_dst), .needs = NEED_ICMP | NEED_ICMP6,
			     .bits = 8, .set = FLOW_SET_ICMP_CODE},
	[FIELD_ICMPV6_TYPE] = {"icmpv6_type", match_icmp, AT(tp_src), .needs = NEED_ICMP6,
			       .bits = 8, .set = FLOW_SET_ICMP_TYPE},
	[FIELD_ICMPV6_CODE] = {"icmpv6_code", match_icmp, AT(tp_dst), .needs = NEED_ICMP6,
			       .bits = 8, .set = FLOW_SET_ICMP_CODE},
	[FIELD_ND_TARGET] = {"nd_target", ADDRESS(nd_target, 16), .needs = NEED_ND,
			     .set = FLOW_SET_ND_TARGET},
	[FIELD_ARP_OP] = {"arp_op", NUMBER(nw_proto, 8), .needs = NEED_ARP,
			  .set = FLOW_SET_ARP_OP},
	[FIELD_ARP_SPA] = {"arp_spa", ADDRESS(src, 4), .needs = NEED_ARP, .set = FLOW_SET_ARP_SPA},
	[FIELD_ARP_TPA] = {"arp_tpa", ADDRESS(dst, 4), .needs = NEED_ARP, .set = FLOW_SET_ARP_TPA},
	[FIELD_ARP_SHA] = {"arp_sha", MAC(arp_sha), .needs = NEED_ARP, .set = FLOW_SET_ARP_SHA},
	[FIELD_ARP_THA] = {"arp_tha", MAC(arp_tha), .needs = NEED_ARP, .set = FLOW_SET_ARP_THA},

	[FIELD_IP] = {"ip", match_word, .dl_type = ETHERTYPE_IPV4},
	[FIELD_IPV6] = {"ipv6", match_word, .dl_type = ETHERTYPE_IPV6},
	[FIELD_ARP] = {"arp", match_word, .dl_type = ETHERTYPE_ARP},
	[FIELD_RARP] = {"rarp", match_word, .dl_type = ETHERTYPE_RARP},
	[FIELD_ICMP] = {"icmp", match_word, .dl_type = ETHERTYPE_IPV4, .nw_proto = PROTO_ICMP},
	[FIELD_TCP] = {"tcp", match_word, .dl_type = ETHERTYPE_IPV4, .nw_proto = PROTO_TCP},
	[FIELD_UDP] = {"udp", match_word, .dl_type = ETHERTYPE_IPV4, .nw_proto = PROTO_UDP},
	[FIELD_SCTP] = {"sctp", match_word, .dl_type = ETHERTYPE_IPV4, .nw_proto = PROTO_SCTP},
	[FIELD_ICMP6] = {"icmp6", match_word, .dl_type = ETHERTYPE_IPV6, .nw_proto = PROTO_ICMPV6},
	[FIELD_TCP6] = {"tcp6", match_word, .dl_type = ETHERTYPE_IPV6, .nw_proto = PROTO_TCP},
	[FIELD_UDP6] = {"udp6", match_word, .dl_type = ETHERTYPE_IPV6, .nw_proto = PROTO_UDP},
	[FIELD_SCTP6] = {"sctp6", match_word, .dl_type = ETHERTYPE_IPV6, .nw_proto = PROTO_SCTP},
	[FIELD_MPLS] = {"mpls", match_word, .dl_type = 0x8847},
	[FIELD_MPLSM] = {"mplsm", match_word, .dl_type = 0x8848},

	[FIELD_PRIORITY] = {.name = "priority", .read = read_priority},
	[FIELD_COOKIE] = {.name = "cookie", .read = read_cookie},
	[FIELD_IDLE_TIMEOUT] = {.name = "idle_timeout", .read = read_timeout},
	[FIELD_HARD_TIMEOUT] = {.name = "hard_timeout", .read = read_timeout},
	[FIELD_TABLE] = {.name = "table", .read = read_table},
	[FIELD_COUNTER] = {.name = "a counter", .read = read_counter},
	[FIELD_FLAG] = {.name = "a flag"},
	[FIELD_ACTIONS] = {.name = "actions"},
};

void field_needs_text(uint32_t needs, char *text, size_t bytes)
{
	static const struct {
		uint32_t need;
		const char *word;
	} words[] = {
		{NEED_IPV4, "ip"}, {NEED_IPV6, "ipv6"}, {NEED_ARP, "arp"}, {NEED_ARP, "rarp"},
		{NEED_TCP, "tcp"}, {NEED_TCP, "tcp6"}, {NEED_UDP, "udp"}, {NEED_UDP, "udp6"},
		{NEED_SCTP, "sctp"}, {NEED_SCTP, "sctp6"}, {NEED_ICMP, "icmp"},
		{NEED_ICMP6, "icmp6"}, {NEED_ND, "icmp6 with icmp_type=135"},
		{NEED_ND, "icmp6 with icmp_type=136"}, {NEED_TAG, "dl_vlan"},
		{NEED_TAG, "push_vlan"},
	};
	size_t last = 0, n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (needs & words[i].need)
			last = i;
	text[0] = 0;
	for (size_t i = 0; i <= last && n < bytes; i++)
		if (needs & words[i].need)
			n += (size_t)snprintf(text + n, bytes - n, "%s%s",
					      n == 0	? "" :
					      i == last ? " or " :
							  ", ",
					      words[i].word);
}

uint32_t field_given(const struct flow_spec *spec)
{
	const struct flow_key *key = &spec->key, *mask = &spec->mask;
	uint32_t given = key->vlan_tci & FLOW_TCI_PRESENT ? NEED_TAG : 0;

	if (mask->dl_type != 0xffff)
		return given;
	if (key->dl_type == ETHERTYPE_ARP || key->dl_type == ETHERTYPE_RARP)
		return given | NEED_ARP;
	if (key->dl_type != ETHERTYPE_IPV4 && key->dl_type != ETHERTYPE_IPV6)
		return given;
	given |= key->dl_type == ETHERTYPE_IPV4 ? NEED_IPV4 : NEED_IPV6;
	if (mask->nw_proto != 0xff)
		return given;
	switch (key->nw_proto) {
	case PROTO_TCP:
		return given | NEED_TCP;
	case PROTO_UDP:
		return given | NEED_UDP;
	case PROTO_SCTP:
		return given | NEED_SCTP;
	case PROTO_ICMP:
		return given | (given & NEED_IPV4 ? NEED_ICMP : 0);
	case PROTO_ICMPV6:
		if (!(given & NEED_IPV6))
			return given;
		given |= NEED_ICMP6;
		if (mask->tp_src != 0xffff)
			return given;
		if (key->tp_src == ND_SOLICITATION || key->tp_src == ND_ADVERTISEMENT)
			given |= NEED_ND;
	}
	return given;
}

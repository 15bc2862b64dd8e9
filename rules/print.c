/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/print.h"

#include <string.h>

#include "dataplane/wire.h"
#include "rules/match.h"
#include "rules/write.h"

static bool is_plain(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') &&
		    (p == name || !(*p >= '0' && *p <= '9')))
			return false;
	return true;
}

/* A name in quotes where ovs-ofctl puts them: when it is more than letters and digits. */
static char *print_port(char *p, uint16_t egress, const struct rules_format *format)
{
	const struct rules_ports *ports = format->ports;
	char text[64];
	const char *name = format->names ? ports->name(ports->arg, egress, text) : NULL;

	if (!name)
		return write_decimal(p, ports->number(ports->arg, egress));
	if (is_plain(name))
		return write_bytes(p, name, strnlen(name, sizeof(text)));
	*p++ = '"';
	p = write_bytes(p, name, strnlen(name, sizeof(text)));
	*p++ = '"';
	return p;
}

static bool is_all(const uint8_t *mask, size_t n, uint8_t all)
{
	uint8_t differs = 0;

	for (size_t i = 0; i < n; i++)
		differs |= mask[i] ^ all;
	return !differs;
}

/* The length of a prefix, or -1. */
static int prefix_length(const uint8_t *mask, size_t n)
{
	size_t i = 0;
	int bits = 0;

	while (i < n && mask[i] == 0xff)
		i++;
	if (i < n) {
		while (mask[i] << bits & 0x80)
			bits++;
		if ((uint8_t)(mask[i] << bits) || !is_all(mask + i + 1, n - i - 1, 0))
			return -1;
	}
	return (int)i * 8 + bits;
}

static char *print_ip(char *p, const uint8_t *ip, const uint8_t *mask, size_t n)
{
	int length = prefix_length(mask, n);

	p = n == 4 ? write_ipv4(p, ip) : write_ipv6(p, ip);
	if (length != (int)n * 8) {
		*p++ = '/';
		p = length >= 0 ? write_decimal(p, (uint64_t)length) :
		    n == 4	? write_ipv4(p, mask) :
				  write_ipv6(p, mask);
	}
	*p++ = ',';
	return p;
}

/* Behind "name=": an address that is matched. */
#define PRINT_IP(name, member, n)                                                                 \
	do {                                                                                      \
		if (!is_all(mask->member, n, 0))                                                  \
			p = print_ip(write_str(p, name "="), key->member, mask->member, n);       \
	} while (0)

static char *print_mac(char *p, const uint8_t *mac, const uint8_t *mask)
{
	p = write_mac(p, mac);
	if (!is_all(mask, 6, 0xff)) {
		*p++ = '/';
		p = write_mac(p, mask);
	}
	*p++ = ',';
	return p;
}

#define PRINT_MAC(name, member)                                                                   \
	do {                                                                                      \
		if (!is_all(mask->member, 6, 0))                                                  \
			p = print_mac(write_str(p, name "="), key->member, mask->member);         \
	} while (0)

static char *print_port_number(char *p, uint16_t value, uint16_t mask)
{
	if (mask == 0xffff) {
		p = write_decimal(p, value);
	} else {
		p = write_hex_digits(write_str(p, "0x"), value, 1);
		p = write_hex_digits(write_str(p, "/0x"), mask, 1);
	}
	*p++ = ',';
	return p;
}

#define PRINT_TP(name, member)                                                                    \
	do {                                                                                      \
		if (mask->member)                                                                 \
			p = print_port_number(write_str(p, name "="), key->member, mask->member); \
	} while (0)

#define PRINT_NUMBER(name, value)                                                                 \
	do {                                                                                      \
		p = write_decimal(write_str(p, name "="), (value));                               \
		*p++ = ',';                                                                       \
	} while (0)

/* The word for the ethertype and the protocol, if there is one. Says which of them it covers. */
static char *print_word(char *p, const struct flow_key *key, const struct flow_key *mask,
			bool *has_type, bool *has_proto)
{
	const struct field *type = NULL;

	*has_type = *has_proto = false;
	if (mask->dl_type != 0xffff)
		return p;
	for (const struct field *f = &fields[FIELD_IP]; f <= &fields[FIELD_MPLSM]; f++) {
		if (f->dl_type != key->dl_type)
			continue;
		if (f->nw_proto && (mask->nw_proto != 0xff || f->nw_proto != key->nw_proto))
			continue;
		type = f;
		*has_proto = f->nw_proto;
	}
	if (!type)
		return p;
	*has_type = true;
	p = write_bytes(p, type->name, strlen(type->name));
	*p++ = ',';
	return p;
}

static char *print_vlan(char *p, uint16_t tci, uint16_t mask)
{
	uint16_t vid = mask & 0x0fff, pcp = mask & 0xe000;

	if (tci & mask & FLOW_TCI_PRESENT && (vid || pcp) && (vid == 0 || vid == 0x0fff) &&
	    (pcp == 0 || pcp == 0xe000)) {
		if (vid)
			PRINT_NUMBER("dl_vlan", tci & 0x0fff);
		if (pcp)
			PRINT_NUMBER("dl_vlan_pcp", tci >> 13);
		return p;
	}
	p = write_hex_digits(write_str(p, "vlan_tci=0x"), tci, 4);
	if (mask != 0xffff) {
		p = write_hex_digits(write_str(p, "/0x"), mask, 4);
	}
	*p++ = ',';
	return p;
}

static char *print_frag(char *p, uint8_t frag, uint8_t mask)
{
	p = write_str(p, "nw_frag=");
	if (mask == FLOW_FRAG_ANY)
		return frag ? write_str(p, "yes,") : write_str(p, "no,");
	if (mask == FLOW_FRAG_LATER)
		return frag ? write_str(p, "later,") : write_str(p, "not_later,");
	return frag & FLOW_FRAG_LATER ? write_str(p, "later,") :
	       frag			? write_str(p, "first,") :
					  write_str(p, "no,");
}

#define TCP_FLAGS_ALL 0x0fff

static char *print_tcp_flags(char *p, uint16_t flags, uint16_t mask)
{
	bool all = (mask & TCP_FLAGS_ALL) == TCP_FLAGS_ALL, any = false;

	p = write_str(p, "tcp_flags=");
	for (unsigned int i = 0; i < MATCH_TCP_FLAGS; i++) {
		bool on = flags >> i & 1;

		if (!(mask >> i & 1) || (all && !on))
			continue;
		if (!all)
			*p++ = on ? '+' : '-';
		else if (any)
			*p++ = '|';
		p = write_bytes(p, match_tcp_flag[i], strlen(match_tcp_flag[i]));
		any = true;
	}
	return any ? write_str(p, ",") : write_str(p, "0,");
}

static bool is_arp(const struct flow_key *key, const struct flow_key *mask)
{
	return mask->dl_type == 0xffff &&
	       (key->dl_type == ETHERTYPE_ARP || key->dl_type == ETHERTYPE_RARP);
}

static bool is_ipv6(const struct flow_key *key, const struct flow_key *mask)
{
	return mask->dl_type == 0xffff && key->dl_type == ETHERTYPE_IPV6;
}

static bool is_icmp(const struct flow_key *key, const struct flow_key *mask)
{
	return mask->dl_type == 0xffff && mask->nw_proto == 0xff &&
	       ((key->dl_type == ETHERTYPE_IPV4 && key->nw_proto == PROTO_ICMP) ||
		(key->dl_type == ETHERTYPE_IPV6 && key->nw_proto == PROTO_ICMPV6));
}

static char *print_ip_rest(char *p, const struct flow_key *key, const struct flow_key *mask)
{
	if (mask->nw_tos & 0xfc)
		PRINT_NUMBER("nw_tos", key->nw_tos & 0xfc);
	if (mask->nw_tos & 3)
		PRINT_NUMBER("nw_ecn", key->nw_tos & 3);
	if (mask->nw_ttl)
		PRINT_NUMBER("nw_ttl", key->nw_ttl);
	if (mask->nw_frag)
		p = print_frag(p, key->nw_frag, mask->nw_frag);
	if (is_icmp(key, mask)) {
		PRINT_TP("icmp_type", tp_src);
		PRINT_TP("icmp_code", tp_dst);
		PRINT_IP("nd_target", nd_target, 16);
		return p;
	}
	PRINT_TP("tp_src", tp_src);
	PRINT_TP("tp_dst", tp_dst);
	if (mask->tcp_flags)
		p = print_tcp_flags(p, key->tcp_flags, mask->tcp_flags);
	return p;
}

char *print_match(char *p, const struct flow_key *key, const struct flow_key *mask,
		  const struct rules_format *format)
{
	bool has_type, has_proto;

	p = print_word(p, key, mask, &has_type, &has_proto);
	if (mask->tun_id) {
		p = write_hex(write_str(p, "tun_id="), key->tun_id);
		if ((mask->tun_id & 0xffffff) != 0xffffff) {
			*p++ = '/';
			p = write_hex(p, mask->tun_id);
		}
		*p++ = ',';
	}
	if (mask->in_port) {
		p = print_port(write_str(p, "in_port="), key->in_port, format);
		*p++ = ',';
	}
	if (mask->vlan_tci)
		p = print_vlan(p, key->vlan_tci, mask->vlan_tci);
	PRINT_MAC("dl_src", dl_src);
	PRINT_MAC("dl_dst", dl_dst);
	if (mask->dl_type && !has_type) {
		p = write_hex_digits(write_str(p, "dl_type=0x"), key->dl_type, 4);
		*p++ = ',';
	}
	if (is_arp(key, mask)) {
		PRINT_IP("arp_spa", src, 4);
		PRINT_IP("arp_tpa", dst, 4);
		if (mask->nw_proto)
			PRINT_NUMBER("arp_op", key->nw_proto);
		PRINT_MAC("arp_sha", arp_sha);
		PRINT_MAC("arp_tha", arp_tha);
		return p;
	}
	if (is_ipv6(key, mask)) {
		PRINT_IP("ipv6_src", src, 16);
		PRINT_IP("ipv6_dst", dst, 16);
	} else {
		PRINT_IP("nw_src", src, 4);
		PRINT_IP("nw_dst", dst, 4);
	}
	if (mask->nw_proto && !has_proto)
		PRINT_NUMBER("nw_proto", key->nw_proto);
	return print_ip_rest(p, key, mask);
}

/* How the value of an action is written. */
enum value { PLAIN, PORT, DECIMAL, DSCP, HEX, TUNNEL, MAC, IPV4, IPV6 };

static const struct {
	const char *before;
	const char *behind;
	enum value value;
} actions[FLOW_ACTION_TYPES] = {
	[FLOW_NORMAL] = {"NORMAL", "", PLAIN},
	[FLOW_FLOOD] = {"FLOOD", "", PLAIN},
	[FLOW_ALL] = {"ALL", "", PLAIN},
	[FLOW_IN_PORT] = {"IN_PORT", "", PLAIN},
	[FLOW_OUTPUT] = {"output:", "", PORT},
	[FLOW_PUSH_VLAN] = {"push_vlan:", "", HEX},
	[FLOW_POP_VLAN] = {"strip_vlan", "", PLAIN},
	[FLOW_SET_VLAN_VID] = {"mod_vlan_vid:", "", DECIMAL},
	[FLOW_SET_VLAN_PCP] = {"mod_vlan_pcp:", "", DECIMAL},
	[FLOW_SET_TUNNEL] = {"set_tunnel:", "", TUNNEL},
	[FLOW_DEC_TTL] = {"dec_ttl", "", PLAIN},
	[FLOW_SET_DL_SRC] = {"mod_dl_src:", "", MAC},
	[FLOW_SET_DL_DST] = {"mod_dl_dst:", "", MAC},
	[FLOW_SET_NW_SRC] = {"mod_nw_src:", "", IPV4},
	[FLOW_SET_NW_DST] = {"mod_nw_dst:", "", IPV4},
	[FLOW_SET_IPV6_SRC] = {"set_field:", "->ipv6_src", IPV6},
	[FLOW_SET_IPV6_DST] = {"set_field:", "->ipv6_dst", IPV6},
	[FLOW_SET_NW_DSCP] = {"mod_nw_tos:", "", DSCP},
	[FLOW_SET_NW_ECN] = {"mod_nw_ecn:", "", DECIMAL},
	[FLOW_SET_NW_TTL] = {"mod_nw_ttl:", "", DECIMAL},
	[FLOW_SET_TP_SRC] = {"mod_tp_src:", "", DECIMAL},
	[FLOW_SET_TP_DST] = {"mod_tp_dst:", "", DECIMAL},
	[FLOW_SET_ICMP_TYPE] = {"set_field:", "->icmp_type", DECIMAL},
	[FLOW_SET_ICMP_CODE] = {"set_field:", "->icmp_code", DECIMAL},
	[FLOW_SET_ARP_OP] = {"set_field:", "->arp_op", DECIMAL},
	[FLOW_SET_ARP_SPA] = {"set_field:", "->arp_spa", IPV4},
	[FLOW_SET_ARP_TPA] = {"set_field:", "->arp_tpa", IPV4},
	[FLOW_SET_ARP_SHA] = {"set_field:", "->arp_sha", MAC},
	[FLOW_SET_ARP_THA] = {"set_field:", "->arp_tha", MAC},
	[FLOW_SET_ND_TARGET] = {"set_field:", "->nd_target", IPV6},
};

static char *print_value(char *p, const struct flow_action *a, const struct rules_format *format)
{
	switch (actions[a->type].value) {
	case PORT:
		return print_port(p, a->arg, format);
	case DECIMAL:
		return write_decimal(p, a->arg);
	case DSCP:
		return write_decimal(p, (uint64_t)a->arg << 2);
	case HEX:
		return write_hex(p, a->arg);
	case TUNNEL:
		return write_hex(p, a->value[0]);
	case MAC:
		return write_mac(p, a->byte);
	case IPV4:
		return write_ipv4(p, a->byte);
	case IPV6:
		return write_ipv6(p, a->byte);
	default:
		return p;
	}
}

char *print_actions(char *p, const struct flow_action *action, uint32_t n,
		    const struct flow_key *key, const struct flow_key *mask,
		    const struct rules_format *format)
{
	if (n == 0)
		return write_str(p, "drop");
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_action *a = &action[i];
		const char *behind = actions[a->type].behind;

		if (i)
			*p++ = ',';
		if (is_ipv6(key, mask) && a->type == FLOW_SET_ICMP_TYPE)
			behind = "->icmpv6_type";
		if (is_ipv6(key, mask) && a->type == FLOW_SET_ICMP_CODE)
			behind = "->icmpv6_code";
		p = write_bytes(p, actions[a->type].before, strlen(actions[a->type].before));
		p = print_value(p, a, format);
		p = write_bytes(p, behind, strlen(behind));
	}
	return p;
}

char *print_rule(char *p, uint16_t priority, const struct flow_key *key,
		 const struct flow_key *mask, const struct flow_action *action, uint32_t n,
		 const struct rules_format *format)
{
	const char *start = p;

	if (priority != RULES_PRIORITY)
		PRINT_NUMBER("priority", priority);
	p = print_match(p, key, mask, format);
	if (p > start)
		p[-1] = ' ';
	p = write_str(p, "actions=");
	return print_actions(p, action, n, key, mask, format);
}

void rules_print_spec(const struct flow_spec *spec, const struct rules_format *format,
		      struct buffer *out)
{
	char *p;

	if (!buffer_reserve(out, PRINT_RULE_BYTES(spec->n_actions)))
		return;
	p = print_rule(out->data + out->n, spec->priority, &spec->key, &spec->mask, spec->action,
		       spec->n_actions, format);
	*p = 0;
	out->n = (size_t)(p - out->data);
}

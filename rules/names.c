/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/names.h"

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conf/text.h"
#include "lib/bits.h"
#include "rules/actions.h"
#include "rules/fields.h"

/* Names in rows by their lengths, the common ones first: a lookup compares two words of the machine
 * for each name of the same length. */
#define OF_A_LENGTH 24

struct name {
	char text[NAME_BYTES];	/* zero behind the name; empty: the row ends */
	uint8_t id;
};

static const struct name field_names[NAME_BYTES + 1][OF_A_LENGTH] = {
	[2] = {{"ip", FIELD_IP}},
	[3] = {{"tcp", FIELD_TCP}, {"udp", FIELD_UDP}, {"arp", FIELD_ARP}, {"eth", FIELD_FLAG}},
	[4] = {{"icmp", FIELD_ICMP}, {"ipv6", FIELD_IPV6}, {"tcp6", FIELD_TCP6},
	       {"udp6", FIELD_UDP6}, {"sctp", FIELD_SCTP}, {"rarp", FIELD_RARP},
	       {"mpls", FIELD_MPLS}},
	[5] = {{"table", FIELD_TABLE}, {"icmp6", FIELD_ICMP6}, {"sctp6", FIELD_SCTP6},
	       {"mplsm", FIELD_MPLSM}},
	[6] = {{"nw_src", FIELD_NW_SRC}, {"nw_dst", FIELD_NW_DST}, {"tp_src", FIELD_TP_SRC},
	       {"tp_dst", FIELD_TP_DST}, {"cookie", FIELD_COOKIE}, {"dl_src", FIELD_DL_SRC},
	       {"dl_dst", FIELD_DL_DST}, {"tun_id", FIELD_TUN_ID}, {"nw_tos", FIELD_NW_TOS},
	       {"nw_ecn", FIELD_NW_ECN}, {"nw_ttl", FIELD_NW_TTL}, {"arp_op", FIELD_ARP_OP},
	       {"ip_src", FIELD_NW_SRC}, {"ip_dst", FIELD_NW_DST}, {"ip_ecn", FIELD_NW_ECN},
	       {"action", FIELD_ACTIONS}},
	[7] = {{"actions", FIELD_ACTIONS}, {"in_port", FIELD_IN_PORT}, {"n_bytes", FIELD_COUNTER},
	       {"dl_type", FIELD_DL_TYPE}, {"dl_vlan", FIELD_DL_VLAN}, {"nw_frag", FIELD_NW_FRAG},
	       {"ip_frag", FIELD_NW_FRAG}, {"tcp_src", FIELD_TCP_SRC}, {"tcp_dst", FIELD_TCP_DST},
	       {"udp_src", FIELD_UDP_SRC}, {"udp_dst", FIELD_UDP_DST}, {"eth_src", FIELD_DL_SRC},
	       {"eth_dst", FIELD_DL_DST}, {"arp_spa", FIELD_ARP_SPA}, {"arp_tpa", FIELD_ARP_TPA},
	       {"arp_sha", FIELD_ARP_SHA}, {"arp_tha", FIELD_ARP_THA}, {"ip_dscp", FIELD_IP_DSCP}},
	[8] = {{"priority", FIELD_PRIORITY}, {"duration", FIELD_COUNTER},
	       {"idle_age", FIELD_COUNTER}, {"hard_age", FIELD_COUNTER},
	       {"nw_proto", FIELD_NW_PROTO}, {"ip_proto", FIELD_NW_PROTO},
	       {"vlan_tci", FIELD_VLAN_TCI}, {"vlan_vid", FIELD_VLAN_VID},
	       {"vlan_pcp", FIELD_DL_VLAN_PCP}, {"ipv6_src", FIELD_IPV6_SRC},
	       {"ipv6_dst", FIELD_IPV6_DST}, {"ipv4_src", FIELD_NW_SRC},
	       {"ipv4_dst", FIELD_NW_DST}, {"eth_type", FIELD_DL_TYPE},
	       {"sctp_src", FIELD_SCTP_SRC}, {"sctp_dst", FIELD_SCTP_DST}},
	[9] = {{"n_packets", FIELD_COUNTER}, {"tcp_flags", FIELD_TCP_FLAGS},
	       {"icmp_type", FIELD_ICMP_TYPE}, {"icmp_code", FIELD_ICMP_CODE},
	       {"nd_target", FIELD_ND_TARGET}, {"tunnel_id", FIELD_TUN_ID}},
	[10] = {{"importance", FIELD_COUNTER}},
	[11] = {{"icmpv6_type", FIELD_ICMPV6_TYPE}, {"icmpv6_code", FIELD_ICMPV6_CODE},
		{"dl_vlan_pcp", FIELD_DL_VLAN_PCP}},
	[12] = {{"idle_timeout", FIELD_IDLE_TIMEOUT}, {"hard_timeout", FIELD_HARD_TIMEOUT},
		{"reset_counts", FIELD_FLAG}},
	[13] = {{"send_flow_rem", FIELD_FLAG}, {"check_overlap", FIELD_FLAG}},
	[14] = {{"no_byte_counts", FIELD_FLAG}},
	[16] = {{"no_packet_counts", FIELD_FLAG}},
};

static const struct name action_names[NAME_BYTES + 1][OF_A_LENGTH] = {
	[3] = {{"all", ACTION_ALL}},
	[4] = {{"drop", ACTION_DROP}, {"load", ACTION_LOAD}},
	[5] = {{"flood", ACTION_FLOOD}},
	[6] = {{"output", ACTION_OUTPUT}, {"normal", ACTION_NORMAL}},
	[7] = {{"in_port", ACTION_IN_PORT}, {"dec_ttl", ACTION_DEC_TTL}},
	[8] = {{"pop_vlan", ACTION_POP_VLAN}},
	[9] = {{"set_field", ACTION_SET_FIELD}, {"push_vlan", ACTION_PUSH_VLAN}},
	[10] = {{"strip_vlan", ACTION_POP_VLAN}, {"mod_dl_src", ACTION_MOD_DL_SRC},
		{"mod_dl_dst", ACTION_MOD_DL_DST}, {"mod_nw_src", ACTION_MOD_NW_SRC},
		{"mod_nw_dst", ACTION_MOD_NW_DST}, {"mod_nw_tos", ACTION_MOD_NW_TOS},
		{"mod_nw_ecn", ACTION_MOD_NW_ECN}, {"mod_nw_ttl", ACTION_MOD_NW_TTL},
		{"mod_tp_src", ACTION_MOD_TP_SRC}, {"mod_tp_dst", ACTION_MOD_TP_DST},
		{"set_tunnel", ACTION_SET_TUNNEL}},
	[12] = {{"mod_vlan_vid", ACTION_MOD_VLAN_VID}, {"mod_vlan_pcp", ACTION_MOD_VLAN_PCP},
		{"set_tunnel64", ACTION_SET_TUNNEL}, {"set_vlan_vid", ACTION_MOD_VLAN_VID},
		{"set_vlan_pcp", ACTION_MOD_VLAN_PCP}},
};

/* Open vSwitch has them, culvert has not: worth another answer than a word that nobody knows. */
static const char *const foreign_fields[] = {
	"igmp", "metadata", "conj_id", "ct_state", "ct_zone", "ct_mark",
	"ct_label", "ct_nw_src", "ct_nw_dst", "ct_nw_proto", "ct_tp_src", "ct_tp_dst",
	"ct_ipv6_src", "ct_ipv6_dst", "pkt_mark", "recirc_id", "dp_hash", "skb_priority",
	"mpls_label", "mpls_tc", "mpls_bos", "mpls_ttl", "ipv6_label", "nd_sll", "nd_tll",
	"nd_reserved", "nd_options_type", "tun_src", "tun_dst", "tun_ipv6_src", "tun_ipv6_dst",
	"tun_flags", "tun_gbp_id", "tun_gbp_flags", "tun_tos", "tun_ttl", "in_phy_port",
	"in_port_oxm", "actset_output", "packet_type", "nsh_flags", "nsh_ttl", "nsh_mdtype",
	"nsh_np", "nsh_spi", "nsh_si", "out_port", "out_group", "igmp_type", "igmp_code",
};

static const char *const foreign_actions[] = {
	"resubmit", "goto_table", "controller", "local", "ct", "ct_clear", "learn", "group",
	"meter", "note", "move", "push", "pop", "multipath", "bundle", "bundle_load",
	"conjunction", "clone", "nat", "sample", "encap", "decap", "push_mpls", "pop_mpls",
	"set_mpls_label", "set_mpls_tc", "set_mpls_ttl", "dec_mpls_ttl", "dec_nsh_ttl",
	"check_pkt_larger", "delete_field", "enqueue", "set_queue", "pop_queue", "fin_timeout",
	"exit", "write_metadata", "write_actions", "apply_actions", "clear_actions", "output_reg",
	"debug_recirc", "debug_slow", "table", "set_eth_src", "set_eth_dst",
};

/* The first @n <= NAME_BYTES characters at @p, zero behind them. */
static inline void get_words(const char *p, size_t n, const char *end, uint64_t word[2])
{
	if (end - p < NAME_BYTES) {
		word[0] = word[1] = 0;
		memcpy(word, p, n);
		return;
	}
	memcpy(word, p, NAME_BYTES);
	if (n < 8) {
		word[0] &= htole64((1ull << n * 8) - 1);
		word[1] = 0;
	} else if (n < NAME_BYTES) {
		word[1] &= htole64((1ull << (n - 8) * 8) - 1);
	}
}

static inline int find(const struct name row[OF_A_LENGTH], const char *p, size_t n, const char *end)
{
	uint64_t wanted[2], word[2];

	get_words(p, n, end, wanted);
	for (size_t i = 0; i < OF_A_LENGTH && row[i].text[0]; i++) {
		memcpy(word, row[i].text, NAME_BYTES);
		if (word[0] == wanted[0] && word[1] == wanted[1])
			return row[i].id;
	}
	return -1;
}

int name_field(const char *name, size_t n, const char *end)
{
	return n <= NAME_BYTES ? find(field_names[n], name, n, end) : -1;
}

int name_action(const char *name, size_t n)
{
	char small[NAME_BYTES] = "";

	if (n > NAME_BYTES)
		return -1;
	for (size_t i = 0; i < n; i++)
		small[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
	return find(action_names[n], small, n, small + NAME_BYTES);
}

int name_nxm(const char *name, size_t n)
{
	static const struct {
		const char *name;
		enum field_id id;
	} nxm[] = {
		{"ETH_SRC", FIELD_DL_SRC}, {"ETH_DST", FIELD_DL_DST},
		{"IP_SRC", FIELD_NW_SRC}, {"IP_DST", FIELD_NW_DST},
		{"IPV4_SRC", FIELD_NW_SRC}, {"IPV4_DST", FIELD_NW_DST},
		{"IPV6_SRC", FIELD_IPV6_SRC}, {"IPV6_DST", FIELD_IPV6_DST},
		{"IP_TOS", FIELD_NW_TOS}, {"IP_DSCP", FIELD_IP_DSCP}, {"IP_ECN", FIELD_NW_ECN},
		{"IP_TTL", FIELD_NW_TTL},
		{"TCP_SRC", FIELD_TCP_SRC}, {"TCP_DST", FIELD_TCP_DST},
		{"UDP_SRC", FIELD_UDP_SRC}, {"UDP_DST", FIELD_UDP_DST},
		{"SCTP_SRC", FIELD_SCTP_SRC}, {"SCTP_DST", FIELD_SCTP_DST},
		{"ICMP_TYPE", FIELD_ICMP_TYPE}, {"ICMP_CODE", FIELD_ICMP_CODE},
		{"ICMPV4_TYPE", FIELD_ICMP_TYPE}, {"ICMPV4_CODE", FIELD_ICMP_CODE},
		{"ICMPV6_TYPE", FIELD_ICMPV6_TYPE}, {"ICMPV6_CODE", FIELD_ICMPV6_CODE},
		{"ARP_OP", FIELD_ARP_OP}, {"ARP_SPA", FIELD_ARP_SPA}, {"ARP_TPA", FIELD_ARP_TPA},
		{"ARP_SHA", FIELD_ARP_SHA}, {"ARP_THA", FIELD_ARP_THA},
		{"ND_TARGET", FIELD_ND_TARGET}, {"IPV6_ND_TARGET", FIELD_ND_TARGET},
		{"TUN_ID", FIELD_TUN_ID}, {"TUNNEL_ID", FIELD_TUN_ID},
		{"VLAN_VID", FIELD_VLAN_VID}, {"VLAN_PCP", FIELD_DL_VLAN_PCP},
	};

	if (n < 7 || (memcmp(name, "NXM_OF_", 7) && memcmp(name, "NXM_NX_", 7) &&
		      memcmp(name, "OXM_OF_", 7)))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(nxm); i++)
		if (strlen(nxm[i].name) == n - 7 && memcmp(nxm[i].name, name + 7, n - 7) == 0)
			return nxm[i].id;
	return -1;
}

bool name_is_foreign_field(const char *word)
{
	static const char *const families[] = {"reg", "xreg", "xxreg", "tun_metadata", "nsh_c"};

	for (size_t i = 0; i < ARRAY_SIZE(foreign_fields); i++)
		if (strcmp(word, foreign_fields[i]) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		size_t n = strlen(families[i]);

		if (strncmp(word, families[i], n) == 0 && text_is_digits(word + n))
			return true;
	}
	return false;
}

bool name_is_foreign_action(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign_actions); i++)
		if (strcasecmp(word, foreign_actions[i]) == 0)
			return true;
	return false;
}

static const char *near(const struct name names[NAME_BYTES + 1][OF_A_LENGTH], const char *word,
			char text[static NAME_BYTES + 1])
{
	char known[NAME_BYTES + 1] = "";
	unsigned int distance, least = UINT32_MAX;

	for (size_t n = 2; n <= NAME_BYTES; n++) {
		for (const struct name *row = names[n]; row->text[0]; row++) {
			memcpy(known, row->text, NAME_BYTES);
			if (text_is_near(word, known, &distance) && distance < least) {
				least = distance;
				memcpy(text, known, sizeof(known));
			}
		}
	}
	return least == UINT32_MAX ? NULL : text;
}

const char *name_near_field(const char *word, char text[static NAME_BYTES + 1])
{
	return near(field_names, word, text);
}

const char *name_near_action(const char *word, char text[static NAME_BYTES + 1])
{
	return near(action_names, word, text);
}

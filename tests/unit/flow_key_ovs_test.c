/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of random frames against `ovs-ofctl parse-pcap`, which prints what Open vSwitch's
 * flow_extract() makes of a frame. Skipped where that is not installed.
 *
 * There is no random frame with what it looks at and we do not (SNAP, IGMP, a third tag, options of
 * neighbour discovery), nor one that we take for malformed and it does not (the version nibble,
 * extension headers that run over the end), or the other way round (TCP's data offset, which its
 * kernel module does not look at either).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dataplane/flow_key.h"
#include "lib/addr.h"
#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define N_FRAMES 20000
#define FRAME_MAX 300

struct writer {
	uint8_t byte[FRAME_MAX];
	uint32_t len;
};

static uint8_t *put(struct writer *w, const void *bytes, uint32_t n)
{
	uint8_t *at = w->byte + w->len;

	assert_true(w->len + n <= FRAME_MAX);
	memcpy(at, bytes, n);
	w->len += n;
	return at;
}

static uint8_t *put_random(struct writer *w, uint32_t n)
{
	uint8_t bytes[FRAME_MAX];

	random_bytes(bytes, n);
	return put(w, bytes, n);
}

static void put_type(struct writer *w, uint16_t type)
{
	put_be16(put_random(w, 2), type);
}

/* @icmp: that of the family; Open vSwitch gives the other one a type too. */
static uint8_t put_transport(struct writer *w, uint8_t icmp)
{
	const uint8_t protos[] = {6, 17, 47, 132, icmp};
	uint8_t proto = protos[random_below(ARRAY_SIZE(protos))];
	uint8_t *at = put_random(w, random_below(25));

	if (proto == 6 && w->byte + w->len > at + 12)
		at[12] = (uint8_t)(0x50 | (at[12] & 15));
	if (proto == 58 && random_below(2) && w->byte + w->len > at + 1) {
		at[0] = (uint8_t)(135 + random_below(2));
		at[1] = random_below(4) == 0;
	}
	return proto;
}

static void put_ipv4(struct writer *w)
{
	static const uint16_t fragments[] = {0, 0, 0x4000, 0x2000, 0x2003, 0x0003};
	uint8_t *ip = put_random(w, 20);

	ip[0] = (uint8_t)(0x45 + random_below(3));
	put_random(w, (ip[0] - 0x45) * 4u);
	put_be16(ip + 6, fragments[random_below(ARRAY_SIZE(fragments))]);
	ip[9] = put_transport(w, 1);
	put_be16(ip + 2, (uint16_t)(w->byte + w->len - ip));
	if (random_below(8) == 0)
		put_be16(ip + 2, (uint16_t)random_below(80));
}

static void put_ipv6(struct writer *w)
{
	static const uint8_t headers[] = {0, 43, 44, 51, 60};
	static const uint16_t fragments[] = {0, 1, 8, 9};
	uint32_t n = random_below(2) ? 0 : random_below(4);
	uint8_t *ip = put_random(w, 40), *next = ip + 6;
	bool cut = n == 0 && random_below(8) == 0;

	ip[0] = (uint8_t)(0x60 | (ip[0] & 15));
	for (; n > 0; n--) {
		uint8_t proto = headers[random_below(ARRAY_SIZE(headers))], *h = put_random(w, 16);

		*next = proto;
		next = h;
		h[1] = proto == 51 ? 2 : 1;
		if (proto == 44)
			w->len -= 8;
		put_be16(h + 2, fragments[random_below(4)]);
	}
	*next = put_transport(w, 58);
	put_be16(ip + 4, (uint16_t)(w->byte + w->len - ip - 40));
	if (cut)
		put_be16(ip + 4, (uint16_t)random_below(50));
}

static void put_arp(struct writer *w)
{
	static const uint8_t ipv4_on_ethernet[] = {0, 1, 8, 0, 6, 4};
	uint8_t *arp = put(w, ipv4_on_ethernet, sizeof(ipv4_on_ethernet));

	put_type(w, (uint16_t)random_below(400));
	put_random(w, 20);
	if (random_below(4) == 0)
		arp[random_below(6)] ^= 1;
}

static void random_frame(struct writer *w)
{
	static const uint16_t types[] = {0x800, 0x800, 0x86dd, 0x86dd, 0x806, 0x8035, 0x88b5, 40};
	uint16_t type = types[random_below(ARRAY_SIZE(types))];

	w->len = 0;
	put_random(w, 12);
	for (uint32_t n = random_below(2) ? 0 : random_below(3); n > 0; n--) {
		put_type(w, random_below(2) ? TPID_C : TPID_S);
		put_random(w, 2);
	}
	put_type(w, type);
	if (type == 0x800)
		put_ipv4(w);
	else if (type == 0x86dd)
		put_ipv6(w);
	else if (type == 0x806 || type == 0x8035)
		put_arp(w);
	else
		put_random(w, 40)[0] = 0x42;
	if (random_below(8) == 0)
		w->len -= random_below(w->len - 22);
	else if (random_below(4) == 0)
		memset(put_random(w, 8), 0, 8);
}

static const struct word {
	const char *word;
	uint16_t type;
	uint8_t proto;
} words[] = {
	{"ip", 0x800, 0}, {"icmp", 0x800, 1}, {"tcp", 0x800, 6}, {"udp", 0x800, 17},
	{"sctp", 0x800, 132}, {"ipv6", 0x86dd, 0}, {"icmp6", 0x86dd, 58}, {"tcp6", 0x86dd, 6},
	{"udp6", 0x86dd, 17}, {"sctp6", 0x86dd, 132}, {"arp", 0x806, 0}, {"rarp", 0x8035, 0},
};

static void read_word(struct flow_key *key, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(word, words[i].word) != 0)
			continue;
		key->dl_type = words[i].type;
		key->nw_proto = words[i].proto;
		return;
	}
	fail_msg("what is %s?", word);
}

static uint16_t read_tcp_flags(char *text)
{
	static const char *const names[] = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr",
					    "ns", "[200]", "[400]", "[800]"};
	uint16_t flags = 0;

	for (char *end, *name = strtok_r(text, "|", &end); name; name = strtok_r(NULL, "|", &end))
		for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
			if (strcmp(name, names[i]) == 0)
				flags |= (uint16_t)(1u << i);
	return flags;
}

static uint8_t read_frag(const char *text)
{
	return strcmp(text, "no") == 0 ? 0 : strcmp(text, "first") == 0 ? 1 : 3;
}

static void read_mac(const char *text, uint8_t mac[6])
{
	assert_true(mac_parse(text, (struct mac *)mac));
}

static void read_ip(const char *text, uint8_t *address)
{
	struct ip ip;

	assert_true(ip_parse(text, &ip));
	if (strchr(text, ':'))
		memcpy(address, ip.byte, 16);
	else
		memcpy(address, ip_v4_bytes(&ip), 4);
}

static void read_field(struct flow_key *key, const char *name, char *text)
{
	uint16_t n = (uint16_t)strtoul(text, NULL, 0);

#define IS(what) (strcmp(name, what) == 0)
	if (IS("dl_type"))
		key->dl_type = n;
	else if (IS("dl_vlan"))
		key->vlan_tci |= n | FLOW_TCI_PRESENT;
	else if (IS("dl_vlan_pcp"))
		key->vlan_tci |= (uint16_t)(n << 13);
	else if (IS("dl_src"))
		read_mac(text, key->dl_src);
	else if (IS("dl_dst"))
		read_mac(text, key->dl_dst);
	else if (IS("nw_proto") || IS("arp_op"))
		key->nw_proto = (uint8_t)n;
	else if (IS("nw_tos") || IS("nw_ecn"))
		key->nw_tos |= (uint8_t)n;
	else if (IS("nw_ttl"))
		key->nw_ttl = (uint8_t)n;
	else if (IS("nw_frag"))
		key->nw_frag = read_frag(text);
	else if (IS("nw_src") || IS("ipv6_src") || IS("arp_spa"))
		read_ip(text, key->src);
	else if (IS("nw_dst") || IS("ipv6_dst") || IS("arp_tpa"))
		read_ip(text, key->dst);
	else if (IS("tp_src") || IS("icmp_type"))
		key->tp_src = n;
	else if (IS("tp_dst") || IS("icmp_code"))
		key->tp_dst = n;
	else if (IS("tcp_flags"))
		key->tcp_flags = read_tcp_flags(text);
	else if (IS("arp_sha"))
		read_mac(text, key->arp_sha);
	else if (IS("arp_tha"))
		read_mac(text, key->arp_tha);
	else if (IS("nd_target"))
		read_ip(text, key->nd_target);
	else if (!IS("in_port") && !IS("vlan_tci") && !IS("vlan_tci1") && !IS("dl_vlan1") &&
		 !IS("dl_vlan_pcp1") && !IS("ipv6_label") && !IS("nd_sll") && !IS("nd_tll"))
		fail_msg("what is %s?", name);
#undef IS
}

static struct flow_key read_line(char *line)
{
	struct flow_key key = {0};
	char *end, *field;

	line[strcspn(line, "\n")] = 0;
	for (field = strtok_r(line, ",", &end); field; field = strtok_r(NULL, ",", &end)) {
		char *value = strchr(field, '=');

		if (value) {
			*value = 0;
			read_field(&key, field, value + 1);
		} else {
			read_word(&key, field);
		}
	}
	return key;
}

static void write_u32(FILE *file, uint32_t v)
{
	assert_int_equal(fwrite(&v, sizeof(v), 1, file), 1);
}

static void write_frame(FILE *file, const struct writer *w)
{
	write_u32(file, 1);
	write_u32(file, 0);
	write_u32(file, w->len);
	write_u32(file, w->len);
	assert_int_equal(fwrite(w->byte, w->len, 1, file), 1);
}

static void write_pcap_header(FILE *file)
{
	static const uint32_t header[] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1};

	assert_int_equal(fwrite(header, sizeof(header), 1, file), 1);
}

static void compare(const struct writer *w, char *line)
{
	static const struct tables tables;
	const struct lane lane = {.tables = (struct tables *)&tables};
	struct packet p = {.data = (uint8_t *)w->byte, .len = (uint16_t)w->len};
	struct flow_key key, ovs;
	char text[1024];

	snprintf(text, sizeof(text), "%s", line);
	ovs = read_line(line);
	assert_true(parse_packet(&p));
	flow_key_of(&lane, &p, &key);
	if (memcmp(&key, &ovs, sizeof(key)) == 0)
		return;
	print_message("%s", text);
	for (uint32_t i = 0; i < w->len; i++)
		print_message("%02x%s", w->byte[i], i + 1 < w->len ? "" : "\n");
	assert_memory_equal(&key, &ovs, sizeof(key));
}

static void against_open_vswitch(void **state)
{
	static struct writer frame[N_FRAMES];
	char path[] = "/tmp/flow_key_XXXXXX", command[100], line[1024];
	FILE *file;

	if (system("command -v ovs-ofctl >/dev/null") != 0)
		skip();
	random_init("flow_key_ovs against_open_vswitch");
	file = fdopen(mkstemp(path), "w");
	assert_non_null(file);
	write_pcap_header(file);
	for (uint32_t i = 0; i < N_FRAMES; i++) {
		random_frame(&frame[i]);
		write_frame(file, &frame[i]);
	}
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof(command), "ovs-ofctl parse-pcap %s", path);
	file = popen(command, "r");
	assert_non_null(file);
	for (uint32_t i = 0; i < N_FRAMES; i++) {
		assert_non_null(fgets(line, sizeof(line), file));
		compare(&frame[i], line);
	}
	assert_int_equal(pclose(file), 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_open_vswitch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

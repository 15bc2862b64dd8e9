/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration. tests/conf/bad/NAME.yaml holds what must be refused and, in its lines that
 * begin with "#! ", every line that must be said about it; tests/conf/good/ holds what must load.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/tap.h"
#include "conf/conf.h"
#include "conf/text.h"
#include "lib/bits.h"
#include "lib/pcap_filter.h"
#include "tests/unit/conf_tools.h"

_Static_assert(CONF_CAPTURES_MAX == CAPTURE_MAX &&
		       CONF_CAPTURE_SOURCES_MAX == CAPTURE_SOURCES_MAX &&
		       CONF_SNAPLEN_MAX == CAPTURE_SNAPLEN_MAX,
	       "what can be configured can run");
_Static_assert(CONF_CAPTURE_IN == (int)CAPTURE_IN && CONF_CAPTURE_OUT == (int)CAPTURE_OUT,
	       "the same bits");

static char *expected_of(const char *path)
{
	char *text = NULL, *line = NULL;
	size_t bytes, capacity = 0;
	FILE *in = fopen(path, "r");
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(in);
	assert_non_null(out);
	while (getline(&line, &capacity, in) > 0)
		if (strncmp(line, "#! ", 3) == 0)
			fputs(line + 3, out);
	free(line);
	fclose(in);
	fclose(out);
	return text;
}

static int is_yaml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".yaml") == 0;
}

static void bad_files(void **state)
{
	struct dirent **entries;
	int n;

	enter(CONF_DIR "/bad");
	n = scandir(".", &entries, is_yaml, alphasort);
	assert_true(n >= 60);
	for (int i = 0; i < n; i++) {
		char *expected = expected_of(entries[i]->d_name);
		char *said = refused(entries[i]->d_name);

		assert_true(*expected);
		assert_string_equal(said, expected);
		free(said);
		free(expected);
		free(entries[i]);
	}
	free(entries);
}

static void too_many_captures(void **state)
{
	char dir[32];
	char *said;
	FILE *f;

	enter_scratch(dir);
	f = scratch_file();
	fprintf(f, "networks: {n: {range: 1-65}}\ncaptures:\n  x: {of: [network:n.1");
	for (int i = 2; i <= 65; i++)
		fprintf(f, ", network:n.%d", i);
	fprintf(f, "]}\n");
	for (int i = 0; i < 32; i++)
		fprintf(f, "  c%d: {of: network:n.%d}\n", i, i + 1);
	fclose(f);
	said = refused("f");
	assert_string_equal(said, "f:3:11: of: 65 (at most 64), allowed: ports, tunnel:VTEP and "
				  "network:NAME, one or a list of them\n"
				  "f:35:3: captures: too many, allowed: 32\n");
	free(said);
	unlink("f");
	leave_scratch(dir);
}

/* Bytes that no editor would show. */
static void bad_bytes(void **state)
{
#define BYTES(text) text, sizeof(text) - 1
	static const struct {
		const char *data;
		size_t bytes;
		const char *said;
	} rows[] = {
		{BYTES("ports:\n  a\0b: {}\n"),
		 "f:2:4: a NUL byte: this is not a text file, allowed: YAML in UTF-8\n"},
		{BYTES("\177ELF\2\1\1"),
		 "f:1:1: a control character: this is not a text file, allowed: YAML in UTF-8\n"},
		{BYTES("ports: # \xc3\xa4\xff\n"),
		 "f:1:11: not UTF-8: this is not a text file, allowed: YAML in UTF-8\n"},
		{BYTES("\xff\xfe" "p\0o\0"),
		 "f:1:1: not UTF-8: this is not a text file, allowed: YAML in UTF-8\n"},
		{BYTES("# \xed\xa0\x80\n"),
		 "f:1:3: not UTF-8: this is not a text file, allowed: YAML in UTF-8\n"},
		{BYTES("# \xc0\x80\n"),
		 "f:1:3: not UTF-8: this is not a text file, allowed: YAML in UTF-8\n"},
		{BYTES("ports:\n  \"\\x1b[31m\\u2028\\xff\": {}\n"),
		 "f:2:3: ports: \"?[31m???\xc3\xbf\" cannot be a name, allowed: up to 15 letters, "
		 "digits, '.', '_' and '-', not beginning with '.' or '-'\n"},
	};
	char dir[32];

	enter_scratch(dir);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *said;

		write_file("f", rows[i].data, rows[i].bytes);
		said = refused("f");
		assert_string_equal(said, rows[i].said);
		free(said);
	}
	unlink("f");
	leave_scratch(dir);
}

static void no_file(void **state)
{
	static const struct {
		const char *path;
		const char *said;
	} rows[] = {
		{"none.yaml",
		 "none.yaml:1:1: none.yaml: cannot be read: No such file or directory, "
		 "allowed: a readable file of YAML text\n"},
		{".", ".:1:1: .: cannot be read: Is a directory, allowed: a readable file of YAML "
		      "text\n"},
		{"fifo", "fifo:1:1: fifo: not a file, allowed: a regular file of YAML text\n"},
		{"/dev/zero",
		 "/dev/zero:1:1: /dev/zero: not a file, allowed: a regular file of YAML "
		 "text\n"},
		{"large",
		 "large:1:1: large: the configuration is too large, allowed: 16 MiB in all "
		 "files together\n"},
	};
	char dir[32];

	enter_scratch(dir);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	write_file("large", "", 0);
	assert_int_equal(truncate("large", 17 << 20), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *said = refused(rows[i].path);

		assert_string_equal(said, rows[i].said);
		free(said);
	}
	unlink("fifo");
	unlink("large");
	leave_scratch(dir);
}

static void spellings(void **state)
{
	static const char bom[] = "\xef\xbb\xbfnetworks:\r\n  blue:\r\n    ageing: 7\r\n";
	static const char json[] = "{\"networks\": {\"blue\": {\"ageing\": 7}}}";
	static const char flow[] = "---\nnetworks: {blue: {ageing: '7'}}\n...\n";
	static const char *const rows[] = {bom, json, flow};
	char dir[32];

	enter_scratch(dir);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct conf *conf;

		write_file("f", rows[i], strlen(rows[i]));
		conf = load("f");
		assert_int_equal(conf->n_networks, 2);
		assert_int_equal(conf->networks[1].ageing_s, 7);
		conf_free(conf);
	}
	unlink("f");
	leave_scratch(dir);
}

static const struct conf_port *port(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->n_ports; i++)
		if (strcmp(conf->ports[i].name, name) == 0)
			return &conf->ports[i];
	fail_msg("no port %s", name);
	return NULL;
}

static uint16_t network(const struct conf *conf, const char *name)
{
	for (size_t i = 1; i < conf->n_networks; i++)
		if (strcmp(conf->networks[i].name, name) == 0)
			return (uint16_t)i;
	fail_msg("no network %s", name);
	return 0;
}

static bool has_notice(const struct conf *conf, const char *text)
{
	for (size_t i = 0; i < conf->n_notices; i++)
		if (strcmp(conf->notices[i].text, text) == 0)
			return true;
	return false;
}

static void assert_mac(const struct mac *mac, const char *expected)
{
	char text[MAC_TEXT_BYTES];

	assert_string_equal(mac_format(mac, text), expected);
}

static void assert_ip(const struct ip *ip, const char *expected)
{
	char text[IP_TEXT_BYTES];

	assert_string_equal(ip_format(ip, text), expected);
}

static void interface_ports(const struct conf *conf)
{
	const struct conf_port *p = port(conf, "srv1");

	assert_int_equal(conf->n_ports, 7);
	assert_string_equal(p->description, "r7u12");
	assert_string_equal(p->device, "enp1s0f0");
	assert_int_equal(p->number, 1);
	assert_int_equal(p->untagged, network(conf, "blue"));
	assert_int_equal(p->mtu, 9000);
	assert_int_equal(p->mac_limit, 1024);
	assert_int_equal(p->missing, CONF_MISSING_WAIT);
	assert_true(p->enabled);
	p = port(conf, "trunk1");
	assert_int_equal(p->n_tagged, 1001);
	assert_int_equal(p->tagged[0].vid, 100);
	assert_int_equal(p->tagged[0].network, network(conf, "tenant.100"));
	assert_int_equal(p->tagged[999].network, network(conf, "tenant.1099"));
	assert_int_equal(p->tagged[1000].vid, 2001);
	assert_int_equal(p->tagged[1000].network, network(conf, "red"));
	assert_int_equal(p->rest, CONF_REST_DROP);
	p = port(conf, "gw0");
	assert_int_equal(p->type, CONF_PORT_INTERNAL);
	assert_true(p->has_mac && p->persist);
	assert_mac(&p->mac, "02:00:00:00:07:01");
	assert_string_equal(p->device, "gw0");
	p = port(conf, "replay");
	assert_int_equal(p->type, CONF_PORT_PCAP);
	assert_string_equal(p->pcap_rx, "good/in.pcap");
	assert_string_equal(p->pcap_tx, "good/out.pcap");
	assert_int_equal(port(conf, "hole")->type, CONF_PORT_SINK);
	p = port(conf, "enp1s0f3");
	assert_true(p->underlay);
	assert_int_equal(p->number, 7);
}

static void interface_networks(const struct conf *conf)
{
	const struct conf_network *n = &conf->networks[network(conf, "blue")];

	assert_int_equal(conf->n_networks, 1004);
	assert_int_equal(network(conf, "blue"), 1);
	assert_int_equal(n->vni, 10100);
	assert_true(n->has_remotes);
	assert_int_equal(n->n_remotes, 2);
	assert_int_equal(n->n_statics, 2);
	assert_mac(&n->statics[0].mac, "02:00:00:00:00:05");
	assert_int_equal(n->statics[0].port, 0);
	assert_int_equal(n->statics[1].port, -1);
	assert_ip(&n->statics[1].vtep, "192.0.2.2");
	for (uint32_t i = 100; i < 1100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "tenant.%u", i);
		n = &conf->networks[i - 98];
		assert_string_equal(n->name, name);
		assert_int_equal(n->vni, 20000 + i);
		assert_int_equal(n->ageing_s, i == 150 ? 60 : 300);
		assert_int_equal(n->mac_limit, 100000);
		assert_false(n->has_remotes);
	}
	assert_int_equal(conf->networks[network(conf, "red")].vni, 0);
}

/* The example that every reader of the manual starts from. */
static void interface_example(void **state)
{
	struct conf *conf;

	enter(CONF_DIR);
	conf = load("good/interface.yaml");
	interface_ports(conf);
	interface_networks(conf);
	assert_int_equal(conf->n_cores, 2);
	assert_int_equal(conf->cores[1], 3);
	assert_true(conf->tunnels.present);
	assert_int_equal(conf->tunnels.n_local, 2);
	assert_int_equal(conf->tunnels.n_underlay, 2);
	assert_int_equal(conf->tunnels.source_port_min, 49152);
	assert_int_equal(conf->tunnels.source_port_max, 65535);
	assert_int_equal(conf->tunnels.missing, CONF_MISSING_REFUSE);
	assert_string_equal(conf->socket, "/run/culvert/culvert.sock");
	assert_string_equal(conf->socket_group, "culvert");
	assert_int_equal(conf->socket_mode, 0660);
	assert_string_equal(conf->flows_file, "good/flows.txt");
	assert_int_equal(conf->flows_where.line, 66);
	assert_int_equal(conf->flows_where.column, 15);
	assert_int_equal(conf->n_notices, 2);
	assert_true(has_notice(conf, "metrics: not in this version"));
	assert_true(has_notice(conf, "storm-control: not in this version"));
	conf_free(conf);
}

static void alternative_ports(const struct conf *conf)
{
	const struct conf_port *p = port(conf, "mac");

	assert_null(p->device);
	assert_mac(&p->match_mac, "52:54:00:12:34:56");
	assert_int_equal(p->number, 2);
	p = port(conf, "pci");
	assert_string_equal(p->match_pci, "0000:01:00.0");
	assert_int_equal(p->number, 1);		/* 2 is taken: the lowest that is free */
	assert_int_equal(p->mode, CONF_MODE_ZERO_COPY);
	assert_int_equal(p->queues, 2);
	assert_false(port(conf, "eth2")->enabled);
	assert_int_equal(port(conf, "eth3")->rest, CONF_REST_KERNEL);
	p = port(conf, "eth4");
	assert_int_equal(p->n_tagged, 3);
	assert_int_equal(p->tagged[0].network, network(conf, "tenant.9"));
	assert_int_equal(p->tagged[1].network, network(conf, "tenant.8"));
	assert_int_equal(p->tagged[2].network, network(conf, "tenant.10"));
	assert_int_equal(p->rest, CONF_REST_NETWORK);
	assert_int_equal(p->rest_network, network(conf, "blue"));
	assert_false(port(conf, "gw0")->persist);
	assert_int_equal(port(conf, "gw0")->mtu, 1500);
	p = port(conf, "in");
	assert_true(p->pcap_loop && p->pcap_preload);
	assert_string_equal(p->pcap_rx, "good/sub/in.pcap");
	assert_null(p->pcap_tx);
	assert_string_equal(port(conf, "out")->pcap_tx, "/tmp/out.pcap");
	p = port(conf, "up");
	assert_true(p->underlay);
	assert_string_equal(p->device, "enp1s0f2");
	assert_int_equal(p->missing, CONF_MISSING_WAIT);
	assert_int_equal(port(conf, "enp1s0f3")->missing, CONF_MISSING_WAIT);
}

static void alternative_networks(const struct conf *conf)
{
	const struct conf_network *n = &conf->networks[network(conf, "blue")];

	assert_int_equal(n->n_remotes, 1);	/* two of them are ours */
	assert_ip(&n->remotes[0], "192.0.2.2");
	assert_int_equal(n->learn, CONF_LEARN_LOCAL);
	assert_int_equal(n->ageing_s, 0);
	assert_int_equal(n->n_statics, 3);
	n = &conf->networks[network(conf, "red")];
	assert_int_equal(n->learn, CONF_LEARN_OFF);
	n = &conf->networks[network(conf, "tenant.8")];
	assert_int_equal(n->vni, 20008);
	assert_int_equal(n->n_remotes, 1);
	n = &conf->networks[network(conf, "tenant.9")];
	assert_int_equal(n->vni, 5);
	assert_int_equal(n->ageing_s, 77);
	assert_true(n->has_remotes);
	assert_int_equal(n->n_remotes, 0);
}

static void alternatives(void **state)
{
	static const int cores[] = {2, 4, 5, 7, 9};
	struct conf *conf;

	enter(CONF_DIR);
	conf = load("good/alternatives.yaml");
	assert_int_equal(conf->n_cores, ARRAY_SIZE(cores));
	assert_memory_equal(conf->cores, cores, sizeof(cores));
	assert_true(conf->busy);
	assert_int_equal(conf->ring, 128);
	alternative_ports(conf);
	alternative_networks(conf);
	assert_true(conf->tunnels.unknown_vni_kernel);
	assert_int_equal(conf->tunnels.udp_port, 8472);
	assert_int_equal(conf->tunnels.source_port_min, 1024);
	assert_int_equal(conf->tunnels.source_port_max, 1024);
	assert_int_equal(conf->tunnels.ttl, 255);
	assert_true(conf->tunnels.dscp_inherit);
	assert_int_equal(conf->tunnels.df, CONF_DF_INHERIT);
	assert_int_equal(conf->tunnels.checksum, CONF_CHECKSUM_ON);
	assert_string_equal(conf->socket, "good/c.sock");
	assert_int_equal(conf->socket_mode, 0600);
	assert_int_equal(conf->log_level, LOG_LVL_DEBUG);
	assert_true(conf->log_level_set);
	assert_true(has_notice(conf, "isolated: not in this version"));
	assert_true(has_notice(conf, "arp-suppression: not in this version"));
	assert_true(has_notice(conf, "police: not in this version"));
	assert_true(has_notice(conf, "evpn: not in this version"));
	assert_string_equal(conf->flows_file, "good/flows.txt");
	assert_int_equal(conf->n_notices, 4);
	conf_free(conf);
}

static const struct conf_capture *capture(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->n_captures; i++)
		if (strcmp(conf->captures[i].name, name) == 0)
			return &conf->captures[i];
	fail_msg("no capture %s", name);
	return NULL;
}

static void capture_sources(const struct conf *conf)
{
	const struct {
		const char *port, *network, *vtep;
	} rows[] = {
		{.port = "srv2"},	  {.port = "gw0"},	      {.port = "out"},
		{.port = "ul0"},	  {.vtep = "192.0.2.2"},    {.vtep = "2001:db8::3"},
		{.vtep = "192.0.2.9"}, {.network = "red"}, {.network = "tenant.8"},
	};
	const struct conf_capture *c = capture(conf, "all-of-them");

	assert_int_equal(c->n_sources, ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct conf_capture_source *s = &c->sources[i];

		assert_int_equal(s->port,
				 rows[i].port ? port(conf, rows[i].port) - conf->ports : -1);
		assert_int_equal(s->network, rows[i].network ? network(conf, rows[i].network) : 0);
		if (rows[i].vtep)
			assert_ip(&s->vtep, rows[i].vtep);
	}
}

/* The BGP of VLAN 7, of VLAN 8, and another port's. */
static void capture_filter(const struct conf_capture *c)
{
	uint8_t frame[64] = {[12] = 0x81, [15] = 7, [16] = 8, [18] = 0x45, [27] = 6, [41] = 179};

	assert_string_equal(c->filter_text, "vlan 7 and tcp port 179");
	assert_true(pcap_filter_run(c->filter, frame, sizeof(frame)) > 0);
	frame[15] = 8;
	assert_int_equal(pcap_filter_run(c->filter, frame, sizeof(frame)), 0);
	frame[15] = 7;
	frame[41] = 180;
	assert_int_equal(pcap_filter_run(c->filter, frame, sizeof(frame)), 0);
}

static void captures(void **state)
{
	static const struct {
		const char *name, *device;
		uint8_t dir;
		bool inner, drops;
		uint32_t snaplen, sample;
	} rows[] = {
		{"defaults", NULL, CAPTURE_BOTH, false, false, 65535, 1},
		{"all-of-them", NULL, CAPTURE_OUT, false, false, 64, 1000},
		{"net", NULL, CAPTURE_IN, false, false, 65535, 1},
		{"net-port", NULL, CAPTURE_BOTH, false, false, 65535, 1},
		{"net-both", NULL, CAPTURE_BOTH, false, false, 65535, 1},
		{"up", "ifb0", CAPTURE_BOTH, true, false, 65535, 1},
		{"_", "a-long-alternative-name-of-a-device", CAPTURE_IN, false, true, 65535,
		 UINT32_MAX},
	};
	struct conf *conf;

	enter(CONF_DIR);
	conf = load("good/captures.yaml");
	assert_int_equal(conf->n_captures, ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct conf_capture *c = &conf->captures[i];

		assert_string_equal(c->name, rows[i].name);
		assert_string_equal(c->device ? c->device : "",
				    rows[i].device ? rows[i].device : "");
		assert_int_equal(c->dir, rows[i].dir);
		assert_int_equal(c->inner, rows[i].inner);
		assert_int_equal(c->drops, rows[i].drops);
		assert_int_equal(c->snaplen, rows[i].snaplen);
		assert_int_equal(c->sample, rows[i].sample);
		assert_int_equal(!!c->filter, !!c->filter_text);
	}
	capture_sources(conf);
	capture_filter(capture(conf, "all-of-them"));
	conf_free(conf);
}

static void anchors(void **state)
{
	const struct conf_network *n;
	struct conf *conf;

	enter(CONF_DIR);
	conf = load("good/anchors.yaml");
	n = &conf->networks[network(conf, "blue")];
	assert_int_equal(n->vni, 2);
	assert_int_equal(n->ageing_s, 60);
	assert_int_equal(n->n_remotes, 2);
	assert_int_equal(conf->networks[network(conf, "red")].vni, 3);
	assert_int_equal(port(conf, "b")->n_tagged, 2);
	assert_int_equal(port(conf, "c")->untagged, network(conf, "base"));
	assert_int_equal(port(conf, "d")->n_tagged, 2);
	conf_free(conf);
}

static void include(void **state)
{
	struct conf *conf;

	enter(CONF_DIR);
	conf = load("good/include.yaml");
	assert_int_equal(conf->n_files, 3);
	assert_string_equal(conf->files[1], "good/inc/10-ports.yaml");
	assert_int_equal(conf->networks[network(conf, "blue")].vni, 7);
	assert_int_equal(port(conf, "srv1")->untagged, network(conf, "blue"));
	assert_int_equal(port(conf, "srv1")->tagged[0].network, network(conf, "red"));
	assert_string_equal(port(conf, "replay")->pcap_rx, "good/inc/in.pcap");
	assert_string_equal(port(conf, "replay")->where.file, "good/inc/20-more.yaml");
	assert_ptr_equal(port(conf, "replay")->where.file, conf->files[2]);
	assert_true(conf->mtime_s > 0);
	conf_free(conf);
}

static void empty(void **state)
{
	struct conf *conf;

	enter(CONF_DIR);
	conf = load("good/empty.yaml");
	assert_int_equal(conf->n_ports, 0);
	assert_true(has_notice(conf, "no ports: nothing is switched"));
	conf_free(conf);
}

static void examples(void **state)
{
	struct conf *conf;

	enter(SOURCE_ROOT "/dist/examples");
	conf = load("full.yaml");
	assert_int_equal(conf->n_ports, 9);
	assert_int_equal(conf->n_captures, 3);
	conf_free(conf);
	conf = load("small.yaml");
	assert_int_equal(conf->n_notices, 0);
	conf_free(conf);
}

static void text_distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned int distance;
	} rows[] = {
		{"", "", 0},	      {"", "abc", 3},		 {"abc", "", 3},
		{"abc", "abc", 0},    {"abc", "abd", 1},	 {"abc", "ab", 1},
		{"abc", "acb", 1},    {"mac_limit", "MAC-limit", 0}, {"kitten", "sitting", 3},
		{"ca", "abc", 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(text_distance(rows[i].a, rows[i].b), rows[i].distance);
	assert_true(text_distance("a-word-of-more-than-thirty-one-characters", "a") > 100);
}

static void text_traps(void **state)
{
	static const struct {
		const char *text;
		bool octal, base60;
		int truth;
	} rows[] = {
		{"010", true, false, -1},  {"0", false, false, -1},    {"10", false, false, -1},
		{"1:30", false, true, -1}, {"1:60", false, false, -1}, {"1:2:3", false, true, -1},
		{"1:", false, false, -1},  {":1", false, false, -1},   {"100:59", false, true, -1},
		{"52:54:00:12:34:56", false, true, -1}, {"02:00:00:00:00:aa", false, false, -1},
		{"On", false, false, 1},   {"NO", false, false, 0},    {"n", false, false, -1},
		{"", false, false, -1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(text_is_octal(rows[i].text), rows[i].octal);
		assert_int_equal(text_is_base60(rows[i].text), rows[i].base60);
		assert_int_equal(text_bool(rows[i].text), rows[i].truth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_distances),
		cmocka_unit_test(text_traps),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(too_many_captures),
		cmocka_unit_test(bad_bytes),
		cmocka_unit_test(no_file),
		cmocka_unit_test(spellings),
		cmocka_unit_test(interface_example),
		cmocka_unit_test(alternatives),
		cmocka_unit_test(captures),
		cmocka_unit_test(anchors),
		cmocka_unit_test(include),
		cmocka_unit_test(empty),
		cmocka_unit_test(examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

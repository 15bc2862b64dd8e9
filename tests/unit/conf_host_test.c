/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conf_check_host against a network namespace of our own (it goes away with the process):
 *
 *   cvc0 (altname cvc-alternative-name) --veth-- cvc1       192.0.2.1/24, default route on cvc1
 *   cvc2 (in bridge cvcbr) --veth-- cvc3 (macvlan cvcm on it has 198.51.100.1/24)
 *   cvc4 (XDP program) --veth-- cvc5 (XDP program culvert_left)
 *
 * Needs root; exits 77 (skipped) without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/bits.h"

static char path[32];

/* What is said of a file with this text; "" when the host has all of it. */
static char *check(const char *text)
{
	struct conf_errors errors = {0};
	struct conf *conf;
	FILE *f = fopen(path, "w");
	char *said = NULL;
	size_t bytes;
	int err;

	assert_non_null(f);
	fprintf(f, "networks: {blue: , red: }\n%s", text);
	fclose(f);
	err = conf_load(path, &conf, &errors);
	if (err)
		conf_errors_print(&errors, stderr);
	assert_int_equal(err, 0);
	err = conf_check_host(conf, &errors);
	assert_int_equal(err, errors.n ? -EINVAL : 0);
	f = open_memstream(&said, &bytes);
	conf_errors_print(&errors, f);
	fclose(f);
	conf_errors_fini(&errors);
	conf_free(conf);
	return said;
}

struct row {
	const char *text;
	const char *said;	/* without the file's name; NULL: nothing */
};

static void run(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *said = check(rows[i].text);
		char expected[1024] = "";

		if (rows[i].said)
			snprintf(expected, sizeof(expected), "%s:%s\n", path, rows[i].said);
		assert_string_equal(said, expected);
		free(said);
	}
}

static void devices(void **state)
{
	static const struct row rows[] = {
		{"ports: {cvc0: {untagged: blue}}\n", NULL},
		{"ports: {a: {device: cvc-alternative-name, untagged: blue}}\n", NULL},
		{"ports: {a: {match: {mac: 02:00:00:00:00:01}, untagged: blue}}\n", NULL},
		{"ports: {none: {untagged: blue, missing: wait}}\n", NULL},
		{"ports: {none: {untagged: blue}}\n",
		 "2:9: none: this host has no device none, allowed: one that is there, or missing: "
		 "wait"},
		{"ports: {a: {untagged: blue, match: {pci: \"ffff:01:00.0\"}}}\n",
		 "2:36: a: this host has no device that matches, allowed: one that is there, or "
		 "missing: wait"},
		{"ports: {a: {device: lo, untagged: blue}}\n",
		 "2:21: a: lo is the loopback device, allowed: another"},
		{"ports: {cvc0: {untagged: blue},\n  b: {device: cvc-alternative-name, untagged: "
		 "red}}\n",
		 "3:15: b: cvc0 is also the device of cvc0, allowed: one port each"},
		{"ports: {cvc0: {type: internal, untagged: blue}}\n", NULL},
		{"ports: {cvcbr: {type: internal, untagged: blue}}\n",
		 "2:9: cvcbr: this host has another device cvcbr, allowed: a name that is free"},
		{"ports: {a: {type: pcap, rx: /nonexistent, untagged: blue}}\n",
		 "2:9: a: rx: /nonexistent: No such file or directory, allowed: a readable pcap "
		 "file"},
	};

	run(rows, ARRAY_SIZE(rows));
}

static void logged_in(void **state)
{
	static const struct row rows[] = {
		{"ports: {cvc1: {untagged: blue}}\n",
		 "2:9: cvc1: cvc1 has the address 192.0.2.1: this is how you are logged in, "
		 "allowed: "
		 "a device without addresses, or rest: kernel and no untagged:"},
		{"ports: {cvc1: {untagged: blue, rest: kernel}}\n",
		 "2:9: cvc1: cvc1 has the address 192.0.2.1: this is how you are logged in, "
		 "allowed: "
		 "a device without addresses, or rest: kernel and no untagged:"},
		{"ports: {cvc1: {tagged: {7: blue}, rest: kernel}}\n", NULL},
		{"ports: {cvc3: {untagged: blue}}\n",
		 "2:9: cvc3: cvcm has the address 198.51.100.1: this is how you are logged in, "
		 "allowed: a device without addresses, or rest: kernel and no untagged:"},
		{"ports: {cvc5: {untagged: blue}}\n",
		 "2:9: cvc5: cvc5 has the default route: this is how you are logged in, allowed: "
		 "another device, or rest: kernel and no untagged:"},
		{"ports: {cvc5: {tagged: {7: blue}, rest: kernel}}\n", NULL},
		{"ports: {cvc2: {untagged: blue}}\n", "2:9: cvc2: cvc2 is a port of the bridge "
						      "cvcbr, allowed: a device in no bridge (ip "
						      "link set cvc2 nomaster)"},
		{"ports: {cvc2: {untagged: blue, rest: kernel}}\n",
		 "2:9: cvc2: cvc2 is a port of the bridge cvcbr, allowed: a device in no bridge "
		 "(ip "
		 "link set cvc2 nomaster)"},
	};

	run(rows, ARRAY_SIZE(rows));
}

static void tunnels(void **state)
{
	static const struct row rows[] = {
		{"tunnels: {local: [192.0.2.1, \"2001:db8::1\"], underlay: cvc1}\n", NULL},
		{"tunnels: {local: [192.0.2.1, 192.0.2.9], underlay: cvc1}\n",
		 "2:30: local: this host does not have 192.0.2.9, allowed: its own addresses, or "
		 "missing: wait"},
		{"tunnels: {local: [192.0.2.9], underlay: [cvc1, none], missing: wait}\n", NULL},
		{"tunnels: {local: [192.0.2.1], underlay: [cvc1, none]}\n",
		 "2:48: none: this host has no device none, allowed: one that is there, or "
		 "missing: "
		 "wait"},
	};

	run(rows, ARRAY_SIZE(rows));
}

static void captures(void **state)
{
#define PORT "ports: {cvc0: {untagged: blue}}\n"
	static const struct row rows[] = {
		{PORT "captures: {a: {of: cvc0}, b: {of: cvc0, device: cvc1}}\n", NULL},
		{PORT "captures: {a: {of: cvc0, device: none}}\n", NULL},
		{PORT "captures: {a: {of: cvc0, device: lo}}\n",
		 "3:34: a: lo is the loopback device, allowed: another"},
		{PORT "captures: {a: {of: cvc0, device: cvc-alternative-name}}\n",
		 "3:34: a: cvc0 is the device of the port cvc0, allowed: a device that is no "
		 "port's"},
		{"ports: {p: {match: {mac: 02:00:00:00:00:01}, untagged: blue}}\n"
		 "captures: {a: {of: p, device: cvc0}}\n",
		 "3:31: a: cvc0 is the device of the port p, allowed: a device that is no port's"},
		{"ports: {cvc1: {tagged: {7: blue}, rest: kernel}}\n"
		 "captures: {a: {of: cvc1, device: cvc0}, b: {of: cvc1, device: "
		 "cvc-alternative-name}}\n",
		 "3:63: b: cvc0 is also the device of a, allowed: one capture each"},
	};

	run(rows, ARRAY_SIZE(rows));
}

static void host(void **state)
{
	static const struct row rows[] = {
		{"workers: {cores: 0}\ncontrol: {group: root}\n", NULL},
		{"workers: {cores: 8000}\n",
		 "2:18: cores: this host has no CPU 8000, allowed: CPUs that are there"},
		{"control: {group: no-such-group-here}\n",
		 "2:18: group: this host has no group \"no-such-group-here\", allowed: one of "
		 "/etc/group"},
	};

	run(rows, ARRAY_SIZE(rows));
}

static void affinity(void **state)
{
	static const struct row rows[] = {
		{"workers: {cores: 0-1}\n", "2:18: cores: CPU 0 is offline or not allowed for this "
					    "process, allowed: CPUs of its "
					    "affinity (taskset, AllowedCPUs=)"},
	};
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	if (!CPU_ISSET(0, &all) || !CPU_ISSET(1, &all))
		skip();
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	run(rows, ARRAY_SIZE(rows));
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* A program that passes everything; -errno when this kernel or user may not. */
static int attach(const char *device, const char *name)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, name, "GPL", pass, ARRAY_SIZE(pass), NULL);
	int err;

	if (fd < 0)
		return fd;
	err = bpf_xdp_attach((int)if_nametoindex(device), fd, XDP_FLAGS_SKB_MODE, NULL);
	close(fd);
	return err;
}

static void programs(void **state)
{
	char *said;

	if (attach("cvc4", "somebody_else") || attach("cvc5", "culvert_left"))
		skip();
	said = check("ports: {cvc4: {untagged: blue, rest: kernel}}\n");
	assert_non_null(strstr(said, ":2:9: cvc4: cvc4 has an XDP program of somebody else "
				     "(somebody_else, id "));
	assert_non_null(strstr(said, "allowed: a device without one (ip link set cvc4 xdp off)\n"));
	free(said);
	said = check("ports: {cvc5: {tagged: {7: blue}, rest: kernel}}\n");
	assert_string_equal(said, "");
	free(said);
}

static void resolve(void **state)
{
	static const struct {
		const char *port;
		const char *device;	/* NULL: not there */
	} rows[] = {
		{"cvc0: ", "cvc0"},
		{"a: {device: cvc-alternative-name}", "cvc0"},
		{"a: {match: {mac: 02:00:00:00:00:01}}", "cvc0"},
		{"a: {match: {mac: 02:00:00:00:00:77}}", NULL},
		{"a: {match: {pci: \"ffff:01:00.0\"}}", NULL},
		{"a: {device: no-such-name-of-any-length-here}", NULL},
		{"a: {type: sink}", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct conf_errors errors = {0};
		struct conf *conf;
		char device[16];
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fprintf(f, "ports: {%s}\n", rows[i].port);
		fclose(f);
		assert_int_equal(conf_load(path, &conf, &errors), 0);
		assert_int_equal(conf_port_device(&conf->ports[0], device),
				 rows[i].device ? 0 : -ENODEV);
		assert_string_equal(device, rows[i].device ? rows[i].device : "");
		conf_free(conf);
		conf_errors_fini(&errors);
	}
}

static int make_namespace(void)
{
	static const char commands[] =
		"set -e; ip link set lo up;"
		"for i in 0 2 4; do ip link add cvc$i type veth peer name cvc$((i + 1));"
		"ip link set cvc$i up; ip link set cvc$((i + 1)) up; done;"
		"ip link property add dev cvc0 altname cvc-alternative-name;"
		"ip link set cvc0 address 02:00:00:00:00:01;"
		"ip address add 192.0.2.1/24 dev cvc1;"
		"ip address add 2001:db8::1/64 dev cvc1 nodad;"
		"ip route add default dev cvc5;"
		"ip link add cvcbr type bridge; ip link set cvc2 master cvcbr;"
		"ip link add cvcm link cvc3 type macvlan; ip address add 198.51.100.1/24 dev cvcm";
	int status;

	if (unshare(CLONE_NEWNET)) {
		fprintf(stderr, "no network namespace: %s\n", strerror(errno));
		return 77;
	}
	status = system(commands);
	return status ? 1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices),  cmocka_unit_test(logged_in), cmocka_unit_test(tunnels),
		cmocka_unit_test(host),	    cmocka_unit_test(affinity),	 cmocka_unit_test(programs),
		cmocka_unit_test(captures), cmocka_unit_test(resolve),
	};
	int status = make_namespace(), fd;

	if (status)
		return status;
	strcpy(path, "/tmp/culvert-host-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return status;
}

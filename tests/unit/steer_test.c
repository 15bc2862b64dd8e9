/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the XDP program decides about a frame: a table of frames and answers, run in the kernel with
 * BPF_PROG_TEST_RUN. There are no sockets, so "ours" is a drop that no_socket counts. Needs root
 * (exit 77).
 */
#include <bpf/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "afxdp/steer.h"
#include "lib/bits.h"

enum { KERNEL = 2 /* XDP_PASS */, OURS = 1 /* XDP_DROP, counted */ };

#define VXLAN_PORT 4789
#define OUR_VNI 10100

struct frame {
	uint32_t bytes;
	uint8_t data[256];
};

/* Frames are written down as hex; spaces are for the reader. */
static struct frame frame_of(const char *hex)
{
	struct frame f = {0};
	unsigned int byte;

	while (*hex) {
		if (*hex == ' ') {
			hex++;
			continue;
		}
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		f.data[f.bytes++] = (uint8_t)byte;
		hex += 2;
	}
	/* The kernel runs nothing shorter than an Ethernet header. */
	assert_true(f.bytes >= 14);
	return f;
}

#define MACS "020000000002 020000000001 "
#define V4(flags_frag, proto, dst)                                                                 \
	"0800 4500 0040 0001 " flags_frag " 40" proto " 0000 c0000202 " dst " "
#define V4_OPTIONS(dst) "0800 4700 0048 0001 0000 4011 0000 c0000202 " dst " 0101010101010100 "
#define V6(next, dst) "86dd 60000000 0040 " next " 40 20010db8000000000000000000000002 " dst " "
#define OURS4 "c0000201"
#define OTHER4 "c0000209"
#define OURS6 "20010db8000000000000000000000001"
#define OTHER6 "20010db8000000000000000000000009"
#define UDP_VXLAN "c000 12b5 0030 0000 "
#define VXLAN_OURS "08000000 00277400 " /* 10100 */
#define VXLAN_OTHER "08000000 00277500 "
#define INNER "020000000004020000000003 0800"

static const struct ip_text {
	const char *text;
} locals[] = {{"192.0.2.1"}, {"2001:db8::1"}};

enum kind { ACCESS, REST, UNDERLAY, UNDERLAY_VNI };

/* clang-format off */
static const struct {
	const char *what;
	enum kind kind;
	const char *hex;
	int answer;
} cases[] = {
	{ "anything on an access port", ACCESS, MACS V4("0000", "11", OTHER4) UDP_VXLAN, OURS },
	{ "a frame of 14 bytes", ACCESS, MACS "88b5", OURS },
	{ "a tagged frame on an access port", ACCESS, MACS "8100 00c8 0800 4500", OURS },
	{ "LLDP", ACCESS, "0180c200000e 020000000001 88cc 0207", KERNEL },
	{ "LACP", ACCESS, "0180c2000002 020000000001 8809 0101", KERNEL },
	{ "spanning tree", ACCESS, "0180c2000000 020000000001 0026 4242", KERNEL },
	{ "the last reserved address", ACCESS, "0180c200000f 020000000001 88b5 0000", KERNEL },
	{ "the first that is not (GMRP)", ACCESS, "0180c2000010 020000000001 88b5 0000", OURS },
	{ "LLDP on an underlay", UNDERLAY, "0180c200000e 020000000001 88cc 0207", KERNEL },
	{ "LLDP where the rest is the kernel's", REST,
	  "0180c200000e 020000000001 88cc 0207", KERNEL },

	{ "VXLAN to us", UNDERLAY, MACS V4("0000", "11", OURS4) UDP_VXLAN VXLAN_OURS INNER, OURS },
	{ "DF set", UNDERLAY, MACS V4("4000", "11", OURS4) UDP_VXLAN VXLAN_OURS INNER, OURS },
	{ "behind IP options", UNDERLAY, MACS V4_OPTIONS(OURS4) UDP_VXLAN VXLAN_OURS INNER, OURS },
	{ "VXLAN to somebody else", UNDERLAY,
	  MACS V4("0000", "11", OTHER4) UDP_VXLAN VXLAN_OURS, KERNEL },
	{ "an unknown VNI", UNDERLAY,
	  MACS V4("0000", "11", OURS4) UDP_VXLAN VXLAN_OTHER INNER, OURS },
	{ "ssh to us", UNDERLAY,
	  MACS V4("4000", "06", OURS4) "c000 0016 00000000 00000000", KERNEL },
	{ "ssh to port 4789", UNDERLAY,
	  MACS V4("4000", "06", OURS4) "c000 12b5 00000000 00000000", KERNEL },
	{ "other UDP to us (BFD)", UNDERLAY,
	  MACS V4("0000", "11", OURS4) "c000 0ec8 0020 0000", KERNEL },
	{ "ping", UNDERLAY, MACS V4("0000", "01", OURS4) "0800 0000 0001 0001", KERNEL },
	{ "ARP", UNDERLAY,
	  MACS "0806 0001 0800 0604 0001 020000000001 c0000202 000000000000 c0000201", KERNEL },
	{ "the first fragment", UNDERLAY,
	  MACS V4("2000", "11", OURS4) UDP_VXLAN VXLAN_OURS, KERNEL },
	{ "a later fragment", UNDERLAY, MACS V4("00b9", "11", OURS4) UDP_VXLAN VXLAN_OURS, KERNEL },
	{ "cut in the IP header", UNDERLAY, MACS "0800 4500 0040 0001", KERNEL },
	{ "cut in the UDP header", UNDERLAY, MACS V4("0000", "11", OURS4) "c000 12b5", KERNEL },
	{ "a header length below 5", UNDERLAY,
	  MACS "0800 4400 0040 0001 0000 4011 0000 c0000202 " OURS4
	  UDP_VXLAN, KERNEL },
	{ "a header length past the end", UNDERLAY,
	  MACS "0800 4f00 0040 0001 0000 4011 0000 c0000202 "
	  OURS4 UDP_VXLAN, KERNEL },
	{ "no VXLAN header at all", UNDERLAY, MACS V4("0000", "11", OURS4) UDP_VXLAN, OURS },
	{ "VXLAN on a VLAN of the underlay", UNDERLAY,
	  MACS "8100 0064 " V4("0000", "11", OURS4) UDP_VXLAN
	  VXLAN_OURS, KERNEL },
	{ "VXLAN over IPv6 to us", UNDERLAY,
	  MACS V6("11", OURS6) UDP_VXLAN VXLAN_OURS INNER, OURS },
	{ "over IPv6 to somebody else", UNDERLAY,
	  MACS V6("11", OTHER6) UDP_VXLAN VXLAN_OURS, KERNEL },
	{ "ssh over IPv6", UNDERLAY, MACS V6("06", OURS6) "c000 0016 00000000 00000000", KERNEL },
	{ "an IPv6 fragment", UNDERLAY,
	  MACS V6("2c", OURS6) "11000001 00000001 " UDP_VXLAN, KERNEL },
	{ "cut in the IPv6 header", UNDERLAY, MACS "86dd 60000000 0040 1140 20010db8", KERNEL },
	{ "neighbour discovery", UNDERLAY, MACS V6("3a", OURS6) "8700 0000 00000000", KERNEL },

	{ "our VNI", UNDERLAY_VNI, MACS V4("0000", "11", OURS4) UDP_VXLAN VXLAN_OURS INNER, OURS },
	{ "an unknown VNI, for the kernel", UNDERLAY_VNI,
	  MACS V4("0000", "11", OURS4) UDP_VXLAN VXLAN_OTHER
	  INNER, KERNEL },
	{ "a cut VXLAN header", UNDERLAY_VNI,
	  MACS V4("0000", "11", OURS4) UDP_VXLAN "08000000", OURS },
	{ "an unknown VNI over IPv6", UNDERLAY_VNI,
	  MACS V6("11", OURS6) UDP_VXLAN VXLAN_OTHER INNER,
	  KERNEL },

	/* VLANs 100 and 4094 are ours, untagged frames are not */
	{ "a VLAN of ours", REST, MACS "8100 0064 0800 4500", OURS },
	{ "with priority and DEI", REST, MACS "8100 f064 0800 4500", OURS },
	{ "the last VLAN", REST, MACS "8100 0ffe 0800 4500", OURS },
	{ "another VLAN", REST, MACS "8100 00c8 0800 4500", KERNEL },
	{ "untagged", REST, MACS V4("0000", "06", OURS4) "c000 0016", KERNEL },
	{ "priority-tagged", REST, MACS "8100 e000 0800 4500", KERNEL },
	{ "cut in the tag", REST, MACS "8100 00", KERNEL },
	{ "a service tag is no VLAN of the port's", REST, MACS "88a8 0064 8100 0064 0800", KERNEL },
};
/* clang-format on */

static struct steer *load(enum kind kind)
{
	static uint64_t vlans[64];
	static const uint32_t vnis[] = {OUR_VNI};
	struct ip local[ARRAY_SIZE(locals)];
	char text[256] = "";
	const struct why why = {.text = text, .bytes = sizeof(text)};
	struct steer_options options = {
	    .device = "test",
	    .n_queues = 1,
	    .underlay = kind == UNDERLAY || kind == UNDERLAY_VNI,
	    .unknown_vni_kernel = kind == UNDERLAY_VNI,
	    .rest_kernel = kind == REST,
	    .vlans = vlans,
	    .local = local,
	    .n_local = ARRAY_SIZE(locals),
	    .vxlan_port = VXLAN_PORT,
	    .vnis = vnis,
	    .n_vnis = ARRAY_SIZE(vnis),
	};
	struct steer *steer = NULL;

	vlans[100 / 64] |= 1ull << 100 % 64;
	vlans[4094 / 64] |= 1ull << 4094 % 64;
	for (size_t i = 0; i < ARRAY_SIZE(locals); i++)
		assert_true(ip_parse(locals[i].text, &local[i]));
	if (steer_load(&options, &steer, &why))
		fail_msg("%s", text);
	return steer;
}

static int run(const struct steer *steer, const char *hex)
{
	struct frame in = frame_of(hex);
	uint8_t out[512];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in.data, .data_size_in = in.bytes,
		    .data_out = out, .data_size_out = sizeof(out), .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(steer_program_fd(steer), &opts), 0);
	assert_int_equal(opts.data_size_out, in.bytes);
	assert_memory_equal(out, in.data, in.bytes);
	return (int)opts.retval;
}

static void decisions(void **state)
{
	struct steer *steer[] = {load(ACCESS), load(REST), load(UNDERLAY), load(UNDERLAY_VNI)};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct steer *s = steer[cases[i].kind];
		uint64_t before = steer_no_socket(s);
		int answer = run(s, cases[i].hex);

		if (answer != cases[i].answer)
			fail_msg("%s: answer %d, wanted %d", cases[i].what, answer,
				 cases[i].answer);
		assert_int_equal(steer_no_socket(s) - before, answer == OURS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(steer); i++)
		steer_close(steer[i]);
}

static void vlans_change_at_run_time(void **state)
{
	struct steer *s = load(REST);
	uint64_t vlans[64] = {1};

	assert_int_equal(run(s, MACS "8100 0064 0800 4500"), OURS);
	assert_int_equal(run(s, MACS "0800 4500"), KERNEL);
	steer_set_vlans(s, vlans);
	assert_int_equal(run(s, MACS "8100 0064 0800 4500"), KERNEL);
	assert_int_equal(run(s, MACS "0800 4500"), OURS);
	steer_close(s);
}

static void vnis_change_at_run_time(void **state)
{
	static const char ours[] = MACS V4("0000", "11", OURS4) UDP_VXLAN VXLAN_OURS INNER;
	static const char other[] = MACS V4("0000", "11", OURS4) UDP_VXLAN VXLAN_OTHER INNER;
	struct steer *s = load(UNDERLAY_VNI);
	uint32_t both[] = {OUR_VNI + 1, OUR_VNI}, second = OUR_VNI + 1;

	assert_int_equal(steer_set_vnis(s, both, 2), 0);
	assert_int_equal(run(s, ours), OURS);
	assert_int_equal(run(s, other), OURS);
	assert_int_equal(steer_set_vnis(s, &second, 1), 0);
	assert_int_equal(run(s, ours), KERNEL);
	assert_int_equal(run(s, other), OURS);
	assert_int_equal(steer_set_vnis(s, NULL, 0), 0);
	assert_int_equal(run(s, other), KERNEL);
	steer_close(s);
}

static void too_many_local_addresses(void **state)
{
	struct ip local[17];
	char text[256] = "";
	const struct why why = {.text = text, .bytes = sizeof(text)};
	struct steer_options options = {.device = "dev7",
					.n_queues = 1,
					.underlay = true,
					.local = local,
					.n_local = ARRAY_SIZE(local)};
	struct steer *steer = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		local[i] = ip_from_v4(&(uint32_t){(uint32_t)i});
	assert_true(steer_load(&options, &steer, &why) < 0);
	assert_non_null(strstr(text, "dev7"));
	assert_null(steer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(decisions),
	    cmocka_unit_test(vlans_change_at_run_time),
	    cmocka_unit_test(vnis_change_at_run_time),
	    cmocka_unit_test(too_many_local_addresses),
	};

	if (geteuid())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

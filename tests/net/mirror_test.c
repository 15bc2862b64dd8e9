/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a mirror sends is what a listener on the device sees.
 *
 *     ring -> mirror -> m0 (ifb, MTU 1500) -> listener      in a network namespace of our own
 *
 * Needs root (exit 77).
 */
#include "capture/guard.h"
#include "tests/net/device.h"
#include "tests/unit/random.h"

#define MTU 1500
#define FRAME_MAX (MTU + ETH_HLEN)

static struct {
	struct ring ring;
	struct mirror *mirror;
	struct mirror_counts counts;
	int listener;
	uint8_t frame[65535];
} t;

static int setup(void **state)
{
	memset(&t, 0, sizeof(t));
	MUST("ip link add m0 type ifb && ip link set m0 mtu %d up", MTU);
	assert_int_equal(ring_init(&t.ring, 1 << 20), 0);
	assert_int_equal(mirror_open((int)if_nametoindex("m0"), FRAME_MAX, &t.mirror), 0);
	t.listener = listen_on("m0");
	random_bytes(t.frame, sizeof(t.frame));
	t.frame[12] = 0x88;
	t.frame[13] = 0xb5;
	return 0;
}

static int teardown(void **state)
{
	close(t.listener);
	mirror_close(t.mirror);
	ring_fini(&t.ring);
	sh("ip link del m0");
	return 0;
}

static void put(uint32_t bytes)
{
	put_record(&t.ring, t.frame, (uint16_t)bytes);
}

static int send_them(void)
{
	t.counts = (struct mirror_counts){0};
	return send_all(t.mirror, &t.ring, &t.counts);
}

static void must_have_counted(uint64_t sent, uint64_t refused, uint64_t cut)
{
	assert_int_equal(t.counts.sent, sent);
	assert_int_equal(t.counts.refused, refused);
	assert_int_equal(t.counts.cut, cut);
}

static void set_type(uint16_t type)
{
	t.frame[12] = (uint8_t)(type >> 8);
	t.frame[13] = (uint8_t)type;
}

/* Often enough that the ring is gone around several times, and in batches of all sizes. */
static void frames_arrive_as_they_are(void **state)
{
	static const uint16_t types[] = {ETH_P_IP, ETH_P_IPV6, ETH_P_ARP, 0x0026, 0x88b5};
	static uint8_t sent[600][FRAME_MAX + 4];
	static uint32_t bytes[600];

	for (int round = 0; round < 30; round++) {
		uint32_t n = 1 + random_below(600);

		for (uint32_t i = 0; i < n; i++) {
			bool tagged = random_below(3) == 0;

			bytes[i] = ETH_HLEN + 4 + random_below(MTU - 3) + (tagged ? 4 : 0);
			random_bytes(t.frame, ETH_HLEN + 4);
			set_type(tagged ? ETH_P_8021Q : types[random_below(5)]);
			memcpy(sent[i], t.frame, bytes[i]);
			put(bytes[i]);
		}
		assert_int_equal(send_them(), 0);
		must_have_counted(n, 0, 0);
		for (uint32_t i = 0; i < n; i++)
			must_see(t.listener, sent[i], bytes[i]);
		must_see_nothing(t.listener);
	}
}

static void what_is_too_long_is_cut(void **state)
{
	static const struct {
		uint16_t type;
		uint32_t bytes, seen;
	} cases[] = {
		{0x88b5, FRAME_MAX, FRAME_MAX},
		{0x88b5, FRAME_MAX + 1, FRAME_MAX},
		{0x88b5, 65535, FRAME_MAX},
		{ETH_P_8021Q, FRAME_MAX + 4, FRAME_MAX + 4},
		{ETH_P_8021Q, FRAME_MAX + 5, FRAME_MAX + 4},
		{ETH_P_8021Q, 9018, FRAME_MAX + 4},
		{ETH_P_8021AD, FRAME_MAX, FRAME_MAX},
		{ETH_P_8021AD, FRAME_MAX + 4, FRAME_MAX},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_type(cases[i].type);
		put(cases[i].bytes);
		assert_int_equal(send_them(), 0);
		must_have_counted(1, 0, cases[i].bytes > cases[i].seen);
		must_see(t.listener, t.frame, cases[i].seen);
	}
}

static void what_is_too_short_is_refused(void **state)
{
	put(0);
	put(60);
	put(ETH_HLEN - 1);
	put(ETH_HLEN);
	assert_int_equal(send_them(), 0);
	must_have_counted(2, 2, 0);
	must_see(t.listener, t.frame, 60);
	must_see(t.listener, t.frame, ETH_HLEN);
}

static void a_device_may_be_down_for_a_while(void **state)
{
	MUST("ip link set m0 down");
	for (int i = 0; i < 300; i++)
		put(60);
	assert_int_equal(send_them(), 0);
	must_have_counted(0, 300, 0);
	MUST("ip link set m0 up");
	/* A listener has to begin anew. */
	close(t.listener);
	t.listener = listen_on("m0");
	put(61);
	assert_int_equal(send_them(), 0);
	must_have_counted(1, 0, 0);
	must_see(t.listener, t.frame, 61);
}

static void a_device_may_get_a_smaller_mtu(void **state)
{
	MUST("ip link set m0 mtu 1000");
	put(1014);
	put(1015);
	put(1514);
	put(60);
	assert_int_equal(send_them(), 0);
	must_have_counted(2, 2, 0);
	must_see(t.listener, t.frame, 1014);
	must_see(t.listener, t.frame, 60);
}

/* Its queue is short: what does not fit is refused. Its queue is long: it is full when the socket's
 * buffer is. */
static void a_slow_device_refuses(void **state)
{
	static const uint32_t limits[] = {5000, 50000000};

	for (int i = 0; i < 2; i++) {
		if (sh("tc qdisc replace dev m0 root tbf rate 8kbit burst 2000 limit %u",
		       limits[i]))
			skip();
		for (int j = 0; j < 600; j++)
			put(1000);
		assert_int_equal(send_them(), 0);
		must_have_counted(t.counts.sent, 600 - t.counts.sent, 0);
		assert_in_range(t.counts.sent, 1, 500);
	}
}

static void a_device_may_go(void **state)
{
	put(60);
	assert_int_equal(send_them(), 0);
	MUST("ip link del m0");
	for (int i = 0; i < 300; i++)
		put(60);
	put(1);
	assert_int_equal(send_them(), -ENODEV);
	must_have_counted(0, 301, 0);
}

static void nobody_else_is_heard(void **state)
{
	if (guard_attach((int)if_nametoindex("m0")))
		skip();
	must_speak_in_vain("m0");
	must_see_nothing(t.listener);
	put(60);
	assert_int_equal(send_them(), 0);
	must_have_counted(1, 0, 0);
	must_see(t.listener, t.frame, 60);
}

static void no_such_device(void **state)
{
	struct mirror *mirror = NULL;

	assert_int_equal(mirror_open(12345, FRAME_MAX, &mirror), -ENODEV);
	assert_null(mirror);
	mirror_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_arrive_as_they_are),
		TEST(what_is_too_long_is_cut),
		TEST(what_is_too_short_is_refused),
		TEST(a_device_may_be_down_for_a_while),
		TEST(a_device_may_get_a_smaller_mtu),
		TEST(a_slow_device_refuses),
		TEST(a_device_may_go),
		TEST(nobody_else_is_heard),
		TEST(no_such_device),
	};

	if (geteuid() || isolate())
		return 77;
	/* Else the device would speak by itself. */
	sh("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6");
	random_init("mirror");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

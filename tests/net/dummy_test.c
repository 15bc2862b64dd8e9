/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device of a capture: made, quiet, deleted, and what a killed predecessor left removed. Most
 * of it is skipped on a kernel without the dummy driver; tests/vm/run capture-dummy-device has one.
 *
 * Needs root (exit 77).
 */
#include <signal.h>
#include <sys/wait.h>

#include "afxdp/port.h"
#include "capture/dummy.h"
#include "lib/bits.h"
#include "lib/nl.h"
#include "tests/net/device.h"

#define DEVICE "cap-srv1"
#define RUN_DIR "/run/culvert-dummy-test"
#define NOTE RUN_DIR "/" DEVICE DUMMY_SUFFIX

static char why_text[256];
static const struct why why = {.text = why_text, .bytes = sizeof(why_text)};
static bool has_driver;

static int must_create(const char *device)
{
	int r = dummy_create(device, RUN_DIR, &why);

	if (r <= 0)
		fail_msg("%d: %s", r, why_text);
	return r;
}

static bool there_is(const char *device)
{
	struct nl_link link;

	return nl_link_by_name(device, &link) == 0;
}

static bool is_noted(void)
{
	return access(NOTE, F_OK) == 0;
}

static int teardown(void **state)
{
	bool left;

	sh("ip link del " DEVICE "; ip link del " DEVICE "-2");
	left = rmdir(RUN_DIR) && errno != ENOENT;
	sh("rm -rf " RUN_DIR);
	return left;
}

static void must_be_called(const char *name, const char *expected)
{
	char device[DUMMY_NAME_BYTES];

	dummy_name(name, device);
	assert_string_equal(device, expected);
}

static void a_name_that_is_taken_gets_a_number(void **state)
{
	must_be_called("srv1", "cap-srv1");
	MUST("ip link add cap-srv1 type ifb");
	must_be_called("srv1", "cap-srv1-2");
	must_be_called("tunnel:srv1", "cap-srv1-2");
	MUST("ip link add cap-srv1-2 type ifb");
	must_be_called("srv1", "cap-srv1-3");
	MUST("ip link add cap-enp12~f0np0 type ifb");
	must_be_called("enp129s0f0np0", "cap-enp1~0np0-2");
	must_be_called("enp129s0f0np1", "cap-enp12~f0np1");
	MUST("ip link del cap-enp12~f0np0");
}

static void without_the_driver_it_says_what_to_do(void **state)
{
	if (has_driver)
		skip();
	assert_int_equal(dummy_create(DEVICE, RUN_DIR, &why), -EOPNOTSUPP);
	assert_string_equal(why_text,
			    DEVICE ": this kernel has no dummy driver (modprobe dummy); name an "
				   "existing device with --device (device: in the file)");
	assert_false(is_noted());
}

static void a_device_that_is_there_is_refused(void **state)
{
	MUST("ip link add " DEVICE " type ifb");
	assert_int_equal(dummy_create(DEVICE, RUN_DIR, &why), -EEXIST);
	assert_non_null(strstr(why_text, "ip link del " DEVICE));
	assert_false(is_noted());
	dummy_delete(DEVICE, RUN_DIR);
	assert_true(there_is(DEVICE));
}

static void it_is_large_and_quiet(void **state)
{
	int ifindex;

	if (!has_driver)
		skip();
	ifindex = must_create(DEVICE);
	assert_int_equal(ifindex, if_nametoindex(DEVICE));
	MUST("ip link show " DEVICE " | grep -q 'mtu 65535'");
	MUST("ip link show " DEVICE " | grep -q '<.*NOARP.*UP.*>'");
	assert_int_not_equal(sh("ip link show " DEVICE " | grep -q '<.*MULTICAST.*>'"), 0);
	MUST("ip -d link show " DEVICE " | grep -q 'addrgenmode none'");
	MUST("ip link show " DEVICE " | grep -q \"alias culvert's capture on " DEVICE "$\"");
	MUST("grep -qx 1 /proc/sys/net/ipv6/conf/" DEVICE "/disable_ipv6");
	MUST("[ -z \"$(ip -o addr show dev " DEVICE ")\" ]");
	assert_true(is_noted());
	/* Another capture cannot have it, and takes nothing away. */
	assert_int_equal(dummy_create(DEVICE, RUN_DIR, &why), -EEXIST);
	assert_true(is_noted());
	dummy_delete(DEVICE, RUN_DIR);
	assert_false(there_is(DEVICE));
	assert_false(is_noted());
}

static void only_the_mirror_is_seen(void **state)
{
	static const uint32_t bytes[] = {14, 60, 1514, 9018, 65535};
	static uint8_t frame[65535] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	struct mirror_counts counts = {0};
	struct mirror *mirror;
	struct ring ring;
	int ifindex, listener;

	if (!has_driver)
		skip();
	ifindex = must_create(DEVICE);
	listener = listen_on(DEVICE);
	must_speak_in_vain(DEVICE);
	must_see_nothing(listener);
	assert_int_equal(ring_init(&ring, 1 << 20), 0);
	assert_int_equal(mirror_open(ifindex, 65535 + ETH_HLEN, &mirror), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
		put_record(&ring, frame, (uint16_t)bytes[i]);
	assert_int_equal(send_all(mirror, &ring, &counts), 0);
	assert_int_equal(counts.sent, ARRAY_SIZE(bytes));
	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
		must_see(listener, frame, bytes[i]);
	dummy_delete(DEVICE, RUN_DIR);
	mirror_close(mirror);
	ring_fini(&ring);
	close(listener);
}

/* A process that has made the device, and is killed. */
static void make_and_die(void)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (dummy_create(DEVICE, RUN_DIR, &why) <= 0)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void what_a_killed_predecessor_left_is_removed(void **state)
{
	if (!has_driver)
		skip();
	make_and_die();
	assert_true(there_is(DEVICE));
	must_be_called("srv1", DEVICE "-2");
	MUST("ip link add " DEVICE "-2 type dummy");
	assert_int_equal(port_cleanup(RUN_DIR, true), 1);
	assert_false(there_is(DEVICE));
	assert_true(there_is(DEVICE "-2"));
	assert_false(is_noted());
	assert_int_equal(port_cleanup(RUN_DIR, true), 0);
}

static void what_is_somebody_elses_is_left_alone(void **state)
{
	static const char *const theirs[] = {
		"type dummy", "type dummy && ip link set " DEVICE " alias mine",
		"type ifb && ip link set " DEVICE " alias \"culvert's capture on " DEVICE "\""};

	if (!has_driver)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++) {
		make_and_die();
		MUST("ip link del " DEVICE);
		MUST("ip link add " DEVICE " %s", theirs[i]);
		assert_int_equal(port_cleanup(RUN_DIR, true), 0);
		assert_true(there_is(DEVICE));
		assert_false(is_noted());
		MUST("ip link del " DEVICE);
	}
}

/* Somebody deleted it: nothing is left to do. */
static void it_may_be_gone_already(void **state)
{
	if (!has_driver)
		skip();
	must_create(DEVICE);
	MUST("ip link del " DEVICE);
	dummy_delete(DEVICE, RUN_DIR);
	assert_false(is_noted());
	make_and_die();
	MUST("ip link del " DEVICE);
	assert_int_equal(port_cleanup(RUN_DIR, true), 0);
	assert_false(is_noted());
}

static void a_broken_note_harms_nobody(void **state)
{
	static const char *const notes[] = {"", "device", "device lo", "device \377/../x"};

	for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
		MUST("mkdir -p " RUN_DIR " && printf '%s\n' >" NOTE, notes[i]);
		assert_int_equal(port_cleanup(RUN_DIR, true), 0);
		assert_false(is_noted());
	}
	assert_true(there_is("lo"));
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_that_is_taken_gets_a_number),
		TEST(without_the_driver_it_says_what_to_do),
		TEST(a_device_that_is_there_is_refused),
		TEST(it_is_large_and_quiet),
		TEST(only_the_mirror_is_seen),
		TEST(what_a_killed_predecessor_left_is_removed),
		TEST(what_is_somebody_elses_is_left_alone),
		TEST(it_may_be_gone_already),
		TEST(a_broken_note_harms_nobody),
	};

	if (geteuid() || isolate())
		return 77;
	has_driver = sh("ip link add d0 type dummy && ip link del d0") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

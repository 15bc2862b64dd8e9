/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device of a capture is called. (Names that are taken: tests/net/dummy_test.c.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/dummy.h"
#include "lib/bits.h"
#include "tests/unit/random.h"

static void names(void **state)
{
	static const struct {
		const char *name, *device;
	} cases[] = {
		{"srv1", "cap-srv1"},
		{"eth0.100", "cap-eth0.100"},
		{"elevenchars", "cap-elevenchars"},
		{"twelve-chars", "cap-twelv~chars"},
		/* What tells them apart is often at the end. */
		{"enp129s0f0np0", "cap-enp12~f0np0"},
		{"enp129s0f0np1", "cap-enp12~f0np1"},
		{"tunnel:192.0.2.2", "cap-192.0.2.2"},
		{"tunnel:192.168.100.200", "cap-192.1~0.200"},
		{"tunnel:2001:db8::1", "cap-2001-db8--1"},
		{"tunnel:2001:db8:1:2::3", "cap-2001-~-2--3"},
		{"network:blue", "cap-blue"},
		{"srv1,srv2", "cap-srv1-srv2"},
		{"a,tunnel:::1,network:b", "cap-a---1-b"},
		{"srv1,srv2,srv3,srv4", "cap-srv1-~-srv4"},
		{"", "cap-"},
		{"tunnel:", "cap-"},
		{"network", "cap-network"},
		/* Never a path, a pattern of the kernel's, or an option. */
		{"../../x", "cap-..-..-x"},
		{"p%d", "cap-p-d"},
		{"a b\tc\n", "cap-a-b-c-"},
		{"-rf", "cap--rf"},
		{"\x7f\x01", "cap---"},
		/* One for each character, not for each byte. */
		{"b\xc3\xbcro", "cap-b-ro"},
		{"\xe6\x97\xa5\xe6\x9c\xac", "cap---"},
		{"\xf0\x9f\x98\x80", "cap--"},
		{"\xa0\xa0", "cap-"},
	};
	char device[DUMMY_NAME_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		dummy_name(cases[i].name, device);
		assert_string_equal(device, cases[i].device);
	}
}

/* As the kernel's dev_valid_name() has it, and stricter. */
static void any_name_gives_a_valid_one(void **state)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "._-~";
	char name[600], device[DUMMY_NAME_BYTES];

	for (int i = 0; i < 20000; i++) {
		uint32_t n = random_below(i % 10 ? 30 : sizeof(name));

		for (uint32_t j = 0; j < n; j++)
			name[j] = (char)(1 + random_below(255));
		name[n] = 0;
		memset(device, 'x', sizeof(device));
		dummy_name(name, device);
		assert_non_null(memchr(device, 0, sizeof(device)));
		assert_memory_equal(device, "cap-", 4);
		assert_int_equal(strspn(device, good), strlen(device));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(any_name_gives_a_valid_one),
	};

	random_init("dummy_name");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "lib/addr.h"
#include "lib/bits.h"

static void mac_text(void **state)
{
	static const struct {
		const char *text;
		const char *canonical;	/* NULL: refused */
	} rows[] = {
		{"02:00:00:00:00:05", "02:00:00:00:00:05"},
		{"AA-bb-CC-dd-EE-ff", "aa:bb:cc:dd:ee:ff"},
		{"", NULL},
		{"02:00:00:00:00", NULL},
		{"02:00:00:00:00:", NULL},
		{"02:00:00:00:00:5", NULL},
		{"02:00:00:00:00:05:06", NULL},
		{"02:00:00:00:00:05 ", NULL},
		{"g2:00:00:00:00:05", NULL},
		{"020000000005", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mac mac;
		char text[MAC_TEXT_BYTES];

		assert_int_equal(mac_parse(rows[i].text, &mac), rows[i].canonical != NULL);
		if (rows[i].canonical)
			assert_string_equal(mac_format(&mac, text), rows[i].canonical);
	}
}

static void ip_text(void **state)
{
	static const struct {
		const char *text;
		const char *canonical;
		bool v4;
	} rows[] = {
		{"192.0.2.1", "192.0.2.1", true},
		{"2001:DB8::1", "2001:db8::1", false},
		{"::ffff:192.0.2.1", "192.0.2.1", true},
		{"192.0.2", NULL, false},
		{"192.0.2.256", NULL, false},
		{"2001:db8::1%eth0", NULL, false},
		{"", NULL, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ip ip;
		char text[IP_TEXT_BYTES];

		assert_int_equal(ip_parse(rows[i].text, &ip), rows[i].canonical != NULL);
		if (!rows[i].canonical)
			continue;
		assert_string_equal(ip_format(&ip, text), rows[i].canonical);
		assert_int_equal(ip_is_v4(&ip), rows[i].v4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mac_text),
		cmocka_unit_test(ip_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

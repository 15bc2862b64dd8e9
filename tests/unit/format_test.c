/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "lib/bits.h"
#include "lib/format.h"
#include "lib/buffer.h"

static void counts(void **state)
{
	static const struct {
		uint64_t n;
		const char *count;
		const char *number;
	} rows[] = {
		{0, "0", "0"},
		{999, "999", "999"},
		{1000, "1.0k", "1000"},
		{1049, "1.0k", "1049"},
		{9949, "9.9k", "9949"},
		{9999, "10k", "9999"},
		{31400, "31k", "31400"},
		{99999, "100k", "99999"},
		{100000, "100k", "100k"},
		{812345, "812k", "812k"},
		{999499, "999k", "999k"},
		{999500, "1.0M", "1.0M"},
		{34100021, "34M", "34M"},
		{UINT64_MAX, "18E", "18E"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[FORMAT_BYTES];

		assert_string_equal(format_count(rows[i].n, text), rows[i].count);
		assert_string_equal(format_number(rows[i].n, text), rows[i].number);
	}
}

static void units(void **state)
{
	static const struct {
		double value;
		const char *unit;
		const char *text;
	} rows[] = {
		{0, "pps", "0 pps"},	       {452.4, "pps", "452 pps"},
		{3414000, "pps", "3.41 Mpps"}, {18.2e9, "b/s", "18.2 Gb/s"},
		{999.6, "pps", "1.00 kpps"},   {999600, "b/s", "1.00 Mb/s"},
		{152.3e6, "b/s", "152 Mb/s"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[FORMAT_BYTES];

		assert_string_equal(format_unit(rows[i].value, rows[i].unit, text), rows[i].text);
	}
}

static void ages(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *age;
		const char *shorter;
	} rows[] = {
		{0, "0s", "0s"},
		{59, "59s", "59s"},
		{60, "1m 0s", "1m"},
		{3599, "59m 59s", "59m"},
		{3600, "1h 0m", "1h"},
		{12 * 86400 + 3 * 3600 + 59, "12d 3h", "12d"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[FORMAT_BYTES];

		assert_string_equal(format_age(rows[i].seconds, text), rows[i].age);
		assert_string_equal(format_age_short(rows[i].seconds, text), rows[i].shorter);
	}
}

static void speeds(void **state)
{
	static const struct {
		uint32_t mbps;
		const char *text;
	} rows[] = {{0, "-"}, {100, "100M"}, {1000, "1G"}, {2500, "2.5G"}, {400000, "400G"}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[FORMAT_BYTES];

		assert_string_equal(format_speed(rows[i].mbps, text), rows[i].text);
	}
}

static void json_strings(void **state)
{
	static const struct {
		const char *in;
		const char *out;
	} rows[] = {
		{"", "\"\""},
		{"srv1", "\"srv1\""},
		{"a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\u000a\\u007f\""},
		{"M\xc3\xbcller", "\"M\xc3\xbcller\""},
		{"\xff|\xc3", "\"\xef\xbf\xbd|\xef\xbf\xbd\""},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xf0\x9f\x90\x9f", "\"\xf0\x9f\x90\x9f\""},
		{"\xf0\x9f", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buffer t = {0};

		buffer_json(&t, rows[i].in);
		assert_string_equal(t.data, rows[i].out);
		buffer_fini(&t);
	}
}

static void buffer_grows(void **state)
{
	struct buffer t = {0};

	for (int i = 0; i < 1000; i++)
		buffer_printf(&t, "%04d", i);
	assert_int_equal(t.n, 4000);
	assert_int_equal(strlen(t.data), 4000);
	buffer_consume(&t, 3996);
	assert_string_equal(t.data, "0999");
	buffer_printf(&t, "%0300d", 1);
	assert_int_equal(t.n, 304);
	buffer_reset(&t, t.size);
	assert_int_equal(t.n, 0);
	assert_non_null(t.data);
	buffer_reset(&t, 16);
	assert_null(t.data);
	buffer_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),	cmocka_unit_test(units),
		cmocka_unit_test(ages),		cmocka_unit_test(speeds),
		cmocka_unit_test(json_strings),	cmocka_unit_test(buffer_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

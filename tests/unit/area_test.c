/* SPDX-License-Identifier: BSD-2-Clause */
/* The frame area: aligned, writable to its end, and refused when the machine has not that much. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "afxdp/area.h"
#include "lib/bits.h"

#define MIB ((size_t)1 << 20)

static void mapped_whole(void **state)
{
	static const struct {
		size_t asked;
		size_t got;
	} cases[] = {
	    {1, 2 * MIB},           {4096, 2 * MIB},     {2 * MIB, 2 * MIB},
	    {2 * MIB + 1, 4 * MIB}, {9 * MIB, 10 * MIB},
	};
	struct area area;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(area_map(&area, cases[i].asked), 0);
		assert_int_equal(area.bytes, cases[i].got);
		assert_int_equal((uintptr_t)area.base % (2 * MIB), 0);
		for (size_t at = 0; at < area.bytes; at += 4096)
			assert_int_equal(area.base[at], 0);
		memset(area.base, 0xa5, area.bytes);
		assert_int_equal(area.base[area.bytes - 1], 0xa5);
		area_unmap(&area);
		assert_null(area.base);
		area_unmap(&area);
	}
}

static void refused(void **state)
{
	static const size_t cases[] = {0, (size_t)1 << 46, SIZE_MAX - 1, SIZE_MAX};
	struct area area;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(area_map(&area, cases[i]), -ENOMEM);
		assert_null(area.base);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(mapped_whole),
	    cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

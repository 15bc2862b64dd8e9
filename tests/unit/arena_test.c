/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "lib/arena.h"

/* Pieces of many sizes: zeroed, aligned, none inside another. */
static void pieces(void **state)
{
	enum { PIECES = 2000 };
	static struct {
		uint8_t *p;
		size_t bytes;
	} all[PIECES];
	struct arena a = {0};

	for (size_t i = 0; i < PIECES; i++) {
		size_t bytes = i * i % 5003 + (i == 1000 ? 200000 : 0);

		all[i].p = arena_alloc(&a, bytes);
		all[i].bytes = bytes;
		assert_non_null(all[i].p);
		assert_int_equal((uintptr_t)all[i].p % 16, 0);
		for (size_t j = 0; j < bytes; j++)
			assert_int_equal(all[i].p[j], 0);
		memset(all[i].p, (int)(i % 251 + 1), bytes);
	}
	for (size_t i = 0; i < PIECES; i++)
		for (size_t j = 0; j < all[i].bytes; j++)
			assert_int_equal(all[i].p[j], i % 251 + 1);
	assert_false(a.failed);
	arena_fini(&a);
	assert_null(a.blocks);
}

static void texts(void **state)
{
	struct arena a = {0};

	assert_string_equal(arena_strdup(&a, "text"), "text");
	assert_string_equal(arena_strndup(&a, "text", 2), "te");
	assert_string_equal(arena_printf(&a, "%s.%u", "tenant", 150), "tenant.150");
	arena_fini(&a);
}

static void too_much(void **state)
{
	struct arena a = {0};

	assert_null(arena_array(&a, SIZE_MAX / 2, 4));
	assert_true(a.failed);
	arena_fini(&a);
	assert_null(arena_alloc(&a, SIZE_MAX - 8));
	assert_true(a.failed);
	arena_fini(&a);
	assert_false(a.failed);
	arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces),
		cmocka_unit_test(texts),
		cmocka_unit_test(too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

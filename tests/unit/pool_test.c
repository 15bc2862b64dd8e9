/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "dataplane/pool.h"
#include "tests/unit/random.h"

#define N_FRAMES 200

static uint8_t area[N_FRAMES * FRAME_BYTES];

static void addresses(void **state)
{
	struct pool pool;
	uint8_t *data;

	assert_int_equal(pool_init(&pool, area, N_FRAMES), 0);
	for (uint32_t i = 0; i < N_FRAMES; i++) {
		assert_int_equal(pool_take(&pool), i);
		data = pool_data(&pool, i);
		assert_ptr_equal(data, area + i * FRAME_BYTES + FRAME_HEADROOM);
		assert_int_equal(pool_frame_of(&pool, data - FRAME_HEADROOM), i);
		assert_int_equal(pool_frame_of(&pool, data + FRAME_BYTES - FRAME_HEADROOM - 1), i);
		assert_int_equal(pool_headroom(&pool, data + 3), FRAME_HEADROOM + 3);
		assert_int_equal(pool_tailroom(&pool, data + 3), FRAME_BYTES - FRAME_HEADROOM - 3);
	}
	assert_int_equal(pool_take(&pool), FRAME_NONE);
	pool_fini(&pool);
	pool_fini(&pool);
}

/* Frames go out to two ports, some come home, one port dies. An array remembers where each is. */
static void reclaim(void **state)
{
	enum { HOME, LENT_3, LENT_4 };

	random_init("pool reclaim");
	for (int round = 0; round < 200; round++) {
		uint8_t where[N_FRAMES] = {0};
		uint32_t n_lent[3] = {0}, seen[N_FRAMES] = {0};
		struct pool pool;

		assert_int_equal(pool_init(&pool, area, N_FRAMES), 0);
		for (int step = 0; step < 600; step++) {
			uint32_t frame;

			if (random_below(2)) {
				frame = pool_take(&pool);
				if (frame == FRAME_NONE)
					continue;
				assert_int_equal(where[frame], HOME);
				where[frame] = (uint8_t)(LENT_3 + random_below(2));
				pool.owner[frame] = where[frame] == LENT_3 ? 3 : 4;
			} else {
				frame = random_below(N_FRAMES);
				if (where[frame] == HOME)
					continue;
				pool_give(&pool, frame);
				where[frame] = HOME;
			}
		}
		for (uint32_t i = 0; i < N_FRAMES; i++)
			n_lent[where[i]]++;
		assert_int_equal(pool.n_free, n_lent[HOME]);
		assert_int_equal(pool_reclaim(&pool, 3), n_lent[LENT_3]);
		assert_int_equal(pool_reclaim(&pool, 3), 0);
		assert_int_equal(pool_reclaim(&pool, 0), 0);
		assert_int_equal(pool.n_free, n_lent[HOME] + n_lent[LENT_3]);
		assert_int_equal(pool_reclaim(&pool, 4), n_lent[LENT_4]);
		for (uint32_t i = 0; i < N_FRAMES; i++)
			seen[pool_take(&pool)]++;
		for (uint32_t i = 0; i < N_FRAMES; i++)
			assert_int_equal(seen[i], 1);
		pool_fini(&pool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(reclaim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

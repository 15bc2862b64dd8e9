/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * corehz: prints how many cycles a second the core makes that it runs on (taskset).
 */
#include <stdio.h>

#include "bench/scale.h"
#include "lib/bits.h"
#include "lib/clock.h"

#define CHAINS 1000	/* some 200 us: a core that changes its pace does so more slowly */
#define TRIES 200

int main(void)
{
	uint64_t best_ns = UINT64_MAX;

	/* Whatever came between only made it longer. */
	for (int try = 0; try < TRIES; try++) {
		uint64_t begin_ns = clock_ns();

		for (int i = 0; i < CHAINS; i++)
			scale_chain();
		best_ns = min_of(best_ns, clock_ns() - begin_ns);
	}
	printf("%.0f\n", (double)CHAINS * SCALE_CYCLES * 1e9 / (double)best_ns);
	return 0;
}

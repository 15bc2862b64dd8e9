/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tschz: prints how many ticks a second the time stamp counter makes, the cycles that DPDK counts.
 */
#include <stdio.h>
#include <unistd.h>
#include <x86intrin.h>

#include "lib/clock.h"

#define SLEEP_US 200000

int main(void)
{
	uint64_t begin_ns = clock_ns(), begin = __rdtsc();

	usleep(SLEEP_US);
	printf("%.0f\n", (double)(__rdtsc() - begin) * 1e9 / (double)(clock_ns() - begin_ns));
	return 0;
}

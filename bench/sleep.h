/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What paces the bench's programs.
 */
#ifndef BENCH_SLEEP_H
#define BENCH_SLEEP_H

#include <errno.h>
#include <time.h>

#include "lib/clock.h"

/* @ns: of clock_ns(). */
static inline void sleep_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/cores.h"

#include <sched.h>

int cores_default(void)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -1;
	for (int i = 1; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &allowed))
			return i;
	return CPU_ISSET(0, &allowed) ? 0 : -1;
}

void cores_avoid(const int *cores, uint32_t n_cores)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return;
	for (uint32_t i = 0; i < n_cores; i++)
		if (cores[i] >= 0 && cores[i] < CPU_SETSIZE)
			CPU_CLR(cores[i], &allowed);
	if (CPU_COUNT(&allowed))
		sched_setaffinity(0, sizeof(allowed), &allowed);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which CPUs the workers get, and which are left to everybody else.
 */
#ifndef CTRL_CORES_H
#define CTRL_CORES_H

#include <stdint.h>

/* The core of the only worker when the configuration names none: an allowed one, not CPU 0 where
 * there is a choice. -1 when the kernel does not say. */
int cores_default(void);

/* Keeps the calling thread, and those that it will start, off the workers' @cores while there are
 * others. */
void cores_avoid(const int *cores, uint32_t n_cores);

#endif

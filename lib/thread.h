/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads beside control. Signals are control's business: such a thread has all of them blocked
 * from its beginning.
 */
#ifndef LIB_THREAD_H
#define LIB_THREAD_H

#include <pthread.h>

/* @attr may be NULL. @name: at most 15 characters. 0 or -errno. */
int thread_start(pthread_t *thread, const pthread_attr_t *attr, const char *name,
		 void *(*main)(void *), void *arg);

#endif

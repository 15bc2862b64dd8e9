/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, const pthread_attr_t *attr, const char *name,
		 void *(*main)(void *), void *arg)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, attr, main, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_setname_np(*thread, name);
	return -error;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network namespace of the test's own, and commands of iproute2 and ethtool in it, for tests in
 * C; a header of cmocka's goes before this one.
 */
#ifndef TESTS_NET_SH_H
#define TESTS_NET_SH_H

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>

/* With the /sys that belongs to it, and a /run to write to. */
static inline int isolate(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys", "sysfs", 0, NULL) || mount("none", "/run", "tmpfs", 0, NULL))
		return -errno;
	return 0;
}

/* Runs a command, quietly. */
static inline int sh(const char *fmt, ...)
{
	char command[512], line[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "exec >/dev/null 2>&1; %s", command);
	return system(line);
}

#define MUST(...) assert_int_equal(sh(__VA_ARGS__), 0)

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpdump as a child, on the device of a capture.
 */
#ifndef CLI_TCPDUMP_H
#define CLI_TCPDUMP_H

#include <stdint.h>

#include "cli/live.h"

/* Runs `tcpdump -i @device @arguments`, starts the paused capture @id once it listens, and waits
 * for its end; signals are passed on to it. CLI_DONE with *@exit_status as a shell would have it;
 * CLI_FAILED after a complaint: it could not be started, or had to be ended since the daemon ended
 * the capture, or is gone. */
int tcpdump_on(struct live *l, uint64_t id, const char *device, int n, char **arguments,
	       int *exit_status);

#endif

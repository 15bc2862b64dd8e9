/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network device of a capture: a dummy, on which nothing but the capture sends.
 *
 * No address, no IPv6, no ARP, no multicast; an MTU for every frame that there can be. It is known
 * by its kind and alias, and noted in the run directory before it is made: so the next start, or
 * `culvertd --cleanup`, removes what a killed predecessor left, and only that.
 * Threads: control's.
 */
#ifndef CAPTURE_DUMMY_H
#define CAPTURE_DUMMY_H

#include "lib/why.h"

#define DUMMY_SUFFIX ".capture"
#define DUMMY_NAME_BYTES 16

/* "cap-NAME" for @name ("srv1", "tunnel:192.0.2.2", "network:blue", several with commas), shortened
 * so that it fits, without what no device name may have, and different from every device that there
 * is. */
void dummy_name(const char *name, char device[static DUMMY_NAME_BYTES]);

/* Makes @device and brings it up. Its ifindex, or -errno with a sentence: -EOPNOTSUPP when the
 * kernel has no dummy driver, with the cure (load it, or --device). @run_dir may be NULL. */
int dummy_create(const char *device, const char *run_dir, const struct why *why);
/* Deletes it, if it is still ours, and the note. */
void dummy_delete(const char *device, const char *run_dir);

/* @path: a note of a predecessor. Deletes its device. 1 when there was one, else 0. */
int dummy_recover(const char *path);

#endif

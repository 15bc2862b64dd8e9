/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device was set to before we changed it: one small text file per device in the run
 * directory, written before the first change, removed when all of it has been put back. So whoever
 * comes after a SIGKILL can put it back.
 *
 * Invariants: a value that the file has is never replaced: it is older than us. Only what we change
 * is put back. A file belongs to one device (name and ifindex, or ifindex and MAC address after a
 * rename); of another device with the same name it is forgotten. Threads: control's.
 */
#ifndef AFXDP_SAVED_H
#define AFXDP_SAVED_H

#include <stdint.h>

#include "afxdp/netdev.h"

#define SAVED_SUFFIX ".saved"

struct saved {
	char path[512]; /* empty: no run directory, nothing outlives us */
	char device[16];
	int ifindex;
	struct mac mac;
	uint32_t known; /* bit k: value[k] is the original of enum netdev_key k */
	uint32_t value[NETDEV_KEYS];
};

/* For @dev; takes over what a predecessor left. @run_dir may be NULL. 0 or -errno. */
int saved_open(struct saved *saved, const char *run_dir, const struct netdev *dev);

/* Sets @key of @dev to @value after its present value has been noted in the file. Nothing is noted
 * or set when it has the value already. 0, or -errno of the file or the device. */
int saved_change(struct saved *saved, const struct netdev *dev, enum netdev_key key,
		 uint32_t value);

/* Puts everything back and removes the file. What cannot be put back is logged, and the file stays.
 */
void saved_restore(struct saved *saved, const struct netdev *dev);
/* The device is gone, and with it what there was to put back. */
void saved_forget(struct saved *saved);

/* Puts back what @path (a file of a predecessor) says. 1 when there was such a device, else 0. */
int saved_recover(const char *path);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network device that a capture sends to: one that is made for it, or one that is there, of
 * which nothing is changed.
 *
 * Threads: control only.
 */
#ifndef CTRL_CAPTURE_DEVICE_H
#define CTRL_CAPTURE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/why.h"

struct gateway;

struct capture_device {
	char name[16];
	int ifindex;		/* 0: none */
	uint32_t frame_max;	/* Ethernet header included; a tag comes on top */
	bool made;		/* ours */
};

/* The device @name (or altname), if captured frames may be sent on it. 0, or -errno with a sentence
 * that has the cure. */
int capture_device_find(const struct gateway *g, const char *name, struct capture_device *device,
			const struct why *why);
/* Makes one for the capture @name; likewise. */
int capture_device_make(const struct gateway *g, const char *name, struct capture_device *device,
			const struct why *why);
/* Deletes it, if it was made. */
void capture_device_leave(const struct gateway *g, const struct capture_device *device);
bool capture_device_is_there(const struct capture_device *device);

#endif

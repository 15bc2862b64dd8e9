/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal ports: a veth pair whose one end, named as the port, is the host's, and whose other end
 * is ours.
 *
 * Our end is recognised by its name and its alias, so the host's end may be moved into another
 * network namespace. The pair is noted in the run directory, so that a cleanup finds it.
 * Invariants: the host's end leaves checksums and VLAN tags to no hardware and has GRO; our end
 * never speaks by itself. Threads: control's.
 */
#ifndef AFXDP_INTERNAL_H
#define AFXDP_INTERNAL_H

#include <stdbool.h>

#include "lib/addr.h"
#include "lib/why.h"

#define INTERNAL_SUFFIX ".internal"

/* The name of our end of the pair whose other end is @host. */
void internal_our_end(const char *host, char name[static 16]);

/* Finds or makes the pair; its host's end gets @mac and is brought up when it is new. 0 or -errno
 * with a sentence: -EBUSY when a device that is not half of such a pair has the name. */
int internal_open(const char *host, const struct mac *mac, bool persist, const char *run_dir,
		  const struct why *why);
/* Deletes the pair, and the note. */
void internal_delete(const char *host, const char *run_dir);

/* @path: a note of a predecessor. Deletes the pair unless it is to persist and @keep. 1 when it
 * did. */
int internal_recover(const char *path, bool keep);

#endif

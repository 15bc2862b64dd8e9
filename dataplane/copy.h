/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of packets, for what goes more than one way.
 */
#ifndef DATAPLANE_COPY_H
#define DATAPLANE_COPY_H

#include "dataplane/lane.h"

/* Appends a copy of @p, with a frame of its own, to @copies, which has room. NULL when there is no
 * frame for it: then it is in the books already, as copied and as dropped (no-frame, the network),
 * and @p says so for the captures. */
struct packet *copy_packet(struct lane *lane, struct packet *p, struct burst *copies);

#endif

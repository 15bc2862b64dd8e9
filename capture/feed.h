/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture's records as pcapng to a client: oldest first out of the workers' rings, into chunks
 * (docs/protocol.md), to its socket.
 *
 * Times are the host's, UTC; a receive descriptor's as the NIC says it, unless its clock is more
 * than a second ahead or a minute behind, and then it is when the record was taken out of the ring.
 * Interfaces are what ports and tunnels are called, numbered as they are met; what was seen inside
 * a port's VXLAN packets is an interface of its own. How many frames were missed is told at the
 * next record of that worker, behind the last record in the statistics.
 * Threads: the capture's own.
 */
#ifndef CAPTURE_FEED_H
#define CAPTURE_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "capture/tap.h"

struct feed;

/* Out of the rings of @taps, one of each worker, which stay the caller's as @options' names do;
 * @client is duplicated. 0 or -errno. */
int feed_create(const struct capture_options *options, struct tap *taps, int client,
		struct feed **feed);
/* Accepts NULL. */
void feed_destroy(struct feed *feed);

/* For poll(). */
int feed_fd(const struct feed *feed);

/* Moves records into the chunk until that is full or the rings are empty. False: there were
 * none. */
bool feed_fill(struct feed *feed);
/* The chunk is full, or what is in it has waited for long enough. */
bool feed_is_due(const struct feed *feed);
/* The last blocks. */
void feed_end(struct feed *feed);
/* Sends the chunk. 0, -EAGAIN when the socket takes no more (call again; feed_fill not before that
 * was 0), or -errno. */
int feed_send(struct feed *feed);
/* It will not be sent to the end: hangs up, for everybody who has the socket, when the client has
 * got a part of it, since whatever came next would be taken for the rest. */
void feed_give_up(struct feed *feed);

#endif

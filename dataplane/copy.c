/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/copy.h"

#include <string.h>

#include "dataplane/stages.h"

/* The copy begins where a received packet does, or where the original does when that is further in
 * front and so may be longer. */
struct packet *copy_packet(struct lane *lane, struct packet *p, struct burst *copies)
{
	struct packet *copy = &copies->packet[copies->n];
	struct pool *pool = lane->pool;
	uint32_t frame = pool_take(pool);

	*copy = *p;
	copy->flags |= PKT_COPY;
	copy->no_frame = false;
	counter_add(&lane->counters->port[p->rx_port].copied, 1);
	if (frame == FRAME_NONE) {
		p->no_frame = true;
		drop_packet(copy, DROP_NO_FRAME, copy->network);
		count_drop(lane, copy);
		return NULL;
	}
	copy->data = pool_data(pool, frame) - FRAME_HEADROOM +
		     min_of(pool_headroom(pool, p->data), (uint32_t)FRAME_HEADROOM);
	memcpy(copy->data, p->data, p->len);
	copies->n++;
	return copy;
}

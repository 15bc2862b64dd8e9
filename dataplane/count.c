/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/stages.h"

void count_drop(struct lane *lane, const struct packet *p)
{
	struct drop_cell *cell = &lane->counters->port[p->rx_port].drop[p->drop];

	counter_add(&cell->packets, 1);
	store_relaxed(&cell->last_ns, lane->now_ns);
	store_relaxed(&cell->detail, p->detail);
}

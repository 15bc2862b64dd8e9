/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/pipeline.h"

#include "afxdp/rx.h"
#include "afxdp/tx.h"
#include "afxdp/worker_own.h"
#include "capture/tap.h"
#include "dataplane/stages.h"
#include "lib/rcu.h"
#include "tunnels/vxlan.h"

static void emit(struct worker *w, struct burst *burst)
{
	retag(&w->lane, burst);
	if (w->lane.tables->tunnels)
		encap(&w->lane, burst);
	tx(&w->lane, &w->tx, burst);
	if (unlikely(w->lane.taps))
		tap_out(&w->lane, burst);
}

static bool is_underlay(const struct lane *lane, uint16_t port)
{
	const struct port_view *view = rcu_dereference(lane->tables->port[port]);

	return view && view->underlay;
}

/* Switching. What a rule gave an egress is only sent. */
static void finish(struct worker *w, struct burst *burst)
{
	struct lane *lane = &w->lane;

	learn(lane, burst);
	forward(lane, burst);
	while (replicate(lane, burst, &w->copies))
		emit(w, &w->copies);
	emit(w, burst);
}

unsigned int pipeline_run(struct worker *w, struct port_queue *q)
{
	struct burst *burst = &w->burst;
	struct lane *lane = &w->lane;
	unsigned int n = rx(lane, q, w->options.cookie, burst);

	if (!n)
		return 0;
	lane->taps = rcu_dereference(lane->tables->taps);
	if (unlikely(lane->taps))
		tap_rx(lane, burst);
	parse(lane, burst);
	if (lane->tables->tunnels && is_underlay(lane, q->port))
		decap(lane, burst);
	classify(lane, burst);
	if (unlikely(lane->taps))
		tap_in(lane, burst);
	if (lane->tables->flows) {
		match(lane, burst);
		while (act(lane, burst, &w->rule_copies))
			finish(w, &w->rule_copies);
	}
	finish(w, burst);
	if (unlikely(lane->taps))
		tap_publish(lane);
	tx_submit(&w->tx);
	return n;
}

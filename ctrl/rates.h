/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rates over the last 2 seconds: samples of the counters every 500 ms.
 *
 * Right after the start they are over what time there was.
 * Threads: control only.
 */
#ifndef CTRL_RATES_H
#define CTRL_RATES_H

#include <stdint.h>

#include "afxdp/worker.h"
#include "ctrl/gateway.h"

struct rates;

struct port_rates {
	double rx_pps, rx_bps;
	double tx_pps, tx_bps;
	double drop_pps;
};

struct tunnel_rates {
	double rx_pps, rx_bps;
	double tx_pps, tx_bps;
	double lost_pps;
};

struct worker_rates {
	double busy_percent;
	uint64_t longest_loop_ns;	/* of the last 2 seconds */
	struct worker_stats stats;	/* the newest */
};

/* Takes the first sample and begins. -ENOMEM. */
int rates_create(struct gateway *g, struct rates **rates);
/* Accepts NULL. */
void rates_destroy(struct rates *r);

/* What the rates are over, seconds; 0 before the second sample (all rates are 0 then). */
double rates_window_s(const struct rates *r);
void rates_port(const struct rates *r, uint16_t port, struct port_rates *rates);
/* Packets, not a rate: within the window. */
uint64_t rates_drop(const struct rates *r, uint16_t port, enum drop_reason reason);
void rates_tunnel(const struct rates *r, uint16_t egress, struct tunnel_rates *rates);
void rates_worker(const struct rates *r, uint32_t worker, struct worker_rates *rates);

#endif

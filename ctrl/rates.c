/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/rates.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/bits.h"
#include "lib/clock.h"

#define PERIOD_MS 500
#define SAMPLES 5		/* four periods: 2 s */

/* A sample is one row of counters: ports, then tunnels. */
enum port_value {
	PORT_RX_PACKETS,
	PORT_RX_BYTES,
	PORT_TX_PACKETS,
	PORT_TX_BYTES,
	PORT_DROPS,
	PORT_DROP,		/* by reason */
	PORT_VALUES = PORT_DROP + DROP_REASON_COUNT,
};

enum tunnel_value {
	TUNNEL_RX_PACKETS,
	TUNNEL_RX_BYTES,
	TUNNEL_TX_PACKETS,
	TUNNEL_TX_BYTES,
	TUNNEL_LOST,
	TUNNEL_VALUES,
};

struct sample {
	uint64_t ns;
	uint64_t *values;
	struct worker_stats worker[WORKER_MAX];
};

struct rates {
	struct gateway *g;
	struct loop_timer timer;
	uint32_t n_taken;	/* samples in all; the newest is (n_taken - 1) % SAMPLES */
	struct sample sample[SAMPLES];
};

static uint64_t *port_values(uint64_t *values, uint32_t port)
{
	return values + (size_t)port * PORT_VALUES;
}

static uint64_t *tunnel_values(const struct gateway *g, uint64_t *values, uint32_t i)
{
	return values + (size_t)g->n_ports * PORT_VALUES + (size_t)i * TUNNEL_VALUES;
}

static void sample_port(const struct gateway *g, uint16_t port, uint64_t *v)
{
	struct port_counters c;

	gateway_port_counters(g, port, &c);
	v[PORT_RX_PACKETS] = c.rx_packets;
	v[PORT_RX_BYTES] = c.rx_bytes;
	v[PORT_TX_PACKETS] = c.tx_packets;
	v[PORT_TX_BYTES] = c.tx_bytes;
	v[PORT_DROPS] = 0;
	for (int i = 0; i < DROP_REASON_COUNT; i++) {
		v[PORT_DROP + i] = c.drop[i].packets;
		v[PORT_DROPS] += c.drop[i].packets;
	}
}

static void sample_tunnel(const struct gateway *g, uint16_t egress, uint64_t *v)
{
	struct tunnel_counters c;

	gateway_tunnel_counters(g, egress, &c);
	v[TUNNEL_RX_PACKETS] = c.rx_packets;
	v[TUNNEL_RX_BYTES] = c.rx_bytes;
	v[TUNNEL_TX_PACKETS] = c.tx_packets;
	v[TUNNEL_TX_BYTES] = c.tx_bytes;
	v[TUNNEL_LOST] = c.lost;
}

static void take_sample(struct rates *r)
{
	struct gateway *g = r->g;
	struct sample *s = &r->sample[r->n_taken++ % SAMPLES];

	s->ns = clock_ns();
	for (uint32_t i = 0; i < g->n_ports; i++)
		sample_port(g, (uint16_t)i, port_values(s->values, i));
	for (uint32_t i = 0; g->tunnels && i < g->tunnels->n_tunnels; i++)
		sample_tunnel(g, (uint16_t)(EGRESS_TUNNEL0 + i), tunnel_values(g, s->values, i));
	for (uint32_t i = 0; i < g->n_workers; i++)
		worker_stats(g->worker[i], &s->worker[i]);
}

static void tick(struct loop_timer *timer)
{
	take_sample(container_of(timer, struct rates, timer));
}

int rates_create(struct gateway *g, struct rates **rates)
{
	size_t n = (size_t)g->n_ports * PORT_VALUES +
		   (g->tunnels ? (size_t)TUNNEL_MAX * TUNNEL_VALUES : 0);
	struct rates *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->g = g;
	for (int i = 0; i < SAMPLES; i++) {
		r->sample[i].values = calloc(n ? n : 1, sizeof(uint64_t));
		if (!r->sample[i].values) {
			rates_destroy(r);
			return -ENOMEM;
		}
	}
	take_sample(r);
	loop_timer_start(g->loop, &r->timer, PERIOD_MS, tick);
	*rates = r;
	return 0;
}

void rates_destroy(struct rates *r)
{
	if (!r)
		return;
	loop_timer_stop(&r->timer);
	for (int i = 0; i < SAMPLES; i++)
		free(r->sample[i].values);
	free(r);
}

static const struct sample *newest(const struct rates *r)
{
	return &r->sample[(r->n_taken - 1) % SAMPLES];
}

static const struct sample *oldest(const struct rates *r)
{
	return &r->sample[r->n_taken < SAMPLES ? 0 : r->n_taken % SAMPLES];
}

double rates_window_s(const struct rates *r)
{
	return (double)(newest(r)->ns - oldest(r)->ns) / (double)NS_PER_S;
}

static double per_second(const struct rates *r, const uint64_t *now, const uint64_t *before,
			 int value)
{
	double window_s = rates_window_s(r);

	return window_s > 0 ? (double)(now[value] - before[value]) / window_s : 0;
}

void rates_port(const struct rates *r, uint16_t port, struct port_rates *rates)
{
	const uint64_t *now = port_values(newest(r)->values, port);
	const uint64_t *before = port_values(oldest(r)->values, port);

	rates->rx_pps = per_second(r, now, before, PORT_RX_PACKETS);
	rates->rx_bps = 8 * per_second(r, now, before, PORT_RX_BYTES);
	rates->tx_pps = per_second(r, now, before, PORT_TX_PACKETS);
	rates->tx_bps = 8 * per_second(r, now, before, PORT_TX_BYTES);
	rates->drop_pps = per_second(r, now, before, PORT_DROPS);
}

uint64_t rates_drop(const struct rates *r, uint16_t port, enum drop_reason reason)
{
	size_t value = PORT_DROP + (size_t)reason;

	return port_values(newest(r)->values, port)[value] -
	       port_values(oldest(r)->values, port)[value];
}

void rates_tunnel(const struct rates *r, uint16_t egress, struct tunnel_rates *rates)
{
	uint32_t i = egress - EGRESS_TUNNEL0;
	const uint64_t *now = tunnel_values(r->g, newest(r)->values, i);
	const uint64_t *before = tunnel_values(r->g, oldest(r)->values, i);

	rates->rx_pps = per_second(r, now, before, TUNNEL_RX_PACKETS);
	rates->rx_bps = 8 * per_second(r, now, before, TUNNEL_RX_BYTES);
	rates->tx_pps = per_second(r, now, before, TUNNEL_TX_PACKETS);
	rates->tx_bps = 8 * per_second(r, now, before, TUNNEL_TX_BYTES);
	rates->lost_pps = per_second(r, now, before, TUNNEL_LOST);
}

void rates_worker(const struct rates *r, uint32_t worker, struct worker_rates *rates)
{
	const struct worker_stats *now = &newest(r)->worker[worker];
	const struct worker_stats *before = &oldest(r)->worker[worker];
	uint64_t total_ns = now->total_ns - before->total_ns;

	rates->stats = *now;
	rates->busy_percent = 0;
	if (total_ns)
		rates->busy_percent =
			100.0 * (double)(now->busy_ns - before->busy_ns) / (double)total_ns;
	/* Each sample has the longest loop since the one before. */
	rates->longest_loop_ns = 0;
	for (uint32_t i = 0; i < min_of(r->n_taken, (uint32_t)SAMPLES); i++)
		rates->longest_loop_ns = max_of(rates->longest_loop_ns,
						r->sample[i].worker[worker].longest_loop_ns);
}

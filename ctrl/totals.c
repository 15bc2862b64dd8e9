/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over the workers. They go on counting meanwhile: exact at rest, else a burst apart. */
#include <string.h>

#include "ctrl/gateway.h"

static void add(uint64_t *sum, const uint64_t *counter)
{
	*sum += load_relaxed(counter);
}

static void add_cell(struct drop_cell *sum, const struct drop_cell *cell)
{
	uint64_t last_ns = load_relaxed(&cell->last_ns);

	add(&sum->packets, &cell->packets);
	if (last_ns <= sum->last_ns)
		return;
	sum->last_ns = last_ns;
	sum->detail = load_relaxed(&cell->detail);
}

static void add_port(struct port_counters *sum, const struct port_counters *c)
{
	add(&sum->rx_packets, &c->rx_packets);
	add(&sum->rx_bytes, &c->rx_bytes);
	add(&sum->copied, &c->copied);
	add(&sum->generated, &c->generated);
	add(&sum->forwarded, &c->forwarded);
	add(&sum->hash_nic, &c->hash_nic);
	add(&sum->hash_soft, &c->hash_soft);
	add(&sum->tx_packets, &c->tx_packets);
	add(&sum->tx_bytes, &c->tx_bytes);
	add(&sum->tx_full, &c->tx_full);
	for (uint32_t i = 0; i < DROP_REASON_COUNT; i++)
		add_cell(&sum->drop[i], &c->drop[i]);
}

void gateway_port_counters(const struct gateway *g, uint16_t port, struct port_counters *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < g->n_workers; i++)
		add_port(sum, &worker_counters(g->worker[i])->port[port]);
}

void gateway_tunnel_counters(const struct gateway *g, uint16_t egress, struct tunnel_counters *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < g->n_workers; i++) {
		const struct tunnel_counters *c =
			&worker_counters(g->worker[i])->tunnel[egress - EGRESS_TUNNEL0];

		add(&sum->rx_packets, &c->rx_packets);
		add(&sum->rx_bytes, &c->rx_bytes);
		add(&sum->tx_packets, &c->tx_packets);
		add(&sum->tx_bytes, &c->tx_bytes);
		add(&sum->lost, &c->lost);
	}
}

/* What workers may be holding, counted when it came and not yet where it went. */
static uint64_t on_the_way(const struct gateway *g)
{
	return (uint64_t)g->n_workers * BURST_MAX * 4;
}

void gateway_books(const struct gateway *g, struct gateway_books *books)
{
	struct port_counters sum;
	uint64_t in, out, off;

	memset(books, 0, sizeof(*books));
	for (uint32_t i = 0; i < g->n_ports; i++) {
		gateway_port_counters(g, (uint16_t)i, &sum);
		books->rx += sum.rx_packets;
		books->copied += sum.copied;
		books->generated += sum.generated;
		books->tx += sum.tx_packets;
		for (uint32_t r = 0; r < DROP_REASON_COUNT; r++)
			books->drops += sum.drop[r].packets;
	}
	in = books->rx + books->copied + books->generated;
	out = books->tx + books->drops;
	off = in > out ? in - out : out - in;
	books->balanced = off == 0 || (!g->watch.books_since_ns && off <= on_the_way(g));
}

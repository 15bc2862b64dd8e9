/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/tx.h"

#include <errno.h>
#include <sys/socket.h>

#include "afxdp/pcap_port.h"
#include "dataplane/stages.h"

static bool send_xsk(struct tx_ports *ports, struct pool *pool, struct port_queue *q,
		     const struct packet *p)
{
	struct xdp_desc *d;
	uint32_t at;

	if (!xsk_ring_prod__reserve(&q->tx, 1, &at))
		return false;
	d = xsk_ring_prod__tx_desc(&q->tx, at);
	d->addr = (uint64_t)(p->data - pool->area);
	d->len = p->len;
	d->options = 0;
	pool->owner[pool_frame_of(pool, p->data)] = (uint8_t)q->port;
	if (!q->tx_staged++ && !q->tx_outstanding)
		ports->active[ports->n_active++] = q;
	return true;
}

/* Hands @p to its egress queue, or marks it. */
static void send_packet(struct lane *lane, struct tx_ports *ports, struct packet *p)
{
	struct port_queue *q = p->egress < PORT_MAX ? ports->queue[p->egress] : NULL;
	uint64_t *tx_full;

	if (unlikely(!q)) {
		drop_packet(p, DROP_PORT_DOWN, p->egress);
	} else if (likely(q->kind == QUEUE_XSK)) {
		if (send_xsk(ports, lane->pool, q, p))
			return;
		tx_full = &lane->counters->port[p->egress].tx_full;
		counter_add(tx_full, 1);
		drop_packet(p, DROP_TX_FULL, p->egress);
	} else {
		if (q->kind == QUEUE_PCAP &&
		    !pcap_port_write(q->pcap, p->data, p->len, lane->now_ns))
			drop_packet(p, DROP_PORT_DOWN, p->egress);
		else
			pool_give(lane->pool, pool_frame_of(lane->pool, p->data));
	}
}

/* Packets in a row with the same way through the switch are counted together. */
struct run {
	uint16_t rx_port;
	uint16_t egress;
	uint32_t packets;
	uint64_t bytes;
};

static void count_run(struct port_counters *port, const struct run *run)
{
	if (!run->packets)
		return;
	counter_add(&port[run->rx_port].forwarded, run->packets);
	counter_add(&port[run->egress].tx_packets, run->packets);
	counter_add(&port[run->egress].tx_bytes, run->bytes);
}

void tx(struct lane *lane, struct tx_ports *ports, struct burst *burst)
{
	struct port_counters *port = lane->counters->port;
	struct run run = {0};
	uint32_t i;

	for (i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (!p->drop)
			send_packet(lane, ports, p);
		if (p->drop) {
			count_drop(lane, p);
			pool_give(lane->pool, pool_frame_of(lane->pool, p->data));
			continue;
		}
		if (p->egress != run.egress || p->rx_port != run.rx_port) {
			count_run(port, &run);
			run = (struct run){.rx_port = p->rx_port, .egress = p->egress};
		}
		run.packets++;
		run.bytes += p->len;
	}
	count_run(port, &run);
}

void tx_submit(struct tx_ports *ports)
{
	uint32_t i;

	for (i = 0; i < ports->n_active; i++) {
		struct port_queue *q = ports->active[i];

		if (!q->tx_staged)
			continue;
		xsk_ring_prod__submit(&q->tx, q->tx_staged);
		q->tx_outstanding += q->tx_staged;
		q->tx_staged = 0;
	}
}

static uint32_t not_taken(const struct port_queue *q)
{
	return q->tx.cached_prod - load_acquire(q->tx.consumer);
}

/*
 * EAGAIN in copy mode means "kick_frames sent, there are more" as well as "no room now"; EBUSY that
 * the device refused one frame. Anything else (ENOBUFS, ENETDOWN, ENXIO when the device is gone)
 * cannot be helped by asking again at once: the descriptors stay where they are and the next loop
 * asks again.
 */
static void kick(struct port_queue *q, uint32_t waiting)
{
	uint32_t n = min_of(waiting, QUEUE_KICK_FRAMES);

	if (q->need_wakeup && !xsk_ring_prod__needs_wakeup(&q->tx))
		return;
	for (uint32_t i = 0; i < n; i += q->kick_frames)
		if (sendto(q->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0 ||
		    (errno != EAGAIN && errno != EBUSY))
			return;
}

static uint32_t complete(struct port_queue *q, struct pool *pool)
{
	uint32_t at, n, i;

	n = xsk_ring_cons__peek(&q->completion, q->tx_outstanding, &at);
	if (!n)
		return 0;
	for (i = 0; i < n; i++) {
		uint64_t frame = *xsk_ring_cons__comp_addr(&q->completion, at + i) / FRAME_BYTES;

		if (likely(frame < pool->n_frames))
			pool_give(pool, (uint32_t)frame);
		else
			counter_add(&q->bad_descriptors, 1);
	}
	xsk_ring_cons__release(&q->completion, n);
	q->tx_outstanding -= n;
	return n;
}

struct tx_state tx_progress(struct tx_ports *ports, struct pool *pool)
{
	struct tx_state state = {0};
	uint32_t i = 0;

	while (i < ports->n_active) {
		struct port_queue *q = ports->active[i];
		uint32_t waiting = not_taken(q);

		if (waiting) {
			kick(q, waiting);
			state.waiting += not_taken(q);
		}
		state.completed += complete(q, pool);
		if (q->tx_outstanding)
			i++;
		else
			ports->active[i] = ports->active[--ports->n_active];
	}
	return state;
}

void tx_add(struct tx_ports *ports, struct port_queue *q)
{
	ports->queue[q->port] = q;
	if (q->kind == QUEUE_XSK && q->tx_outstanding)
		ports->active[ports->n_active++] = q;
}

void tx_remove(struct tx_ports *ports, struct port_queue *q)
{
	uint32_t i;

	ports->queue[q->port] = NULL;
	for (i = 0; i < ports->n_active; i++)
		if (ports->active[i] == q)
			ports->active[i--] = ports->active[--ports->n_active];
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/rx.h"

#include <string.h>
#include <sys/socket.h>

#include "afxdp/meta.h"
#include "afxdp/pcap_port.h"

#define TPID_8021Q 0x8100

static void refill(struct pool *pool, struct port_queue *q)
{
	uint32_t n = min_of(q->fill_missing, pool->n_free);
	uint32_t room = xsk_prod_nb_free(&q->fill, n);
	uint32_t at, i;

	n = min_of(n, room);
	if (!xsk_ring_prod__reserve(&q->fill, n, &at))
		return;
	for (i = 0; i < n; i++) {
		uint32_t frame = pool_take(pool);

		pool->owner[frame] = (uint8_t)q->port;
		*xsk_ring_prod__fill_addr(&q->fill, at + i) = (uint64_t)frame * FRAME_BYTES;
	}
	xsk_ring_prod__submit(&q->fill, n);
	q->fill_missing -= n;
}

/* A zero-copy driver that ran out of FILL entries sleeps until it is told that there are more. */
static void wake_fill(struct port_queue *q)
{
	if (q->zero_copy && q->need_wakeup && xsk_ring_prod__needs_wakeup(&q->fill))
		recvfrom(q->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

static bool descriptor_fits(const struct pool *pool, const struct xdp_desc *d)
{
	uint32_t offset = (uint32_t)(d->addr % FRAME_BYTES);

	return d->addr / FRAME_BYTES < pool->n_frames && offset >= sizeof(struct rx_meta_timed) &&
	       d->len <= FRAME_BYTES - offset;
}

/* Keeps a frame that the kernel described wrongly, if there is one behind the description. */
static void reject(struct pool *pool, struct port_queue *q, const struct xdp_desc *d)
{
	counter_add(&q->bad_descriptors, 1);
	if (d->addr / FRAME_BYTES < pool->n_frames)
		pool_give(pool, (uint32_t)(d->addr / FRAME_BYTES));
}

/* A tag that is no 802.1Q tag belongs to the network: it goes back to where the driver took it
 * from. */
static void put_tag_back(struct packet *p, uint16_t tpid, uint16_t tci)
{
	uint8_t tag[VLAN_BYTES] = {(uint8_t)(tpid >> 8), (uint8_t)tpid, (uint8_t)(tci >> 8),
				   (uint8_t)tci};

	p->data -= VLAN_BYTES;
	p->len += VLAN_BYTES;
	memmove(p->data, p->data + VLAN_BYTES, 12);
	memcpy(p->data + 12, tag, VLAN_BYTES);
}

static void read_vlan(struct packet *p, const struct rx_meta *meta)
{
	if (meta->tpid == TPID_8021Q) {
		p->tag = TAG_STRIPPED;
		p->tci = meta->tci;
	} else if (p->len >= 12) {
		put_tag_back(p, meta->tpid, meta->tci);
	}
}

static void read_meta(struct packet *p, uint32_t cookie)
{
	uint8_t *at = p->data - sizeof(struct rx_meta);
	struct rx_meta meta;

	memcpy(&meta, at, sizeof(meta));
	if (meta.cookie != cookie)
		return;
	memset(at + offsetof(struct rx_meta, cookie), 0, sizeof(meta.cookie));
	if (meta.flags & META_HASH) {
		p->hash = meta.hash;
		if (meta.flags & META_HASH_L4)
			p->hash_kind = HASH_NIC_L4;
		else if (meta.flags & META_HASH_L3)
			p->hash_kind = HASH_NIC_L3;
	}
	if (unlikely(meta.flags & META_TIME))
		memcpy(&p->rx_time_ns, at - offsetof(struct rx_meta_timed, meta),
		       sizeof(p->rx_time_ns));
	if (meta.flags & META_VLAN)
		read_vlan(p, &meta);
}

static void start_packet(struct packet *p, uint8_t *data, uint32_t bytes, uint16_t port)
{
	*p = (struct packet){
		.data = data,
		.len = (uint16_t)bytes,
		.rx_port = port,
		.ingress = port,
		.egress = EGRESS_NONE,
	};
}

static uint64_t rx_xsk(struct lane *lane, struct port_queue *q, uint32_t cookie,
		       struct burst *burst)
{
	struct pool *pool = lane->pool;
	uint64_t bytes = 0;
	uint32_t at, n, i;

	n = xsk_ring_cons__peek(&q->rx, BURST_MAX, &at);
	for (i = 0; i < n; i++) {
		const struct xdp_desc *d = xsk_ring_cons__rx_desc(&q->rx, at + i);
		struct packet *p = &burst->packet[burst->n];

		if (unlikely(!descriptor_fits(pool, d))) {
			reject(pool, q, d);
			continue;
		}
		start_packet(p, pool->area + d->addr, d->len, q->port);
		read_meta(p, cookie);
		bytes += d->len;
		burst->n++;
	}
	if (n) {
		xsk_ring_cons__release(&q->rx, n);
		q->fill_missing += n;
	}
	if (q->fill_missing)
		refill(pool, q);
	wake_fill(q);
	return bytes;
}

/* Packets that all begin at the same offset of their pages fight for one set of the L1 cache. Where
 * the place is ours to choose, each frame's is another cache line, as far as there is room. */
#define STAGGER_BYTES (FRAME_BYTES / 2)

static uint64_t rx_pcap(struct lane *lane, struct port_queue *q, struct burst *burst)
{
	const uint32_t room = FRAME_BYTES - FRAME_HEADROOM;
	uint32_t n = 0, n_max = min_of(BURST_MAX, lane->pool->n_free), bytes;
	struct pool *pool = lane->pool;
	uint64_t total = 0;
	const uint8_t *from;

	for (; n < n_max && pcap_port_next(q->pcap, &from, &bytes); n++) {
		struct packet *p = &burst->packet[n];
		uint32_t frame = pool_take(pool), taken = min_of(bytes, room);
		uint8_t *data = pool_data(pool, frame);

		if (likely(taken <= room - STAGGER_BYTES))
			data += frame * CACHE_LINE % STAGGER_BYTES;

		memcpy(data, from, taken);
		start_packet(p, data, taken, q->port);
		if (unlikely(bytes > room))
			drop_packet(p, DROP_TOO_BIG, bytes);
		total += bytes;
	}
	burst->n = n;
	return total;
}

unsigned int rx(struct lane *lane, struct port_queue *q, uint32_t cookie, struct burst *burst)
{
	struct port_counters *c = &lane->counters->port[q->port];
	uint64_t bytes;

	burst->n = 0;
	bytes = q->kind == QUEUE_XSK    ? rx_xsk(lane, q, cookie, burst)
		: q->kind == QUEUE_PCAP ? rx_pcap(lane, q, burst)
					: 0;
	if (burst->n) {
		counter_add(&c->rx_packets, burst->n);
		counter_add(&c->rx_bytes, bytes);
	}
	return burst->n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "afxdp/queue.h"
#include "dataplane/pool.h"
#include "lib/xdp_socket.h"

/* Registers the area and maps FILL and COMPLETION. */
static int make_umem(struct port_queue *q, const struct pool *pool, uint32_t ring)
{
	const struct xsk_umem_config config = {
	    .fill_size = 2 * ring,
	    .comp_size = 2 * ring,
	    .frame_size = FRAME_BYTES,
	    .frame_headroom = FRAME_HEADROOM - XDP_PACKET_HEADROOM,
	};

	/* libxdp believes what it finds in the rings. */
	memset(&q->fill, 0, sizeof(q->fill));
	memset(&q->completion, 0, sizeof(q->completion));
	memset(&q->rx, 0, sizeof(q->rx));
	memset(&q->tx, 0, sizeof(q->tx));
	return xsk_umem__create(&q->umem, pool->area, (uint64_t)pool->n_frames * FRAME_BYTES,
				&q->fill, &q->completion, &config);
}

/* Before bind: a driver that finds FILL empty may not ask again. */
static void fill(struct port_queue *q, const uint32_t *frames, uint32_t n)
{
	uint32_t at;

	if (!xsk_ring_prod__reserve(&q->fill, n, &at))
		return;
	for (uint32_t i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(&q->fill, at + i) = (uint64_t)frames[i] * FRAME_BYTES;
	xsk_ring_prod__submit(&q->fill, n);
}

static int make_socket(struct port_queue *q, const struct xsk_bind *bind)
{
	const struct xsk_socket_config config = {
	    .rx_size = bind->ring,
	    .tx_size = bind->ring,
	    .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
	    .bind_flags =
		(uint16_t)((bind->zero_copy ? XDP_ZEROCOPY : XDP_COPY) | XDP_USE_NEED_WAKEUP),
	};

	return xsk_socket__create(&q->xsk, bind->device, bind->queue_id, q->umem, &q->rx, &q->tx,
				  &config);
}

/* What the kernel says it is, not what was asked for. */
static int read_mode(struct port_queue *q)
{
	struct xdp_options options = {0};
	socklen_t bytes = sizeof(options);

	if (getsockopt(q->fd, SOL_XDP, XDP_OPTIONS, &options, &bytes))
		return -errno;
	q->zero_copy = (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
	return 0;
}

int xsk_create(struct port_queue *q, const struct pool *pool, const uint32_t *frames,
	       uint32_t n_frames, const struct xsk_bind *bind)
{
	int r;

	q->fd = -1;
	q->ring = bind->ring;
	r = make_umem(q, pool, bind->ring);
	if (r) {
		q->umem = NULL;
		return r;
	}
	fill(q, frames, n_frames);
	r = make_socket(q, bind);
	if (r) {
		/* A UMEM whose bind failed is spent. */
		q->xsk = NULL;
		goto err;
	}
	q->fd = xsk_socket__fd(q->xsk);
	r = read_mode(q);
	if (r)
		goto err;
	q->kick_frames = min_of(q->ring, QUEUE_KICK_FRAMES);
	/* Zero-copy drivers take all there is. */
	if (!q->zero_copy)
		q->kick_frames = xdp_set_tx_budget(q->fd, q->kick_frames);
	q->kind = QUEUE_XSK;
	q->need_wakeup = true;
	q->skb_mode = bind->skb_mode;
	q->fill_missing = 2 * bind->ring - n_frames;
	q->tx_staged = 0;
	q->tx_outstanding = 0;
	return 0;

err:
	xsk_close(q);
	return r;
}

int xsk_open(struct port_queue *q, struct pool *pool, const struct xsk_bind *bind)
{
	uint32_t n = min_of(2 * bind->ring, pool->n_free);
	uint32_t *frames = calloc(n + 1, sizeof(*frames));
	int r;

	if (!frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		frames[i] = pool_take(pool);
		pool->owner[frames[i]] = (uint8_t)q->port;
	}
	r = xsk_create(q, pool, frames, n, bind);
	for (uint32_t i = 0; r && i < n; i++)
		pool_give(pool, frames[i]);
	free(frames);
	return r;
}

void xsk_close(struct port_queue *q)
{
	if (q->xsk)
		xsk_socket__delete(q->xsk);
	if (q->umem)
		xsk_umem__delete(q->umem);
	q->xsk = NULL;
	q->umem = NULL;
	q->fd = -1;
}

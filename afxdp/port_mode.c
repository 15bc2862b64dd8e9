/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which XDP program a port runs and which kind of socket, with the reason where it is not the best.
 *
 * Programs, best first: device-bound in the driver, plain in the driver, plain in the stack (skb).
 * Sockets: zero-copy, copy. With mode: auto every error but those that a worse mode cannot mend
 * falls to the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "afxdp/port_own.h"
#include "afxdp/worker.h"
#include "dataplane/pool.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/nl.h"

/* A closed socket leaves its queue a little later than close returns. */
#define BUSY_TRIES 100
#define BUSY_TRY_US 10000

struct choice {
	bool bound;
	bool skb;
};

static const struct choice choices[] = {{true, false}, {false, false}, {false, true}};

/* Some drivers answer with an errno that is the kernel's own. */
static int public_error(int error)
{
	return error == -524 ? -EOPNOTSUPP : error; /* ENOTSUPP */
}

static bool mode_allows(uint8_t mode, bool skb)
{
	return mode == MODE_AUTO || (mode == MODE_SKB) == skb;
}

/* No other program or mode would fare better. */
static bool is_final(int error)
{
	return error == -EBUSY || error == -EEXIST || error == -ENODEV || error == -ENOSPC ||
	       error == -EPERM || error == -EACCES || error == -E2BIG || error == -EINVAL;
}

static int explain_mtu(const struct port *p, const struct why *why)
{
	const struct device *d = &p->device;
	uint32_t limit = device_native_mtu_limit(d), mtu = device_mtu(d);

	if (device_is_veth(d) && mtu <= limit)
		return because(why, -ERANGE,
			       "%s: its peer's MTU is over the limit of %u for native mode; there: "
			       "ip link set dev %s mtu %u",
			       d->netdev.name, limit, device_peer(d), limit);
	if (limit == MTU_LIMIT_CHUNK)
		return because(
		    why, -ERANGE,
		    "%s: MTU %u is over what the driver (%s) takes in native mode (dmesg names "
		    "its limit); lower it: ip link set dev %s mtu N",
		    d->netdev.name, mtu, d->driver, d->netdev.name);
	return because(
	    why, -ERANGE,
	    "%s: MTU %u is over the limit of %u for native mode; ip link set dev %s mtu %u",
	    d->netdev.name, mtu, limit, d->netdev.name, limit);
}

static int explain_attach(const struct port *p, const struct choice *c, int error,
			  const struct why *why)
{
	const struct device *d = &p->device;

	switch (error) {
	case -ERANGE:
		return explain_mtu(p, why);
	case -ENOSPC:
		return because(
		    why, error,
		    "%s: has %u receive queues, one a worker, and its peer more transmit "
		    "queues; there: ethtool -L %s tx %u",
		    d->netdev.name, p->n_workers, device_peer(d), p->n_workers);
	case -EBUSY:
	case -EEXIST:
		return because(
		    why, -EBUSY,
		    "%s: somebody else put an XDP program on it just now; see: ip link show "
		    "dev %s",
		    d->netdev.name, d->netdev.name);
	case -ENODEV:
		return because(why, error, "%s: the device went away", d->netdev.name);
	case -EPERM:
	case -EACCES:
		return because(why, error,
			       "%s: attaching XDP is not allowed: run as root, or give culvertd "
			       "CAP_NET_ADMIN and CAP_BPF",
			       d->netdev.name);
	}
	return because(why, error == -EINVAL ? -EOPNOTSUPP : error,
		       "%s: the driver (%s) refuses the %s XDP program in %s mode: %s",
		       d->netdev.name, d->driver, c->bound ? "device-bound" : "plain",
		       c->skb ? "skb" : "native", strerror(-error));
}

/* virtio_net takes queues of its own into use for XDP, and frames arrive on them that no worker
 * has. */
static int check_queues(struct port *p, const struct why *why)
{
	uint32_t n = netdev_rx_queues_in_use(&p->device.netdev);

	if (n <= p->n_workers)
		return 0;
	return because(why, -EOPNOTSUPP,
		       "%s: in native mode the driver (%s) receives on %u queues, and there are %u "
		       "workers; set workers.cores to %u cores, or give the device one queue pair",
		       p->device.netdev.name, p->device.driver, n, p->n_workers, n);
}

/* A tag that nobody sees makes a frame of VLAN 200 an untagged one. */
static bool tags_seen(const struct port *p, bool bound)
{
	const struct device *d = &p->device;

	if (!d->tag_taken)
		return true;
	if (!bound || !steer_kernel_has_vlan())
		return false;
	return d->rx_metadata_known ? d->rx_metadata & RX_METADATA_VLAN : device_is_veth(d);
}

static int check_tags(struct port *p, const struct choice *c, const struct why *why)
{
	struct device *d = &p->device;
	char text[160];

	if (p->options.underlay || tags_seen(p, c->bound))
		return 0;
	if (device_is_veth(d))
		snprintf(text, sizeof(text),
			 "VLAN tags are not seen, which its peer passes beside the frame; there: "
			 "ethtool -K %s txvlan off",
			 device_peer(d));
	else
		snprintf(text, sizeof(text),
			 "VLAN tags are not seen, which the driver (%s) takes out; ethtool -K %s "
			 "rxvlan off "
			 "failed",
			 d->driver, d->netdev.name);
	if (p->options.tagged)
		return because(why, -EINVAL, "%s: tagged: %s", d->netdev.name, text);
	/* Worse than what else there may be to warn of: VLANs mix. */
	snprintf(d->warning, sizeof(d->warning), "%s", text);
	return 0;
}

static void fill_steer_options(const struct port *p, struct steer_options *s)
{
	const struct port_options *o = &p->options;

	*s = (struct steer_options){
	    .device = p->device.netdev.name,
	    .ifindex = p->device.ifindex,
	    .n_queues = p->n_workers,
	    .cookie = worker_cookie(p->worker[0]),
	    .want_hash = o->want_hash,
	    .want_time = !p->device.rx_metadata_known ||
			 p->device.rx_metadata & RX_METADATA_TIMESTAMP,
	    .underlay = o->underlay,
	    .rest_kernel = o->rest_kernel,
	    .unknown_vni_kernel = o->unknown_vni_kernel,
	    .vlans = o->vlans,
	    .local = o->local,
	    .n_local = o->n_local,
	    .vxlan_port = o->vxlan_port,
	    .vnis = o->vnis,
	    .n_vnis = o->n_vnis,
	};
}

static int try_program(struct port *p, const struct choice *c, const struct why *why)
{
	struct steer_options options;
	int r;

	fill_steer_options(p, &options);
	options.bound = c->bound;
	r = steer_load(&options, &p->steer, why);
	if (r)
		return c->bound ? -EOPNOTSUPP : r;
	r = public_error(steer_attach(p->steer, c->skb));
	if (r)
		r = explain_attach(p, c, r, why);
	else if (!c->skb)
		r = check_queues(p, why);
	if (!r)
		r = check_tags(p, c, why);
	if (r) {
		steer_close(p->steer);
		p->steer = NULL;
	}
	return r;
}

/* Why there is none but the plain program was said when the bound one failed. */
static void say_program(struct port *p)
{
	const struct device *d = &p->device;
	bool hash = d->rx_metadata & RX_METADATA_HASH, vlan = d->rx_metadata & RX_METADATA_VLAN;

	if (!p->bound) {
		if (!p->program_why[0])
			snprintf(p->program_why, sizeof(p->program_why),
				 "skb mode takes no device-bound program");
		return;
	}
	snprintf(p->program_why, sizeof(p->program_why), "the driver gives %s",
		 !d->rx_metadata_known ? "what it has; this kernel does not list it"
		 : hash && vlan        ? "hash and VLAN tag"
		 : hash                ? "the hash, no VLAN tag"
		 : vlan                ? "the VLAN tag, no hash"
				       : "neither hash nor VLAN tag");
}

/* A veth's limit counts for the frames of its peer, which the stack would receive and we would
 * lose. */
static bool skb_would_help(const struct port *p, int error)
{
	return error != -ERANGE || !device_is_veth(&p->device) ||
	       device_mtu(&p->device) > device_native_mtu_limit(&p->device);
}

int port_choose_program(struct port *p, const struct why *why)
{
	int r = -EOPNOTSUPP;

	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct choice *c = &choices[i];
		char *reason = c->bound ? p->program_why : p->mode_why;

		if (!mode_allows(p->options.mode, c->skb) ||
		    (c->skb && r == -ERANGE && !skb_would_help(p, r)))
			continue;
		r = try_program(p, c, why);
		if (!r) {
			p->bound = c->bound;
			p->mode = c->skb ? MODE_SKB : MODE_NATIVE;
			say_program(p);
			return 0;
		}
		snprintf(reason, sizeof(p->mode_why), "%s", why->text);
		if (is_final(r))
			return r;
	}
	return r;
}

/* Frames on their way from a worker's pool to FILL, or back. */
struct lending {
	uint32_t *frames;
	uint32_t n;
	uint32_t wanted;
	uint8_t port;
};

/* All that is wanted, or half of what there is: the other half is for what is to be sent. */
static void lend_frames(struct worker *worker, void *arg)
{
	struct pool *pool = worker_lane(worker)->pool;
	struct lending *l = arg;

	l->n = pool->n_free >= l->wanted + l->wanted / 2 ? l->wanted
							 : min_of(l->wanted, pool->n_free / 2);
	for (uint32_t i = 0; i < l->n; i++) {
		l->frames[i] = pool_take(pool);
		pool->owner[l->frames[i]] = l->port;
	}
}

static void return_frames(struct worker *worker, void *arg)
{
	struct pool *pool = worker_lane(worker)->pool;
	struct lending *l = arg;

	while (l->n)
		pool_give(pool, l->frames[--l->n]);
}

static int explain_bind(const struct port *p, uint32_t queue, bool zero_copy, int error,
			const struct why *why)
{
	const char *name = p->device.netdev.name, *driver = p->device.driver;

	switch (error) {
	case -EBUSY:
		return because(why, error,
			       "%s: queue %u is in use by another AF_XDP socket; stop that program "
			       "(ss --xdp -p shows it)",
			       name, queue);
	case -ENOBUFS:
		return because(
		    why, error,
		    "%s: the limit of locked memory is reached; raise it (ulimit -l unlimited, "
		    "LimitMEMLOCK=infinity) or give culvertd CAP_IPC_LOCK",
		    name);
	case -EPERM:
		return because(why, error,
			       "%s: an AF_XDP socket is not allowed: run as root, or give culvertd "
			       "CAP_NET_RAW and CAP_IPC_LOCK",
			       name);
	case -EAFNOSUPPORT:
		return because(why, -EOPNOTSUPP,
			       "%s: this kernel has no AF_XDP (CONFIG_XDP_SOCKETS)", name);
	case -ENETDOWN:
		return because(why, error, "%s: the device is down; ip link set dev %s up", name,
			       name);
	case -ENODEV:
		return because(why, error, "%s: the device went away", name);
	}
	if (!zero_copy)
		return because(why, error, "%s: binding an AF_XDP socket to queue %u failed: %s",
			       name, queue, strerror(-error));
	return because(why, -EOPNOTSUPP, "%s: the driver (%s) has no zero-copy%s: %s%s", name,
		       driver, error == -EINVAL ? " as it is set up (MTU, ring, IOMMU)" : "",
		       strerror(-error),
		       p->options.mode == MODE_ZERO_COPY ? "; set mode: native or auto" : "");
}

static int bind_queue(struct port *p, uint32_t i, bool zero_copy, const struct lending *l)
{
	const struct xsk_bind bind = {
	    .ifindex = p->device.ifindex,
	    .device = p->device.netdev.name,
	    .queue_id = i,
	    .ring = p->options.ring,
	    .zero_copy = zero_copy,
	    .skb_mode = p->mode == MODE_SKB,
	};
	const struct pool *pool = worker_lane(p->worker[i])->pool;
	int r = -EBUSY;

	for (int try = 0; r == -EBUSY && try < BUSY_TRIES; try++) {
		if (try)
			usleep(BUSY_TRY_US);
		r = public_error(xsk_create(&p->queue[i], pool, l->frames, l->n, &bind));
	}
	/* With less memory than there should be FILL stays shorter; it is not owed the rest. */
	p->queue[i].fill_missing = 0;
	return r;
}

static int open_socket(struct port *p, uint32_t i, bool zero_copy, const struct why *why)
{
	struct lending l = {.wanted = 2 * p->options.ring, .port = (uint8_t)p->options.index};
	int r;

	l.frames = malloc(l.wanted * sizeof(*l.frames) + 1);
	if (!l.frames)
		return because(why, -ENOMEM, "%s: out of memory", p->options.name);
	worker_call(p->worker[i], lend_frames, &l);
	if (l.n < min_of(p->options.ring / 4, 64u)) {
		r = because(why, -ENOMEM,
			    "%s: worker %u has no frames left for one more port; restart culvertd, "
			    "or lower "
			    "workers.ring",
			    p->options.name, i);
	} else {
		r = bind_queue(p, i, zero_copy, &l);
		if (r)
			r = explain_bind(p, i, zero_copy, r, why);
	}
	if (r)
		worker_call(p->worker[i], return_frames, &l);
	free(l.frames);
	return r;
}

/* Nothing was sent by them yet, and nothing received that anybody took. */
static void take_frames_back(struct port *p, bool in_use)
{
	const struct timespec settle = {.tv_nsec = ZERO_COPY_SETTLE_NS};

	if (in_use)
		nanosleep(&settle, NULL);
	port_reclaim(p->worker, p->n_workers, p->options.index);
}

static int open_all(struct port *p, bool zero_copy, const struct why *why)
{
	int r = 0;

	for (uint32_t i = 0; i < p->n_workers && !r; i++)
		r = open_socket(p, i, zero_copy, why);
	for (uint32_t i = 0; i < p->n_workers && !r; i++)
		if (zero_copy && !p->queue[i].zero_copy)
			r = because(why, -EOPNOTSUPP,
				    "%s: queue %u was silently bound in copy mode",
				    p->device.netdev.name, i);
	if (r)
		take_frames_back(p, port_close_sockets(p));
	return r;
}

static int register_sockets(struct port *p, const struct why *why)
{
	int r = 0;

	for (uint32_t i = 0; i < p->n_workers && !r; i++) {
		r = steer_set_socket(p->steer, i, p->queue[i].fd);
		if (r)
			because(why, r, "%s: handing queue %u to the XDP program failed: %s",
				p->device.netdev.name, i, strerror(-r));
	}
	if (r)
		take_frames_back(p, port_close_sockets(p));
	return r;
}

int port_open_sockets(struct port *p, const struct why *why)
{
	bool may_copy = p->options.mode != MODE_ZERO_COPY;
	bool may_zero_copy = p->mode != MODE_SKB &&
			     (p->options.mode == MODE_AUTO || p->options.mode == MODE_ZERO_COPY);
	int r = -EOPNOTSUPP;

	if (may_zero_copy)
		r = open_all(p, true, why);
	if (!r)
		p->mode = MODE_ZERO_COPY;
	else if (may_zero_copy)
		snprintf(p->mode_why, sizeof(p->mode_why), "%s", why->text);
	if (r && may_copy && r != -EBUSY && r != -ENODEV)
		r = open_all(p, false, why);
	return r ? r : register_sockets(p, why);
}

bool port_close_sockets(struct port *p)
{
	bool in_use = false;

	for (uint32_t i = 0; i < p->n_workers; i++) {
		in_use |= p->queue[i].xsk && p->queue[i].zero_copy;
		xsk_close(&p->queue[i]);
	}
	return in_use;
}

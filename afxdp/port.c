/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/port.h"

#include <dirent.h>
#include <errno.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "afxdp/internal.h"
#include "afxdp/pcap_port.h"
#include "afxdp/port_own.h"
#include "capture/dummy.h"
#include "dataplane/packet.h"
#include "dataplane/pool.h"
#include "lib/aligned.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/log.h"

/* Frames that a worker needs beside those of its ports: bursts and their copies, between two rings.
 */
#define FRAMES_SPARE 1024
/* How long a closing port waits for what the device has still to send. */
#define DRAIN_TRIES 20
#define DRAIN_TRY_NS NS_PER_MS

static void sleep_ns(uint64_t ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / NS_PER_S),
				   .tv_nsec = (long)(ns % NS_PER_S)};

	nanosleep(&t, NULL);
}

static void reclaim(struct worker *worker, void *arg)
{
	const uint16_t *index = arg;

	pool_reclaim(worker_lane(worker)->pool, (uint8_t)*index);
}

void port_reclaim(struct worker *const *workers, uint32_t n_workers, uint16_t index)
{
	for (uint32_t i = 0; i < n_workers; i++)
		worker_call(workers[i], reclaim, &index);
}

/* Frames of closed ports that a driver may still be writing to. */
struct limbo {
	struct limbo *next;
	uint64_t until_ns;
	uint16_t index;
	uint32_t n_workers;
	struct worker *worker[WORKER_MAX];
};

static struct limbo *limbo;

static void reap(struct limbo **at)
{
	struct limbo *l = *at;

	port_reclaim(l->worker, l->n_workers, l->index);
	*at = l->next;
	free(l);
}

void port_reap(void)
{
	struct limbo **at = &limbo;

	while (*at) {
		if (clock_ns() >= (*at)->until_ns)
			reap(at);
		else
			at = &(*at)->next;
	}
}

/* Before an index is used again: else the frames of the old port could not be told from those of
 * the new. */
static void reap_index(uint16_t index)
{
	struct limbo **at = &limbo;

	while (*at) {
		uint64_t now_ns = clock_ns();

		if ((*at)->index != index) {
			at = &(*at)->next;
			continue;
		}
		if ((*at)->until_ns > now_ns)
			sleep_ns((*at)->until_ns - now_ns);
		reap(at);
	}
}

static void bring_frames_home(const struct port *p, bool in_use)
{
	struct limbo *l = in_use ? malloc(sizeof(*l)) : NULL;

	if (!l) {
		if (in_use)
			sleep_ns(ZERO_COPY_SETTLE_NS);
		port_reclaim(p->worker, p->n_workers, p->options.index);
		return;
	}
	*l = (struct limbo){
	    .next = limbo,
	    .until_ns = clock_ns() + ZERO_COPY_SETTLE_NS,
	    .index = p->options.index,
	    .n_workers = p->n_workers,
	};
	memcpy(l->worker, p->worker, sizeof(l->worker));
	limbo = l;
}

static void attach(struct worker *worker, void *arg)
{
	worker_attach(worker, arg);
}

static void detach(struct worker *worker, void *arg)
{
	worker_detach(worker, arg);
}

static void attach_queues(struct port *p)
{
	for (uint32_t i = 0; i < p->n_workers; i++)
		worker_call(p->worker[i], attach, &p->queue[i]);
}

static int open_device(struct port *p, const struct why *why)
{
	int r = device_open(&p->device, &p->options, p->n_workers, why);

	if (r)
		return r;
	r = port_choose_program(p, why);
	if (r)
		goto err_device;
	for (uint32_t i = 0; i < p->n_workers; i++)
		p->queue[i].polled = true;
	r = port_open_sockets(p, why);
	if (r)
		goto err_program;
	if (p->device.warning[0])
		log_warn("%s: %s", p->options.device, p->device.warning);
	return 0;

err_program:
	steer_close(p->steer);
err_device:
	device_close(&p->device, r == -ENODEV);
	return r;
}

/* Any worker writes; one reads. */
static int open_pcap(struct port *p, const struct why *why)
{
	const struct port_options *o = &p->options;
	int r = pcap_port_open(o->pcap_rx, o->pcap_tx, o->pcap_loop, o->pcap_preload, &p->pcap,
			       why->text, why->bytes);

	if (r)
		return r;
	for (uint32_t i = 0; i < p->n_workers; i++) {
		p->queue[i].kind = QUEUE_PCAP;
		p->queue[i].pcap = p->pcap;
		p->queue[i].polled = i == 0 && o->pcap_rx;
	}
	return 0;
}

static int open_sink(struct port *p, const struct why *why)
{
	for (uint32_t i = 0; i < p->n_workers; i++)
		p->queue[i].kind = QUEUE_SINK;
	return 0;
}

static const struct {
	const char *name;
	int (*open)(struct port *p, const struct why *why);
} kinds[] = {
    [PORT_NETDEV] = {"netdev", open_device},
    [PORT_INTERNAL] = {"internal", open_device},
    [PORT_PCAP] = {"pcap", open_pcap},
    [PORT_SINK] = {"sink", open_sink},
};

static bool has_device(const struct port *p)
{
	return p->options.kind == PORT_NETDEV || p->options.kind == PORT_INTERNAL;
}

static struct port *make_port(const struct port_options *options, struct worker *const *workers,
			      uint32_t n_workers)
{
	struct port *p = calloc(1, sizeof(*p));
	struct worker_stats stats;

	if (!p)
		return NULL;
	p->options = *options;
	p->mode = MODE_NONE;
	p->n_workers = n_workers;
	memcpy(p->worker, workers, n_workers * sizeof(*workers));
	worker_stats(workers[0], &stats);
	p->hugepages = stats.hugepages;
	p->queue = aligned_zalloc(n_workers * sizeof(*p->queue));
	if (!p->queue) {
		free(p);
		return NULL;
	}
	for (uint32_t i = 0; i < n_workers; i++) {
		p->queue[i].port = options->index;
		p->queue[i].fd = -1;
	}
	return p;
}

int port_open(const struct port_options *options, struct worker *const *workers, uint32_t n_workers,
	      struct port **port, char *why_text, uint32_t why_bytes)
{
	char spare[256];
	const struct why why = {
	    .text = why_bytes ? why_text : spare,
	    .bytes = why_bytes ? why_bytes : sizeof(spare),
	};
	struct port *p;
	int r;

	if (!n_workers || n_workers > WORKER_MAX || options->index >= PORT_MAX ||
	    options->kind >= ARRAY_SIZE(kinds))
		return because(&why, -EINVAL, "%s: no such port, or no workers", options->name);
	reap_index(options->index);
	p = make_port(options, workers, n_workers);
	if (!p)
		return because(&why, -ENOMEM, "%s: out of memory", options->name);
	r = kinds[options->kind].open(p, &why);
	if (r) {
		free(p->queue);
		free(p);
		return r;
	}
	attach_queues(p);
	*port = p;
	return 0;
}

/* Packets that the device has taken and not sent yet may point into their frames (copy mode). */
static void drain(const struct port_queue *q)
{
	uint32_t unsent, taken;

	for (int try = 0; try < DRAIN_TRIES; try++) {
		struct xsk_ring_cons completion = q->completion;

		unsent = q->tx.cached_prod - load_acquire(q->tx.consumer);
		taken = q->tx_outstanding + q->tx_staged -
			min_of(unsent, q->tx_outstanding + q->tx_staged);
		if (!taken || xsk_cons_nb_avail(&completion, taken) >= taken)
			return;
		sleep_ns(DRAIN_TRY_NS);
	}
}

static void close_device(struct port *p, bool device_gone)
{
	bool in_use;

	/* The program first: nothing arrives any more while the sockets go away. */
	steer_close(p->steer);
	for (uint32_t i = 0; i < p->n_workers && !device_gone; i++)
		drain(&p->queue[i]);
	in_use = port_close_sockets(p);
	bring_frames_home(p, in_use);
	device_close(&p->device, device_gone);
}

void port_close(struct port *p, bool device_gone)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_workers; i++)
		worker_call(p->worker[i], detach, &p->queue[i]);
	if (has_device(p))
		close_device(p, device_gone);
	pcap_port_close(p->pcap);
	free(p->queue);
	free(p);
}

uint32_t port_frames_needed(uint32_t n_ports, uint32_t ring)
{
	/* FILL and RX together 2 * ring, TX another. */
	return n_ports * 3 * ring + FRAMES_SPARE;
}

static void device_info(struct port *p, struct port_info *info)
{
	const struct device *d = &p->device;
	struct netdev host;

	info->ifindex = d->ifindex;
	info->bound_program = p->bound;
	info->mtu = device_mtu(d);
	info->speed_mbps = netdev_speed_mbps(&d->netdev);
	info->link = netdev_link(&d->netdev);
	info->detached = !steer_attached(p->steer);
	netdev_mac(&d->netdev, &info->mac);
	memcpy(info->driver, d->driver, sizeof(info->driver));
	memcpy(info->program_why, p->program_why, sizeof(info->program_why));
	memcpy(info->mode_why, p->mode_why, sizeof(info->mode_why));
	memcpy(info->warning, d->warning, sizeof(info->warning));
	if (p->options.kind != PORT_INTERNAL)
		return;
	/* The MAC address that others see. */
	info->mac = p->options.mac;
	if (!netdev_open(&host, p->options.device))
		netdev_mac(&host, &info->mac);
	netdev_close(&host);
}

void port_renamed(struct port *p, const char *device)
{
	snprintf(p->device.netdev.name, sizeof(p->device.netdev.name), "%s", device);
}

void port_info(struct port *p, struct port_info *info)
{
	memset(info, 0, sizeof(*info));
	info->mode = p->mode;
	info->hugepages = p->hugepages;
	info->queues = p->n_workers;
	info->link = true;
	info->done = p->pcap && pcap_port_done(p->pcap);
	if (!has_device(p))
		return;
	snprintf(info->device, sizeof(info->device), "%s", p->options.device);
	device_info(p, info);
}

void port_kernel_stats(struct port *p, struct port_kernel_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	for (uint32_t i = 0; i < p->n_workers; i++) {
		struct xdp_statistics s = {0};
		socklen_t bytes = sizeof(s);

		if (p->queue[i].fd < 0 ||
		    getsockopt(p->queue[i].fd, SOL_XDP, XDP_STATISTICS, &s, &bytes))
			continue;
		stats->rx_ring_full += s.rx_ring_full;
		stats->fill_empty += s.rx_fill_ring_empty_descs;
		stats->rx_dropped += s.rx_dropped;
		stats->rx_invalid += s.rx_invalid_descs;
		stats->tx_invalid += s.tx_invalid_descs;
	}
	if (p->steer)
		stats->rx_dropped += steer_no_socket(p->steer);
}

void port_set_vlans(struct port *p, const uint64_t vlans[64])
{
	memcpy(p->options.vlans, vlans, sizeof(p->options.vlans));
	if (p->steer)
		steer_set_vlans(p->steer, vlans);
}

void port_set_time(struct port *p, bool on)
{
	if (p->steer)
		steer_set_time(p->steer, on);
}

int port_set_vnis(struct port *p, const uint32_t *vnis, uint32_t n_vnis)
{
	return p->steer && p->options.unknown_vni_kernel ? steer_set_vnis(p->steer, vnis, n_vnis)
							 : 0;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), s = strlen(suffix);

	return n > s && strcmp(name + n - s, suffix) == 0;
}

/* A program that outlived its process, on the device that file @name is about. */
static void clear_program(const char *name)
{
	char text[256], device[256];
	const struct why why = {.text = text, .bytes = sizeof(text)};
	unsigned int ifindex;

	snprintf(device, sizeof(device), "%.*s", (int)(strlen(name) - strlen(SAVED_SUFFIX)), name);
	ifindex = strlen(device) < IF_NAMESIZE ? if_nametoindex(device) : 0;
	if (ifindex)
		steer_clear((int)ifindex, device, &why);
}

int port_cleanup(const char *run_dir, bool keep_internal)
{
	const struct dirent *entry;
	char path[512];
	int n = 0;
	DIR *dir = opendir(run_dir);

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (snprintf(path, sizeof(path), "%s/%s", run_dir, entry->d_name) >=
		    (int)sizeof(path))
			continue;
		if (ends_with(entry->d_name, SAVED_SUFFIX)) {
			clear_program(entry->d_name);
			n += saved_recover(path);
		} else if (ends_with(entry->d_name, INTERNAL_SUFFIX)) {
			n += internal_recover(path, keep_internal);
		} else if (ends_with(entry->d_name, DUMMY_SUFFIX)) {
			n += dummy_recover(path);
		}
	}
	closedir(dir);
	return n;
}

const char *port_mode_name(enum port_mode mode)
{
	static const char *const names[] = {
	    [MODE_AUTO] = "auto", [MODE_ZERO_COPY] = "zero-copy", [MODE_NATIVE] = "native",
	    [MODE_SKB] = "skb",   [MODE_NONE] = "none",
	};

	return names[mode];
}

const char *port_kind_name(enum port_kind kind)
{
	return kinds[kind].name;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/ports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctrl/captures.h"
#include "ctrl/gateway.h"
#include "ctrl/learner.h"
#include "ctrl/underlay.h"
#include "ctrl/views.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/log.h"

#define RETRY_MAX_S 32

/* A MAC address for the internal port @name that stays the same on this host for ever: locally
 * administered, made from @machine_id (any text) and the name. */
static struct mac stable_mac(const char *machine_id, const char *name)
{
	uint64_t h = 0xcbf29ce484222325ull;
	struct mac mac;

	/* FNV-1a over both texts, the terminating zero of the first included. Must never change. */
	for (const char *p = machine_id;; p++) {
		h = (h ^ (uint8_t)*p) * 0x100000001b3ull;
		if (!*p)
			break;
	}
	for (const char *p = name; *p; p++)
		h = (h ^ (uint8_t)*p) * 0x100000001b3ull;
	h = hash_mix(h, 0);
	memcpy(mac.byte, &h, sizeof(mac.byte));
	mac.byte[0] = (mac.byte[0] & 0xfc) | 0x02;
	return mac;
}

static struct mac internal_mac(const struct conf_port *c)
{
	char id[64] = "";
	FILE *f;

	if (c->has_mac)
		return c->mac;
	f = fopen("/etc/machine-id", "re");
	if (!f || !fgets(id, sizeof(id), f))
		gethostname(id, sizeof(id) - 1);
	if (f)
		fclose(f);
	id[strcspn(id, "\n")] = 0;
	return stable_mac(id, c->name);
}

static bool has_device(const struct conf_port *c)
{
	return c->type == CONF_PORT_NETDEV;
}

static void set_bit(uint64_t bits[64], unsigned int i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

static void claim_vlans(const struct conf_port *c, struct port_options *o)
{
	if (c->untagged)
		set_bit(o->vlans, 0);
	for (size_t i = 0; i < c->n_tagged; i++)
		set_bit(o->vlans, c->tagged[i].vid);
	if (c->rest == CONF_REST_NETWORK)
		for (unsigned int vid = 1; vid < 4095; vid++)
			set_bit(o->vlans, vid);
	o->tagged = c->n_tagged || c->rest == CONF_REST_NETWORK;
	o->rest_kernel = c->rest == CONF_REST_KERNEL;
}

static void fill_options(struct gateway *g, uint16_t i, struct port_options *o)
{
	static const uint8_t kind[] = {
		[CONF_PORT_NETDEV] = PORT_NETDEV,
		[CONF_PORT_INTERNAL] = PORT_INTERNAL,
		[CONF_PORT_PCAP] = PORT_PCAP,
		[CONF_PORT_SINK] = PORT_SINK,
	};
	static const uint8_t mode[] = {
		[CONF_MODE_AUTO] = MODE_AUTO,
		[CONF_MODE_ZERO_COPY] = MODE_ZERO_COPY,
		[CONF_MODE_NATIVE] = MODE_NATIVE,
		[CONF_MODE_SKB] = MODE_SKB,
	};
	const struct conf_tunnels *t = &g->conf->tunnels;
	const struct conf_port *c = g->port[i].conf;

	*o = (struct port_options){
		.index = i,
		.kind = kind[c->type],
		.mode = mode[c->mode],
		.name = c->name,
		.device = g->port[i].device,
		.queues = c->queues,
		.mtu = c->mtu,
		.ring = g->conf->ring,
		.persist = c->persist,
		.underlay = c->underlay,
		.want_hash = g->tunnels && !c->underlay,
		.local = t->local,
		.n_local = (uint32_t)t->n_local,
		.vxlan_port = t->udp_port,
		.unknown_vni_kernel = t->unknown_vni_kernel,
		.vnis = g->vnis,
		.n_vnis = g->n_vnis,
		.pcap_rx = c->pcap_rx,
		.pcap_tx = c->pcap_tx,
		.pcap_loop = c->pcap_loop,
		.pcap_preload = c->pcap_preload,
		.run_dir = g->run_dir,
	};
	if (c->type == CONF_PORT_INTERNAL)
		o->mac = internal_mac(c);
	if (!c->underlay)
		claim_vlans(c, o);
}

/* What the configuration calls the device, for people. */
static void describe_device(const struct conf_port *c, char *text, size_t bytes)
{
	char mac[MAC_TEXT_BYTES];

	if (c->device)
		snprintf(text, bytes, "%s", c->device);
	else if (c->match_pci)
		snprintf(text, bytes, "with PCI address %s", c->match_pci);
	else
		snprintf(text, bytes, "with MAC address %s", mac_format(&c->match_mac, mac));
}

/* What conf_check_host says of those that are there at start, once for each device that appears. */
static int check_device(struct gateway *g, uint16_t i)
{
	struct gateway_port *port = &g->port[i];
	struct conf_errors errors = {0};
	const char *text = "refused";
	size_t name_bytes = strlen(port->conf->name);
	int r = 0;

	if (port->checked)
		return 0;
	r = conf_check_port(g->conf, i, &errors);
	if (errors.n)
		text = errors.list[0].text;
	/* "NAME: what": the name is said by whoever says why. */
	if (strncmp(text, port->conf->name, name_bytes) == 0 && text[name_bytes] == ':')
		text += name_bytes + 1 + strspn(text + name_bytes + 1, " ");
	if (r < 0)
		snprintf(port->why, sizeof(port->why), "%s", text);
	conf_errors_fini(&errors);
	port->checked = r == 0;
	return r;
}

/* The netdev of a port that has one, into port->device. */
static int find_device(struct gateway *g, uint16_t i)
{
	struct gateway_port *port = &g->port[i];
	char device[128];

	if (conf_port_device(port->conf, port->device) == 0)
		return check_device(g, i);
	port->checked = false;
	describe_device(port->conf, device, sizeof(device));
	snprintf(port->why, sizeof(port->why), "no device %s; waiting for it", device);
	return -ENODEV;
}

/* Finds the device and opens the port. 0 or -errno with a sentence in port->why. */
static int open_port(struct gateway *g, uint16_t i)
{
	struct gateway_port *port = &g->port[i];
	const struct conf_port *c = port->conf;
	struct port_options options;
	int r = has_device(c) ? find_device(g, i) : 0;

	if (r < 0)
		return r;
	if (c->type == CONF_PORT_INTERNAL)
		snprintf(port->device, sizeof(port->device), "%s", c->device ? c->device : c->name);
	fill_options(g, i, &options);
	r = port_open(&options, g->worker, g->n_workers, &port->port, port->why,
		      sizeof(port->why));
	if (r < 0) {
		port->port = NULL;
		return r;
	}
	port->why[0] = 0;
	port_set_time(port->port, captures_any(g->captures));
	port_info(port->port, &port->info);
	return 0;
}

static uint8_t derive_state(const struct gateway_port *port)
{
	if (port->shut)
		return GATEWAY_PORT_SHUT;
	if (!port->port)
		return port->closed_state;
	if (port->info.done)
		return GATEWAY_PORT_DONE;
	if (port->conf->type == CONF_PORT_PCAP || port->conf->type == CONF_PORT_SINK)
		return GATEWAY_PORT_UP;
	return port->info.link ? GATEWAY_PORT_UP : GATEWAY_PORT_NO_LINK;
}

static bool sends(uint8_t state)
{
	return state == GATEWAY_PORT_UP || state == GATEWAY_PORT_DONE;
}

void ports_settle(struct gateway *g, uint16_t i)
{
	struct gateway_port *port = &g->port[i];
	uint8_t old = port->state;
	uint8_t state = derive_state(port);

	if (state == old)
		return;
	port->state = state;
	port->since_ns = clock_ns();
	if (port->port)
		log_info("port %s: %s", port->conf->name, gateway_port_state_name(state));
	views_update_port(g->views, i);
	if (sends(old) && !sends(state))
		learner_flush(g->learner, NETWORK_NONE, i);
	if (port->conf->underlay && g->underlay)
		underlay_refresh(g->underlay);
}

/* Opens a port that is not open; the state is settled either way. */
static int attempt(struct gateway *g, uint16_t i)
{
	struct gateway_port *port = &g->port[i];
	bool was_missing = port->closed_state == GATEWAY_PORT_MISSING && port->why[0];
	char before[sizeof(port->why)];
	uint8_t state;
	int r;

	memcpy(before, port->why, sizeof(before));
	r = open_port(g, i);
	if (r == 0) {
		log_info("port %s: open, mode %s, %u queue%s%s%s", port->conf->name,
			 port_mode_name(port->info.mode), port->info.queues,
			 port->info.queues == 1 ? "" : "s", port->info.mode_why[0] ? "; " : "",
			 port->info.mode_why);
		port->retry_s = 0;
		views_update_port(g->views, i);
	} else {
		state = r == -ENODEV ? GATEWAY_PORT_MISSING : GATEWAY_PORT_FAILED;
		if (state != port->closed_state)
			port->retry_s = 0;
		port->closed_state = state;
		port->retry_s = port->retry_s ? min_of(port->retry_s * 2, RETRY_MAX_S) : 1;
		port->retry_ns = clock_ns() + port->retry_s * NS_PER_S;
		if (strcmp(before, port->why) != 0 && !(was_missing && r == -ENODEV))
			log_line(r == -ENODEV ? LOG_LVL_WARN : LOG_LVL_ERROR, "port %s: %s",
				 port->conf->name, port->why);
	}
	ports_settle(g, i);
	return r;
}

static bool may_be_missing(const struct gateway *g, const struct conf_port *c)
{
	return (c->underlay ? g->conf->tunnels.missing : c->missing) == CONF_MISSING_WAIT;
}

int ports_open_all(struct gateway *g)
{
	for (uint16_t i = 0; i < g->n_ports; i++) {
		const struct conf_port *c = g->port[i].conf;
		int r = attempt(g, i);

		if (r == 0 || may_be_missing(g, c))
			continue;
		log_error("%s:%u:%u: culvertd does not start without port %s (missing: refuse)",
			  c->where.file, c->where.line, c->where.column, c->name);
		return r;
	}
	return 0;
}

void ports_close_all(struct gateway *g)
{
	for (uint32_t i = g->n_ports; i-- > 0;) {
		port_close(g->port[i].port, false);
		g->port[i].port = NULL;
	}
}

void ports_try(struct gateway *g, uint16_t i)
{
	if (!g->port[i].port)
		attempt(g, i);
}

void ports_vanished(struct gateway *g, uint16_t i)
{
	struct gateway_port *port = &g->port[i];

	if (!port->port)
		return;
	port_close(port->port, true);
	port->port = NULL;
	port->info.link = false;
	port->info.ifindex = 0;
	port->closed_state = GATEWAY_PORT_MISSING;
	port->checked = false;
	port->retry_s = 0;
	port->retry_ns = 0;
	port->peer_ifindex = 0;
	port->peer_offload[0] = 0;
	snprintf(port->why, sizeof(port->why), "device %s is gone; waiting for it", port->device);
	log_warn("port %s: %s", port->conf->name, port->why);
	ports_settle(g, i);
}

/* Its XDP program is off. Opened again at once, or it is told whose program is in the way. */
static void reopen(struct gateway *g, uint16_t i)
{
	struct gateway_port *port = &g->port[i];

	log_warn("port %s: somebody took the XDP program off %s; opening it again",
		 port->conf->name, port->device);
	port_close(port->port, false);
	port->port = NULL;
	port->info.link = false;
	port->closed_state = GATEWAY_PORT_FAILED;
	port->retry_s = 0;
	attempt(g, i);
}

/* A device that came under the same name may have been missed; an internal pair can be made
 * again. */
static void refresh(struct gateway *g, uint16_t i, uint64_t now_ns)
{
	struct gateway_port *port = &g->port[i];
	uint32_t mtu = port->info.mtu;

	if (!port->port) {
		if (now_ns >= port->retry_ns)
			attempt(g, i);
		return;
	}
	port_info(port->port, &port->info);
	if (port->info.detached) {
		reopen(g, i);
		return;
	}
	if (port->info.mtu != mtu)
		views_update_port(g->views, i);
	ports_settle(g, i);
}

void ports_set_time(struct gateway *g, bool on)
{
	for (uint16_t i = 0; i < g->n_ports; i++)
		if (g->port[i].port)
			port_set_time(g->port[i].port, on);
}

void ports_every_second(struct gateway *g)
{
	uint64_t now_ns = clock_ns();

	for (uint16_t i = 0; i < g->n_ports; i++)
		refresh(g, i, now_ns);
	port_reap();
}

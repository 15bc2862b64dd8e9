/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only this host can say about a configuration. Asks, changes nothing.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/errors.h"
#include "conf/links.h"

#define OUR_PROGRAMS "culvert_"
#define CPUS_MAX 8192

struct host {
	const struct conf *conf;
	struct conf_errors *errors;
	struct links links;
};

static bool cpu_exists(int cpu)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	return access(path, F_OK) == 0;
}

static void check_cores(struct host *h)
{
	const struct conf *conf = h->conf;
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);

	if (!set)
		return;
	CPU_ZERO_S(bytes, set);
	for (size_t i = 0; i < conf->n_cores && !sched_getaffinity(0, bytes, set); i++) {
		int cpu = conf->cores[i];

		if (CPU_ISSET_S((size_t)cpu, bytes, set))
			continue;
		if (cpu_exists(cpu))
			conf_errors_add(h->errors, conf->cores_where,
					"cores: CPU %d is offline or not allowed for this process, "
					"allowed: CPUs of its affinity (taskset, AllowedCPUs=)",
					cpu);
		else
			conf_errors_add(
				h->errors, conf->cores_where,
				"cores: this host has no CPU %d, allowed: CPUs that are there",
				cpu);
	}
	CPU_FREE(set);
}

static void check_group(struct host *h)
{
	const struct conf *conf = h->conf;

	if (conf->socket_group && !getgrnam(conf->socket_group))
		conf_errors_add(
			h->errors, conf->group_where,
			"group: this host has no group \"%.60s\", allowed: one of /etc/group",
			conf->socket_group);
}

static void check_local(struct host *h)
{
	const struct conf_tunnels *t = &h->conf->tunnels;
	char text[IP_TEXT_BYTES];

	for (size_t i = 0; i < t->n_local && t->missing == CONF_MISSING_REFUSE; i++) {
		bool found = false;

		for (size_t j = 0; j < h->links.n_addresses && !found; j++)
			found = ip_equal(&h->links.addresses[j].ip, &t->local[i]);
		if (!found)
			conf_errors_add(
				h->errors, t->local_where[i],
				"local: this host does not have %s, allowed: its own addresses, "
				"or missing: wait",
				ip_format(&t->local[i], text));
	}
}

static const struct link *find_device(const struct links *links, const struct conf_port *port)
{
	if (port->has_match_mac)
		return links_by_mac(links, &port->match_mac);
	if (port->match_pci)
		return links_by_pci(links, port->match_pci);
	return port->device ? links_find(links, port->device) : NULL;
}

static void refuse_port(struct host *h, const struct conf_port *port, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void refuse_port(struct host *h, const struct conf_port *port, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	conf_errors_add(h->errors, port->device_where, "%s: %s", port->name, text);
}

/* The device itself, or what a VLAN device of it has: culvert would take those frames, too. */
static bool sits_on(const struct host *h, int ifindex, const struct link *link)
{
	for (int depth = 0; depth < 8 && ifindex; depth++) {
		const struct link *l;

		if (ifindex == link->ifindex)
			return true;
		l = links_by_index(&h->links, ifindex);
		ifindex = l ? l->lower : 0;
	}
	return false;
}

static bool is_link_local_v6(const struct ip *ip)
{
	return ip->byte[0] == 0xfe && (ip->byte[1] & 0xc0) == 0x80;
}

/* Whether frames without a tag, which are the host's own as a rule, go to culvert. */
static bool takes_untagged(const struct conf_port *port)
{
	return port->rest != CONF_REST_KERNEL || port->untagged;
}

static void check_logged_in(struct host *h, const struct conf_port *port, const struct link *link)
{
	for (size_t i = 0; i < h->links.n_addresses; i++) {
		const struct link_address *a = &h->links.addresses[i];
		const struct link *on = links_by_index(&h->links, a->ifindex);
		char text[IP_TEXT_BYTES];

		if (!on || is_link_local_v6(&a->ip) || !sits_on(h, a->ifindex, link))
			continue;
		refuse_port(h, port,
			    "%s has the address %s: this is how you are logged in, allowed: a "
			    "device without addresses, or rest: kernel and no untagged:",
			    on->name, ip_format(&a->ip, text));
		return;
	}
	for (size_t i = 0; i < h->links.n_default_routes; i++)
		if (sits_on(h, h->links.default_routes[i], link)) {
			refuse_port(h, port,
				    "%s has the default route: this is how you are logged in, "
				    "allowed: another device, or rest: kernel and no untagged:",
				    link->name);
			return;
		}
}

static void check_master(struct host *h, const struct conf_port *port, const struct link *link)
{
	const struct link *master = link->master ? links_by_index(&h->links, link->master) : NULL;

	if (!master)
		return;
	if (strcmp(master->kind, "bridge") == 0 || strcmp(master->kind, "openvswitch") == 0)
		refuse_port(h, port,
			    "%s is a port of the bridge %s, allowed: a device in no bridge "
			    "(ip link set %s nomaster)",
			    link->name, master->name, link->name);
	else if (port->rest != CONF_REST_KERNEL)
		refuse_port(h, port,
			    "%s belongs to %s (%s): this is how you are logged in, allowed: a "
			    "device of its own, or rest: kernel",
			    link->name, master->name, master->kind);
}

/* Ours, left by a predecessor that was killed; or of an id that is gone or not ours to look at. */
static bool is_foreign_program(uint32_t id, char name[static BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);
	int err;

	if (fd < 0)
		return false;
	err = bpf_obj_get_info_by_fd(fd, &info, &bytes);
	close(fd);
	snprintf(name, BPF_OBJ_NAME_LEN, "%s", info.name);
	return !err && strncmp(info.name, OUR_PROGRAMS, sizeof(OUR_PROGRAMS) - 1) != 0;
}

static void check_programs(struct host *h, const struct conf_port *port, const struct link *link)
{
	char name[BPF_OBJ_NAME_LEN];

	for (size_t i = 0; i < link->n_programs; i++)
		if (is_foreign_program(link->programs[i], name)) {
			refuse_port(h, port, "%s has an XDP program of somebody else (%s, id %u), "
				    "allowed: a device without one (ip link set %s xdp off)",
				    link->name, name[0] ? name : "no name", link->programs[i],
				    link->name);
			return;
		}
}

static void check_netdev(struct host *h, const struct conf_port *port)
{
	const struct link *link = find_device(&h->links, port);

	if (!link) {
		if (port->missing == CONF_MISSING_REFUSE)
			refuse_port(h, port,
				    "this host has no device %s, allowed: one that is there, "
				    "or missing: wait",
				    port->device ? port->device : "that matches");
		return;
	}
	if (link->loopback) {
		refuse_port(h, port, "%s is the loopback device, allowed: another", link->name);
		return;
	}
	if (strcmp(link->kind, "bond") == 0 || strcmp(link->kind, "team") == 0)
		refuse_port(h, port, "%s is a %s, which AF_XDP does not receive on, allowed: its "
			    "members", link->name, link->kind);
	if (takes_untagged(port))
		check_logged_in(h, port, link);
	check_master(h, port, link);
	check_programs(h, port, link);
}

/* Two names for one device. */
static void check_same_device(struct host *h, size_t index)
{
	const struct conf_port *port = &h->conf->ports[index];
	const struct link *link = find_device(&h->links, port);

	for (size_t i = 0; link && i < index; i++) {
		const struct conf_port *other = &h->conf->ports[i];

		if (other->type == CONF_PORT_NETDEV && find_device(&h->links, other) == link)
			refuse_port(h, port, "%s is also the device of %s, allowed: one port each",
				    link->name, other->name);
	}
}

/* Our own pair outlives a restart; anything else of that name is somebody else's. */
static void check_internal(struct host *h, const struct conf_port *port)
{
	const struct link *link = links_find(&h->links, port->name);

	if (link && strcmp(link->kind, "veth") != 0)
		refuse_port(h, port,
			    "this host has another device %s, allowed: a name that is free",
			    port->name);
}

static void check_pcap(struct host *h, const struct conf_port *port)
{
	if (port->pcap_rx && access(port->pcap_rx, R_OK))
		refuse_port(h, port, "rx: %.200s: %s, allowed: a readable pcap file", port->pcap_rx,
			    strerror(errno));
}

static void check_ports(struct host *h)
{
	for (size_t i = 0; i < h->conf->n_ports; i++) {
		const struct conf_port *port = &h->conf->ports[i];

		if (port->type == CONF_PORT_NETDEV) {
			check_netdev(h, port);
			check_same_device(h, i);
		} else if (port->type == CONF_PORT_INTERNAL) {
			check_internal(h, port);
		} else if (port->type == CONF_PORT_PCAP) {
			check_pcap(h, port);
		}
	}
}

static void refuse_capture(struct host *h, const struct conf_capture *c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void refuse_capture(struct host *h, const struct conf_capture *c, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	conf_errors_add(h->errors, c->device_where, "%s: %s", c->name, text);
}

/* The names alone were compared by conf_load. One that is not there may come: a gateway starts
 * without a capture. */
static void check_capture(struct host *h, size_t index)
{
	const struct conf_capture *c = &h->conf->captures[index];
	const struct link *link = links_find(&h->links, c->device);

	if (!link)
		return;
	if (link->loopback)
		refuse_capture(h, c, "%s is the loopback device, allowed: another", link->name);
	for (size_t i = 0; i < h->conf->n_ports; i++)
		if (find_device(&h->links, &h->conf->ports[i]) == link)
			refuse_capture(h, c, "%s is the device of the port %s, allowed: a device "
				       "that is no port's", link->name, h->conf->ports[i].name);
	for (size_t i = 0; i < index; i++) {
		const struct conf_capture *o = &h->conf->captures[i];

		if (o->device && links_find(&h->links, o->device) == link)
			refuse_capture(h, c, "%s is also the device of %s, allowed: one capture "
				       "each", link->name, o->name);
	}
}

static void check_captures(struct host *h)
{
	for (size_t i = 0; i < h->conf->n_captures; i++)
		if (h->conf->captures[i].device)
			check_capture(h, i);
}

/* Default routes matter only for ports that take all frames; a full table takes seconds to read. */
static bool wants_routes(const struct conf *conf)
{
	for (size_t i = 0; i < conf->n_ports; i++)
		if (conf->ports[i].type == CONF_PORT_NETDEV && takes_untagged(&conf->ports[i]))
			return true;
	return false;
}

int conf_check_host(const struct conf *conf, struct conf_errors *errors)
{
	struct host h = {.conf = conf, .errors = errors};
	struct conf_where top = {.file = conf->path, .line = 1, .column = 1};
	size_t before = errors->n + errors->dropped;
	int err;

	check_cores(&h);
	check_group(&h);
	err = links_read(&h.links, wants_routes(conf));
	if (err) {
		conf_errors_add(errors, top,
				"the kernel cannot be asked about devices: %s, allowed: "
				"netlink, or --offline",
				strerror(-err));
	} else {
		check_local(&h);
		check_ports(&h);
		check_captures(&h);
	}
	links_fini(&h.links);
	conf_errors_sort(errors);
	return errors->n + errors->dropped > before ? -EINVAL : 0;
}

int conf_check_port(const struct conf *conf, size_t index, struct conf_errors *errors)
{
	const struct conf_port *port = &conf->ports[index];
	struct host h = {.conf = conf, .errors = errors};
	size_t before = errors->n + errors->dropped;
	int err = links_read(&h.links, takes_untagged(port));

	if (err)
		conf_errors_add(errors, port->device_where,
				"the kernel cannot be asked about devices: %s, allowed: netlink",
				strerror(-err));
	else if (find_device(&h.links, port))
		check_netdev(&h, port);
	links_fini(&h.links);
	return errors->n + errors->dropped > before ? -EINVAL : 0;
}

int conf_port_device(const struct conf_port *port, char device[static 16])
{
	struct links links = {0};
	const struct link *link;
	int err;

	device[0] = 0;
	if (port->device)
		return link_name(port->device, device) ? -ENODEV : 0;
	if (!port->has_match_mac && !port->match_pci)
		return -ENODEV;
	err = links_read(&links, false);
	link = err ? NULL : find_device(&links, port);
	if (link)
		snprintf(device, LINK_NAME_BYTES, "%s", link->name);
	links_fini(&links);
	return link ? 0 : -ENODEV;
}

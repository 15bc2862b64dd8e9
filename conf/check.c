/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several parts of the file must agree on: nothing twice, statics that lead somewhere,
 * numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/errors.h"
#include "conf/reader.h"
#include "conf/text.h"
#include "lib/bits.h"

/* Two things that claim the same. */
struct claim {
	uint64_t key;
	const struct node *at;
};

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	/* The later of two is the wrong one. */
	if (x->at->file != y->at->file)
		return x->at->file < y->at->file ? -1 : 1;
	if (x->at->line != y->at->line)
		return x->at->line < y->at->line ? -1 : 1;
	return (x->at->column > y->at->column) - (x->at->column < y->at->column);
}

static void refuse_twice(struct reader *r, struct claim *claims, size_t n, const char *what)
{
	const struct node *told = NULL, *told_old = NULL;

	qsort(claims, n, sizeof(*claims), compare_claims);
	for (size_t i = 1; i < n; i++) {
		const struct node *at = claims[i].at, *old = claims[i - 1].at;

		/* Two ranges that overlap are wrong once. */
		if (claims[i].key != claims[i - 1].key || (at == told && old == told_old))
			continue;
		node_error(&r->tree, at, "%s: %llu here and at %s:%u:%u, allowed: once", what,
			   (unsigned long long)claims[i].key, r->tree.files[old->file], old->line,
			   old->column);
		told = at;
		told_old = old;
	}
}

static void check_vnis(struct reader *r)
{
	struct conf *conf = r->conf;
	struct claim *claims = calloc(conf->n_networks, sizeof(*claims));
	size_t n = 0;

	if (!claims) {
		r->memory->failed = true;
		return;
	}
	for (size_t i = 1; i < conf->n_networks; i++)
		if (conf->networks[i].vni)
			claims[n++] = (struct claim){.key = conf->networks[i].vni, .at = r->vni[i]};
	refuse_twice(r, claims, n, "vni");
	free(claims);
}

static void check_numbers(struct reader *r)
{
	struct claim claims[CONF_PORTS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < r->conf->n_ports; i++)
		if (r->drafts[i].port.number)
			claims[n++] = (struct claim){.key = r->drafts[i].port.number,
						     .at = r->drafts[i].number};
	refuse_twice(r, claims, n, "number");
}

static bool number_is_free(const struct reader *r, uint32_t number)
{
	for (size_t i = 0; i < r->conf->n_ports; i++)
		if (r->drafts[i].port.number == number)
			return false;
	return true;
}

/* Those without a number get their place in the file; if that is given to another, the lowest free
 * one. */
static void number_ports(struct reader *r)
{
	uint32_t lowest = 1;

	for (uint32_t i = 0; i < r->conf->n_ports; i++)
		if (!r->drafts[i].port.number && number_is_free(r, i + 1))
			r->drafts[i].port.number = i + 1;
	for (uint32_t i = 0; i < r->conf->n_ports; i++) {
		if (r->drafts[i].port.number)
			continue;
		while (!number_is_free(r, lowest))
			lowest++;
		r->drafts[i].port.number = lowest;
	}
}

static void claim_once(struct reader *r, struct index *claimed, size_t port, const char *what,
		       const char *text)
{
	const struct conf_port *p = &r->drafts[port].port;
	const struct conf_where *old;
	int64_t other;

	if (!text)
		return;
	other = index_get(claimed, text);
	if (other < 0) {
		index_set(claimed, &r->tree.arena, text, (uint32_t)port);
		return;
	}
	old = &r->drafts[other].port.device_where;
	conf_errors_add(r->tree.errors, p->device_where,
			"%s: %s here and at %s:%u:%u, allowed: in one "
			"port",
			what, text, old->file, old->line, old->column);
}

static void check_devices(struct reader *r)
{
	struct index devices = {0}, macs = {0}, pcis = {0}, files = {0};

	for (size_t i = 0; i < r->conf->n_ports; i++) {
		const struct conf_port *p = &r->drafts[i].port;
		char text[MAC_TEXT_BYTES];
		char *mac = NULL;

		if (p->has_match_mac)
			mac = arena_strdup(&r->tree.arena, mac_format(&p->match_mac, text));
		claim_once(r, &devices, i, "device", p->device);
		claim_once(r, &macs, i, "mac", mac);
		claim_once(r, &pcis, i, "pci", p->match_pci);
		claim_once(r, &files, i, "tx", p->pcap_tx);
	}
	/* Reading what another port writes would never end. */
	for (size_t i = 0; i < r->conf->n_ports; i++) {
		const struct conf_port *p = &r->drafts[i].port;

		if (p->pcap_rx && index_get(&files, p->pcap_rx) >= 0)
			node_error(&r->tree, r->drafts[i].rx,
				   "rx: %s is also written (tx), allowed: "
				   "different files",
				   p->pcap_rx);
	}
}

/* RFC 7348 knows a remote VTEP only with a VNI. */
static void check_remotes(struct reader *r)
{
	const struct conf_network *networks = r->conf->networks;
	size_t first_vni = 0;

	for (size_t i = 1; i < r->conf->n_networks; i++) {
		const struct conf_network *n = &networks[i];

		if (n->n_remotes && !r->vni[i])
			conf_errors_add(r->tree.errors, n->where,
					"%s: remotes without vni, allowed: "
					"both or neither",
					n->name);
		if (n->vni && !first_vni)
			first_vni = i;
	}
	if (first_vni && !r->tunnels)
		add_notice(r, r->vni[first_vni],
			   "vni: reaches nothing without tunnels: {local: ..., "
			   "underlay: ...}");
}

/* Remote VTEPs of all lists and statics, as often as they are named. */
struct remotes {
	struct ip *ip;
	size_t n;
	size_t capacity;
	bool failed;
};

static void collect(struct remotes *all, const struct ip *ip, size_t n)
{
	while (!all->failed && all->n + n > all->capacity) {
		size_t capacity = all->capacity ? 2 * all->capacity : 1024;
		struct ip *grown = realloc(all->ip, capacity * sizeof(*grown));

		all->failed = !grown;
		if (grown) {
			all->ip = grown;
			all->capacity = capacity;
		}
	}
	if (all->failed || !n)
		return;
	memcpy(all->ip + all->n, ip, n * sizeof(*ip));
	all->n += n;
}

static void collect_all(const struct conf *conf, struct remotes *all)
{
	const struct ip *last = NULL;

	collect(all, conf->tunnels.remotes, conf->tunnels.n_remotes);
	for (size_t i = 1; i < conf->n_networks; i++) {
		const struct conf_network *n = &conf->networks[i];

		/* A range's networks have one list, one after the other. */
		if (n->remotes != last)
			collect(all, n->remotes, n->n_remotes);
		last = n->remotes;
		for (size_t j = 0; j < n->n_statics; j++)
			if (n->statics[j].port < 0)
				collect(all, &n->statics[j].vtep, 1);
	}
}

static int compare_ips(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct ip));
}

static void check_remote_count(struct reader *r)
{
	struct remotes all = {0};
	size_t distinct = 0;

	collect_all(r->conf, &all);
	if (all.failed)
		r->memory->failed = true;
	if (all.n > CONF_REMOTES_MAX) {
		qsort(all.ip, all.n, sizeof(*all.ip), compare_ips);
		for (size_t i = 0; i < all.n; i++)
			distinct += i == 0 || !ip_equal(&all.ip[i], &all.ip[i - 1]);
	}
	free(all.ip);
	if (distinct > CONF_REMOTES_MAX)
		node_error(&r->tree, r->tunnels ? r->tunnels : r->networks,
			   "%zu remote VTEPs, allowed: %d in all lists together", distinct,
			   CONF_REMOTES_MAX);
}

static void check_ports_used(struct reader *r)
{
	static const struct node start = {.line = 1, .column = 1};

	for (size_t i = 0; i < r->conf->n_ports; i++) {
		const struct conf_port *p = &r->drafts[i].port;

		if (!p->underlay && !p->untagged && !p->n_tagged && !p->rest_network)
			add_notice(r, r->drafts[i].key,
				   "%s: no networks, all that it receives is %s", p->name,
				   p->rest == CONF_REST_KERNEL ? "left to the kernel" : "dropped");
	}
	if (!r->conf->n_ports)
		add_notice(r, &start, "no ports: nothing is switched");
}

void check_conf(struct reader *r)
{
	if (!r->drafts || !r->conf->networks)
		return;
	check_numbers(r);
	number_ports(r);
	check_devices(r);
	check_vnis(r);
	check_remotes(r);
	check_remote_count(r);
	check_ports_used(r);
	r->conf->ports = arena_array(r->memory, r->conf->n_ports, sizeof(*r->conf->ports));
	for (size_t i = 0; r->conf->ports && i < r->conf->n_ports; i++)
		r->conf->ports[i] = r->drafts[i].port;
}

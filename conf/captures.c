/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * captures: permanent ones, once ports, networks and VTEPs are known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/errors.h"
#include "conf/reader.h"
#include "lib/bits.h"
#include "lib/pcap_filter.h"

#define DEVICE_PREFIX "cap-"
#define NAME_MAX_BYTES 11	/* so that cap-NAME is a device's */
#define FILTER_MAX_BYTES 4000
#define TUNNEL "tunnel:"
#define NETWORK "network:"

struct capture_draft {
	struct conf_capture capture;	/* first: keys name offsets in it */
	const struct node *of;
	const struct node *inner;
};

static READER(read_filter)
{
	struct conf_capture *c = target;
	struct pcap_filter *filter;
	char why[256];
	size_t bytes;
	int err;

	read_text(r, key, value, &c->filter_text);
	if (!c->filter_text)
		return;
	err = pcap_filter_compile(c->filter_text, &filter, why, sizeof(why));
	if (err == -EINVAL)
		refuse(r, key, value, "%s", why);
	else if (err)
		r->memory->failed = true;
	if (err)
		return;
	bytes = sizeof(*filter) + filter->n * sizeof(filter->insn[0]);
	c->filter = arena_alloc(r->memory, bytes);
	if (c->filter)
		memcpy(c->filter, filter, bytes);
	free(filter);
}

static READER(read_inner)
{
	struct capture_draft *d = target;

	d->inner = value;
	read_bool(r, key, value, &d->capture.inner);
}

static READER(read_capture_device)
{
	struct conf_capture *c = target;

	c->device_where = node_where(&r->tree, value);
	read_device(r, key, value, &c->device);
}

#define IN_CAPTURE(field) offsetof(struct capture_draft, capture.field)

static const struct word dir_words[] = {
	{"in", CONF_CAPTURE_IN}, {"out", CONF_CAPTURE_OUT}, {"both", CONF_CAPTURE_BOTH}, {NULL, 0}};
static const struct key capture_key[] = {
	{.name = "of", .read = keep_node, .offset = offsetof(struct capture_draft, of)},
	{.name = "dir", .read = read_word_u8, .words = dir_words, .offset = IN_CAPTURE(dir)},
	{.name = "filter", .read = read_filter, .max = FILTER_MAX_BYTES,
	 .allowed = "an expression of pcap-filter(7), like tcp port 179"},
	{.name = "snaplen", .read = read_u32, .min = 1, .max = CONF_SNAPLEN_MAX,
	 .offset = IN_CAPTURE(snaplen)},
	{.name = "sample", .read = read_u32, .min = 1, .max = UINT32_MAX,
	 .allowed = "1..4294967295, one frame in so many", .offset = IN_CAPTURE(sample)},
	{.name = "inner", .read = read_inner},
	{.name = "drops", .read = read_bool, .offset = IN_CAPTURE(drops)},
	{.name = "device", .read = read_capture_device},
};
static const struct foreign capture_foreign[] = {
	{"ports", "of"},	 {"port", "of"},	   {"source", "of"},
	{"sources", "of"},	 {"select-src-port", "of"}, {"direction", "dir"},
	{"expression", "filter"}, {"bpf", "filter"},	   {"match", "filter"},
	{"snap", "snaplen"},	 {"snaplength", "snaplen"}, {"snap-length", "snaplen"},
	{"sampling", "sample"},	 {"rate", "sample"},	   {"dropped", "drops"},
	{"interface", "device"}, {"dev", "device"},	   {"netdev", "device"},
	{"output", "device"},	 {"output-port", "device"}, {"mirror-to", "device"},
	{"destination", "device"},
};
static const struct keys capture_keys = {.what = "a capture",
					 .key = capture_key,
					 .n = ARRAY_SIZE(capture_key),
					 .foreign = capture_foreign,
					 .n_foreign = ARRAY_SIZE(capture_foreign)};

static const struct key of_key = {
	.name = "of", .allowed = "ports, tunnel:VTEP and network:NAME, one or a list of them"};

static bool sends_to(const struct ip *list, size_t n, const struct ip *vtep)
{
	for (size_t i = 0; i < n; i++)
		if (ip_equal(&list[i], vtep))
			return true;
	return false;
}

static bool has_static_to(const struct conf_network *n, const struct ip *vtep)
{
	for (size_t i = 0; i < n->n_statics; i++)
		if (n->statics[i].port < 0 && ip_equal(&n->statics[i].vtep, vtep))
			return true;
	return false;
}

/* Some network floods or sends to it: there is a tunnel. */
static bool is_remote(const struct reader *r, const struct ip *vtep)
{
	const struct conf_tunnels *t = &r->conf->tunnels;
	const struct ip *last = NULL;

	for (size_t i = 1; i < r->conf->n_networks; i++) {
		const struct conf_network *n = &r->conf->networks[i];
		const struct ip *remotes = n->has_remotes ? n->remotes : t->remotes;

		if (!r->vni[i])
			continue;
		if (has_static_to(n, vtep))
			return true;
		/* A range's networks have one list, one after the other. */
		if (remotes != last &&
		    sends_to(remotes, n->has_remotes ? n->n_remotes : t->n_remotes, vtep))
			return true;
		last = remotes;
	}
	return false;
}

static bool read_tunnel(struct reader *r, const struct node *value,
			struct conf_capture_source *source)
{
	if (!read_remote(r, "of", value, &source->vtep))
		return false;
	if (is_remote(r, &source->vtep))
		return true;
	node_error(&r->tree, value, "of: no network has the remote VTEP %.60s, allowed: one of "
		   "remotes: or static:", value->text);
	return false;
}

static bool read_source_port(struct reader *r, const struct node *value,
			     struct conf_capture_source *source)
{
	const char *text = scalar_text(r, &of_key, value);
	const char *near;

	if (!text)
		return false;
	source->port = (int)index_get(&r->port_by_name, text);
	if (source->port >= 0)
		return true;
	if (index_get(&r->broken_ports, text) >= 0 || !check_plain_name(r, "of", value))
		return false;
	near = port_near(r, text);
	if (near)
		node_error(&r->tree, value, "of: no port \"%.40s\", meant: %s?", text, near);
	else if (network_find(r, text))
		node_error(&r->tree, value, "of: no port \"%.40s\", meant: " NETWORK "%s?", text,
			   text);
	else
		refuse(r, &of_key, value, "no port \"%.40s\"", text);
	return false;
}

/* @value without the first @bytes of its text. */
static struct node behind(const struct node *value, size_t bytes)
{
	struct node rest = *value;

	rest.text += bytes;
	rest.column += (uint32_t)bytes + value->quoted;
	rest.quoted = true;
	return rest;
}

static bool starts_with(const struct node *value, const char *prefix)
{
	return value->kind == NODE_SCALAR && strncmp(value->text, prefix, strlen(prefix)) == 0;
}

static bool read_source(struct reader *r, const struct node *value,
			struct conf_capture_source *source)
{
	struct node rest;
	struct ip ip;

	*source = (struct conf_capture_source){.port = -1};
	if (starts_with(value, TUNNEL)) {
		rest = behind(value, strlen(TUNNEL));
		return read_tunnel(r, &rest, source);
	}
	if (starts_with(value, NETWORK)) {
		rest = behind(value, strlen(NETWORK));
		source->network = network_named(r, "of", &rest);
		return source->network;
	}
	if (value->kind == NODE_SCALAR && ip_parse(value->text, &ip))
		return read_tunnel(r, value, source);
	return read_source_port(r, value, source);
}

static bool is_same(const struct conf_capture_source *a, const struct conf_capture_source *b)
{
	return a->port == b->port && a->network == b->network && ip_equal(&a->vtep, &b->vtep);
}

static void add_source(struct reader *r, struct conf_capture *c, const struct node *value)
{
	struct conf_capture_source *source = &c->sources[c->n_sources];

	if (!read_source(r, value, source))
		return;
	for (size_t i = 0; i < c->n_sources; i++)
		if (is_same(&c->sources[i], source)) {
			node_error(&r->tree, value, "of: %.60s twice, allowed: once", value->text);
			return;
		}
	c->n_sources++;
}

static void read_sources(struct reader *r, struct capture_draft *d, const struct node *name)
{
	struct conf_capture *c = &d->capture;
	struct node *const *items;
	uint32_t n = 0;

	if (d->of && !read_items(r, &of_key, d->of, &items, &n))
		return;
	if (!n)
		refuse(r, &of_key, d->of ? d->of : name, "%s captures nothing", c->name);
	if (n > CONF_CAPTURE_SOURCES_MAX) {
		refuse(r, &of_key, d->of, "%u (at most %d)", n, CONF_CAPTURE_SOURCES_MAX);
		return;
	}
	c->sources = arena_array(r->memory, n, sizeof(*c->sources));
	for (uint32_t i = 0; c->sources && i < n; i++)
		add_source(r, c, items[i]);
}

/* Both directions of a port are two frames; of a network, what comes in goes out again. */
static uint8_t default_dir(const struct conf_capture *c)
{
	for (size_t i = 0; i < c->n_sources; i++)
		if (!c->sources[i].network)
			return CONF_CAPTURE_BOTH;
	return CONF_CAPTURE_IN;
}

static void check_inner(struct reader *r, const struct capture_draft *d)
{
	const struct conf_capture *c = &d->capture;

	for (size_t i = 0; i < c->n_sources && c->inner; i++)
		if (c->sources[i].port < 0 || !r->drafts[c->sources[i].port].port.underlay) {
			node_error(&r->tree, d->inner, "inner: not all that %s captures carries "
				   "tunnels, allowed: of devices of tunnels.underlay alone",
				   c->name);
			return;
		}
}

/* The netdev of the capture, named or to be made. */
static const char *device_of(struct reader *r, const struct conf_capture *c)
{
	return c->device ? c->device : arena_printf(&r->tree.arena, DEVICE_PREFIX "%s", c->name);
}

static void check_device(struct reader *r, const struct conf_capture *c)
{
	const char *device = device_of(r, c), *other;

	for (size_t i = 0; device && i < r->conf->n_ports; i++) {
		const struct conf_port *p = &r->drafts[i].port;

		if (p->device && strcmp(p->device, device) == 0)
			conf_errors_add(r->tree.errors, c->device_where,
					"%s: its device %s is that of the port %s, allowed: %s",
					c->name, device, p->name,
					c->device ? "a device that is no port's" : "another name");
	}
	for (const struct conf_capture *o = r->conf->captures; device && o < c; o++) {
		other = device_of(r, o);
		if (other && strcmp(other, device) == 0)
			conf_errors_add(r->tree.errors, c->device_where,
					"%s: its device %s is that of the capture %s, allowed: a "
					"device of its own", c->name, device, o->name);
	}
}

static void read_capture(struct reader *r, const struct pair *pair)
{
	struct conf *conf = r->conf;
	struct capture_draft d = {.capture = {.snaplen = CONF_SNAPLEN_MAX, .sample = 1}};
	struct conf_capture *c = &d.capture;

	if (!check_name(r, "captures", pair->key, NAME_MAX_BYTES))
		return;
	if (conf->n_captures == CONF_CAPTURES_MAX) {
		node_error(&r->tree, pair->key, "captures: too many, allowed: %d",
			   CONF_CAPTURES_MAX);
		return;
	}
	c->where = node_where(&r->tree, pair->key);
	c->device_where = c->where;
	c->name = arena_strdup(r->memory, pair->key->text);
	if (!c->name)
		return;
	read_map(r, &capture_keys, pair->value, &d);
	if (pair->value->kind == NODE_MAP || node_is_null(pair->value))
		read_sources(r, &d, pair->key);
	if (!c->dir)
		c->dir = default_dir(c);
	check_inner(r, &d);
	conf->captures[conf->n_captures] = *c;
	check_device(r, &conf->captures[conf->n_captures++]);
}

void read_captures(struct reader *r)
{
	static const struct keys section_keys = {.what = "captures"};

	if (!r->captures || !r->drafts || !r->vni)
		return;
	if (r->captures->kind != NODE_MAP) {
		read_map(r, &section_keys, r->captures, NULL);
		return;
	}
	r->conf->captures = arena_array(r->memory, CONF_CAPTURES_MAX, sizeof(*r->conf->captures));
	for (uint32_t i = 0; r->conf->captures && i < r->captures->map->n; i++)
		read_capture(r, &r->captures->map->pairs[i]);
}

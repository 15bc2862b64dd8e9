/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "conf/errors.h"
#include "conf/reader.h"
#include "conf/text.h"
#include "lib/bits.h"

#define NOTICES_MAX 100

/* "auto, 1..64" */
static void describe_allowed(const struct key *key, char *text, size_t bytes)
{
	size_t n = 0;

	text[0] = 0;
	for (const struct word *w = key->words; w && w->name && n < bytes; w++)
		n += (size_t)snprintf(text + n, bytes - n, "%s%s", n ? ", " : "", w->name);
	if (key->max && n < bytes)
		snprintf(text + n, bytes - n, "%s%u..%u", n ? ", " : "", key->min, key->max);
}

void refuse(struct reader *r, const struct key *key, const struct node *value, const char *fmt, ...)
{
	char what[256], allowed[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (!key->allowed)
		describe_allowed(key, allowed, sizeof(allowed));
	node_error(&r->tree, value, "%s: %s, allowed: %s", key->name, what,
		   key->allowed ? key->allowed : allowed);
}

/* The same text once: a key that does nothing says so once, not for each of 128 ports. */
void add_notice(struct reader *r, const struct node *at, const char *fmt, ...)
{
	struct conf *conf = r->conf;
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_make_safe(text);
	for (size_t i = 0; i < conf->n_notices; i++)
		if (strcmp(conf->notices[i].text, text) == 0)
			return;
	if (!conf->notices)
		conf->notices = arena_array(r->memory, NOTICES_MAX, sizeof(*conf->notices));
	if (!conf->notices || conf->n_notices == NOTICES_MAX)
		return;
	conf->notices[conf->n_notices++] = (struct conf_notice){
		.where = node_where(&r->tree, at), .text = arena_strdup(r->memory, text)};
}

static const struct key *find_key(const struct keys *keys, const char *name)
{
	for (size_t i = 0; i < keys->n; i++)
		if (strcmp(keys->key[i].name, name) == 0)
			return &keys->key[i];
	return NULL;
}

static const char *suggest(const struct keys *keys, const char *word)
{
	unsigned int best = 1000, distance;
	const char *name = NULL;

	for (size_t i = 0; i < keys->n_foreign; i++)
		if (text_distance(word, keys->foreign[i].word) == 0)
			return keys->foreign[i].name;
	for (size_t i = 0; i < keys->n; i++)
		if (text_is_near(word, keys->key[i].name, &distance) && distance < best) {
			best = distance;
			name = keys->key[i].name;
		}
	return name;
}

static void refuse_unknown_key(struct reader *r, const struct keys *keys,
			       const struct node *key)
{
	bool is_heard = !conf_errors_full(r->tree.errors);
	const char *name = is_heard ? suggest(keys, key->text) : NULL;
	char allowed[400];
	size_t n = 0;

	if (name) {
		node_error(&r->tree, key, "%.60s: no such key in %s, meant: %s?", key->text,
			   keys->what, name);
		return;
	}
	allowed[0] = 0;
	for (size_t i = 0; is_heard && i < keys->n && n < sizeof(allowed); i++)
		n += (size_t)snprintf(allowed + n, sizeof(allowed) - n, "%s%s", i ? ", " : "",
				      keys->key[i].name);
	node_error(&r->tree, key, "%.60s: no such key in %s, allowed: %s", key->text, keys->what,
		   allowed);
}

/* A key of ports, but not of this port. */
static void refuse_other_type(struct reader *r, const struct key *key, const struct node *at)
{
	static const char *const names[] = {[CONF_PORT_NETDEV] = "network devices",
					    [CONF_PORT_INTERNAL] = "type: internal",
					    [CONF_PORT_PCAP] = "type: pcap",
					    [CONF_PORT_SINK] = "type: sink"};
	char allowed[80] = "";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (key->types & 1u << i) {
			if (allowed[0])
				strcat(allowed, " and ");
			strcat(allowed, names[i]);
		}
	node_error(&r->tree, at, "%s: not for a port of this type, allowed: with %s", key->name,
		   allowed);
}

void read_map(struct reader *r, const struct keys *keys, const struct node *map, void *base)
{
	if (node_is_null(map))
		return;
	if (map->kind != NODE_MAP) {
		node_error(&r->tree, map, "%s: %s, allowed: a map of KEY: VALUE", keys->what,
			   node_kind_name(map));
		return;
	}
	for (uint32_t i = 0; i < map->map->n; i++) {
		const struct pair *pair = &map->map->pairs[i];
		const struct key *key = find_key(keys, pair->key->text);

		if (key && key->types && !(key->types & r->port_type))
			refuse_other_type(r, key, pair->key);
		else if (key)
			key->read(r, key, pair->value, (char *)base + key->offset);
		else
			refuse_unknown_key(r, keys, pair->key);
	}
}

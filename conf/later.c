/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that have a name and a meaning, and no effect yet: their values are checked, so that a file
 * that is accepted today is not found wrong tomorrow; one notice says "not in this version".
 */
#include <stdio.h>
#include <string.h>

#include "conf/reader.h"
#include "conf/text.h"
#include "lib/bits.h"

static void note_later(struct reader *r, const struct key *key, const struct node *value)
{
	add_notice(r, value, "%s: not in this version", key->name);
}

static bool is_off(const struct node *value)
{
	return value->kind == NODE_SCALAR && (node_is_null(value) || text_bool(value->text) == 0);
}

READER(later_bool)
{
	bool on = false;

	read_bool(r, key, value, &on);
	if (on)
		note_later(r, key, value);
}

/* Reserved: nobody may rely on what another value will mean. */
READER(later_only_off)
{
	uint8_t unused;

	read_word_u8(r, key, value, &unused);
}

READER(later_any)
{
	bool is_empty = (value->kind == NODE_MAP && !value->map->n) ||
			(value->kind == NODE_LIST && !value->n);

	if (!is_off(value) && !is_empty)
		note_later(r, key, value);
}

static const struct word off_word[] = {{"off", 0}, {NULL, 0}};

static const struct key storm_key[] = {
	{.name = "broadcast", .read = read_u32, .min = 1, .max = 200000000, .words = off_word},
	{.name = "multicast", .read = read_u32, .min = 1, .max = 200000000, .words = off_word},
	{.name = "unknown", .read = read_u32, .min = 1, .max = 200000000, .words = off_word},
};
static const struct keys storm_keys = {
	.what = "storm-control", .key = storm_key, .n = ARRAY_SIZE(storm_key)};

READER(later_storm)
{
	uint32_t unused;

	if (is_off(value))
		return;
	if (value->kind != NODE_MAP)
		refuse(r, key, value, "%s", node_kind_name(value));
	else
		read_map(r, &storm_keys, value, &unused);
	note_later(r, key, value);
}

/* "127.0.0.1:9464", "[::1]:9464", ":9464", "unix:/run/culvert/metrics" */
static bool is_listen_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	char host[64] = "";
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t port;
	struct ip ip;

	if (strncmp(text, "unix:/", 6) == 0)
		return strlen(text) - 5 < 108;
	if (!colon || n >= sizeof(host) || !text_number(colon + 1, 65535, &port) || port == 0)
		return false;
	memcpy(host, text, n);
	if (n == 0)
		return true;
	if (host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = 0;
		return ip_parse(host + 1, &ip);
	}
	return ip_parse(host, &ip) && !strchr(host, ':');
}

static READER(later_listen)
{
	const char *text;

	if (is_off(value))
		return;
	text = scalar_text(r, key, value);
	if (text && !is_listen_address(text))
		refuse(r, key, value, "\"%.60s\"", text);
	else if (text)
		add_notice(r, value, "metrics: not in this version");
}

static const struct key metrics_key[] = {
	{.name = "listen", .read = later_listen, .allowed = "ADDRESS:PORT, unix:/PATH or off"},
};
static const struct keys metrics_keys = {
	.what = "metrics", .key = metrics_key, .n = ARRAY_SIZE(metrics_key)};

READER(later_metrics)
{
	if (!is_off(value))
		read_map(r, &metrics_keys, value, target);
}

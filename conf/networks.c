/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * networks: names first (ranges expanded), then what each is, then the ranges' exceptions. So an
 * exception may stand before its range, and a network's number follows from the order of the file
 * alone.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/errors.h"
#include "conf/reader.h"
#include "conf/text.h"
#include "lib/bits.h"

/* One map under networks:, before it is known to how many networks it applies. */
struct network_draft {
	struct conf_network network;	/* first: keys name offsets in it */
	const struct node *range;
	const struct node *vni;
	const struct node *statics;
};

static READER(read_network_remotes)
{
	struct conf_network *n = target;

	n->has_remotes = true;
	read_remotes(r, value, &n->remotes, &n->n_remotes);
}

static const struct word learn_words[] = {{"true", CONF_LEARN_ALL},
					  {"local", CONF_LEARN_LOCAL},
					  {"false", CONF_LEARN_OFF},
					  {NULL, 0}};
static const struct key network_key[] = {
	{.name = "vni", .read = keep_node, .offset = offsetof(struct network_draft, vni)},
	{.name = "remotes", .read = read_network_remotes,
	 .offset = offsetof(struct network_draft, network)},
	{.name = "learn", .read = read_word_u8, .words = learn_words,
	 .offset = offsetof(struct network_draft, network.learn)},
	{.name = "ageing", .read = read_u32, .max = 1000000,
	 .allowed = "0..1000000 seconds, 0 for never",
	 .offset = offsetof(struct network_draft, network.ageing_s)},
	{.name = "mac-limit", .read = read_u32, .min = 1, .max = 1000000,
	 .offset = offsetof(struct network_draft, network.mac_limit)},
	{.name = "arp-suppression", .read = later_bool},
	{.name = "static", .read = keep_node, .offset = offsetof(struct network_draft, statics)},
	{.name = "range", .read = keep_node, .offset = offsetof(struct network_draft, range)},
};
static const struct foreign network_foreign[] = {
	{"aging", "ageing"},	   {"aging-time", "ageing"},   {"ageing-time", "ageing"},
	{"age", "ageing"},	   {"vnid", "vni"},	       {"vxlan-id", "vni"},
	{"id", "vni"},		   {"learning", "learn"},      {"remote", "remotes"},
	{"remote-ip", "remotes"},  {"flood-list", "remotes"},  {"vteps", "remotes"},
	{"statics", "static"},	   {"mac-table", "static"},    {"fdb", "static"},
	{"arp-suppress", "arp-suppression"}, {"max-macs", "mac-limit"},
};
static const struct keys network_keys = {.what = "a network",
					 .key = network_key,
					 .n = ARRAY_SIZE(network_key),
					 .foreign = network_foreign,
					 .n_foreign = ARRAY_SIZE(network_foreign)};

static const struct key range_key = {
	.name = "range", .min = 1, .max = CONF_VNI_MAX, .allowed = "LOW-HIGH within 1-16777215"};
static const struct key vni_key = {.name = "vni", .min = 1, .max = CONF_VNI_MAX};
static const struct key vni_range_key = {
	.name = "vni", .min = 1, .max = CONF_VNI_MAX,
	.allowed = "a range of VNIs as long as the range of networks, within 1-16777215"};

uint16_t network_find(const struct reader *r, const char *name)
{
	int64_t i = index_get(&r->network_by_name, name);

	return i < 0 ? 0 : (uint16_t)i;
}

const struct network_range *network_find_range(const struct reader *r, const char *name)
{
	int64_t i = index_get(&r->range_by_name, name);

	return i < 0 ? NULL : &r->ranges[i];
}

/* The range that "tenant.150" belongs to, by its name; *@number is 150. */
static const struct network_range *range_of_name(const struct reader *r, const char *name,
						 uint32_t *number)
{
	const char *dot = strrchr(name, '.');
	const struct network_range *range;
	char prefix[NETWORK_NAME_MAX + 1];
	uint64_t wide;

	if (!dot || (size_t)(dot - name) >= sizeof(prefix) || dot[1] == '0' ||
	    !text_number(dot + 1, CONF_VNI_MAX, &wide))
		return NULL;
	memcpy(prefix, name, (size_t)(dot - name));
	prefix[dot - name] = 0;
	range = network_find_range(r, prefix);
	*number = (uint32_t)wide;
	return range;
}

/* A known name near @word, or NULL. Bounded: this is for people, not for 64 K networks. */
static const char *nearest_network(const struct reader *r, const char *word)
{
	size_t n = conf_errors_full(r->tree.errors) ? 0 : min_of(r->conf->n_networks, (size_t)2000);
	unsigned int best = 1000, distance;
	const char *name = NULL;

	for (size_t i = 1; i < n; i++)
		if (text_is_near(word, r->conf->networks[i].name, &distance) && distance < best) {
			best = distance;
			name = r->conf->networks[i].name;
		}
	return name;
}

uint16_t network_named(struct reader *r, const char *what, const struct node *value)
{
	struct key key = {.name = what, .allowed = "the name of a network"};
	const char *text = scalar_text(r, &key, value);
	uint16_t network = text ? network_find(r, text) : 0;
	const struct network_range *range;
	const char *near;

	/* What is wrong where it is defined is not wrong again where it is used. */
	if (!text || network || index_get(&r->broken_networks, text) >= 0 ||
	    !check_plain_name(r, what, value))
		return network;
	range = network_find_range(r, text);
	near = range ? NULL : nearest_network(r, text);
	if (range)
		node_error(&r->tree, value, "%s: %.40s is a range of networks, allowed: one of "
			   "%s.%u to %s.%u", what, text, text, range->low, text, range->high);
	else if (near)
		node_error(&r->tree, value, "%s: no network \"%.40s\", meant: %s?", what, text,
			   near);
	else
		node_error(&r->tree, value,
			   "%s: no network \"%.40s\", allowed: a name from networks:", what, text);
	return 0;
}

static bool is_broken(const struct reader *r, const struct node *name)
{
	return index_get(&r->broken_networks, name->text) >= 0;
}

static bool is_range(const struct node *value)
{
	return value->kind == NODE_MAP && map_find(value, "range");
}

static bool check_network_name(struct reader *r, const struct node *name)
{
	static const char *const taken[] = {"drop", "kernel"};

	if (!check_name(r, "networks", name, NETWORK_NAME_MAX))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (strcmp(name->text, taken[i]) == 0) {
			node_error(&r->tree, name, "networks: %s is a word of rest:, allowed: "
				   "another name", name->text);
			return false;
		}
	return true;
}

static bool read_range_of(struct reader *r, const struct pair *pair, struct network_range *range)
{
	const struct node *value = map_get(pair->value, "range");

	range->name = pair->key->text;
	if (!check_network_name(r, pair->key) ||
	    !read_range(r, &range_key, value, false, &range->low, &range->high))
		return false;
	if (range->high - range->low < CONF_NETWORKS_MAX - 1)
		return true;
	refuse(r, &range_key, value, "more than %d networks", CONF_NETWORKS_MAX - 1);
	return false;
}

static void find_ranges(struct reader *r, const struct map *m)
{
	struct arena *arena = &r->tree.arena;

	r->ranges = arena_array(arena, m->n, sizeof(*r->ranges));
	for (uint32_t i = 0; r->ranges && i < m->n; i++) {
		const struct pair *pair = &m->pairs[i];
		struct network_range range;

		if (!is_range(pair->value))
			continue;
		if (!read_range_of(r, pair, &range)) {
			index_set(&r->broken_networks, arena, pair->key->text, i);
			continue;
		}
		r->ranges[r->n_ranges] = range;
		index_set(&r->range_by_name, arena, range.name, (uint32_t)r->n_ranges++);
	}
}

static bool add_network(struct reader *r, const struct node *key, char *name)
{
	struct conf *conf = r->conf;

	if (!name)
		return false;
	if (conf->n_networks == CONF_NETWORKS_MAX) {
		node_error(&r->tree, key, "networks: too many, allowed: %d", CONF_NETWORKS_MAX - 1);
		return false;
	}
	if (strlen(name) > NETWORK_NAME_MAX) {
		node_error(&r->tree, key,
			   "networks: %.40s is too long, allowed: %d characters with "
			   "the number",
			   name, NETWORK_NAME_MAX);
		return false;
	}
	conf->networks[conf->n_networks] = (struct conf_network){
		.where = node_where(&r->tree, key),
		.name = name,
		.learn = CONF_LEARN_ALL,
		.ageing_s = 300,
		.mac_limit = 100000,
	};
	return !index_set(&r->network_by_name, &r->tree.arena, name, (uint32_t)conf->n_networks++);
}

static void add_range(struct reader *r, const struct node *key, struct network_range *range)
{
	range->first = (uint32_t)r->conf->n_networks;
	for (uint32_t n = range->low; n <= range->high; n++)
		if (!add_network(r, key, arena_printf(r->memory, "%s.%u", range->name, n)))
			return;
}

/* An upper bound of how many networks there will be, with [0]. */
static size_t count_networks(const struct reader *r, const struct map *m)
{
	size_t n = 1 + m->n;

	for (size_t i = 0; i < r->n_ranges; i++)
		n += r->ranges[i].high - r->ranges[i].low;
	return min_of(n, (size_t)CONF_NETWORKS_MAX);
}

static bool name_networks(struct reader *r, const struct map *m)
{
	size_t n = count_networks(r, m);
	uint32_t number;

	r->conf->networks = arena_array(r->memory, n, sizeof(*r->conf->networks));
	r->vni = arena_array(&r->tree.arena, n, sizeof(*r->vni));
	r->statics = arena_array(&r->tree.arena, n, sizeof(*r->statics));
	if (!r->conf->networks || !r->vni || !r->statics)
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct pair *pair = &m->pairs[i];
		const struct network_range *range = network_find_range(r, pair->key->text);

		if (range) {
			add_range(r, pair->key, &r->ranges[range - r->ranges]);
			continue;
		}
		if (range_of_name(r, pair->key->text, &number) || is_broken(r, pair->key))
			continue;
		if (check_network_name(r, pair->key))
			add_network(r, pair->key, arena_strdup(r->memory, pair->key->text));
		else
			index_set(&r->broken_networks, &r->tree.arena, pair->key->text, i);
	}
	return true;
}

/* What the draft says of VNIs, for @count networks from @first. */
static void set_vnis(struct reader *r, const struct network_draft *draft, uint32_t first,
		     uint32_t count, bool range)
{
	const struct key *key = range ? &vni_range_key : &vni_key;
	uint32_t low, high;

	if (!draft->vni)
		return;
	for (uint32_t i = 0; i < count; i++)
		r->vni[first + i] = draft->vni;
	if (range ? !read_range(r, key, draft->vni, false, &low, &high) :
		       !read_number(r, key, draft->vni, &low))
		return;
	if (range && high - low != count - 1) {
		refuse(r, key, draft->vni, "%u VNIs for %u networks", high - low + 1, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		r->conf->networks[first + i].vni = low + i;
}

static void read_range_network(struct reader *r, const struct pair *pair,
			       const struct network_range *range)
{
	struct conf_network *networks = r->conf->networks;
	uint32_t count = range->high - range->low + 1;
	struct network_draft draft = {0};

	/* After "too many" not all of them are there. */
	count = min_of(count, (uint32_t)(r->conf->n_networks - range->first));
	if (!count)
		return;
	draft.network = networks[range->first];
	read_map(r, &network_keys, pair->value, &draft);
	if (draft.statics)
		node_error(&r->tree, draft.statics,
			   "static: in a range of networks, allowed: in one "
			   "network, like %s.%u: {static: ...}",
			   range->name, range->low);
	for (uint32_t i = 0; i < count; i++) {
		char *name = networks[range->first + i].name;

		networks[range->first + i] = draft.network;
		networks[range->first + i].name = name;
	}
	if (count == range->high - range->low + 1)
		set_vnis(r, &draft, range->first, count, true);
}

static void read_one_network(struct reader *r, const struct pair *pair, uint32_t network)
{
	struct network_draft draft = {.network = r->conf->networks[network]};

	read_map(r, &network_keys, pair->value, &draft);
	draft.network.where = node_where(&r->tree, pair->key);
	r->conf->networks[network] = draft.network;
	r->statics[network] = draft.statics;
	set_vnis(r, &draft, network, 1, false);
}

static void read_exception(struct reader *r, const struct pair *pair,
			   const struct network_range *range, uint32_t number)
{
	uint16_t network = network_find(r, pair->key->text);

	if (number < range->low || number > range->high)
		node_error(&r->tree, pair->key,
			   "networks: %.40s is outside the range of %s, allowed: "
			   "%s.%u to %s.%u",
			   pair->key->text, range->name, range->name, range->low, range->name,
			   range->high);
	else if (is_range(pair->value))
		node_error(&r->tree, map_find(pair->value, "range")->key,
			   "range: in a network of the range %s, allowed: its other keys",
			   range->name);
	else if (network)
		read_one_network(r, pair, network);
}

/* For its errors only. */
static void read_broken_network(struct reader *r, const struct pair *pair)
{
	struct network_draft unused = {0};

	read_map(r, &network_keys, pair->value, &unused);
}

static void read_network(struct reader *r, const struct pair *pair)
{
	const char *name = pair->key->text;
	const struct network_range *range = network_find_range(r, name);
	uint16_t network = network_find(r, name);
	uint32_t number;

	if (range)
		read_range_network(r, pair, range);
	else if (is_broken(r, pair->key))
		read_broken_network(r, pair);
	else if (network && !range_of_name(r, name, &number))
		read_one_network(r, pair, network);
}

static void read_exceptions(struct reader *r, const struct map *m)
{
	const struct network_range *range;
	uint32_t number;

	for (uint32_t i = 0; r->n_ranges && i < m->n; i++) {
		const struct pair *pair = &m->pairs[i];

		range = range_of_name(r, pair->key->text, &number);
		if (range && network_find_range(r, pair->key->text))
			node_error(&r->tree, pair->key,
				   "networks: %.40s is a range in the range %s, "
				   "allowed: another name",
				   pair->key->text, range->name);
		else if (range)
			read_exception(r, pair, range, number);
	}
}

void read_networks(struct reader *r)
{
	static const struct keys section_keys = {.what = "networks"};
	static const struct map empty;
	const struct map *m = &empty;

	r->conf->n_networks = 1;
	if (r->networks && r->networks->kind == NODE_MAP)
		m = r->networks->map;
	else if (r->networks)
		read_map(r, &section_keys, r->networks, NULL);
	find_ranges(r, m);
	if (!name_networks(r, m))
		return;
	for (uint32_t i = 0; i < m->n; i++)
		read_network(r, &m->pairs[i]);
	read_exceptions(r, m);
}

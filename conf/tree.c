/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/errors.h"
#include "lib/bits.h"

#define INDEX_FROM 9		/* pairs; below, looking at each is faster */

void tree_fini(struct tree *t)
{
	arena_fini(&t->arena);
}

int tree_add_file(struct tree *t, const char *path)
{
	char **files;

	if (t->n_files == TREE_FILES_MAX)
		return -1;
	if (!t->files)
		t->files = arena_array(t->names, TREE_FILES_MAX, sizeof(*files));
	if (!t->files)
		return -1;
	t->files[t->n_files] = arena_strdup(t->names, path);
	if (!t->files[t->n_files])
		return -1;
	conf_errors_file(t->errors, path);
	return (int)t->n_files++;
}

struct node *node_create(struct tree *t, uint8_t kind, uint16_t file, uint32_t line,
			 uint32_t column)
{
	struct node *node = arena_alloc(&t->arena, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->file = file;
	node->line = line;
	node->column = column;
	t->n_nodes++;
	if (kind == NODE_MAP) {
		node->map = arena_alloc(&t->arena, sizeof(*node->map));
		return node->map ? node : NULL;
	}
	return node;
}

struct conf_where node_where(const struct tree *t, const struct node *node)
{
	return (struct conf_where){
		.file = t->files[node->file], .line = node->line, .column = node->column};
}

void node_error(struct tree *t, const struct node *node, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conf_errors_vadd(t->errors, node_where(t, node), fmt, ap);
	va_end(ap);
}

bool node_is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && !node->quoted &&
	       (!*node->text || strcmp(node->text, "~") == 0 ||
		strcasecmp(node->text, "null") == 0);
}

const char *node_kind_name(const struct node *node)
{
	static const char *const names[] = {
		[NODE_SCALAR] = "text", [NODE_LIST] = "a list", [NODE_MAP] = "a map"};

	return names[node->kind];
}

struct pair *map_find(const struct node *node, const char *key)
{
	const struct map *m = node->map;
	int64_t i;

	if (m->index.slots) {
		i = index_get(&m->index, key);
		return i < 0 ? NULL : &m->pairs[i];
	}
	for (i = 0; i < m->n; i++)
		if (strcmp(m->pairs[i].key->text, key) == 0)
			return &m->pairs[i];
	return NULL;
}

struct node *map_get(const struct node *node, const char *key)
{
	struct pair *pair = map_find(node, key);

	return pair ? pair->value : NULL;
}

static int reserve(struct tree *t, struct map *m, uint32_t capacity)
{
	struct pair *pairs = arena_array(&t->arena, capacity, sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	if (m->n)
		memcpy(pairs, m->pairs, m->n * sizeof(*pairs));
	m->pairs = pairs;
	m->capacity = capacity;
	return 0;
}

static int build_index(struct tree *t, struct map *m)
{
	int err = 0;

	for (uint32_t i = 0; i < m->n && !err; i++)
		err = index_set(&m->index, &t->arena, m->pairs[i].key->text, i);
	return err;
}

int map_add(struct tree *t, struct node *node, struct node *key, struct node *value)
{
	struct map *m = node->map;

	if (m->n == m->capacity && reserve(t, m, max_of(4u, 2 * m->capacity)))
		return -ENOMEM;
	m->pairs[m->n++] = (struct pair){.key = key, .value = value};
	if (m->index.slots)
		return index_set(&m->index, &t->arena, key->text, m->n - 1);
	return m->n < INDEX_FROM ? 0 : build_index(t, m);
}

/* Counts @n copied entries; false, after an error, when there have been too many. */
static bool may_copy(struct tree *t, const struct node *at, size_t n)
{
	if (t->n_copies > TREE_COPIES_MAX)
		return false;
	t->n_copies += n;
	if (t->n_copies <= TREE_COPIES_MAX)
		return true;
	node_error(t, at, "merging copies too much, allowed: %u entries in all", TREE_COPIES_MAX);
	return false;
}

void map_inherit(struct tree *t, struct node *into, const struct node *from)
{
	if (!may_copy(t, into, from->map->n))
		return;
	for (uint32_t i = 0; i < from->map->n; i++) {
		const struct pair *pair = &from->map->pairs[i];

		pair->value->shared = true;
		if (!map_find(into, pair->key->text) && map_add(t, into, pair->key, pair->value))
			return;
	}
}

/* A copy that may be changed. The maps in it become shared with the original's. */
static struct node *unshare(struct tree *t, const struct node *node)
{
	struct node *copy;

	if (!may_copy(t, node, node->map->n))
		return NULL;
	copy = node_create(t, NODE_MAP, node->file, node->line, node->column);
	for (uint32_t i = 0; copy && i < node->map->n; i++) {
		const struct pair *pair = &node->map->pairs[i];

		pair->value->shared = true;
		if (map_add(t, copy, pair->key, pair->value))
			return NULL;
	}
	return copy;
}

static void merge_pair(struct tree *t, struct node *into, const struct pair *pair)
{
	struct pair *old = map_find(into, pair->key->text);

	if (!old)
		map_add(t, into, pair->key, pair->value);
	else if (node_is_null(old->value))
		*old = *pair;
	else if (old->value->kind == NODE_MAP && pair->value->kind == NODE_MAP)
		map_merge(t, &old->value, pair->value);
	else if (!node_is_null(pair->value))
		node_error(t, pair->key, "%.60s: set here and at %s:%u:%u, allowed: once",
			   pair->key->text, t->files[old->key->file], old->key->line,
			   old->key->column);
}

void map_merge(struct tree *t, struct node **into, const struct node *from)
{
	if ((*into)->shared) {
		struct node *copy = unshare(t, *into);

		if (!copy)
			return;
		*into = copy;
	}
	for (uint32_t i = 0; i < from->map->n; i++)
		merge_pair(t, *into, &from->map->pairs[i]);
}

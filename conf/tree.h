/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text as a tree: scalars, lists and maps, each with its place.
 *
 * An alias is the anchor's node itself, not a copy, so no file can expand beyond its own size; a
 * tree is a graph without cycles. Whoever walks it goes down a known number of levels and never
 * "everything below". Merging (<<, include) copies one level before it changes a shared map, and
 * counts what it copies. Invariants: keys are scalars and unique in their map. A scalar holds no
 * NUL.
 */
#ifndef CONF_TREE_H
#define CONF_TREE_H

#include "conf/conf.h"
#include "conf/index.h"
#include "lib/arena.h"

#define TREE_BYTES_MAX (16u << 20)	/* all files together */
#define TREE_NODES_MAX 4000000u
#define TREE_COPIES_MAX 1000000u	/* entries that << and include may copy */
#define TREE_DEPTH_MAX 16
#define TREE_FILES_MAX 1000

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	uint8_t kind;		/* enum node_kind */
	bool quoted;		/* a scalar that is text whatever it looks like */
	bool shared;		/* has an anchor: may hang in several places */
	bool open;		/* still being read */
	uint16_t file;
	uint32_t line;
	uint32_t column;
	uint32_t n;		/* items of a list */
	union {
		const char *text;	/* NODE_SCALAR */
		struct node **items;	/* NODE_LIST */
		struct map *map;	/* NODE_MAP */
	};
	void *parsed;		/* what a reader made of it, to be used again for an alias */
};

struct pair {
	struct node *key;
	struct node *value;
};

struct map {
	struct pair *pairs;	/* file order */
	uint32_t n;
	uint32_t capacity;
	struct index index;	/* built when there are many */
};

struct tree {
	struct arena arena;	/* nodes and their texts */
	struct arena *names;	/* where file names live */
	struct conf_errors *errors;
	char **files;
	size_t n_files;
	size_t n_nodes;
	size_t n_copies;
	size_t bytes;		/* read so far */
	int64_t mtime_s;	/* newest */
	bool broken;		/* a file could not be read or parsed */
};

/* Frees all nodes; the file names stay with their arena. */
void tree_fini(struct tree *t);

/* Reads one file (yaml.c). NULL after an error was added: with @from, at the node that asked for
 * the file when it cannot be opened. An empty file is an empty map. */
struct node *tree_read(struct tree *t, const char *path, const struct node *from);

/* Makes a name known as a file; -1 when there are too many or no memory. */
int tree_add_file(struct tree *t, const char *path);

struct node *node_create(struct tree *t, uint8_t kind, uint16_t file, uint32_t line,
			 uint32_t column);
struct conf_where node_where(const struct tree *t, const struct node *node);
/* Adds an error at @node. */
void node_error(struct tree *t, const struct node *node, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A plain scalar that says nothing: "", ~ or null. */
bool node_is_null(const struct node *node);
/* "a list", "a map", "text" */
const char *node_kind_name(const struct node *node);

/* The pair with this key, or NULL. The pointer is good until the map changes. */
struct pair *map_find(const struct node *node, const char *key);
struct node *map_get(const struct node *node, const char *key);
/* Adds a pair whose key must be new. 0 or -ENOMEM. */
int map_add(struct tree *t, struct node *node, struct node *key, struct node *value);
/* Adds what @from has and *@into has not: @into wins. For <<. */
void map_inherit(struct tree *t, struct node *into, const struct node *from);
/* Merges @from into *@into, maps in maps; what both have is an error that names both places. */
void map_merge(struct tree *t, struct node **into, const struct node *from);

#endif

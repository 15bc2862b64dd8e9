/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One file -> tree, by libyaml's events. Recursion is bounded by TREE_DEPTH_MAX, memory by
 * TREE_BYTES_MAX and TREE_NODES_MAX.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "conf/errors.h"
#include "conf/file.h"
#include "conf/text.h"
#include "conf/tree.h"
#include "lib/bits.h"

struct source {
	struct tree *tree;
	yaml_parser_t parser;
	yaml_event_t event;	/* the current one */
	uint16_t file;
	uint8_t *data;
	size_t bytes;
	struct index anchors;	/* name -> index into anchored */
	struct node **anchored;
	uint32_t n_anchored;
	struct node **stack;	/* items of lists that are being read */
	size_t n_stack;
	size_t stack_capacity;
};

static void error_at(struct source *s, size_t line, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void error_at(struct source *s, size_t line, size_t column, const char *fmt, ...)
{
	struct conf_where where = {.file = s->tree->files[s->file],
				   .line = (uint32_t)line + 1,
				   .column = (uint32_t)column + 1};
	va_list ap;

	va_start(ap, fmt);
	conf_errors_vadd(s->tree->errors, where, fmt, ap);
	va_end(ap);
}

#define error_here(s, ...) \
	error_at(s, (s)->event.start_mark.line, (s)->event.start_mark.column, __VA_ARGS__)

static void report_unreadable(struct source *s, int err, const struct node *from)
{
	const char *path = s->tree->files[s->file];
	struct conf_where where = {.file = path, .line = 1, .column = 1};

	if (from)
		where = node_where(s->tree, from);
	if (err == -EFBIG)
		conf_errors_add(s->tree->errors, where,
				"%s: the configuration is too large, allowed: %u MiB in all files "
				"together", path, TREE_BYTES_MAX >> 20);
	else if (err == -ENODEV)
		conf_errors_add(s->tree->errors, where,
				"%s: not a file, allowed: a regular file of YAML text", path);
	else
		conf_errors_add(s->tree->errors, where,
				"%s: cannot be read: %s, allowed: a readable file of YAML text",
				path, strerror(-err));
}

/* Line and column, counted from 0, of a byte. */
static void find_offset(const struct source *s, size_t offset, size_t *line, size_t *column)
{
	*line = 0;
	*column = 0;
	for (size_t i = 0; i < offset && i < s->bytes; i++) {
		if (s->data[i] == '\n') {
			(*line)++;
			*column = 0;
		} else if ((s->data[i] & 0xc0) != 0x80) {
			(*column)++;
		}
	}
}

/* Binary files get a sentence of their own, before libyaml guesses an encoding. */
static bool is_text(struct source *s)
{
	size_t i = 0, n, line, column;
	const char *what = NULL;
	uint32_t c;

	if (s->bytes >= 3 && memcmp(s->data, "\xef\xbb\xbf", 3) == 0)
		i = 3;
	for (; i < s->bytes && !what; i += n) {
		n = text_utf8(s->data + i, s->bytes - i, &c);
		if (n == 0)
			what = "not UTF-8";
		else if (c == 0)
			what = "a NUL byte";
		else if (text_is_control(c) && c != '\t' && c != '\n' && c != '\r' && c < 0x80)
			what = "a control character";
		if (what)
			break;
	}
	if (!what)
		return true;
	find_offset(s, i, &line, &column);
	error_at(s, line, column, "%s: this is not a text file, allowed: YAML in UTF-8", what);
	return false;
}

/* What libyaml says, in words that name the cure where we know one. */
static void report_syntax(struct source *s)
{
	static const struct {
		const char *problem;
		const char *cure;
	} cures[] = {
		{"cannot start any token", "indent with spaces, and quote text that begins with "
					   "a tab, @, ` or %"},
		{"found unexpected ':'", "quote it when it is an IPv6 address"},
		{"mapping values are not allowed", "quote text with ': ' in it, and indent the "
						   "entries of a map alike"},
		{"alphabetic or numeric character", "quote text that begins with * or &"},
		{"did not find expected key", "indent the entries of a map alike"},
		{"could not find expected ':'", "write KEY: VALUE"},
		{"did not find expected ',' or", "close what was opened with [ or {"},
	};
	const yaml_parser_t *p = &s->parser;
	size_t line = p->problem_mark.line, column = p->problem_mark.column;
	const char *problem = p->problem ? p->problem : "cannot be read";
	const char *cure = "YAML 1.1";

	if (p->error == YAML_READER_ERROR)
		find_offset(s, p->problem_offset, &line, &column);
	for (size_t i = 0; i < ARRAY_SIZE(cures); i++)
		if (strstr(problem, cures[i].problem))
			cure = cures[i].cure;
	error_at(s, line, column, "this is not YAML: %s%s%s, allowed: %s",
		 p->context ? p->context : "", p->context ? ", " : "", problem, cure);
}

/* False after an error. */
static bool next_event(struct source *s)
{
	yaml_event_delete(&s->event);
	if (yaml_parser_parse(&s->parser, &s->event))
		return true;
	if (s->parser.error == YAML_MEMORY_ERROR)
		s->tree->arena.failed = true;
	else
		report_syntax(s);
	return false;
}

static struct node *new_node(struct source *s, uint8_t kind)
{
	const yaml_mark_t *mark = &s->event.start_mark;

	if (s->tree->n_nodes >= TREE_NODES_MAX) {
		error_here(s, "too much in this configuration, allowed: %u values", TREE_NODES_MAX);
		return NULL;
	}
	return node_create(s->tree, kind, s->file, (uint32_t)mark->line + 1,
			   (uint32_t)mark->column + 1);
}

static bool set_anchor(struct source *s, const yaml_char_t *name, struct node *node)
{
	struct tree *t = s->tree;
	uint32_t n = s->n_anchored;
	struct node **grown = s->anchored;
	char *copy;

	if (!name)
		return true;
	node->shared = true;
	copy = arena_strdup(&t->arena, (const char *)name);
	if (!(n & (n - 1)))	/* full at every power of two */
		grown = realloc(s->anchored, (n ? 2 * (size_t)n : 1) * sizeof(*grown));
	if (grown)
		s->anchored = grown;
	if (!copy || !grown || index_set(&s->anchors, &t->arena, copy, n)) {
		t->arena.failed = true;
		return false;
	}
	s->anchored[s->n_anchored++] = node;
	return true;
}

static struct node *read_alias(struct source *s)
{
	const char *name = (const char *)s->event.data.alias.anchor;
	int64_t i = index_get(&s->anchors, name);

	if (i < 0) {
		error_here(s, "*%.60s: no such anchor, allowed: one that stands before it in this "
			   "file", name);
		return NULL;
	}
	if (s->anchored[i]->open) {
		error_here(s, "*%.60s: an anchor inside itself, allowed: one that is complete",
			   name);
		return NULL;
	}
	return s->anchored[i];
}

/* Only what says "this is text" about something that is. */
static bool check_tag(struct source *s, const yaml_char_t *tag, const char *allowed)
{
	static const char prefix[] = "tag:yaml.org,2002:";

	if (!tag || strcmp((const char *)tag, "!") == 0)
		return true;
	if (strncmp((const char *)tag, prefix, sizeof(prefix) - 1) == 0 &&
	    strcmp((const char *)tag + sizeof(prefix) - 1, allowed) == 0)
		return true;
	error_here(s, "the tag %.60s is not understood, allowed: values without a tag", tag);
	return false;
}

static struct node *read_scalar(struct source *s)
{
	const char *value = (const char *)s->event.data.scalar.value;
	size_t bytes = s->event.data.scalar.length;
	struct node *node;

	if (!check_tag(s, s->event.data.scalar.tag, "str"))
		return NULL;
	if (memchr(value, 0, bytes)) {
		error_here(s, "a NUL character in a value, allowed: text");
		return NULL;
	}
	node = new_node(s, NODE_SCALAR);
	if (!node)
		return NULL;
	node->quoted = s->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
		       s->event.data.scalar.tag;
	node->text = arena_strndup(&s->tree->arena, value, bytes);
	if (!node->text || !set_anchor(s, s->event.data.scalar.anchor, node))
		return NULL;
	return node;
}

static struct node *read_node(struct source *s, int depth);

static bool push(struct source *s, struct node *node)
{
	if (s->n_stack == s->stack_capacity) {
		size_t capacity = s->stack_capacity ? 2 * s->stack_capacity : 64;
		struct node **stack = realloc(s->stack, capacity * sizeof(*stack));

		if (!stack) {
			s->tree->arena.failed = true;
			return false;
		}
		s->stack = stack;
		s->stack_capacity = capacity;
	}
	s->stack[s->n_stack++] = node;
	return true;
}

static struct node *read_list(struct source *s, int depth)
{
	struct node *list = new_node(s, NODE_LIST);
	size_t first = s->n_stack;

	if (!list || !check_tag(s, s->event.data.sequence_start.tag, "seq") ||
	    !set_anchor(s, s->event.data.sequence_start.anchor, list))
		return NULL;
	list->open = true;
	for (;;) {
		struct node *item;

		if (!next_event(s))
			return NULL;
		if (s->event.type == YAML_SEQUENCE_END_EVENT)
			break;
		item = read_node(s, depth + 1);
		if (!item || !push(s, item))
			return NULL;
	}
	list->n = (uint32_t)(s->n_stack - first);
	list->items = arena_array(&s->tree->arena, list->n, sizeof(*list->items));
	if (!list->items)
		return NULL;
	if (list->n)
		memcpy(list->items, s->stack + first, list->n * sizeof(*list->items));
	s->n_stack = first;
	list->open = false;
	return list;
}

/* What a map inherits with <<: a map, or a list of maps of which the first wins. */
static void inherit(struct source *s, struct node *map, const struct node *from)
{
	bool is_list = from->kind == NODE_LIST;
	uint32_t n = is_list ? from->n : 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct node *one = is_list ? from->items[i] : from;

		if (one->kind == NODE_MAP)
			map_inherit(s->tree, map, one);
		else
			node_error(s->tree, one, "<<: %s, allowed: a map or a list of maps",
				   node_kind_name(one));
	}
}

static struct node *read_key(struct source *s, int depth)
{
	struct node *key = read_node(s, depth);

	if (!key || key->kind == NODE_SCALAR)
		return key;
	node_error(s->tree, key, "%s as a key, allowed: text (quote it when it begins with [ or {)",
		   node_kind_name(key));
	return NULL;
}

static bool add_pair(struct source *s, struct node *map, struct node *key, struct node *value)
{
	struct pair *old = map_find(map, key->text);

	if (old) {
		node_error(s->tree, key, "%.60s: set here and at %s:%u:%u, allowed: once",
			   key->text, s->tree->files[old->key->file], old->key->line,
			   old->key->column);
		return true;
	}
	return map_add(s->tree, map, key, value) == 0;
}

static struct node *read_map(struct source *s, int depth)
{
	struct node *map = new_node(s, NODE_MAP);
	size_t first = s->n_stack;

	if (!map || !check_tag(s, s->event.data.mapping_start.tag, "map") ||
	    !set_anchor(s, s->event.data.mapping_start.anchor, map))
		return NULL;
	map->open = true;
	for (;;) {
		struct node *key, *value;

		if (!next_event(s))
			return NULL;
		if (s->event.type == YAML_MAPPING_END_EVENT)
			break;
		key = read_key(s, depth + 1);
		if (!key || !next_event(s))
			return NULL;
		value = read_node(s, depth + 1);
		if (!value)
			return NULL;
		if (!key->quoted && strcmp(key->text, "<<") == 0) {
			if (!push(s, value))
				return NULL;
		} else if (!add_pair(s, map, key, value)) {
			return NULL;
		}
	}
	for (size_t i = first; i < s->n_stack; i++)
		inherit(s, map, s->stack[i]);
	s->n_stack = first;
	map->open = false;
	return map;
}

/* The node that the current event begins. NULL after an error. */
static struct node *read_node(struct source *s, int depth)
{
	if (depth > TREE_DEPTH_MAX) {
		error_here(s, "nested too deeply, allowed: %d levels", TREE_DEPTH_MAX);
		return NULL;
	}
	switch (s->event.type) {
	case YAML_ALIAS_EVENT:
		return read_alias(s);
	case YAML_SCALAR_EVENT:
		return read_scalar(s);
	case YAML_SEQUENCE_START_EVENT:
		return read_list(s, depth);
	case YAML_MAPPING_START_EVENT:
		return read_map(s, depth);
	default:
		error_here(s, "this is not YAML: a value is missing");
		return NULL;
	}
}

static struct node *empty_map(struct source *s)
{
	return node_create(s->tree, NODE_MAP, s->file, 1, 1);
}

static struct node *read_stream(struct source *s)
{
	struct node *root;

	if (!next_event(s) || !next_event(s))	/* stream start, document start */
		return NULL;
	if (s->event.type == YAML_STREAM_END_EVENT)
		return empty_map(s);
	if (!next_event(s))
		return NULL;
	root = read_node(s, 0);
	if (!root || !next_event(s) || !next_event(s))	/* document end, stream end */
		return NULL;
	if (s->event.type != YAML_STREAM_END_EVENT) {
		error_here(s, "a second document, allowed: one in a file");
		return NULL;
	}
	if (node_is_null(root))
		return empty_map(s);
	if (root->kind == NODE_MAP)
		return root;
	node_error(s->tree, root,
		   "%s, allowed: a map of sections (ports:, networks:, tunnels:, ...)",
		   node_kind_name(root));
	return NULL;
}

static struct node *parse(struct source *s)
{
	struct node *root = NULL;

	if (!yaml_parser_initialize(&s->parser)) {
		s->tree->arena.failed = true;
		return NULL;
	}
	yaml_parser_set_encoding(&s->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&s->parser, s->data, s->bytes);
	root = read_stream(s);
	yaml_event_delete(&s->event);
	yaml_parser_delete(&s->parser);
	return root;
}

struct node *tree_read(struct tree *t, const char *path, const struct node *from)
{
	struct source s = {.tree = t};
	struct node *root = NULL;
	int file = tree_add_file(t, path);
	int64_t mtime_s = 0;
	int err;

	if (file < 0) {
		if (from && t->n_files == TREE_FILES_MAX)
			node_error(t, from, "include: too many files, allowed: %d", TREE_FILES_MAX);
		t->broken = true;
		return NULL;
	}
	s.file = (uint16_t)file;
	err = file_read(path, TREE_BYTES_MAX - t->bytes, &s.data, &s.bytes, &mtime_s);
	t->bytes += s.bytes;
	t->mtime_s = max_of(t->mtime_s, mtime_s);
	if (err == -ENOMEM)
		t->arena.failed = true;
	else if (err)
		report_unreadable(&s, err, from);
	else if (is_text(&s))
		root = parse(&s);
	if (!root)
		t->broken = true;
	free(s.data);
	free(s.stack);
	free(s.anchored);
	return root;
}

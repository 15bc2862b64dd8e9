/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conf_load: files -> one tree -> sections -> what they must agree on.
 */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/errors.h"
#include "conf/reader.h"
#include "conf/text.h"
#include "lib/bits.h"

#define SOCKET_PATH_MAX 107	/* sun_path */

static const struct key top_key[] = {
	{.name = "include", .read = read_nothing},
	{.name = "workers", .read = keep_node, .offset = offsetof(struct reader, workers)},
	{.name = "ports", .read = keep_node, .offset = offsetof(struct reader, ports)},
	{.name = "networks", .read = keep_node, .offset = offsetof(struct reader, networks)},
	{.name = "tunnels", .read = keep_node, .offset = offsetof(struct reader, tunnels)},
	{.name = "flows", .read = keep_node, .offset = offsetof(struct reader, flows)},
	{.name = "captures", .read = keep_node, .offset = offsetof(struct reader, captures)},
	{.name = "control", .read = keep_node, .offset = offsetof(struct reader, control)},
	{.name = "metrics", .read = later_metrics},
	{.name = "log", .read = keep_node, .offset = offsetof(struct reader, log)},
	{.name = "evpn", .read = later_any},
	{.name = "police", .read = later_any},
	{.name = "bpdu", .read = later_any},
	{.name = "multihome", .read = later_any},
	{.name = "defaults", .read = later_any},
};
static const struct foreign top_foreign[] = {
	{"bridges", "networks"}, {"bridge", "networks"}, {"vlans", "networks"},
	{"interfaces", "ports"}, {"vxlan", "tunnels"},	 {"includes", "include"},
	{"api", "control"},	 {"logging", "log"},	 {"cores", "workers"},
	{"mirrors", "captures"}, {"mirror", "captures"}, {"span", "captures"},
	{"sniffers", "captures"},
};
static const struct keys top_keys = {.what = "the file",
				     .key = top_key,
				     .n = ARRAY_SIZE(top_key),
				     .foreign = top_foreign,
				     .n_foreign = ARRAY_SIZE(top_foreign)};

static const struct word idle_words[] = {{"adaptive", 0}, {"busy", 1}, {NULL, 0}};
static const struct key core_key = {
	.name = "cores", .max = 8191, .allowed = "CPU numbers and ranges, like 2-3 or [2, 4-5]"};

static bool add_core(struct reader *r, const struct node *at, uint32_t core)
{
	struct conf *conf = r->conf;

	for (size_t i = 0; i < conf->n_cores; i++)
		if (conf->cores[i] == (int)core) {
			refuse(r, &core_key, at, "CPU %u twice", core);
			return false;
		}
	if (conf->n_cores == CONF_CORES_MAX) {
		refuse(r, &core_key, at, "more than %d CPUs", CONF_CORES_MAX);
		return false;
	}
	conf->cores[conf->n_cores++] = (int)core;
	return true;
}

/* A cpulist: "2-3,6". */
static void read_cpulist(struct reader *r, const struct node *item)
{
	const char *text = scalar_text(r, &core_key, item);
	struct node part = *item;
	uint32_t low, high;
	size_t n;

	for (; text; text = text[n] ? text + n + 1 : NULL) {
		n = strcspn(text, ",");
		part.text = arena_strndup(&r->tree.arena, text, n);
		if (!part.text || !read_range(r, &core_key, &part, true, &low, &high))
			return;
		for (; low <= high; low++)
			if (!add_core(r, item, low))
				return;
	}
}

static READER(read_cores)
{
	struct node *const *items;
	uint32_t n;

	if (!read_items(r, &core_key, value, &items, &n))
		return;
	r->conf->cores_where = node_where(&r->tree, value);
	r->conf->cores = arena_array(r->memory, CONF_CORES_MAX, sizeof(*r->conf->cores));
	for (uint32_t i = 0; r->conf->cores && i < n; i++)
		read_cpulist(r, items[i]);
	if (!r->conf->n_cores)
		r->conf->cores = NULL;
}

static READER(read_ring)
{
	uint32_t ring;

	if (!read_number(r, key, value, &ring))
		return;
	if (ring & (ring - 1))
		refuse(r, key, value, "%u is not a power of two", ring);
	else
		*(uint32_t *)target = ring;
}

static const struct key workers_key[] = {
	{.name = "cores", .read = read_cores},
	{.name = "idle", .read = read_word_u8, .words = idle_words,
	 .offset = offsetof(struct conf, busy)},
	{.name = "ring", .read = read_ring, .min = 64, .max = 32768,
	 .allowed = "a power of two in 64..32768", .offset = offsetof(struct conf, ring)},
};
static const struct foreign workers_foreign[] = {
	{"cpus", "cores"}, {"cpu", "cores"},  {"threads", "cores"},
	{"poll", "idle"},  {"rings", "ring"},
};
static const struct keys workers_keys = {.what = "workers",
					 .key = workers_key,
					 .n = ARRAY_SIZE(workers_key),
					 .foreign = workers_foreign,
					 .n_foreign = ARRAY_SIZE(workers_foreign)};
_Static_assert(sizeof(bool) == 1, "workers.idle is read as a byte");

void read_workers(struct reader *r)
{
	if (r->workers)
		read_map(r, &workers_keys, r->workers, r->conf);
}

static READER(read_flows_file)
{
	r->conf->flows_where = node_where(&r->tree, value);
	read_path(r, key, value, target);
}

static const struct key flows_key[] = {
	{.name = "file", .read = read_flows_file, .offset = offsetof(struct conf, flows_file)},
};
static const struct keys flows_keys = {
	.what = "flows", .key = flows_key, .n = ARRAY_SIZE(flows_key)};

void read_flows(struct reader *r)
{
	if (r->flows)
		read_map(r, &flows_keys, r->flows, r->conf);
}

static READER(read_socket)
{
	char *path = NULL;

	read_path(r, key, value, &path);
	if (path && strlen(path) > SOCKET_PATH_MAX)
		refuse(r, key, value, "the path is too long for a socket");
	else if (path)
		*(char **)target = path;
}

static READER(read_group)
{
	r->conf->group_where = node_where(&r->tree, value);
	read_text(r, key, value, target);
}

/* Octal whether it has its leading zero and quotes or not: a mode is never anything else. */
static READER(read_mode)
{
	const char *text = scalar_text(r, key, value);
	uint32_t mode = 0;

	if (!text)
		return;
	if (strlen(text) > 4 || text[strspn(text, "01234567")]) {
		refuse(r, key, value, "\"%.40s\" is not a file mode", text);
		return;
	}
	for (; *text; text++)
		mode = mode * 8 + (uint32_t)(*text - '0');
	if (mode > 0777)
		refuse(r, key, value, "more than the nine permission bits");
	else
		*(uint32_t *)target = mode;
}

static const struct key control_key[] = {
	{.name = "socket", .read = read_socket, .allowed = "a path of up to 107 bytes",
	 .offset = offsetof(struct conf, socket)},
	{.name = "group", .read = read_group, .allowed = "the name of a group",
	 .offset = offsetof(struct conf, socket_group)},
	{.name = "mode", .read = read_mode, .allowed = "an octal mode like \"0660\"",
	 .offset = offsetof(struct conf, socket_mode)},
};
static const struct keys control_keys = {
	.what = "control", .key = control_key, .n = ARRAY_SIZE(control_key)};

void read_control(struct reader *r)
{
	if (r->control)
		read_map(r, &control_keys, r->control, r->conf);
}

static const struct word level_words[] = {{"error", LOG_LVL_ERROR},
					  {"warn", LOG_LVL_WARN},
					  {"info", LOG_LVL_INFO},
					  {"debug", LOG_LVL_DEBUG},
					  {NULL, 0}};

static READER(read_level)
{
	uint8_t level = LOG_LVL_INFO;

	read_word_u8(r, key, value, &level);
	r->conf->log_level = level;
	r->conf->log_level_set = true;
}

static const struct key log_key[] = {
	{.name = "level", .read = read_level, .words = level_words},
};
static const struct keys log_keys = {.what = "log", .key = log_key, .n = ARRAY_SIZE(log_key)};

void read_log(struct reader *r)
{
	if (r->log)
		read_map(r, &log_keys, r->log, r->conf);
}

/* Files that were read already; the same file by another path is the same file. */
struct seen {
	struct {
		dev_t device;
		ino_t inode;
	} file[TREE_FILES_MAX];
	size_t n;
};

static bool is_new(struct seen *seen, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return true;	/* the error is told by who reads it */
	for (size_t i = 0; i < seen->n; i++)
		if (seen->file[i].device == st.st_dev && seen->file[i].inode == st.st_ino)
			return false;
	if (seen->n < TREE_FILES_MAX) {
		seen->file[seen->n].device = st.st_dev;
		seen->file[seen->n++].inode = st.st_ino;
	}
	return true;
}

static void include_file(struct reader *r, struct seen *seen, const char *path,
			 const struct node *from, struct node **root)
{
	struct node *more, *include;

	if (!is_new(seen, path))
		return;
	more = tree_read(&r->tree, path, from);
	if (!more)
		return;
	include = map_get(more, "include");
	if (include)
		node_error(&r->tree, include, "include: in an included file, allowed: in the main "
			   "file only");
	else
		map_merge(&r->tree, root, more);
}

static const struct key include_key = {
	.name = "include", .allowed = "paths and patterns like conf.d/*.yaml"};

static void include_pattern(struct reader *r, struct seen *seen, const struct node *item,
			    struct node **root)
{
	const char *text = scalar_text(r, &include_key, item);
	char *pattern = text ? resolve_path(r, item, text) : NULL;
	glob_t found = {0};
	int err;

	if (!pattern)
		return;
	err = glob(pattern, 0, NULL, &found);
	if (err == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			include_file(r, seen, found.gl_pathv[i], item, root);
	} else if (err == GLOB_NOSPACE) {
		r->memory->failed = true;
	} else if (!strpbrk(pattern, "*?[")) {
		include_file(r, seen, pattern, item, root);
	}
	globfree(&found);
}

static void include_all(struct reader *r, const char *path, struct node **root)
{
	const struct node *list = map_get(*root, "include");
	struct seen *seen = list ? calloc(1, sizeof(*seen)) : NULL;
	struct node *const *items;
	uint32_t n;

	if (list && !seen)
		r->memory->failed = true;
	if (seen && read_items(r, &include_key, list, &items, &n)) {
		is_new(seen, path);
		for (uint32_t i = 0; i < n; i++)
			include_pattern(r, seen, items[i], root);
	}
	free(seen);
}

static void read_sections(struct reader *r, const struct node *root)
{
	read_map(r, &top_keys, root, r);
	read_workers(r);
	read_flows(r);
	read_control(r);
	read_log(r);
	read_tunnels(r);
	read_networks(r);
	read_ports(r);
	read_underlay(r);
	read_statics(r);
	read_captures(r);
	check_conf(r);
}

static struct conf *create(const char *path)
{
	struct conf *conf = calloc(1, sizeof(*conf));
	struct arena *memory = calloc(1, sizeof(*memory));

	if (!conf || !memory) {
		free(conf);
		free(memory);
		return NULL;
	}
	conf->memory = memory;
	conf->path = arena_strdup(memory, path);
	conf->ring = 4096;
	conf->socket_mode = 0660;
	conf->log_level = LOG_LVL_INFO;
	conf->tunnels = (struct conf_tunnels){.missing = CONF_MISSING_REFUSE,
					      .udp_port = 4789,
					      .source_port_min = 49152,
					      .source_port_max = 65535,
					      .ttl = 64,
					      .df = CONF_DF_SET,
					      .checksum = CONF_CHECKSUM_AUTO};
	return conf;
}

/* One error in the syntax hides what follows it; judging the rest would only add noise. */
static void load(struct reader *r, const char *path)
{
	struct node *root = tree_read(&r->tree, path, NULL);

	if (root)
		include_all(r, path, &root);
	r->conf->files = r->tree.files;
	r->conf->n_files = r->tree.n_files;
	r->conf->mtime_s = r->tree.mtime_s;
	if (root && !r->tree.broken)
		read_sections(r, root);
}

int conf_load(const char *path, struct conf **conf, struct conf_errors *errors)
{
	struct reader r = {.tree.errors = errors};
	bool failed;

	*conf = NULL;
	r.conf = create(path);
	if (!r.conf)
		return -ENOMEM;
	r.memory = r.conf->memory;
	r.tree.names = r.memory;
	load(&r, path);
	conf_errors_sort(errors);
	failed = r.memory->failed || r.tree.arena.failed;
	tree_fini(&r.tree);
	if (!failed && !conf_errors_any(errors)) {
		*conf = r.conf;
		return 0;
	}
	conf_free(r.conf);
	return failed || !errors->n ? -ENOMEM : -EINVAL;
}

void conf_free(struct conf *conf)
{
	if (!conf)
		return;
	if (conf->memory)
		arena_fini(conf->memory);
	free(conf->memory);
	free(conf);
}

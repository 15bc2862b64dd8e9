/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/seen.h"
#include "cli/table.h"
#include "lib/bits.h"
#include "lib/format.h"

#define ROWS_PER_PART 500

enum { KEY_NETWORK, KEY_PORT, KEY_VTEP, KEY_MAC };
static const char *const key_names[] = {"network", "port", "vtep", "mac"};
static const struct word keys[] = {
	{"network", KEY_NETWORK}, {"port", KEY_PORT}, {"vtep", KEY_VTEP}, {"mac", KEY_MAC}, {0},
};

static const struct column columns[] = {
	{"NETWORK", false}, {"MAC", false}, {"WHERE", false}, {"AGE", false},
};

struct dump {
	struct cli *cli;
	struct table table;
	struct seen seen;
	size_t n_rows;
};

static void add_row(struct dump *d, const json_t *e)
{
	const char *port = get_text(e, "port");
	char age[FORMAT_BYTES];

	table_cell(&d->table, get_text(e, "network"));
	table_cell(&d->table, get_text(e, "mac"));
	table_cell(&d->table, *port ? port : get_text(e, "vtep"));
	table_cell(&d->table, get_bool(e, "static") ? "static" :
						      format_age_short(get_int(e, "age_s"), age));
	if (++d->n_rows % ROWS_PER_PART == 0)
		table_print(&d->table, stdout);
}

static int print_new(struct dump *d, const json_t *e, const char *text, size_t n)
{
	int is_new = seen_add(&d->seen, get_text(e, "network"), get_text(e, "mac"));

	if (is_new < 0)
		return cli_fail(d->cli, "out of memory, or a line that is no entry");
	if (!is_new)
		return CLI_DONE;
	if (d->cli->json)
		printf("%.*s\n", (int)n, text);
	else
		add_row(d, e);
	return CLI_DONE;
}

static int entry_line(void *arg, const char *text, size_t n)
{
	struct dump *d = arg;
	json_t *e = json_loadb(text, n, 0, NULL);
	int status = CLI_DONE;

	if (!get_bool(e, "restarted"))
		status = print_new(d, e, text, n);
	else if (!seen_restart(&d->seen))
		status = cli_fail(d->cli, "out of memory");
	json_decref(e);
	return status;
}

/* Takes @params. */
static int dump(struct cli *cli, json_t *params)
{
	struct dump d = {.cli = cli};
	int status;

	table_init(&d.table, columns, ARRAY_SIZE(columns));
	status = client_lines(cli, "fdb", params, entry_line, &d);
	if (!cli->json && (status == CLI_DONE || d.n_rows))
		table_print(&d.table, stdout);
	table_fini(&d.table);
	seen_fini(&d.seen);
	return status;
}

/* "network N port P": pairs of key and value, into a new object. NULL after a complaint. */
static json_t *read_pairs(struct cli *cli, int argc, char **argv)
{
	json_t *params = json_object();

	for (int i = 0; i < argc; i += 2) {
		int key = word_find(keys, argv[i]);

		if (key < 0 || i + 1 == argc ||
		    json_object_set_new(params, key_names[key], json_string(argv[i + 1]))) {
			cli_usage(cli);
			json_decref(params);
			return NULL;
		}
	}
	return params;
}

/* Takes @params. */
static int call(struct cli *cli, const char *method, json_t *params)
{
	json_t *result;

	if (!params)
		return cli_usage(cli);
	if (client_call(cli, method, params, &result))
		return CLI_FAILED;
	if (cli->json)
		cli_print_json(json_incref(result));
	else if (json_object_get(result, "flushed"))
		printf("%" PRIu64 " entries flushed\n", get_int(result, "flushed"));
	json_decref(result);
	return CLI_DONE;
}

static json_t *read_entry(int argc, char **argv)
{
	if (argc == 2)
		return json_pack("{s:s, s:s}", "network", argv[0], "mac", argv[1]);
	return json_pack("{s:s, s:s, s:s}", "network", argv[0], "mac", argv[1], "to", argv[2]);
}

int fdb_run(struct cli *cli, int argc, char **argv)
{
	enum { ADD = 10, DEL, FLUSH, SHOW };
	static const struct word verbs[] = {
		{"add", ADD},		  {"del", DEL},	      {"delete", DEL},
		{"flush", FLUSH},	  {"show", SHOW},     {"list", SHOW},
		{"dump", SHOW},		  {"port", KEY_PORT}, {"vtep", KEY_VTEP},
		{"network", KEY_NETWORK}, {"mac", KEY_MAC},   {0},
	};
	int verb = argc ? word_find(verbs, argv[0]) : SHOW;
	int skip = argc && verb == SHOW;
	json_t *params;

	if (verb < 0)
		return cli_usage(cli);
	if (verb == ADD)
		return argc == 4 ? call(cli, "fdb.add", read_entry(3, argv + 1)) : cli_usage(cli);
	if (verb == DEL)
		return argc == 3 || argc == 4 ?
			       call(cli, "fdb.del", read_entry(argc - 1, argv + 1)) :
			       cli_usage(cli);
	if (verb == FLUSH)
		skip = 1;
	params = read_pairs(cli, argc - skip, argv + skip);
	if (!params)
		return CLI_USAGE;
	return verb == FLUSH ? call(cli, "fdb.flush", params) : dump(cli, params);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/table.h"

/* What stands behind the verb. */
struct request {
	struct buffer text;	/* a rule, a match or a file, as a string */
	unsigned int n_words;	/* that it was made of */
	bool strict;
	bool names, numbers;	/* said so */
};

/* A rule may be written without quotes: its words are joined by blanks. False: wrong usage. */
static bool read_words(struct request *q, int argc, char **argv)
{
	bool options = true;

	for (int i = 0; i < argc; i++) {
		if (!options || argv[i][0] != '-' || !argv[i][1])
			buffer_printf(&q->text, "%s%s", q->n_words++ ? " " : "", argv[i]);
		else if (strcmp(argv[i], "--") == 0)
			options = false;
		else if (strcmp(argv[i], "--strict") == 0)
			q->strict = true;
		else if (strcmp(argv[i], "--names") == 0)
			q->names = true;
		else if (strcmp(argv[i], "--no-names") == 0)
			q->numbers = true;
		else
			return false;
	}
	return !q->text.failed && !(q->names && q->numbers);
}

/* del wants this word for all rules: an empty variable in a script must not delete them. */
static bool is_all(const struct request *q)
{
	return strcmp(q->text.data, "all") == 0;
}

/* --- uploads */

/* A descriptor, or -1 after a complaint. @name is what people call @file, or standard input. */
static int open_rules(const struct cli *cli, const char *file, const char *name)
{
	int fd = name == file ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		cli_fail(cli, "%s: %s", name, strerror(errno));
	else if (S_ISDIR(st.st_mode))
		cli_fail(cli, "%s: %s", name, strerror(EISDIR));
	else if (isatty(fd))
		cli_fail(cli, "%s is a terminal: give a file or a pipe with one rule a line", name);
	else
		return fd;
	if (fd > STDIN_FILENO)
		close(fd);
	return -1;
}

/* As a compiler does. */
static int print_refusal(const struct cli *cli, const char *name, const json_t *error)
{
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(error, "data"), i, e) {
		struct buffer line = {0};

		buffer_printf(&line, "%s:%" PRIu64 ":%" PRIu64 ": %s", name, get_int(e, "line"),
			      get_int(e, "column"), get_text(e, "text"));
		if (!line.failed) {
			table_make_safe(line.data);
			fprintf(stderr, "%s\n", line.data);
		}
		buffer_fini(&line);
	}
	return cli_fail(cli, "%s", get_text(error, "message"));
}

static void print_totals(const json_t *end, bool replace)
{
	uint64_t removed = get_int(end, "removed"), repeated = get_int(end, "repeated");

	printf("added %" PRIu64, get_int(end, "added"));
	if (replace)
		printf(", kept %" PRIu64 ", removed %" PRIu64, get_int(end, "kept"), removed);
	else if (removed)
		printf(", %" PRIu64 " in place of %s with the same match and priority", removed,
		       removed == 1 ? "one" : "others");
	if (repeated)
		printf(", %" PRIu64 " %s repeated an earlier rule", repeated,
		       repeated == 1 ? "line" : "lines");
	putchar('\n');
}

static int upload(struct cli *cli, const char *method, const char *file, bool replace)
{
	const char *name = strcmp(file, "-") == 0 ? "<stdin>" : file;
	int fd = open_rules(cli, file, name), status;
	const json_t *error;
	json_t *end;

	if (fd < 0)
		return CLI_FAILED;
	status = client_upload(cli, method, fd, name, &end);
	if (fd > STDIN_FILENO)
		close(fd);
	if (status)
		return status;
	error = json_object_get(end, "error");
	if (error) {
		status = print_refusal(cli, name, error);
	} else if (cli->json) {
		json_object_del(end, "id");
		cli_print_json(json_incref(end));
	} else {
		print_totals(end, replace);
	}
	json_decref(end);
	return status;
}

/* --- single rules and matches */

static int add(struct cli *cli, struct request *q)
{
	json_t *params, *result;

	if (!q->text.n || q->strict || q->names || q->numbers)
		return cli_usage(cli);
	if (strcmp(q->text.data, "-") == 0)
		return upload(cli, "flow.add_many", "-", false);
	params = json_pack("{s:s}", "rule", q->text.data);
	if (!params)
		return cli_fail(cli, "the rule is not UTF-8");
	if (client_call(cli, "flow.add", params, &result))
		return CLI_FAILED;
	if (cli->json)
		cli_print_json(json_incref(result));
	json_decref(result);
	return CLI_DONE;
}

static int replace(struct cli *cli, struct request *q)
{
	if (q->n_words != 1 || !q->text.n || q->strict || q->names || q->numbers)
		return cli_usage(cli);
	return upload(cli, "flow.replace", q->text.data, true);
}

static int selector(struct cli *cli, const struct request *q, json_t **params)
{
	bool all = !q->text.n || is_all(q);

	if (all && q->strict) {
		cli_fail(cli, "--strict is about one rule: give its priority and match");
		return CLI_USAGE;
	}
	*params = json_pack("{s:s, s:b}", "match", all ? "" : q->text.data, "strict", q->strict);
	return *params ? CLI_DONE : cli_fail(cli, "the match is not UTF-8");
}

/* Prints field @name of what @method says of the selected rules, after @label. */
static int call(struct cli *cli, const struct request *q, const char *method, const char *label,
		const char *name)
{
	json_t *params, *result;
	int status;

	if (q->names || q->numbers)
		return cli_usage(cli);
	status = selector(cli, q, &params);
	if (status == CLI_DONE)
		status = client_call(cli, method, params, &result);
	if (status)
		return status;
	if (cli->json)
		cli_print_json(json_incref(result));
	else
		printf("%s%" PRIu64 "\n", label, get_int(result, name));
	json_decref(result);
	return CLI_DONE;
}

static int del(struct cli *cli, struct request *q)
{
	if (!q->text.n) {
		cli_fail(cli, "which rules? 'culvert flow del all' deletes every one");
		return CLI_USAGE;
	}
	return call(cli, q, "flow.del", "removed ", "removed");
}

static int count(struct cli *cli, struct request *q)
{
	return call(cli, q, "flow.count", "", "count");
}

/* Names are for people, as in ovs-ofctl: what goes to a file or a program has numbers. */
static int dump(struct cli *cli, struct request *q)
{
	bool names = q->names || (!q->numbers && !cli->json && isatty(STDOUT_FILENO));
	json_t *params;
	int status = selector(cli, q, &params);

	if (status)
		return status;
	json_object_set_new(params, "names", json_boolean(names));
	json_object_set_new(params, "json", json_boolean(cli->json));
	return client_copy(cli, "flow.dump", params);
}

int flow_run(struct cli *cli, int argc, char **argv)
{
	enum { ADD, REPLACE, DEL, DUMP, COUNT };
	static int (*const run[])(struct cli *cli, struct request *q) = {
		[ADD] = add, [REPLACE] = replace, [DEL] = del, [DUMP] = dump, [COUNT] = count,
	};
	static const struct word verbs[] = {
		{"add", ADD},	{"replace", REPLACE}, {"del", DEL},	{"delete", DEL},
		{"dump", DUMP}, {"show", DUMP},	      {"list", DUMP},	{"count", COUNT},
		{0},
	};
	int verb = argc ? word_find(verbs, argv[0]) : WORD_UNKNOWN;
	struct request q = {0};
	int status;

	if (verb < 0)
		return cli_usage(cli);
	if (read_words(&q, argc - 1, argv + 1)) {
		cli->argument = q.text.data;
		status = run[verb](cli, &q);
		cli->argument = NULL;
	} else {
		status = cli_usage(cli);
	}
	buffer_fini(&q.text);
	return status;
}

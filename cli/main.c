/* SPDX-License-Identifier: BSD-2-Clause */
/* culvert(1): finds the command and the socket. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/protocol.h"
#include "cli/table.h"
#include "lib/bits.h"
#include "lib/standard.h"

/* A noun without a function is not in this version. */
/* clang-format off */
static const struct noun {
	const char *name;
	int (*run)(struct cli *cli, int argc, char **argv);
	const char *usage;	/* one form a line */
	const char *what;
} nouns[] = {
	{"status",  status_run,  "[--check]",
	 "what runs, problems with their cure; --check: exit 1 when degraded"},
	{"port",    port_run,    "[NAME | enable NAME | disable NAME]",
	 "ports, or everything about one"},
	{"network", network_run, "[NAME]",
	 "networks, or everything about one"},
	{"tunnel",  tunnel_run,  "[VTEP]",
	 "remote VTEPs and the way to them"},
	{"fdb",     fdb_run,     "[network N | port P | vtep V | mac M ...]\n"
				 "add|del NETWORK MAC PORT|VTEP\n"
				 "flush [network N | port P]",
	 "which MAC address is where"},
	{"flow",    flow_run,    "add RULE | -\n"
				 "replace FILE | -\n"
				 "del MATCH|all [--strict]\n"
				 "dump [MATCH] [--strict] [--names | --no-names]\n"
				 "count [MATCH] [--strict]",
	 "rules, as in ovs-ofctl, that packets meet before they are switched"},
	{"drops",   drops_run,   "[PORT] [SECONDS]",
	 "every drop reason with its count and rate, and the books"},
	{"config",  config_run,  "check FILE [--offline] | show",
	 "is a file right? what is running?"},
	{"log",     log_run,     "[LEVEL]",
	 "error, warn, info or debug"},
	{"capture", capture_run, "[PORT[,PORT] [OPTION ...] [-w FILE|-]]\n"
				 "PORT[,PORT] [OPTION ...] -- [TCPDUMP ARGUMENT ...]\n"
				 " PORT: a port, tunnel:VTEP or network:NAME\n"
				 " OPTION: --dir in|out|both, --filter 'PCAP EXPRESSION',\n"
				 " --snaplen BYTES, --sample N, --inner, --drops, --device NAME",
	 "tcpdump on ports, tunnels and networks; alone: the captures that run"},
	{"trace",   NULL, "", ""},
	{"top",     NULL, "", ""},
};
/* clang-format on */
#define NOUN_HELP ARRAY_SIZE(nouns)

static const struct word noun_words[] = {
	{"status", 0},	{"port", 1},	{"ports", 1},	 {"network", 2}, {"networks", 2},
	{"tunnel", 3},	{"tunnels", 3}, {"fdb", 4},	 {"fdbs", 4},	 {"flow", 5},
	{"flows", 5},	{"drops", 6},	{"config", 7},	 {"configs", 7}, {"log", 8},
	{"logs", 8},	{"capture", 9}, {"captures", 9}, {"trace", 10},	 {"traces", 10},
	{"top", 11},	{"help", NOUN_HELP}, {0},
};

static void add_name(const struct cli *cli, FILE *out)
{
	fprintf(out, cli->noun ? "culvert %s: " : "culvert%s: ", cli->noun ? cli->noun : "");
}

int cli_fail(const struct cli *cli, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_make_safe(text);
	add_name(cli, stderr);
	fprintf(stderr, "%s\n", text);
	return CLI_FAILED;
}

int cli_later(const struct cli *cli, const char *verb)
{
	fprintf(stderr, "culvert %s%s%s: not in this version\n", cli->noun, verb ? " " : "",
		verb ? verb : "");
	return CLI_FAILED;
}

/* Each form of @usage on a line of its own; what begins with a blank explains those above. */
static void print_usage(FILE *out, const char *noun, const char *usage)
{
	const char *lead = "usage:";

	for (const char *end; usage; usage = *end ? end + 1 : NULL, lead = "      ") {
		end = strchrnul(usage, '\n');
		if (*usage == ' ')
			fprintf(out, "        %.*s\n", (int)(end - usage), usage);
		else
			fprintf(out, "%s culvert %s %.*s\n", lead, noun, (int)(end - usage), usage);
	}
}

int cli_usage(const struct cli *cli)
{
	print_usage(stderr, cli->noun, cli->usage);
	return CLI_USAGE;
}

void cli_print_json(json_t *value)
{
	json_dumpf(value, stdout, PROTOCOL_JSON);
	putchar('\n');
	json_decref(value);
}

static void print_help(FILE *out)
{
	fputs("usage: culvert [-s SOCKET | -n INSTANCE] [-j] COMMAND ...\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(nouns); i++)
		if (nouns[i].run)
			fprintf(out, "  %-8s %s\n", nouns[i].name, nouns[i].what);
	fputs("Plurals and unambiguous prefixes will do. culvert COMMAND help: its arguments.\n"
	      "-j: JSON. The socket is $CULVERT_SOCKET or " PROTOCOL_SOCKET ".\n",
	      out);
}

struct options {
	const char *socket;
	const char *instance;
	bool help;
	bool version;
};

/* The value of option @name when @argv[*i] is that: "-s V", "-sV", "--socket V", "--socket=V". NULL
 * when it is another word, "" when there is no value. */
static const char *option_value(char **argv, int argc, int *i, char letter, const char *name)
{
	const char *arg = argv[*i];
	size_t n = strlen(name);

	if (arg[0] == '-' && arg[1] == letter && arg[2])
		return arg + 2;
	if (strncmp(arg, "--", 2) == 0 && strncmp(arg + 2, name, n) == 0 && arg[2 + n] == '=')
		return arg + 3 + n;
	if ((arg[0] == '-' && arg[1] == letter) ||
	    (strncmp(arg, "--", 2) == 0 && strcmp(arg + 2, name) == 0))
		return *i + 1 < argc ? argv[++*i] : "";
	return NULL;
}

static bool is_flag(const char *arg, const char *letter, const char *name)
{
	return strcmp(arg, letter) == 0 || strcmp(arg, name) == 0;
}

/* Takes the options that every command has out of @argv, wherever they stand before "--". Returns
 * the words that are left, or -1 after a line of complaint. */
static int take_options(int argc, char **argv, struct cli *cli, struct options *o)
{
	int n = 0, i;

	for (i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *value;

		if (is_flag(argv[i], "-j", "--json")) {
			cli->json = true;
		} else if (is_flag(argv[i], "-h", "--help")) {
			o->help = true;
		} else if (is_flag(argv[i], "-V", "--version")) {
			o->version = true;
		} else if ((value = option_value(argv, argc, &i, 's', "socket"))) {
			o->socket = value;
		} else if ((value = option_value(argv, argc, &i, 'n', "instance"))) {
			o->instance = value;
		} else {
			argv[n++] = argv[i];
			continue;
		}
	}
	for (; i < argc; i++)
		argv[n++] = argv[i];
	if ((o->socket && !*o->socket) ||
	    (o->instance && (!*o->instance || strchr(o->instance, '/')))) {
		fprintf(stderr, "usage: culvert [-s SOCKET | -n INSTANCE] [-j] COMMAND ...\n");
		return -1;
	}
	return n;
}

static void find_paths(const struct options *o, struct cli *cli, struct buffer *socket,
		       struct buffer *file)
{
	const char *from_environment = getenv("CULVERT_SOCKET");

	if (o->instance) {
		buffer_printf(socket, "%s/%s/%s", PROTOCOL_RUN_DIR, o->instance,
			      PROTOCOL_SOCKET_NAME);
		buffer_printf(file, "%s/%s.yaml", PROTOCOL_CONF_DIR, o->instance);
	} else {
		buffer_str(socket, from_environment && *from_environment ? from_environment
									 : PROTOCOL_SOCKET);
		buffer_str(file, PROTOCOL_CONF);
	}
	cli->socket = o->socket ? o->socket : socket->data;
	cli->file = file->data;
}

/* Index into nouns, or NOUN_HELP; -1 after a line of complaint. */
static int find_noun(const char *word)
{
	int i = word_find(noun_words, word);
	struct buffer names = {0};

	if (i >= 0)
		return i;
	word_candidates(noun_words, word, &names);
	if (i == WORD_AMBIGUOUS)
		fprintf(stderr, "culvert: '%s' may be %s\n", word, names.data);
	else
		fprintf(stderr, "culvert: no command '%s': 'culvert help' lists them\n", word);
	buffer_fini(&names);
	return -1;
}

static int run_noun(const struct noun *noun, struct cli *cli, int argc, char **argv, bool help)
{
	int status;

	cli->noun = noun->name;
	cli->usage = noun->usage;
	if (!noun->run)
		return cli_later(cli, argc ? argv[0] : NULL);
	if (help || (argc == 1 && strcmp(argv[0], "help") == 0)) {
		print_usage(stdout, noun->name, noun->usage);
		printf("       %s\n", noun->what);
		return CLI_DONE;
	}
	status = noun->run(cli, argc, argv);
	client_close(cli);
	return status;
}

/* Everything is on its way only when stdout has taken it. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "culvert: standard output: %s\n", strerror(errno));
	return CLI_FAILED;
}

int main(int argc, char **argv)
{
	struct buffer socket = {0}, file = {0};
	struct options options = {0};
	struct cli cli = {0};
	int n = take_options(argc - 1, argv + 1, &cli, &options);
	int noun, status = CLI_DONE;

	standard_reserve();
	if (n < 0)
		return CLI_USAGE;
	if (options.version) {
		puts("culvert " CULVERT_VERSION);
		return finish(CLI_DONE);
	}
	if (n == 0) {
		print_help(options.help ? stdout : stderr);
		return finish(options.help ? CLI_DONE : CLI_USAGE);
	}
	noun = find_noun(argv[1]);
	if (noun < 0)
		return CLI_USAGE;
	find_paths(&options, &cli, &socket, &file);
	if (noun == NOUN_HELP)
		print_help(stdout);
	else
		status = run_noun(&nouns[noun], &cli, n - 1, argv + 2, options.help);
	buffer_fini(&socket);
	buffer_fini(&file);
	return finish(status);
}

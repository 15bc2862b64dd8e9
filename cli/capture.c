/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/protocol.h"
#include "cli/tcpdump.h"
#include "conf/conf.h"
#include "lib/bits.h"
#include "lib/pcap_filter.h"

#define WHY_BYTES 256		/* as long as libpcap's sentences get */

struct request {
	json_t *params;		/* for the daemon */
	const char *file;	/* of -w, or NULL */
	char **tcpdump;		/* what stands behind "--", or NULL */
	int n_tcpdump;
};

/* --- the command line. 0, or CLI_USAGE or CLI_FAILED after a complaint */

static int wrong(const struct cli *cli, const char *option, const char *takes, const char *value)
{
	cli_fail(cli, "%s takes %s, not '%s'", option, takes, value);
	return CLI_USAGE;
}

static int set(const struct cli *cli, struct request *q, const char *name, json_t *value)
{
	if (json_object_set_new(q->params, name, value) == 0)
		return CLI_DONE;
	cli_fail(cli, "the %s is not UTF-8", name);
	return CLI_USAGE;
}

static int set_number(const struct cli *cli, struct request *q, const char *name, const char *value,
		      unsigned long max)
{
	unsigned long n = strtoul(value, NULL, 10);

	if (strspn(value, "0123456789") == strlen(value) && strlen(value) <= 10 && n && n <= max)
		return set(cli, q, name, json_integer((json_int_t)n));
	cli_fail(cli, "--%s takes a number from 1 to %lu, not '%s'", name, max, value);
	return CLI_USAGE;
}

static int set_dir(const struct cli *cli, struct request *q, const char *value)
{
	if (strcmp(value, "in") != 0 && strcmp(value, "out") != 0 && strcmp(value, "both") != 0)
		return wrong(cli, "--dir", "in, out or both", value);
	return set(cli, q, "dir", json_string(value));
}

/* Compiled here: libpcap may have to look up names, for which the daemon has no time. */
static int set_filter(const struct cli *cli, struct request *q, const char *value)
{
	json_t *program = json_array();
	struct pcap_filter *filter;
	char why[WHY_BYTES] = "out of memory";

	if (pcap_filter_compile(value, &filter, why, sizeof(why)) < 0) {
		json_decref(program);
		return cli_fail(cli, "--filter: %s", why);
	}
	for (uint32_t i = 0; i < filter->n; i++) {
		const struct pcap_insn *insn = &filter->insn[i];

		json_array_append_new(program, json_pack("[i, i, i, I]", insn->code, insn->jt,
							 insn->jf, (json_int_t)insn->k));
	}
	free(filter);
	json_object_set_new(q->params, "program", program);
	return set(cli, q, "filter", json_string(value));
}

static int set_snaplen(const struct cli *cli, struct request *q, const char *value)
{
	return set_number(cli, q, "snaplen", value, CONF_SNAPLEN_MAX);
}

static int set_sample(const struct cli *cli, struct request *q, const char *value)
{
	return set_number(cli, q, "sample", value, UINT32_MAX);
}

static int set_inner(const struct cli *cli, struct request *q, const char *value)
{
	return set(cli, q, "inner", json_true());
}

static int set_drops(const struct cli *cli, struct request *q, const char *value)
{
	return set(cli, q, "drops", json_true());
}

static int set_device(const struct cli *cli, struct request *q, const char *value)
{
	if (!*value)
		return wrong(cli, "--device", "the name of a network device", value);
	return set(cli, q, "device", json_string(value));
}

static int set_file(const struct cli *cli, struct request *q, const char *value)
{
	if (!*value)
		return wrong(cli, "-w", "a file or -", value);
	q->file = value;
	return set(cli, q, "pcapng", json_true());
}

static const struct option {
	const char *name;
	bool takes_value;
	int (*set)(const struct cli *cli, struct request *q, const char *value);
} options[] = {
	{"--dir", true, set_dir},	  {"--filter", true, set_filter},
	{"--snaplen", true, set_snaplen}, {"--sample", true, set_sample},
	{"--inner", false, set_inner},	  {"--drops", false, set_drops},
	{"--device", true, set_device},	  {"-w", true, set_file},
};

/* "--name", or "--name=value" with *@value. NULL: no such option. */
static const struct option *find_option(const char *word, const char **value)
{
	size_t n = strcspn(word, "=");

	*value = word[n] ? word + n + 1 : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (strlen(options[i].name) == n && strncmp(options[i].name, word, n) == 0)
			return &options[i];
	return NULL;
}

/* @argv[*i] is an option. */
static int read_option(const struct cli *cli, struct request *q, int argc, char **argv, int *i)
{
	const char *value;
	const struct option *option = find_option(argv[*i], &value);

	if (!option) {
		cli_fail(cli, "no option '%s' (those of tcpdump stand behind --)", argv[*i]);
		return cli_usage(cli);
	}
	if (!option->takes_value && value)
		return wrong(cli, option->name, "no value", value);
	if (option->takes_value && !value) {
		if (*i + 1 == argc)
			return cli_usage(cli);
		value = argv[++*i];
	}
	return option->set(cli, q, value);
}

/* "srv1,tunnel:192.0.2.2" */
static int read_ports(const struct cli *cli, struct request *q, const char *word)
{
	json_t *of = json_object_get(q->params, "of");

	for (const char *end;; word = end + 1) {
		end = strchrnul(word, ',');
		if (end == word)
			return cli_usage(cli);
		if (json_array_append_new(of, json_stringn(word, (size_t)(end - word)))) {
			cli_fail(cli, "'%s' is not UTF-8", word);
			return CLI_USAGE;
		}
		if (!*end)
			return CLI_DONE;
	}
}

static int read_words(const struct cli *cli, struct request *q, int argc, char **argv)
{
	int status = CLI_DONE;

	for (int i = 0; i < argc && !q->tcpdump && status == CLI_DONE; i++) {
		if (strcmp(argv[i], "--") == 0) {
			q->tcpdump = argv + i + 1;
			q->n_tcpdump = argc - i - 1;
		} else if (argv[i][0] == '-') {
			status = read_option(cli, q, argc, argv, &i);
		} else {
			status = read_ports(cli, q, argv[i]);
		}
	}
	if (status)
		return status;
	if (json_array_size(json_object_get(q->params, "of")) == 0)
		return cli_usage(cli);
	if (q->file && (q->tcpdump || json_object_get(q->params, "device"))) {
		cli_fail(cli, "-w needs no device: it does without %s",
			 q->tcpdump ? "tcpdump, whose own -w stands behind --" : "--device");
		return CLI_USAGE;
	}
	return CLI_DONE;
}

/* --- what is done with it */

/* For whoever wants to listen on the device. */
static int hold(struct live *l, const json_t *about)
{
	if (l->cli->json)
		cli_print_json(json_incref((json_t *)about));
	else
		puts(get_text(about, "device"));
	if (fflush(stdout)) {
		cli_fail(l->cli, "standard output: %s", strerror(errno));
		clearerr(stdout);
		return CLI_FAILED;
	}
	fprintf(stderr, "culvert capture: %s is mirrored to %s until ^C\n", get_text(about, "name"),
		get_text(about, "device"));
	return live_run(l, STDOUT_FILENO, NULL, NULL);
}

static void print_json_totals(const struct request *q, json_t *end)
{
	bool taken = q->tcpdump || (q->file && strcmp(q->file, "-") == 0);
	FILE *out = taken ? stderr : stdout;

	json_object_del(end, "id");
	json_object_del(end, "count");
	json_dumpf(end, out, PROTOCOL_JSON);
	fputc('\n', out);
}

static void print_totals(const struct cli *cli, const struct request *q, const char *device,
			 json_t *end)
{
	uint64_t cut = get_int(end, "cut"), matched = get_int(end, "matched");

	if (cli->json) {
		print_json_totals(q, end);
		return;
	}
	fprintf(stderr, "culvert capture: %" PRIu64 " captured, %" PRIu64 " missed",
		get_int(end, "captured"), get_int(end, "missed"));
	if (get_int(q->params, "sample") > 1)
		fprintf(stderr, ", of %" PRIu64 " that matched", matched);
	if (cut)
		fprintf(stderr, ", %" PRIu64 " cut to the MTU of %s", cut, device);
	fputc('\n', stderr);
}

/* @exit_status: of tcpdump. */
static int run(struct live *l, const struct request *q, int fd, const json_t *about,
	       int *exit_status)
{
	if (q->file)
		return capture_file_write(l, fd, q->file);
	if (q->tcpdump)
		return tcpdump_on(l, get_int(about, "id"), get_text(about, "device"), q->n_tcpdump,
				  q->tcpdump, exit_status);
	return hold(l, about);
}

static int capture(struct cli *cli, const struct request *q)
{
	int fd = q->file ? capture_file_open(cli, q->file) : -1;
	json_t *about = NULL;
	int status, exit_status = CLI_DONE;
	struct live l;

	if (q->file && fd < 0)
		return CLI_FAILED;
	status = live_begin(&l, cli, "capture", json_incref(q->params), &about);
	if (status == CLI_DONE) {
		status = run(&l, q, fd, about, &exit_status);
		/* Nothing is to be left when we are gone. */
		if (live_finish(&l, NULL, NULL))
			status = CLI_FAILED;
		else if (status == CLI_DONE || q->file)
			print_totals(cli, q, get_text(about, "device"), l.end);
	}
	live_fini(&l);
	json_decref(about);
	return status ? status : exit_status;
}

int capture_run(struct cli *cli, int argc, char **argv)
{
	struct request q = {0};
	int status;

	if (argc == 0)
		return capture_list(cli);
	q.params = json_pack("{s:[]}", "of");
	status = read_words(cli, &q, argc, argv);
	if (status == CLI_DONE && q.tcpdump)
		json_object_set_new(q.params, "paused", json_true());
	if (status == CLI_DONE)
		status = capture(cli, &q);
	json_decref(q.params);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "conf/conf.h"
#include "rules/check.h"

static json_t *place(const struct conf_where *where, const char *text)
{
	return json_pack("{s:s?, s:i, s:i, s:s}", "file", where->file, "line", (int)where->line,
			 "column", (int)where->column, "text", text);
}

static void print_json(const struct conf *conf, const struct conf_errors *errors)
{
	json_t *list = json_array(), *notices = json_array();

	for (size_t i = 0; i < errors->n; i++)
		json_array_append_new(list, place(&errors->list[i].where, errors->list[i].text));
	for (size_t i = 0; conf && i < conf->n_notices; i++)
		json_array_append_new(notices,
				      place(&conf->notices[i].where, conf->notices[i].text));
	cli_print_json(json_pack("{s:b, s:o, s:o}", "ok", errors->n == 0, "errors", list, "notices",
				 notices));
}

static void print_good(const char *file, const struct conf *conf)
{
	for (size_t i = 0; i < conf->n_notices; i++)
		fprintf(stderr, "%s:%u:%u: %s\n", conf->notices[i].where.file,
			conf->notices[i].where.line, conf->notices[i].where.column,
			conf->notices[i].text);
	printf("%s: good: %zu ports, %zu networks\n", file, conf->n_ports,
	       conf->n_networks ? conf->n_networks - 1 : 0);
}

/* No daemon and no root: the file is read here. */
static int check(struct cli *cli, const char *file, bool offline)
{
	struct conf_errors errors = {0};
	struct conf *conf = NULL;
	int r = conf_load(file, &conf, &errors);

	if (r == 0 && !offline)
		r = conf_check_host(conf, &errors);
	if (r == 0)
		r = rules_check(conf, &errors);
	if (r < 0 && errors.n == 0)
		cli_fail(cli, "%s: %s", file, strerror(-r));
	else if (cli->json)
		print_json(conf, &errors);
	else if (r < 0)
		conf_errors_print(&errors, stderr);
	else
		print_good(file, conf);
	conf_errors_fini(&errors);
	conf_free(conf);
	return r < 0 ? CLI_FAILED : CLI_DONE;
}

static int check_run(struct cli *cli, int argc, char **argv)
{
	const char *file = NULL;
	bool offline = false;

	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--offline") == 0)
			offline = true;
		else if (!file && argv[i][0] != '-')
			file = argv[i];
		else
			return cli_usage(cli);
	}
	return check(cli, file ? file : cli->file, offline);
}

static int show(struct cli *cli)
{
	struct buffer text = {0};
	int status = client_text(cli, "config.show", NULL, &text);

	if (status == CLI_DONE && cli->json)
		cli_print_json(json_pack("{s:s%}", "config", text.n ? text.data : "", text.n));
	else if (status == CLI_DONE)
		fwrite(text.data, 1, text.n, stdout);
	buffer_fini(&text);
	return status;
}

int config_run(struct cli *cli, int argc, char **argv)
{
	enum { CHECK, SHOW, DIFF, RELOAD, CONFIRM };
	static const struct word verbs[] = {
		{"check", CHECK},   {"show", SHOW},	  {"diff", DIFF},
		{"reload", RELOAD}, {"confirm", CONFIRM}, {0},
	};
	int verb = argc ? word_find(verbs, argv[0]) : WORD_UNKNOWN;

	if (verb < 0)
		return cli_usage(cli);
	if (verb == CHECK)
		return check_run(cli, argc - 1, argv + 1);
	if (verb != SHOW)
		return cli_later(cli, verbs[verb].name);
	return argc == 1 ? show(cli) : cli_usage(cli);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "cli/cli.h"
#include "lib/log.h"

int log_run(struct cli *cli, int argc, char **argv)
{
	static const struct word levels[] = {
		{"error", LOG_LVL_ERROR}, {"warn", LOG_LVL_WARN},   {"warning", LOG_LVL_WARN},
		{"info", LOG_LVL_INFO},	  {"debug", LOG_LVL_DEBUG}, {0},
	};
	json_t *params = NULL, *result;

	if (argc > 1)
		return cli_usage(cli);
	if (argc == 1) {
		int level = word_find(levels, argv[0]);

		if (level < 0)
			return cli_fail(cli, "no level '%s': error, warn, info, debug", argv[0]);
		params = json_pack("{s:s}", "level", log_level_name((enum log_level)level));
	}
	if (client_call(cli, "log", params, &result))
		return CLI_FAILED;
	if (cli->json)
		cli_print_json(json_incref(result));
	else if (argc == 0)
		puts(get_text(result, "level"));
	json_decref(result);
	return CLI_DONE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "lib/log.h"

int cmd_log(struct request *request)
{
	const char *text = request_text(request, "level");
	int level = text ? log_level_parse(text) : (int)log_get_level();

	if (level < 0)
		return request_refuse(request, "no log level '%.64s': error, warn, info, debug",
				      text);
	if (text)
		log_set_level((enum log_level)level);
	request->result = json_object();
	field_text(request->result, "level", log_level_name((enum log_level)level));
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/drop.h"

static const struct {
	const char *name;
	const char *sentence;
} reasons[DROP_REASON_COUNT] = {
	[DROP_NONE] = {"none", "not dropped"},
#define X(id, reason_name, reason_sentence) [DROP_##id] = {reason_name, reason_sentence},
	DROP_REASONS(X)
#undef X
};

const char *drop_name(enum drop_reason reason)
{
	return reasons[reason].name;
}

const char *drop_sentence(enum drop_reason reason)
{
	return reasons[reason].sentence;
}

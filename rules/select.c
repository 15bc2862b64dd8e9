/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "rules/rules.h"

bool rules_selects(const struct flow_table *t, const struct rules_selector *selector,
		   const struct flow_rule *rule)
{
	const struct flow_spec *match = &selector->match;
	struct flow_key key;

	if ((flow_rule_cookie(rule) ^ selector->cookie) & selector->cookie_mask)
		return false;
	if (!selector->strict)
		return flow_rule_within(t, rule, match);
	if (flow_rule_priority(rule) != match->priority ||
	    memcmp(flow_rule_mask(t, rule), &match->mask, sizeof(match->mask)))
		return false;
	flow_rule_key(t, rule, &key);
	return memcmp(&key, &match->key, sizeof(key)) == 0;
}

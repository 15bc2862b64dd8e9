/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a rule's text, in ovs-ofctl's order and spelling, written by hand at @p. The caller
 * made room; each function returns the place behind what it wrote.
 */
#ifndef RULES_PRINT_H
#define RULES_PRINT_H

#include "rules/rules.h"

/* Room that a rule with @n actions takes at most. */
#define PRINT_RULE_BYTES(n) (1024 + (size_t)(n) * 128)

/* "tcp,in_port=1,nw_dst=10.0.0.0/8", each with a comma behind it. */
char *print_match(char *p, const struct flow_key *key, const struct flow_key *mask,
		  const struct rules_format *format);
/* "drop", "dec_ttl,output:2"; @key and @mask are the rule's. */
char *print_actions(char *p, const struct flow_action *action, uint32_t n,
		    const struct flow_key *key, const struct flow_key *mask,
		    const struct rules_format *format);
/* "priority=10,ip actions=drop" */
char *print_rule(char *p, uint16_t priority, const struct flow_key *key,
		 const struct flow_key *mask, const struct flow_action *action, uint32_t n,
		 const struct rules_format *format);

#endif

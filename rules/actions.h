/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may stand behind "actions=". One table; docs/flows.md is its manual.
 *
 * Threads: no state.
 */
#ifndef RULES_ACTIONS_H
#define RULES_ACTIONS_H

#include "rules/fields.h"

enum action_id {
	ACTION_DROP,
	ACTION_OUTPUT,
	ACTION_NORMAL,
	ACTION_FLOOD,
	ACTION_ALL,
	ACTION_IN_PORT,
	ACTION_PUSH_VLAN,
	ACTION_POP_VLAN,
	ACTION_DEC_TTL,
	ACTION_SET_FIELD,
	ACTION_LOAD,
	ACTION_MOD_VLAN_VID,
	ACTION_MOD_VLAN_PCP,
	ACTION_SET_TUNNEL,
	ACTION_MOD_DL_SRC,
	ACTION_MOD_DL_DST,
	ACTION_MOD_NW_SRC,
	ACTION_MOD_NW_DST,
	ACTION_MOD_NW_TOS,
	ACTION_MOD_NW_ECN,
	ACTION_MOD_NW_TTL,
	ACTION_MOD_TP_SRC,
	ACTION_MOD_TP_DST,
	ACTIONS
};

/* Reads the list at d->scan.at, up to the end of the line, into d->spec, whose match is complete;
 * d->given says what it gives. False with the error filled in. */
bool actions_read(struct draft *d);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of the language: fields and actions by name, aliases too, and what to say of a word
 * that is none.
 *
 * Threads: no state.
 */
#ifndef RULES_NAMES_H
#define RULES_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_BYTES 16		/* the longest name */

/* enum field_id; -1: none. Nothing at @end is read. */
int name_field(const char *name, size_t n, const char *end);
/* The same by what NXM and OXM call it: "NXM_OF_IP_SRC". */
int name_nxm(const char *name, size_t n);
/* enum action_id; -1: none. Capitals do not count. */
int name_action(const char *name, size_t n);

/* Whether Open vSwitch has a field or an action of this name that culvert has not. */
bool name_is_foreign_field(const char *word);
bool name_is_foreign_action(const char *word);

/* The name that @word is a slip of, or NULL. */
const char *name_near_field(const char *word, char text[static NAME_BYTES + 1]);
const char *name_near_action(const char *word, char text[static NAME_BYTES + 1]);

#endif

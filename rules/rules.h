/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of flow rules, in the syntax of ovs-ofctl(8): text -> struct flow_spec, and back.
 *
 * One table of fields (fields.c), one of actions (actions.c); docs/flows.md is their manual. What
 * is not understood, and a match whose prerequisite is missing, is refused with the column and with
 * what was expected there. A file may be what `culvert flow dump` or `ovs-ofctl dump-flows` wrote:
 * the reply's header, duration, counters and ages are read over.
 *
 * Pure: no files, no sockets. A million lines have to take well under a second: nothing here
 * allocates per rule, and numbers are read and written by hand.
 * Threads: no global state.
 */
#ifndef RULES_RULES_H
#define RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataplane/flow_table.h"
#include "lib/buffer.h"

/* Ports by number and name. A tunnel's number is RULES_TUNNEL_NUMBER0 + its index, its name the
 * remote VTEP's address. */
#define RULES_TUNNEL_NUMBER0 60000

#define RULES_PRIORITY 32768	/* of a rule that has none; then it is not printed */

struct rules_ports {
	/* An egress id, or EGRESS_NONE. */
	uint16_t (*of_number)(void *arg, uint32_t number);
	uint16_t (*of_name)(void *arg, const char *name, size_t n);
	/* 0: no such port any more */
	uint32_t (*number)(void *arg, uint16_t egress);
	/* Points into the owner's memory or @text. NULL: no such port any more */
	const char *(*name)(void *arg, uint16_t egress, char text[static 64]);
	void *arg;
};

#define RULES_WHY_BYTES 256

/* What is wrong with a line. */
struct rules_error {
	uint32_t line;		/* from 1; of a single rule: 0 */
	uint32_t column;	/* from 1, in bytes */
	char why[RULES_WHY_BYTES];	/* what, and what was expected */
};

/* `flow add`: a rule with its actions. @text need not end in NUL. False with *@error filled in. */
bool rules_parse(const struct rules_ports *ports, const char *text, size_t n,
		 struct flow_spec *spec, struct rules_error *error);

/* What selects rules in del, dump and count: a match, also by cookie=VALUE/MASK; an empty text
 * selects all. With @strict a priority belongs to it (32768 when it is not given), without it none
 * may be given. */
struct rules_selector {
	struct flow_spec match;	/* actions unused */
	uint64_t cookie;
	uint64_t cookie_mask;	/* 0: any */
	bool strict;
};
bool rules_parse_selector(const struct rules_ports *ports, const char *text, size_t n, bool strict,
			  struct rules_selector *selector, struct rules_error *error);
bool rules_selects(const struct flow_table *t, const struct rules_selector *selector,
		   const struct flow_rule *rule);

/*
 * Many rules, in pieces that may end anywhere: one rule a line; empty lines, comments (#) and the
 * header lines of a dump are read over.
 */
struct rules_reader {
	const struct rules_ports *ports;
	/* For each rule. Anything but 0 stops the reader, which returns it. */
	int (*rule)(void *arg, const struct flow_spec *spec, uint32_t line);
	void *arg;
	uint32_t line;		/* read so far */
	bool skip;		/* the line that comes was refused as too long */
	struct buffer rest;	/* of a line whose end has not come yet: at most RULES_LINE_MAX,
				 * and behind an error what was left of the piece */
};
#define RULES_LINE_MAX 65536

void rules_reader_init(struct rules_reader *reader, const struct rules_ports *ports,
		       int (*rule)(void *arg, const struct flow_spec *spec, uint32_t line),
		       void *arg);
void rules_reader_fini(struct rules_reader *reader);
/* 0; -EINVAL with *@error filled in, and the reader may be fed on (to find more errors); -ENOMEM;
 * or what rule() returned. After an error the rest of the piece is kept: call it again with n = 0
 * to go on. */
int rules_reader_feed(struct rules_reader *reader, const char *text, size_t n,
		      struct rules_error *error);
/* The last line may have no newline. As rules_reader_feed. */
int rules_reader_end(struct rules_reader *reader, struct rules_error *error);

/* How a rule is written. */
struct rules_format {
	const struct rules_ports *ports;
	uint64_t now_ns;
	bool names;		/* ports by name, else by number */
	bool stats;		/* duration, n_packets, n_bytes; false: as ovs-ofctl --no-stats */
};

/* One line, newline included, in ovs-ofctl's dump-flows format:
 * " cookie=0x0, duration=5.123s, table=0, n_packets=3, n_bytes=9, priority=10,ip actions=drop" */
void rules_print(const struct flow_table *t, const struct flow_rule *rule,
		 const struct rules_format *format, struct buffer *out);
/* The same as a JSON object on one line (docs/protocol.md, flow.dump). */
void rules_print_json(const struct flow_table *t, const struct flow_rule *rule,
		      const struct rules_format *format, struct buffer *out);
/* "priority=10,ip actions=drop", no newline: a rule that is in no table. */
void rules_print_spec(const struct flow_spec *spec, const struct rules_format *format,
		      struct buffer *out);

#endif

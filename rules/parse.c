/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "lib/bits.h"
#include "rules/actions.h"
#include "rules/fields.h"
#include "rules/names.h"
#include "rules/rules.h"

/* The words that stand alone, and those with a value. */
static bool is_word(enum field_id id)
{
	return (id >= FIELD_IP && id <= FIELD_MPLSM) || id == FIELD_FLAG;
}

static bool fail_unknown(struct draft *d, const char *at, size_t n)
{
	char word[48], text[NAME_BYTES + 1];
	const char *near;

	snprintf(word, sizeof(word), "%.*s", (int)min_of(n, sizeof(word) - 1), at);
	if (name_is_foreign_field(word))
		return scan_fail(&d->scan, at, "%s: not supported (docs/flows.md has what is)",
				 word);
	near = name_near_field(word, text);
	if (near)
		return scan_fail(&d->scan, at, "\"%s\" is not known, did you mean %s?", word, near);
	return scan_fail(&d->scan, at,
			 "\"%s\" is not known, allowed: a field to match, like in_port=1 "
			 "or tcp, or actions=...",
			 word);
}

static bool fail_twice(struct draft *d, const struct field *f, const char *at)
{
	return scan_fail(&d->scan, at, "%s: here and at column %u, allowed: once", f->name,
			 (unsigned int)(d->where[field_id(f)] - d->scan.begin) + 1);
}

/* One field. *@actions when it was the last. */
static bool read_field(struct draft *d, bool *actions)
{
	struct scan *s = &d->scan;
	const char *at = s->at, *p = at;
	const struct field *f;
	uint64_t bit;
	int id;

	while (!scan_is_end(s, p) && *p != '=')
		p++;
	id = name_field(at, (size_t)(p - at), s->end);
	if (unlikely(id < 0))
		return fail_unknown(d, at, (size_t)(p - at));
	f = &fields[id];
	s->at = p;
	bit = 1ull << id;
	if (is_word((enum field_id)id)) {
		if (!scan_is_end(s, p))
			return scan_fail(s, p, "%s: takes no value", f->name);
	} else {
		if (unlikely(!scan_take(s, '=')))
			return scan_fail(s, p, "%.*s: a value is missing, allowed: %.*s=VALUE",
					 (int)(p - at), at, (int)(p - at), at);
		if (unlikely(d->seen & bit && id != FIELD_COUNTER))
			return fail_twice(d, f, at);
	}
	d->seen |= bit;
	d->where[id] = at;
	*actions = id == FIELD_ACTIONS;
	return !f->read || f->read(d, f);
}

/* Every field that is matched has beside it what it needs. */
static bool check_needs(struct draft *d)
{
	const struct field *worst = NULL;
	const char *at;
	char text[128];

	for (uint64_t left = d->seen; left; left &= left - 1) {
		const struct field *f = &fields[__builtin_ctzll(left)];

		if (f->needs && !(d->given & (f->needs | f->also)) &&
		    (!worst || d->where[field_id(f)] < d->where[field_id(worst)]))
			worst = f;
	}
	if (likely(!worst))
		return true;
	at = d->where[field_id(worst)];
	field_needs_text(worst->needs | worst->also, text, sizeof(text));
	return scan_fail(&d->scan, at, "%.*s needs %s in the same rule",
			 (int)((const char *)memchr(at, '=', NAME_BYTES + 1) - at), at, text);
}

static bool read_rule(struct draft *d)
{
	struct scan *s = &d->scan;
	bool actions = false;

	/* The list is filled as far as it is used. */
	memset(d->spec, 0, offsetof(struct flow_spec, action));
	d->spec->priority = RULES_PRIORITY;
	d->seen = 0;
	for (scan_skip_separators(s); s->at < s->end && *s->at != '#' && !actions;
	     scan_skip_separators(s))
		if (!read_field(d, &actions))
			return false;
	d->given = field_given(d->spec);
	if (!check_needs(d))
		return false;
	if (d->selector)
		return !actions || scan_fail(s, d->where[FIELD_ACTIONS],
					     "actions: rules are not selected by them, allowed: a "
					     "match, cookie=VALUE/MASK");
	return actions ? actions_read(d) :
			 scan_fail(s, s->at,
				   "actions=... is missing, allowed: actions=drop, "
				   "actions=output:PORT, ...");
}

bool rules_parse(const struct rules_ports *ports, const char *text, size_t n,
		 struct flow_spec *spec, struct rules_error *error)
{
	struct draft d;

	d.scan = (struct scan){.begin = text, .at = text, .end = text + n, .error = error};
	d.ports = ports;
	d.spec = spec;
	d.selector = NULL;
	return read_rule(&d);
}

bool rules_parse_selector(const struct rules_ports *ports, const char *text, size_t n, bool strict,
			  struct rules_selector *selector, struct rules_error *error)
{
	struct draft d;

	d.scan = (struct scan){.begin = text, .at = text, .end = text + n, .error = error};
	d.ports = ports;
	d.spec = &selector->match;
	d.selector = selector;
	selector->cookie = selector->cookie_mask = 0;
	selector->strict = strict;
	return read_rule(&d);
}

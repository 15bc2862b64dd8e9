/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/ranges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* VLAN ids first..last, networks stem.number... */
struct range {
	unsigned long first, last;
	const char *name;	/* of the first */
	size_t stem_bytes;	/* of name, with the dot; 0: no number behind a dot */
	unsigned long number;
};

static void split_name(struct range *r, const char *name)
{
	const char *dot = strrchr(name, '.');
	char *end;

	r->name = name;
	r->stem_bytes = 0;
	if (!dot || dot[1] < '0' || dot[1] > '9')
		return;
	r->number = strtoul(dot + 1, &end, 10);
	if (!*end)
		r->stem_bytes = (size_t)(dot - name) + 1;
}

static bool continues(const struct range *r, const struct range *next)
{
	unsigned long n = r->last + 1 - r->first;

	return next->first == r->last + 1 && r->stem_bytes && r->stem_bytes == next->stem_bytes &&
	       memcmp(r->name, next->name, r->stem_bytes) == 0 && next->number == r->number + n;
}

static void print_range(struct buffer *out, const struct range *r)
{
	if (!r->name)
		return;
	if (out->n)
		buffer_str(out, ", ");
	if (r->first == r->last)
		buffer_printf(out, "%lu %s", r->first, r->name);
	else
		buffer_printf(out, "%lu-%lu %s-%lu", r->first, r->last, r->name,
			      r->number + r->last - r->first);
}

void ranges_add(struct buffer *out, const json_t *tagged)
{
	struct range r = {0};
	const char *vid;
	json_t *name;

	json_object_foreach((json_t *)tagged, vid, name) {
		struct range next = {.first = strtoul(vid, NULL, 10)};

		next.last = next.first;
		split_name(&next, json_string_value(name) ? json_string_value(name) : "?");
		if (r.name && continues(&r, &next)) {
			r.last++;
			continue;
		}
		print_range(out, &r);
		r = next;
	}
	print_range(out, &r);
}

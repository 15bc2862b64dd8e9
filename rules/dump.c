/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "rules/print.h"
#include "rules/rules.h"
#include "rules/write.h"

#define HEAD_BYTES 512	/* what stands in front of the rule proper */

/* A rule of a table, copied out. */
struct row {
	struct flow_key key;
	const struct flow_key *mask;
	const struct flow_actions *actions;
	struct flow_stats stats;
	uint64_t age_ms;
};

static void get_row(const struct flow_table *t, const struct flow_rule *rule,
		    const struct rules_format *format, struct row *row)
{
	uint64_t created_ns = flow_rule_created_ns(rule);

	flow_rule_key(t, rule, &row->key);
	row->mask = flow_rule_mask(t, rule);
	row->actions = flow_rule_actions(t, rule);
	if (!format->stats)
		return;
	flow_rule_stats(t, rule, &row->stats);
	row->age_ms = format->now_ns > created_ns ? (format->now_ns - created_ns) / 1000000 : 0;
}

/* "5", "5.123" */
static char *write_seconds(char *p, uint64_t ms)
{
	p = write_decimal(p, ms / 1000);
	ms %= 1000;
	if (ms) {
		*p++ = '.';
		*p++ = (char)('0' + ms / 100);
		*p++ = (char)('0' + ms / 10 % 10);
		*p++ = (char)('0' + ms % 10);
	}
	return p;
}

void rules_print(const struct flow_table *t, const struct flow_rule *rule,
		 const struct rules_format *format, struct buffer *out)
{
	uint64_t cookie = flow_rule_cookie(rule);
	struct row row;
	char *p;

	get_row(t, rule, format, &row);
	if (!buffer_reserve(out, HEAD_BYTES + PRINT_RULE_BYTES(row.actions->n)))
		return;
	p = out->data + out->n;
	*p++ = ' ';
	if (cookie || format->stats)
		p = write_str(write_hex_digits(write_str(p, "cookie=0x"), cookie, 1), ", ");
	if (format->stats) {
		p = write_seconds(write_str(p, "duration="), row.age_ms);
		p = write_decimal(write_str(p, "s, table=0, n_packets="), row.stats.packets);
		p = write_decimal(write_str(p, ", n_bytes="), row.stats.bytes);
		p = write_str(p, ", ");
	}
	if (flow_rule_idle_timeout_s(rule)) {
		p = write_str(p, "idle_timeout=");
		p = write_str(write_decimal(p, flow_rule_idle_timeout_s(rule)), ", ");
	}
	if (flow_rule_hard_timeout_s(rule)) {
		p = write_str(p, "hard_timeout=");
		p = write_str(write_decimal(p, flow_rule_hard_timeout_s(rule)), ", ");
	}
	p = print_rule(p, flow_rule_priority(rule), &row.key, row.mask, row.actions->action,
		       row.actions->n, format);
	p = write_str(p, "\n");
	*p = 0;
	out->n = (size_t)(p - out->data);
}

static char *write_quoted(char *p, const char *text, size_t n)
{
	*p++ = '"';
	for (size_t i = 0; i < n; i++) {
		/* A port's name in quotes: they are JSON's here. */
		if (text[i] == '"')
			continue;
		*p++ = text[i];
	}
	*p++ = '"';
	return p;
}

/* "tcp,in_port=1," -> {"proto": "tcp", "in_port": "1"} */
static char *write_match(char *p, const char *text, const char *end)
{
	*p++ = '{';
	for (const char *at = text; at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *equals = memchr(at, '=', (size_t)(comma - at));

		if (at > text)
			p = write_str(p, ", ");
		if (equals) {
			p = write_str(write_quoted(p, at, (size_t)(equals - at)), ": ");
			p = write_quoted(p, equals + 1, (size_t)(comma - equals - 1));
		} else {
			p = write_str(p, "\"proto\": ");
			p = write_quoted(p, at, (size_t)(comma - at));
		}
		at = comma + 1;
	}
	*p++ = '}';
	return p;
}

/* "dec_ttl,output:2" -> ["dec_ttl", "output:2"] */
static char *write_list(char *p, const char *text, const char *end)
{
	*p++ = '[';
	while (text < end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));

		if (!comma)
			comma = end;
		p = write_quoted(p, text, (size_t)(comma - text));
		text = comma + 1;
		if (text < end)
			p = write_str(p, ", ");
	}
	*p++ = ']';
	return p;
}

void rules_print_json(const struct flow_table *t, const struct flow_rule *rule,
		      const struct rules_format *format, struct buffer *out)
{
	char text[PRINT_RULE_BYTES(FLOW_ACTIONS_MAX)], *end;
	struct row row;
	char *p;

	get_row(t, rule, format, &row);
	/* Every word may get quotes, a colon and blanks. */
	if (!buffer_reserve(out, HEAD_BYTES + 2 * PRINT_RULE_BYTES(row.actions->n)))
		return;
	p = out->data + out->n;
	p = write_hex_digits(write_str(p, "{\"cookie\": \"0x"), flow_rule_cookie(rule), 1);
	p = write_str(p, "\", ");
	if (format->stats) {
		p = write_seconds(write_str(p, "\"duration_s\": "), row.age_ms);
		p = write_decimal(write_str(p, ", \"n_packets\": "), row.stats.packets);
		p = write_decimal(write_str(p, ", \"n_bytes\": "), row.stats.bytes);
		p = write_str(p, ", ");
	}
	p = write_decimal(write_str(p, "\"priority\": "), flow_rule_priority(rule));
	p = write_decimal(write_str(p, ", \"idle_timeout\": "), flow_rule_idle_timeout_s(rule));
	p = write_decimal(write_str(p, ", \"hard_timeout\": "), flow_rule_hard_timeout_s(rule));
	end = print_match(text, &row.key, row.mask, format);
	p = write_match(write_str(p, ", \"match\": "), text, end);
	end = print_actions(text, row.actions->action, row.actions->n, &row.key, row.mask, format);
	p = write_list(write_str(p, ", \"actions\": "), text, end);
	p = write_str(p, "}\n");
	*p = 0;
	out->n = (size_t)(p - out->data);
}

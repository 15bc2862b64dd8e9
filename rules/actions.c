/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/actions.h"

#include <stdio.h>
#include <string.h>

#include "lib/bits.h"
#include "rules/match.h"
#include "rules/names.h"

#define TPID_CUSTOMER 0x8100
#define TPID_SERVICE 0x88a8

struct action {
	const char *name;
	/* Reads what is behind the name and the ':'. */
	bool (*read)(struct draft *d, const struct action *a, const char *at);
	uint8_t type;		/* enum flow_action_type */
	uint8_t field;		/* enum field_id: what it sets */
	bool alone;		/* no value */
};

/* A new one at the end of the list, for the word at @at. NULL when the list is full. */
static struct flow_action *append(struct draft *d, const char *at, uint16_t type)
{
	struct flow_spec *spec = d->spec;
	struct flow_action *a;

	if (spec->n_actions == FLOW_ACTIONS_MAX) {
		scan_fail(&d->scan, at, "actions: too many, allowed: %d", FLOW_ACTIONS_MAX);
		return NULL;
	}
	a = &spec->action[spec->n_actions++];
	*a = (struct flow_action){.type = type};
	return a;
}

static bool read_plain(struct draft *d, const struct action *a, const char *at)
{
	if (a->type == FLOW_POP_VLAN)
		d->given &= ~(uint32_t)NEED_TAG;
	return append(d, at, a->type);
}

static bool read_drop(struct draft *d, const struct action *a, const char *at)
{
	scan_skip_separators(&d->scan);
	if (d->spec->n_actions || (d->scan.at < d->scan.end && *d->scan.at != '#'))
		return scan_fail(&d->scan, at, "drop: in a list, allowed: alone");
	return true;
}

static bool read_output(struct draft *d, const struct action *a, const char *at)
{
	struct flow_action *action;
	uint16_t egress;

	if (!match_port(d, a->name, &egress) || !scan_end_of(&d->scan, a->name, at))
		return false;
	action = append(d, at, FLOW_OUTPUT);
	if (!action)
		return false;
	action->arg = egress;
	return true;
}

static bool read_push_vlan(struct draft *d, const struct action *a, const char *at)
{
	const char *start = d->scan.at;
	struct flow_action *action;
	uint64_t tpid;

	if (!scan_number(&d->scan, a->name, UINT16_MAX, &tpid) ||
	    !scan_end_of(&d->scan, a->name, start))
		return false;
	if (tpid != TPID_CUSTOMER && tpid != TPID_SERVICE)
		return scan_fail(&d->scan, start,
				 "push_vlan: 0x%x is no tag, allowed: 0x8100, 0x88a8",
				 (unsigned int)tpid);
	action = append(d, at, FLOW_PUSH_VLAN);
	if (!action)
		return false;
	action->arg = (uint16_t)tpid;
	d->given |= NEED_TAG;
	return true;
}

/* Appends the setting of field @f to what it is in @key. */
static bool set(struct draft *d, const struct field *f, const struct flow_key *key, const char *at)
{
	const uint8_t *value = (const uint8_t *)key + f->offset;
	struct flow_action *a = append(d, at, f->set);

	if (!a)
		return false;
	switch (f->set) {
	case FLOW_SET_VLAN_VID:
	case FLOW_SET_VLAN_PCP:
		a->arg = f->set == FLOW_SET_VLAN_VID ? key->vlan_tci & 0xfff : key->vlan_tci >> 13;
		d->given |= NEED_TAG;
		break;
	case FLOW_SET_TUNNEL:
		a->value[0] = key->tun_id;
		break;
	case FLOW_SET_NW_DSCP:
		a->arg = key->nw_tos >> 2;
		break;
	case FLOW_SET_NW_ECN:
	case FLOW_SET_NW_TTL:
	case FLOW_SET_ARP_OP:
		a->arg = *value;
		break;
	case FLOW_SET_TP_SRC:
	case FLOW_SET_ICMP_TYPE:
		a->arg = key->tp_src;
		break;
	case FLOW_SET_TP_DST:
	case FLOW_SET_ICMP_CODE:
		a->arg = key->tp_dst;
		break;
	default:
		memcpy(a->byte, value, f->bytes);
	}
	return true;
}

/* A value of @f between d->scan.at and @end. */
static bool read_value(struct draft *d, const struct field *f, const char *end,
		       struct flow_key *key)
{
	struct flow_spec spec;
	struct draft value;
	bool is_vid;

	memset(&spec, 0, offsetof(struct flow_spec, action));
	value.scan = (struct scan){
		.begin = d->scan.begin, .at = d->scan.at, .end = end, .error = d->scan.error};
	value.ports = d->ports;
	value.spec = &spec;
	value.where[field_id(f)] = d->scan.at;
	/* Parts of a field cannot be set. */
	for (const char *p = d->scan.at; p < end; p++)
		if (*p == '/')
			return scan_fail(&d->scan, p,
					 "%s: a mask where a value is set, allowed: "
					 "a whole value",
					 f->name);
	/* A VLAN id to set is a number: vlan_vid's comes with 0x1000 and without, and there is no
	 * 0xffff for "no tag". */
	is_vid = f == &fields[FIELD_VLAN_VID] || f == &fields[FIELD_DL_VLAN];
	if (!(is_vid ? match_number : f->read)(&value, f))
		return false;
	*key = spec.key;
	return true;
}

/* mod_tp_dst:80. Where the packet has no such field, the data plane leaves it alone. */
static bool read_mod(struct draft *d, const struct action *a, const char *at)
{
	const struct field *f = &fields[a->field];
	const char *end = scan_word_end(&d->scan, d->scan.at);
	struct flow_key key;

	if (!read_value(d, f, end, &key))
		return false;
	d->scan.at = end;
	return set(d, f, &key, at);
}

/* The field behind the arrow of set_field and load, which may be set in this rule. NULL when it is
 * none. */
static const struct field *find_target(struct draft *d, const char *name, size_t n)
{
	int id = name_field(name, n, d->scan.end);
	const struct field *f;
	uint32_t needs;
	char text[128];

	if (id < 0)
		id = name_nxm(name, n);
	if (id < 0 || !fields[id].set) {
		scan_fail(&d->scan, name, "\"%.*s\" cannot be set (docs/flows.md has what can)",
			  (int)min_of(n, (size_t)40), name);
		return NULL;
	}
	f = &fields[id];
	needs = f->set == FLOW_SET_VLAN_VID || f->set == FLOW_SET_VLAN_PCP ? NEED_TAG : f->needs;
	if (!needs || d->given & needs)
		return f;
	field_needs_text(needs, text, sizeof(text));
	scan_fail(&d->scan, name, "%.*s needs %s in the same rule", (int)n, name, text);
	return NULL;
}

/* VALUE->FIELD: where the arrow is. */
static const char *find_arrow(struct draft *d, const char *what)
{
	const char *p = d->scan.at, *end = scan_word_end(&d->scan, p);

	for (; end - p >= 2; p++)
		if (p[0] == '-' && p[1] == '>')
			return p;
	scan_fail(&d->scan, d->scan.at, "%s: no \"->\", allowed: VALUE->FIELD", what);
	return NULL;
}

static bool read_set_field(struct draft *d, const struct action *a, const char *at)
{
	const char *arrow = find_arrow(d, a->name), *end;
	const struct field *f;
	struct flow_key key;

	if (!arrow)
		return false;
	end = scan_word_end(&d->scan, arrow);
	f = find_target(d, arrow + 2, (size_t)(end - arrow - 2));
	if (!f || !read_value(d, f, arrow, &key))
		return false;
	d->scan.at = end;
	return set(d, f, &key, at);
}

/* NUMBER->FIELD[] as Open vSwitch dumps it, or NUMBER->FIELD[LOW..HIGH] with the given range. */
static const struct field *read_load_part(struct draft *d, uint64_t *value, const char *range)
{
	struct scan *s = &d->scan;
	const char *arrow = find_arrow(d, "load"), *end, *bracket;
	const struct field *f;
	struct scan number;

	if (!arrow)
		return NULL;
	number = *s;
	number.end = arrow;
	end = scan_word_end(s, arrow);
	bracket = memchr(arrow, '[', (size_t)(end - arrow));
	if (!scan_number(&number, "load", UINT64_MAX, value) ||
	    !scan_end_of(&number, "load", s->at))
		return NULL;
	if (!bracket)
		bracket = end;
	f = find_target(d, arrow + 2, (size_t)(bracket - arrow - 2));
	if (!f)
		return NULL;
	if (!range)
		range = f->bytes == 16 ? "[0..63]" : "[]";
	if ((size_t)(end - bracket) != strlen(range) || memcmp(bracket, range, strlen(range))) {
		scan_fail(s, bracket, "load: part of %s, allowed: %s%s", f->name, range,
			  f->bytes == 16 ? ", the other half behind it" : "");
		return NULL;
	}
	s->at = end;
	return f;
}

/* A field of two words comes in two parts, one right behind the other. */
static const struct field *read_second_half(struct draft *d, const struct field *f, uint64_t *value)
{
	const char *start = d->scan.at;
	const struct field *second;

	scan_skip_separators(&d->scan);
	if (d->scan.end - d->scan.at < 5 || memcmp(d->scan.at, "load:", 5)) {
		scan_fail(&d->scan, start, "load: half of %s, allowed: both", f->name);
		return NULL;
	}
	d->scan.at += 5;
	start = d->scan.at;
	second = read_load_part(d, value, "[64..127]");
	if (second && second != f) {
		scan_fail(&d->scan, start, "load: half of %s, allowed: both", f->name);
		return NULL;
	}
	return second;
}

static bool read_load(struct draft *d, const struct action *a, const char *at)
{
	const char *start = d->scan.at;
	uint64_t low, high = 0;
	const struct field *f = read_load_part(d, &low, NULL);
	uint32_t bits = f && f->bits ? f->bits : f && f->bytes < 8 ? f->bytes * 8 : 64;
	struct flow_key key = {0};
	uint8_t *value;

	if (!f || (f->bytes == 16 && !read_second_half(d, f, &high)))
		return false;
	if (bits < 64 && low >> bits)
		return scan_fail(&d->scan, start, "load: too large, allowed: 0..0x%llx",
				 (1ull << bits) - 1);
	value = (uint8_t *)&key + f->offset;
	if (f->bytes > 4 || f->read == match_ip)
		for (unsigned int i = 0; i < f->bytes; i++)
			value[f->bytes - 1 - i] =
				(uint8_t)(i < 8 ? low >> i * 8 : high >> (i - 8) * 8);
	else if (f->bytes == 4)
		key.tun_id = (uint32_t)low;
	else if (f->bytes == 2)
		*(uint16_t *)value = (uint16_t)(low << f->shift);
	else
		*value = (uint8_t)(low << f->shift);
	return set(d, f, &key, at);
}

static const struct action actions[ACTIONS] = {
	[ACTION_DROP] = {"drop", read_drop, .alone = true},
	[ACTION_OUTPUT] = {.name = "output", .read = read_output},
	[ACTION_NORMAL] = {"normal", read_plain, .type = FLOW_NORMAL, .alone = true},
	[ACTION_FLOOD] = {"flood", read_plain, .type = FLOW_FLOOD, .alone = true},
	[ACTION_ALL] = {"all", read_plain, .type = FLOW_ALL, .alone = true},
	[ACTION_IN_PORT] = {"in_port", read_plain, .type = FLOW_IN_PORT, .alone = true},
	[ACTION_PUSH_VLAN] = {.name = "push_vlan", .read = read_push_vlan},
	[ACTION_POP_VLAN] = {"pop_vlan", read_plain, .type = FLOW_POP_VLAN, .alone = true},
	[ACTION_DEC_TTL] = {"dec_ttl", read_plain, .type = FLOW_DEC_TTL, .alone = true},
	[ACTION_SET_FIELD] = {.name = "set_field", .read = read_set_field},
	[ACTION_LOAD] = {.name = "load", .read = read_load},
	[ACTION_MOD_VLAN_VID] = {"mod_vlan_vid", read_mod, .field = FIELD_DL_VLAN},
	[ACTION_MOD_VLAN_PCP] = {"mod_vlan_pcp", read_mod, .field = FIELD_DL_VLAN_PCP},
	[ACTION_SET_TUNNEL] = {"set_tunnel", read_mod, .field = FIELD_TUN_ID},
	[ACTION_MOD_DL_SRC] = {"mod_dl_src", read_mod, .field = FIELD_DL_SRC},
	[ACTION_MOD_DL_DST] = {"mod_dl_dst", read_mod, .field = FIELD_DL_DST},
	[ACTION_MOD_NW_SRC] = {"mod_nw_src", read_mod, .field = FIELD_NW_SRC},
	[ACTION_MOD_NW_DST] = {"mod_nw_dst", read_mod, .field = FIELD_NW_DST},
	[ACTION_MOD_NW_TOS] = {"mod_nw_tos", read_mod, .field = FIELD_NW_TOS},
	[ACTION_MOD_NW_ECN] = {"mod_nw_ecn", read_mod, .field = FIELD_NW_ECN},
	[ACTION_MOD_NW_TTL] = {"mod_nw_ttl", read_mod, .field = FIELD_NW_TTL},
	[ACTION_MOD_TP_SRC] = {"mod_tp_src", read_mod, .field = FIELD_TP_SRC},
	[ACTION_MOD_TP_DST] = {"mod_tp_dst", read_mod, .field = FIELD_TP_DST},
};

/* A word that is no action: a port, or nothing that we know. */
static bool read_other(struct draft *d, const char *at, size_t n)
{
	const struct action *output = &actions[ACTION_OUTPUT];
	char word[48], text[NAME_BYTES + 1];
	const char *end = scan_word_end(&d->scan, at), *near;

	snprintf(word, sizeof(word), "%.*s", (int)n, at);
	d->scan.at = at;
	if (n && *at >= '0' && *at <= '9')
		return read_output(d, output, at);
	if (name_is_foreign_action(word))
		return scan_fail(&d->scan, at, "%s: not supported (docs/flows.md has what is)",
				 word);
	if (*at == '"' || d->ports->of_name(d->ports->arg, at, (size_t)(end - at)) != EGRESS_NONE)
		return read_output(d, output, at);
	near = name_near_action(word, text);
	if (near)
		return scan_fail(&d->scan, at, "\"%s\" is not known, did you mean %s?", word, near);
	return scan_fail(&d->scan, at,
			 "\"%s\" is neither an action nor a port, allowed: output:PORT, "
			 "normal, drop, ...",
			 word);
}

static bool read_action(struct draft *d)
{
	struct scan *s = &d->scan;
	const char *at = s->at, *p = at;
	const struct action *a;
	int id;

	while (p < s->end && (*p == '_' || (*p >= '0' && *p <= '9') ||
			      ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')))
		p++;
	id = name_action(at, (size_t)(p - at));
	if (id < 0)
		return read_other(d, at, (size_t)(p - at));
	a = &actions[id];
	s->at = p;
	if (a->alone && !scan_is_end(s, p))
		return scan_fail(s, p, "%s: takes no value", a->name);
	if (!a->alone && !scan_take(s, ':') && !scan_take(s, '='))
		return scan_fail(s, p, "%s: a value is missing, allowed: %s:VALUE", a->name,
				 a->name);
	return a->read(d, a, at);
}

bool actions_read(struct draft *d)
{
	struct scan *s = &d->scan;

	for (scan_skip_separators(s); s->at < s->end && *s->at != '#'; scan_skip_separators(s))
		if (!read_action(d))
			return false;
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/match.h"

#include <stdio.h>
#include <string.h>

#include "lib/bits.h"

static bool contradicts(struct draft *d, const struct field *f)
{
	return scan_fail(&d->scan, d->where[field_id(f)],
			 "%s: contradicts what is matched in front of it", f->name);
}

/* Adds the field's bytes to the match. */
static bool join_bytes(struct draft *d, const struct field *f, const uint8_t *value,
		       const uint8_t *mask)
{
	uint8_t *key = (uint8_t *)&d->spec->key + f->offset;
	uint8_t *matched = (uint8_t *)&d->spec->mask + f->offset;
	uint8_t wrong = 0;

	for (size_t i = 0; i < f->bytes; i++) {
		uint8_t v = value[i] & mask[i];

		wrong |= (v ^ key[i]) & mask[i] & matched[i];
		key[i] |= v;
		matched[i] |= mask[i];
	}
	return likely(!wrong) || contradicts(d, f);
}

/* Adds a number in its place in the key. False when it contradicts what is matched there. */
static inline bool put(struct draft *d, const struct field *f, uint32_t value, uint32_t mask)
{
	uint8_t *key = (uint8_t *)&d->spec->key + f->offset;
	uint8_t *matched = (uint8_t *)&d->spec->mask + f->offset;
	uint32_t old = 0, old_mask = 0;

	value = (value & mask) << f->shift | f->plus;
	mask = mask << f->shift | f->plus;
	switch (f->bytes) {
	case 1:
		old = *key;
		old_mask = *matched;
		*key |= (uint8_t)value;
		*matched |= (uint8_t)mask;
		break;
	case 2:
		old = *(uint16_t *)key;
		old_mask = *(uint16_t *)matched;
		*(uint16_t *)key |= (uint16_t)value;
		*(uint16_t *)matched |= (uint16_t)mask;
		break;
	case 4:
		old = *(uint32_t *)key;
		old_mask = *(uint32_t *)matched;
		*(uint32_t *)key |= value;
		*(uint32_t *)matched |= mask;
		break;
	}
	return !((old ^ value) & old_mask & mask);
}

static inline bool join(struct draft *d, const struct field *f, uint32_t value, uint32_t mask)
{
	return likely(put(d, f, value, mask)) || contradicts(d, f);
}

static inline uint32_t all_bits(const struct field *f)
{
	return (uint32_t)(1ull << f->bits) - 1;
}

/* Whether a mask follows. Where none may, the '/' is the end of the value, and refused as that. */
static bool take_slash(struct draft *d, const struct field *f)
{
	return f->masks && scan_take(&d->scan, '/');
}

bool match_number(struct draft *d, const struct field *f)
{
	struct scan *s = &d->scan;
	const char *start = s->at;
	uint64_t value, mask = all_bits(f);

	if (!scan_number(s, f->name, all_bits(f), &value))
		return false;
	/* A mask may be written wider than the field: 0xffffffffffffffff. */
	if (take_slash(d, f) && !scan_number(s, f->name, UINT64_MAX, &mask))
		return false;
	return scan_end_of(s, f->name, start) &&
	       join(d, f, (uint32_t)value, (uint32_t)mask & all_bits(f));
}

/* 0xffff: no tag. */
bool match_vlan(struct draft *d, const struct field *f)
{
	struct scan *s = &d->scan;
	const char *start = s->at;
	uint64_t value;

	if (!scan_number(s, f->name, 0xffff, &value) || !scan_end_of(s, f->name, start))
		return false;
	if (value == 0xffff)
		return put(d, &fields[FIELD_VLAN_TCI], 0, 0xffff) || contradicts(d, f);
	if (value > all_bits(f))
		return scan_fail(s, start,
				 "%s: %u is out of range, allowed: 0..4095, or 0xffff for no tag",
				 f->name, (unsigned int)value);
	return join(d, f, (uint32_t)value, all_bits(f));
}

/* With bit 0x1000: there is a tag. Without it: there is none, whatever the rest says. */
bool match_vid(struct draft *d, const struct field *f)
{
	const char *start = d->scan.at;

	if (!match_number(d, f))
		return false;
	if (d->spec->mask.vlan_tci & FLOW_TCI_PRESENT &&
	    !(d->spec->key.vlan_tci & FLOW_TCI_PRESENT) && d->spec->key.vlan_tci & 0xfff)
		return scan_fail(&d->scan, start,
				 "%s: a VLAN id without 0x1000 matches nothing, "
				 "allowed: 0x%x, or dl_vlan=%u",
				 f->name, FLOW_TCI_PRESENT | d->spec->key.vlan_tci,
				 d->spec->key.vlan_tci & 0xfff);
	return true;
}

/* A byte in a word that others have ports in. */
bool match_icmp(struct draft *d, const struct field *f)
{
	const char *start = d->scan.at;
	uint64_t value;

	return scan_number(&d->scan, f->name, 0xff, &value) &&
	       scan_end_of(&d->scan, f->name, start) && join(d, f, (uint32_t)value, 0xffff);
}

/* The DSCP in its place in the byte. */
bool match_tos(struct draft *d, const struct field *f)
{
	struct scan *s = &d->scan;
	const char *start = s->at;
	uint64_t value;

	if (!scan_number(s, f->name, 0xff, &value) || !scan_end_of(s, f->name, start))
		return false;
	if (value & 3)
		return scan_fail(s, start,
				 "%s: %u has ECN bits, allowed: %u, with nw_ecn=%u beside it",
				 f->name, (unsigned int)value, (unsigned int)value & 0xfc,
				 (unsigned int)value & 3);
	return join(d, f, (uint32_t)value, 0xfc);
}

bool match_mac(struct draft *d, const struct field *f)
{
	uint8_t mac[6], mask[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	const char *start = d->scan.at;

	return scan_mac(&d->scan, f->name, mac) &&
	       (!take_slash(d, f) || scan_mac(&d->scan, f->name, mask)) &&
	       scan_end_of(&d->scan, f->name, start) && join_bytes(d, f, mac, mask);
}

bool match_ip(struct draft *d, const struct field *f)
{
	struct scan *s = &d->scan;
	const char *start = s->at;
	uint8_t ip[16], mask[16];

	if (!(f->bytes == 4 ? scan_ipv4(s, f->name, ip) : scan_ipv6(s, f->name, ip)))
		return false;
	if (!take_slash(d, f))
		memset(mask, 0xff, sizeof(mask));
	else if (!scan_ip_mask(s, f->name, mask, f->bytes))
		return false;
	return scan_end_of(s, f->name, start) && join_bytes(d, f, ip, mask);
}

bool match_frag(struct draft *d, const struct field *f)
{
	static const struct {
		const char *name;
		uint8_t value;
		uint8_t mask;
	} kinds[] = {
		{"no", 0, FLOW_FRAG_ANY | FLOW_FRAG_LATER},
		{"yes", FLOW_FRAG_ANY, FLOW_FRAG_ANY},
		{"first", FLOW_FRAG_ANY, FLOW_FRAG_ANY | FLOW_FRAG_LATER},
		{"later", FLOW_FRAG_ANY | FLOW_FRAG_LATER, FLOW_FRAG_ANY | FLOW_FRAG_LATER},
		{"not_later", 0, FLOW_FRAG_LATER},
	};
	const char *start = d->scan.at, *end = scan_word_end(&d->scan, start);
	size_t n = (size_t)(end - start);

	d->scan.at = end;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, start, n) == 0)
			return join(d, f, kinds[i].value, kinds[i].mask);
	return scan_fail(&d->scan, start,
			 "%s: \"%.*s\" is not allowed here, allowed: no, yes, first, "
			 "later or not_later",
			 f->name, (int)min_of(n, (size_t)40), start);
}

const char *const match_tcp_flag[MATCH_TCP_FLAGS] = {
	"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns", "[200]", "[400]", "[800]"};

static bool read_flag_name(struct draft *d, const struct field *f, uint32_t *bit)
{
	const char *start = d->scan.at, *p = start;

	while (!scan_is_end(&d->scan, p) && *p != '+' && *p != '-' && *p != '|')
		p++;
	for (uint32_t i = 0; i < MATCH_TCP_FLAGS; i++) {
		if (strlen(match_tcp_flag[i]) == (size_t)(p - start) &&
		    memcmp(match_tcp_flag[i], start, (size_t)(p - start)) == 0) {
			*bit = 1u << i;
			d->scan.at = p;
			return true;
		}
	}
	return scan_fail(&d->scan, start,
			 "%s: \"%.*s\" is no flag, allowed: fin, syn, rst, psh, ack, "
			 "urg, ece, cwr, ns, [200], [400], [800]",
			 f->name, (int)min_of(p - start, 40), start);
}

/* "+syn-ack", "syn|ack" (these and no others), or a number with or without a mask. */
bool match_tcp_flags(struct draft *d, const struct field *f)
{
	struct scan *s = &d->scan;
	const char *start = s->at;
	uint32_t value = 0, mask = 0, bit;

	if (start < s->end && *start >= '0' && *start <= '9')
		return match_number(d, f);
	if (start < s->end && (*start == '+' || *start == '-')) {
		while (s->at < s->end && (*s->at == '+' || *s->at == '-')) {
			bool on = *s->at++ == '+';

			if (!read_flag_name(d, f, &bit))
				return false;
			if (mask & bit)
				return scan_fail(s, start, "%s: one flag twice, allowed: once",
						 f->name);
			mask |= bit;
			value |= on ? bit : 0;
		}
	} else {
		mask = all_bits(f);
		do {
			if (!read_flag_name(d, f, &bit))
				return false;
			value |= bit;
		} while (scan_take(s, '|'));
	}
	return scan_end_of(s, f->name, start) && join(d, f, value, mask);
}

static bool fail_port(struct draft *d, const char *what, const char *start, size_t n)
{
	static const char *const reserved[] = {"local", "controller", "table", "normal", "flood",
					       "all",   "none",       "any",   "unset",  "in_port"};
	char word[48];

	snprintf(word, sizeof(word), "%.*s", (int)n, start);
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (strcasecmp(word, reserved[i]) == 0)
			return scan_fail(&d->scan, start,
					 "%s: %s is not supported, allowed: a port or a tunnel",
					 what, word);
	if (n == 0)
		return scan_fail(&d->scan, start,
				 "%s: a value is missing, allowed: a port's number or "
				 "name, a tunnel's number or VTEP",
				 what);
	return scan_fail(&d->scan, start,
			 "%s: no port %s that rules may use, allowed: a port's number "
			 "or name, a tunnel's number or VTEP",
			 what, word);
}

bool match_port(struct draft *d, const char *what, uint16_t *egress)
{
	struct scan *s = &d->scan;
	const char *start = s->at, *p = start, *end;
	bool quoted = scan_take(s, '"');
	uint32_t number = 0;

	*egress = EGRESS_NONE;
	if (quoted) {
		p = start = s->at;
		end = memchr(start, '"', (size_t)(s->end - start));
		if (!end)
			return scan_fail(s, start - 1, "%s: a quote that does not end", what);
	} else {
		while (p < s->end && *p >= '0' && *p <= '9' && p - start < 9)
			number = number * 10 + (uint32_t)(*p++ - '0');
		end = scan_word_end(s, p);
	}
	s->at = end + quoted;
	if (!quoted && p == end && p > start)
		*egress = d->ports->of_number(d->ports->arg, number);
	if (*egress == EGRESS_NONE && end > start)
		*egress = d->ports->of_name(d->ports->arg, start, (size_t)(end - start));
	return *egress != EGRESS_NONE || fail_port(d, what, start, (size_t)(end - start));
}

bool match_in_port(struct draft *d, const struct field *f)
{
	const char *start = d->scan.at;
	uint16_t egress;

	return match_port(d, f->name, &egress) && scan_end_of(&d->scan, f->name, start) &&
	       join(d, f, egress, all_bits(f));
}

bool match_word(struct draft *d, const struct field *f)
{
	if (!put(d, &fields[FIELD_DL_TYPE], f->dl_type, 0xffff) ||
	    (f->nw_proto && !put(d, &fields[FIELD_NW_PROTO], f->nw_proto, 0xff)))
		return contradicts(d, f);
	return true;
}

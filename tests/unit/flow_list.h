/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow rules as a list that is searched from its beginning to its end: what the flow table is
 * compared with. Masks come from a small pool and words take few values, so that rules match the
 * same packets, replace each other and come back.
 */
#ifndef TESTS_UNIT_FLOW_LIST_H
#define TESTS_UNIT_FLOW_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "dataplane/flow_table.h"
#include "tests/unit/random.h"

#define LIST_RULES 4096
#define LIST_MASKS 24

struct list_rule {
	struct flow_key key, mask;
	uint64_t cookie;		/* different for all rules ever, but for those that say the
					 * same again */
	uint16_t priority;
	uint16_t idle_timeout_s;
	uint16_t output;
	/* of the one in the table */
	uint32_t id, life;
	uint64_t packets;
};

struct list {
	uint32_t n;
	struct list_rule rule[LIST_RULES];
};

static struct flow_key list_mask[LIST_MASKS];

static inline void list_set_word(struct flow_key *key, uint32_t i, uint32_t v)
{
	memcpy((uint8_t *)key + 4 * i, &v, sizeof(v));
}

static inline uint32_t list_word(const struct flow_key *key, uint32_t i)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)key + 4 * i, sizeof(v));
	return v;
}

static inline struct flow_key list_masked(const struct flow_key *key, const struct flow_key *mask)
{
	struct flow_key masked;

	for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++)
		list_set_word(&masked, i, list_word(key, i) & list_word(mask, i));
	return masked;
}

static inline bool list_matches(const struct list_rule *rule, const struct flow_key *key)
{
	for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++)
		if ((list_word(key, i) & list_word(&rule->mask, i)) != list_word(&rule->key, i))
			return false;
	return true;
}

/* The first mask is empty, the second a five-tuple, the third all of the key. */
static inline void list_init_masks(void)
{
	static const uint32_t part[] = {UINT32_MAX, 0xffff, 0xff00ff00, 0x80};

	memset(list_mask, 0, sizeof(list_mask));
	for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++)
		list_set_word(&list_mask[2], i, UINT32_MAX);
	list_mask[1] = (struct flow_key){.dl_type = UINT16_MAX, .nw_proto = UINT8_MAX,
					 .tp_src = UINT16_MAX, .tp_dst = UINT16_MAX};
	memset(list_mask[1].src, 255, 4);
	memset(list_mask[1].dst, 255, 4);
	for (uint32_t m = 3; m < LIST_MASKS; m++)
		for (uint32_t n = 1 + random_below(m < 12 ? 4 : FLOW_KEY_WORDS); n--;)
			list_set_word(&list_mask[m], random_below(FLOW_KEY_WORDS),
				      part[random_below(4)]);
}

static inline struct flow_key list_random_key(void)
{
	struct flow_key key;

	for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++)
		list_set_word(&key, i, (random_below(8) ? 1 : 1 + random_below(3)) * 0x81818181u);
	return key;
}

/* One that a rule matches, as often as not. */
static inline struct flow_key list_packet(const struct list *list)
{
	struct flow_key key = list_random_key();
	const struct list_rule *rule;

	if (!list->n || random_below(4) == 0)
		return key;
	rule = &list->rule[random_below(list->n)];
	for (uint32_t i = 0; i < FLOW_KEY_WORDS; i++)
		list_set_word(&key, i, (list_word(&key, i) & ~list_word(&rule->mask, i)) |
					       list_word(&rule->key, i));
	return key;
}

static inline struct list_rule list_random_rule(void)
{
	static uint64_t cookie;
	struct list_rule rule = {.mask = list_mask[random_below(LIST_MASKS)],
				 .cookie = ++cookie,
				 .priority = (uint16_t)(random_below(4) * random_below(3)),
				 .idle_timeout_s = (uint16_t)random_below(3),
				 .output = (uint16_t)random_below(300)};
	struct flow_key key = list_random_key();

	rule.key = list_masked(&key, &rule.mask);
	return rule;
}

/* Some lists are normal's, some empty, the others have two actions. */
static inline void list_spec(const struct list_rule *rule, struct flow_spec *spec)
{
	memset(spec, 0, sizeof(*spec));
	spec->key = rule->key;
	spec->mask = rule->mask;
	spec->cookie = rule->cookie;
	spec->priority = rule->priority;
	spec->idle_timeout_s = rule->idle_timeout_s;
	if (rule->output % 10 == 0)
		return;
	spec->n_actions = rule->output % 10 == 1 ? 1 : 2;
	spec->action[0].type = FLOW_NORMAL;
	if (spec->n_actions == 1)
		return;
	spec->action[0].type = FLOW_DEC_TTL;
	spec->action[1].type = FLOW_OUTPUT;
	spec->action[1].arg = rule->output;
}

/* The one with the same match and priority, or NULL. */
static inline struct list_rule *list_find(struct list *list, const struct list_rule *rule)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct list_rule *r = &list->rule[i];

		if (r->priority == rule->priority &&
		    !memcmp(&r->key, &rule->key, sizeof(r->key)) &&
		    !memcmp(&r->mask, &rule->mask, sizeof(r->mask)))
			return r;
	}
	return NULL;
}

static inline struct list_rule *list_find_cookie(struct list *list, uint64_t cookie)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->rule[i].cookie == cookie)
			return &list->rule[i];
	return NULL;
}

static inline void list_remove(struct list *list, struct list_rule *rule)
{
	*rule = list->rule[--list->n];
}

/* True: it took another one's place. */
static inline bool list_add(struct list *list, const struct list_rule *rule)
{
	struct list_rule *old = list_find(list, rule);

	assert(old || list->n < LIST_RULES);
	*(old ? old : &list->rule[list->n++]) = *rule;
	return old;
}

/* The highest priority that matches, or -1. */
static inline int list_best(const struct list *list, const struct flow_key *key)
{
	int best = -1;

	for (uint32_t i = 0; i < list->n; i++)
		if (list->rule[i].priority > best && list_matches(&list->rule[i], key))
			best = list->rule[i].priority;
	return best;
}

#endif

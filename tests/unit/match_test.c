/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stage, its cache and its counters against a list of rules that is gone through from the
 * beginning for every packet, while rules come and go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "dataplane/flow_table.h"
#include "lib/rcu.h"
#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define N_PORTS 4
#define N_VLANS 4		/* of each port; VLAN v of port p is network 1 + 4 * p + v */
#define RULES_MAX 300

struct flow {
	uint16_t port;
	uint16_t vlan;
	uint32_t src;
	uint32_t dst;
	uint16_t tp_src;
	uint16_t tp_dst;
	uint8_t ttl;
	uint8_t mac;		/* last byte of the source MAC */
};

/* A rule of the list, and what it should have counted. */
struct listed {
	struct flow_spec spec;
	struct flow_stats stats;
	uint32_t id;
};

struct world {
	struct bed *bed;
	struct flow_table *table;
	uint32_t n_rules;
	struct listed rule[RULES_MAX];
};

static struct world *world_create(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->bed = bed_create(BURST_MAX);
	w->table = bed_flows(w->bed);
	for (uint16_t port = 0; port < N_PORTS; port++)
		for (uint16_t vlan = 0; vlan < N_VLANS; vlan++)
			bed_tagged(w->bed, port, 100 + vlan, 1 + port * N_VLANS + vlan);
	return w;
}

static void world_destroy(struct world *w)
{
	bed_destroy(w->bed);
	free(w);
}

static void receive(struct world *w, const struct flow *f)
{
	uint8_t frame[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, f->mac, 0x81, 0,
			     0, (uint8_t)(100 + f->vlan), 8, 0, 0x45};
	uint8_t *ip = frame + 18;

	put_be16(ip + 2, 28);
	ip[8] = f->ttl;
	ip[9] = 17;
	put_be32(ip + 12, f->src);
	put_be32(ip + 16, f->dst);
	put_be16(ip + 20, f->tp_src);
	put_be16(ip + 22, f->tp_dst);
	bed_receive(w->bed, f->port, frame, sizeof(frame));
}

static bool matches(const struct flow_spec *spec, const struct flow_key *key)
{
	const uint8_t *k = (const uint8_t *)key, *rule = (const uint8_t *)&spec->key;
	const uint8_t *mask = (const uint8_t *)&spec->mask;

	for (size_t i = 0; i < sizeof(*key); i++)
		if ((k[i] ^ rule[i]) & mask[i])
			return false;
	return true;
}

static struct listed *listed_by_id(struct world *w, uint32_t id)
{
	for (uint32_t i = 0; i < w->n_rules; i++)
		if (w->rule[i].id == id)
			return &w->rule[i];
	return NULL;
}

/* Of several rules with the best priority it may be any. */
static void check_packet(struct world *w, const struct packet *p)
{
	struct listed *found = listed_by_id(w, p->rule);
	const struct flow_actions *actions = flow_table_actions(w->table, p->actions);
	struct flow_key key;
	int best = -1;

	flow_key_of(&w->bed->lane, p, &key);
	for (uint32_t i = 0; i < w->n_rules; i++)
		if (matches(&w->rule[i].spec, &key))
			best = max_of(best, (int)w->rule[i].spec.priority);
	if (best < 0) {
		assert_int_equal(p->rule, FLOW_NONE);
		assert_int_equal(p->actions, FLOW_LIST_NORMAL);
		return;
	}
	assert_non_null(found);
	assert_true(matches(&found->spec, &key));
	assert_int_equal(found->spec.priority, best);
	assert_int_equal(actions->n, found->spec.n_actions);
	assert_memory_equal(actions->action, found->spec.action,
			    actions->n * sizeof(actions->action[0]));
	found->stats.packets++;
	found->stats.bytes += p->len;
}

/* What was received goes through the stages up to match. */
static void run_burst(struct world *w)
{
	struct burst *burst = &w->bed->burst;

	parse(&w->bed->lane, burst);
	classify(&w->bed->lane, burst);
	match(&w->bed->lane, burst);
	for (uint32_t i = 0; i < burst->n; i++) {
		assert_int_equal(burst->packet[i].drop, DROP_NONE);
		check_packet(w, &burst->packet[i]);
	}
	bed_transmit(w->bed, burst);
	rcu_quiescent_state();
}

static void check_stats(const struct world *w, const struct listed *r)
{
	const struct flow_rule *rule = flow_table_get(w->table, r->id);
	struct flow_stats stats;

	assert_non_null(rule);
	flow_rule_stats(w->table, rule, &stats);
	assert_int_equal(stats.packets, r->stats.packets);
	assert_int_equal(stats.bytes, r->stats.bytes);
}

static void check_all_stats(const struct world *w)
{
	assert_int_equal(flow_table_count(w->table), w->n_rules);
	for (uint32_t i = 0; i < w->n_rules; i++)
		check_stats(w, &w->rule[i]);
}

static bool is_same_rule(const struct flow_spec *a, const struct flow_spec *b)
{
	return a->priority == b->priority && memcmp(&a->key, &b->key, sizeof(a->key)) == 0 &&
	       memcmp(&a->mask, &b->mask, sizeof(a->mask)) == 0;
}

static struct listed *add(struct world *w, const struct flow_spec *spec)
{
	struct listed *r = &w->rule[w->n_rules];

	for (uint32_t i = 0; i < w->n_rules; i++)
		if (is_same_rule(&w->rule[i].spec, spec))
			r = &w->rule[i];
	assert_int_equal(flow_table_add(w->table, spec, 0), r == &w->rule[w->n_rules]);
	w->n_rules += r == &w->rule[w->n_rules];
	assert_true(w->n_rules < RULES_MAX);
	*r = (struct listed){.spec = *spec};
	r->id = flow_rule_id(w->table, flow_table_find(w->table, spec));
	return r;
}

static void del(struct world *w, uint32_t i)
{
	check_stats(w, &w->rule[i]);
	flow_table_remove(w->table, w->rule[i].id);
	w->rule[i] = w->rule[--w->n_rules];
}

/* Few different values everywhere, so that rules and packets meet. */
static struct flow random_flow(void)
{
	return (struct flow){
		.port = (uint16_t)random_below(N_PORTS),
		.vlan = (uint16_t)random_below(N_VLANS),
		.src = 0x0a000000 | random_below(2) << 16 | random_below(8),
		.dst = 0x0a010000 | random_below(2) << 8 | random_below(8),
		.tp_src = (uint16_t)(1024 + random_below(4)),
		.tp_dst = (uint16_t)(53 + random_below(2)),
		.ttl = (uint8_t)(63 + random_below(2)),
		.mac = (uint8_t)(2 + random_below(2)),
	};
}

#define MASK(spec, field, value) \
	((spec)->key.field = (value), \
	 memset(&(spec)->mask.field, 0xff, sizeof((spec)->mask.field)))

static void mask_address(uint8_t *key, uint8_t *mask, uint32_t address, uint32_t bits)
{
	put_be32(mask, 0xffffffff << (32 - bits));
	put_be32(key, address & 0xffffffff << (32 - bits));
}

/* Some fields of a random packet. @n_fields: from the beginning of the list only. */
static struct flow_spec random_rule(uint32_t n_fields)
{
	static const uint32_t bits[] = {32, 32, 24, 16, 31};
	struct flow f = random_flow();
	struct flow_spec spec = {.priority = (uint16_t)random_below(5), .n_actions = 1,
				 .action[0] = {.type = FLOW_OUTPUT,
					       .arg = (uint16_t)random_below(N_PORTS)}};
	uint32_t fields = random_below(1u << n_fields);

	if (fields & 1)
		MASK(&spec, in_port, f.port);
	if (fields & 2)
		mask_address(spec.key.src, spec.mask.src, f.src, bits[random_below(5)]);
	if (fields & 4)
		mask_address(spec.key.dst, spec.mask.dst, f.dst, bits[random_below(5)]);
	if (fields & 8)
		MASK(&spec, tp_dst, f.tp_dst);
	if (fields & 16)
		MASK(&spec, tp_src, f.tp_src);
	if (fields & 32)
		MASK(&spec, vlan_tci, (uint16_t)((100 + f.vlan) | FLOW_TCI_PRESENT));
	if (fields & 64)
		MASK(&spec, nw_ttl, f.ttl);
	if (fields & 128)
		MASK(&spec, dl_src[5], f.mac);
	return spec;
}

static void random_burst(struct world *w)
{
	for (uint32_t n = 1 + random_below(BURST_MAX); n > 0; n--) {
		struct flow f = random_flow();

		receive(w, &f);
	}
	run_burst(w);
}

static void change(struct world *w, uint32_t n_fields)
{
	struct flow_spec spec = random_rule(n_fields);

	if (w->n_rules && random_below(RULES_MAX - 50) < w->n_rules)
		del(w, random_below(w->n_rules));
	else
		add(w, &spec);
}

/* Rules by one, in waves: many, few, none. */
static void against_list(void **state)
{
	random_init("match against_list");
	for (int round = 0; round < 10; round++) {
		struct world *w = world_create();
		uint32_t n_fields = 1 + random_below(8);

		for (int step = 0; step < 1000; step++) {
			for (uint32_t n = random_below(4); n > 0; n--)
				change(w, n_fields);
			if (random_below(400) == 0)
				while (w->n_rules)
					del(w, w->n_rules - 1);
			flow_table_tidy(w->table);
			random_burst(w);
		}
		check_all_stats(w);
		world_destroy(w);
	}
}

static void commit(struct flow_change *change, struct flow_change_counts *counts)
{
	while (flow_change_commit(change, 50, counts))
		rcu_quiescent_state();
	flow_change_free(change);
}

/* All rules at once, with packets between the steps: before it takes effect all old ones, then all
 * new ones. */
static void replaced(void **state)
{
	struct world *w = world_create();

	random_init("match replaced");
	for (int round = 0; round < 100; round++) {
		uint32_t n = random_below(100);
		struct flow_change_counts counts;
		struct flow_change *change_;
		struct listed *rules = calloc(n + 1, sizeof(*rules));

		assert_non_null(rules);
		assert_int_equal(flow_change_begin(w->table, FLOW_CHANGE_REPLACE, &change_), 0);
		for (uint32_t i = 0; i < n; i++) {
			rules[i].spec = random_rule(8);
			/* one that is named once, and none that stays */
			rules[i].spec.priority = (uint16_t)(i % 5);
			rules[i].spec.cookie = (uint64_t)round * 1000 + i;
			assert_int_equal(flow_change_add(change_, &rules[i].spec, 0), 0);
			if (i % 10 == 0)
				random_burst(w);
		}
		check_all_stats(w);
		commit(change_, &counts);
		w->n_rules = 0;
		for (uint32_t i = 0; i < n; i++) {
			struct listed *r = &w->rule[w->n_rules];

			for (uint32_t k = 0; k < w->n_rules; k++)
				if (is_same_rule(&w->rule[k].spec, &rules[i].spec))
					r = &w->rule[k];
			w->n_rules += r == &w->rule[w->n_rules];
			*r = rules[i];
		}
		for (uint32_t i = 0; i < w->n_rules; i++)
			w->rule[i].id = flow_rule_id(w->table,
						     flow_table_find(w->table, &w->rule[i].spec));
		free(rules);
		for (int i = 0; i < 5; i++)
			random_burst(w);
		check_all_stats(w);
	}
	world_destroy(w);
}

static struct flow numbered(uint32_t i)
{
	return (struct flow){.src = 0x0a000000 + i, .dst = 0x0a800001, .tp_src = 1, .tp_dst = 2,
			     .ttl = 64, .mac = 2};
}

/* More flows than the cache has room for, and from the beginning again. */
static void receive_many(struct world *w)
{
	for (uint32_t i = 0; i < 2 * FLOW_CACHE_ENTRIES; i++) {
		struct flow f = numbered(i % (FLOW_CACHE_ENTRIES * 5 / 4));

		receive(w, &f);
		if (w->bed->burst.n == BURST_MAX)
			run_burst(w);
	}
}

/* With short entries, and with long ones. */
static void overflow(void **state)
{
	struct world *w = world_create();
	struct flow_spec spec = {.n_actions = 1}, all = {.n_actions = 1};

	for (uint32_t i = 0; i < 8; i++) {
		spec.priority = (uint16_t)(i % 3);
		mask_address(spec.key.src, spec.mask.src, 0x0a000000 + i * 40000, 19);
		add(w, &spec);
	}
	receive_many(w);
	memset(&all.mask, 0xff, sizeof(all.mask));
	add(w, &all);
	receive_many(w);
	check_all_stats(w);
	world_destroy(w);
}

static void receive_some(struct world *w)
{
	for (uint32_t i = 0; i < 1000; i++) {
		struct flow f = numbered(i);

		f.ttl = (uint8_t)(60 + i % 5);
		receive(w, &f);
		if (w->bed->burst.n == 50)
			run_burst(w);
	}
}

/* Rules that look at all of the key come and go: entries become longer. */
static void words_come(void **state)
{
	struct world *w = world_create();
	struct flow_spec few = {.priority = 1, .n_actions = 1};
	struct flow_spec all = {.priority = 2, .n_actions = 1};
	struct flow f = numbered(7);

	mask_address(few.key.src, few.mask.src, 0x0a000000, 8);
	memset(&all.mask, 0xff, sizeof(all.mask));
	f.ttl = 62;
	receive(w, &f);
	parse(&w->bed->lane, &w->bed->burst);
	classify(&w->bed->lane, &w->bed->burst);
	flow_key_of(&w->bed->lane, &w->bed->burst.packet[0], &all.key);
	bed_transmit(w->bed, &w->bed->burst);
	add(w, &few);
	receive_some(w);
	assert_int_equal(w->rule[0].stats.packets, 1000);
	for (int round = 0; round < 3; round++) {
		struct listed *r = add(w, &all);

		receive_some(w);
		receive_some(w);
		assert_int_equal(r->stats.packets, 2);
		del(w, 1);
		receive_some(w);
	}
	check_all_stats(w);
	world_destroy(w);
}

static uint32_t look_up(struct world *w, const struct flow_key *key)
{
	static const uint32_t hash;
	struct flow_view view;
	struct flow_hit hit;

	flow_table_view(w->table, &view);
	flow_cache_lookup_burst(w->bed->lane.flow_cache, w->table, &view, key, &hash, 1, &hit);
	return hit.rule;
}

/* All words, and one place for all keys: more than a set has ways. */
static void full_keys(void **state)
{
	struct world *w = world_create();
	struct flow_spec spec = {.n_actions = 1};
	struct flow_key key[40];
	uint32_t id[40] = {0};

	random_init("match full_keys");
	random_bytes((uint8_t *)key, sizeof(key));
	memset(&spec.mask, 0xff, sizeof(spec.mask));
	for (uint32_t i = 0; i < ARRAY_SIZE(key); i++) {
		key[i].in_port = key[i].vlan_tci = key[i].tcp_flags = 1;
		key[i].nw_frag = key[i].nw_ttl = 1;
		key[i].tun_id = 1;
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(key); i += 2) {
		spec.key = key[i];
		id[i] = add(w, &spec)->id;
	}
	for (int round = 0; round < 10000; round++) {
		uint32_t i = random_below(ARRAY_SIZE(key));

		assert_int_equal(look_up(w, &key[i]), id[i]);
	}
	world_destroy(w);
}

/* A word that no rule looks at any more is dropped after a while, and then another word lies where
 * it was. */
static void words_go(void **state)
{
	struct world *w = world_create();
	struct flow_spec dst = {.priority = 2}, src = {.priority = 1}, no_src = {.priority = 1};
	const struct flow_key a = {.dl_dst = {1, 2, 3, 4}}, b = {.dl_src = {0, 0, 1, 2, 3, 4}};
	uint32_t id;

	memset(dst.mask.dl_dst, 0xff, 4);
	memcpy(dst.key.dl_dst, a.dl_dst, 4);
	memset(src.mask.dl_src + 2, 0xff, 4);
	memcpy(src.key.dl_src, b.dl_src, 6);
	no_src.mask = src.mask;
	id = add(w, &src)->id;
	add(w, &no_src);
	add(w, &dst);
	assert_int_equal(look_up(w, &a), w->rule[2].id);
	assert_int_equal(look_up(w, &b), id);
	del(w, 2);
	flow_table_tidy(w->table);
	for (uint32_t i = 0; i < 65 * FLOW_CACHE_ENTRIES; i++)
		assert_int_equal(look_up(w, &a), w->rule[1].id);
	assert_int_equal(look_up(w, &b), id);
	world_destroy(w);
}

/* The same five-tuple in every VLAN of every port, and behind many tunnels: one hash. */
static void same_tuple_elsewhere(void **state)
{
	struct world *w = world_create();
	struct flow_spec spec = {.n_actions = 1};

	for (uint16_t port = 0; port < N_PORTS; port++)
		for (uint16_t vlan = 0; vlan < N_VLANS; vlan++) {
			MASK(&spec, in_port, port);
			MASK(&spec, vlan_tci, (uint16_t)((100 + vlan) | FLOW_TCI_PRESENT));
			add(w, &spec);
		}
	for (int round = 0; round < 3; round++) {
		for (uint16_t i = 0; i < N_PORTS * N_VLANS; i++) {
			struct flow f = numbered(1);

			f.port = i / N_VLANS;
			f.vlan = i % N_VLANS;
			receive(w, &f);
		}
		run_burst(w);
	}
	for (uint32_t i = 0; i < w->n_rules; i++)
		assert_int_equal(w->rule[i].stats.packets, 3);
	check_all_stats(w);
	world_destroy(w);
}

/* Dropped packets and those of no network meet no rule. */
static void not_matched(void **state)
{
	struct world *w = world_create();
	struct flow_spec spec = {.n_actions = 0};
	struct packet *p = w->bed->burst.packet;
	struct flow f = numbered(1);

	add(w, &spec);
	for (int i = 0; i < 3; i++)
		receive(w, &f);
	parse(&w->bed->lane, &w->bed->burst);
	classify(&w->bed->lane, &w->bed->burst);
	drop_packet(&p[0], DROP_RUNT, 0);
	p[1].network = NETWORK_NONE;
	match(&w->bed->lane, &w->bed->burst);
	assert_int_equal(p[0].rule, FLOW_NONE);
	assert_int_equal(p[1].rule, FLOW_NONE);
	assert_int_equal(p[2].rule, w->rule[0].id);
	assert_int_equal(p[2].actions, FLOW_LIST_DROP);
	/* The source port's hash is counted by who uses it. */
	assert_int_equal(w->bed->counters->port[0].hash_soft, 0);
	w->rule[0].stats = (struct flow_stats){1, p[2].len};
	check_all_stats(w);
	bed_transmit(w->bed, &w->bed->burst);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_list), cmocka_unit_test(replaced),
		cmocka_unit_test(overflow),	cmocka_unit_test(words_come),
		cmocka_unit_test(full_keys),	cmocka_unit_test(words_go),
		cmocka_unit_test(not_matched),	cmocka_unit_test(same_tuple_elsewhere),
	};
	int failed;

	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_barrier();
	rcu_unregister_thread();
	return failed;
}

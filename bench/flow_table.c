/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What flow rules cost, on memory: to stage, to replace, one by one, to look up, to keep.
 *
 *   taskset -c 1 build/bench/flow_table [RULES [MASKS [FLOWS]]]
 *
 * Rules are IPv4 five-tuples; masks differ in the lengths of their prefixes, the longer ones have
 * the higher priority. Every flow matches a rule. Times are the thread's CPU time, so that
 * neighbours on the machine disturb little; cycles are core cycles, as in stages.c, and of all
 * bursts the median counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "dataplane/flow_table.h"
#include "lib/bytes.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/rcu.h"

#define BUDGET 4096
#define N_SINGLE 200000
#define SCALE_CHAIN 30000

static uint32_t n_rules = 1000000, n_masks = 1, n_flows = 100000;
static struct flow_table *table;

static void die(const char *what)
{
	fprintf(stderr, "flow_table: %s\n", what);
	exit(1);
}

static uint64_t rss_bytes(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*u %lu", &pages) != 1)
		die("/proc/self/statm");
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void prefix(uint8_t mask[4], uint32_t length)
{
	put_be32(mask, (uint32_t)(UINT64_MAX << (32 - length)));
}

/* Rule @i of set @set. */
static void make_spec(uint32_t i, uint32_t set, struct flow_spec *spec)
{
	uint32_t m = i % n_masks;
	uint64_t a = hash_mix(i, set), b = hash_mix(a, 1);

	memset(spec, 0, offsetof(struct flow_spec, action) + 2 * sizeof(spec->action[0]));
	spec->priority = (uint16_t)(1000 - m);
	spec->mask = (struct flow_key){.dl_type = UINT16_MAX, .nw_proto = UINT8_MAX,
				       .tp_src = UINT16_MAX, .tp_dst = UINT16_MAX};
	prefix(spec->mask.src, 32 - m % 8);
	prefix(spec->mask.dst, 32 - m / 8);
	spec->key = (struct flow_key){.dl_type = 0x800, .nw_proto = 6, .tp_src = (uint16_t)b,
				      .tp_dst = (uint16_t)(b >> 16)};
	put_be32(spec->key.src, (uint32_t)a & get_be32(spec->mask.src));
	put_be32(spec->key.dst, (uint32_t)(a >> 32) & get_be32(spec->mask.dst));
	spec->n_actions = 1;
	spec->action[0].type = FLOW_OUTPUT;
	spec->action[0].arg = (uint16_t)(i % 100);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* How long calls take: all together, and the longest one. */
struct timing {
	uint64_t sum_ns, max_ns;
};

static void note(struct timing *t, uint64_t since_ns)
{
	uint64_t ns = cpu_ns() - since_ns;

	t->sum_ns += ns;
	t->max_ns = max_of(t->max_ns, ns);
}

/* Adds in slices of BUDGET, as a control thread does it. */
static void replace(uint32_t set, const char *what)
{
	struct timing adds = {0}, commits = {0};
	struct flow_change_counts counts;
	struct flow_change *change;
	struct flow_spec spec;
	int more = 1;

	if (flow_change_begin(table, FLOW_CHANGE_REPLACE, &change))
		die("begin");
	for (uint32_t i = 0; i < n_rules;) {
		uint64_t from = cpu_ns();

		for (uint32_t end = min_of(i + BUDGET, n_rules); i < end; i++) {
			make_spec(i, set, &spec);
			if (flow_change_add(change, &spec, set))
				die("add");
		}
		note(&adds, from);
		rcu_quiescent_state();
	}
	while (more) {
		uint64_t from = cpu_ns();

		more = flow_change_commit(change, BUDGET, &counts);
		note(&commits, from);
		rcu_thread_offline();
		usleep(more ? 10 : 0);
		rcu_thread_online();
	}
	flow_change_free(change);
	printf("%-8s %8.1f ms: %6.0f ns an add, %u adds at most %5.2f ms, steps of commit %6.1f "
	       "ms, at most %5.2f ms (+%u -%u =%u)\n",
	       what, (double)(adds.sum_ns + commits.sum_ns) / 1e6,
	       (double)adds.sum_ns / n_rules, BUDGET, (double)adds.max_ns / 1e6,
	       (double)commits.sum_ns / 1e6, (double)commits.max_ns / 1e6, counts.added,
	       counts.removed, counts.kept);
}

static void settle(void)
{
	for (uint32_t i = 0; i < 10 + n_rules / BUDGET; i++)
		flow_table_tidy(table);
	rcu_barrier();
	for (uint32_t i = 0; i < 10 + n_rules / BUDGET; i++)
		flow_table_tidy(table);
}

static void print_bytes(uint64_t before, const char *what)
{
	printf("%-8s %8.1f bytes a rule\n", what, (double)(rss_bytes() - before) / n_rules);
}

static void hit_all(void)
{
	struct flow_cell *cells = flow_table_cells(table, 0);
	struct flow_spec spec;

	for (uint32_t i = 0; i < n_rules; i++) {
		const struct flow_rule *rule;

		make_spec(i, 2, &spec);
		rule = flow_table_find(table, &spec);
		if (!rule)
			die("a rule is not there");
		cells[flow_rule_id(table, rule)].packets++;
	}
}

static void single(void)
{
	static uint32_t id[N_SINGLE];
	struct flow_spec spec;
	uint64_t t0 = cpu_ns(), t1, t2;

	for (uint32_t i = 0; i < N_SINGLE; i++) {
		make_spec(i, 3, &spec);
		if (flow_table_add(table, &spec, t0) != 1)
			die("add");
	}
	t1 = cpu_ns();
	for (uint32_t i = 0; i < N_SINGLE; i++) {
		make_spec(i, 3, &spec);
		id[i] = flow_rule_id(table, flow_table_find(table, &spec));
	}
	t2 = cpu_ns();
	for (uint32_t i = 0; i < N_SINGLE; i++)
		flow_table_remove(table, id[i]);
	printf("single   %8.0f ns an add, %.0f a find, %.0f a remove\n",
	       (double)(t1 - t0) / N_SINGLE, (double)(t2 - t1) / N_SINGLE,
	       (double)(cpu_ns() - t2) / N_SINGLE);
	t0 = cpu_ns();
	for (uint32_t i = 0; i < N_SINGLE; i++) {
		make_spec(i, 4, &spec);
		flow_table_add(table, &spec, t0);
		flow_table_remove(table, flow_rule_id(table, flow_table_find(table, &spec)));
		if (i % 64 == 0) {
			flow_table_tidy(table);
			rcu_quiescent_state();
		}
	}
	printf("churn    %8.0f ns an add, find and remove\n",
	       (double)(cpu_ns() - t0) / N_SINGLE);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double core_per_tsc(void)
{
	uint64_t best = UINT64_MAX, x = 3;

	for (int round = 0; round < 20; round++) {
		uint64_t t = __rdtsc();

		for (int i = 0; i < SCALE_CHAIN; i++)
			__asm__ volatile("imul %0, %0" : "+r"(x));
		best = min_of(best, __rdtsc() - t);
	}
	return 3.0 * SCALE_CHAIN / (double)best;
}

static void print_cycles(const char *what, uint64_t *cycles, uint32_t n)
{
	qsort(cycles, n, sizeof(*cycles), by_value);
	printf("%-8s %8.1f cycles a packet\n", what,
	       (double)cycles[n / 2] / BURST_MAX * core_per_tsc());
}

/* All flows in turn: looked up, and then each hit refreshed while rules come and go: without one
 * that was added, and with one in every subtable. */
static void lookups(void)
{
	uint32_t n_bursts = max_of(n_flows / BURST_MAX, 1u);
	struct flow_key *key = calloc(n_bursts, BURST_MAX * sizeof(*key));
	struct flow_hit *hit = calloc(n_bursts, BURST_MAX * sizeof(*hit));
	uint64_t *cycles = calloc(n_bursts, sizeof(*cycles));
	struct flow_spec spec;
	struct flow_view view;
	uint64_t since[BURST_MAX];

	if (!key || !hit || !cycles)
		die("no memory");
	for (uint32_t i = 0; i < n_bursts * BURST_MAX; i++) {
		make_spec((uint32_t)((uint64_t)i * 7919 % n_rules), 2, &spec);
		key[i] = spec.key;
		key[i].in_port = (uint16_t)i;
	}
	for (int round = 0; round < 3; round++) {
		flow_table_view(table, &view);
		for (uint32_t b = 0; b < n_bursts; b++) {
			uint64_t t = __rdtsc();

			flow_table_lookup_burst(table, &view, key + b * BURST_MAX, UINT64_MAX,
						hit + b * BURST_MAX);
			cycles[b] = __rdtsc() - t;
		}
	}
	print_cycles("lookup", cycles, n_bursts);
	for (uint32_t i = 0; i < n_bursts * BURST_MAX; i++)
		if (!hit[i].rule)
			die("a packet went astray");
	for (int added = 0; added < 2; added++) {
		flow_table_view(table, &view);
		for (uint32_t i = 0; i < BURST_MAX; i++)
			since[i] = view.generation;
		for (uint32_t i = 0; added && i < n_masks; i++) {
			make_spec(i, 5, &spec);
			flow_table_add(table, &spec, 0);
		}
		flow_table_view(table, &view);
		for (uint32_t b = 0; b < n_bursts; b++) {
			uint64_t t = __rdtsc();

			flow_table_refresh_burst(table, &view, since, key + b * BURST_MAX,
						 UINT64_MAX, hit + b * BURST_MAX);
			cycles[b] = __rdtsc() - t;
		}
		print_cycles(added ? "changed" : "refresh", cycles, n_bursts);
	}
	free(key);
	free(hit);
	free(cycles);
}

int main(int argc, char **argv)
{
	uint64_t before;

	if (argc > 1)
		n_rules = max_of(1u, (uint32_t)strtoul(argv[1], NULL, 0));
	if (argc > 2)
		n_masks = min_of(max_of(1u, (uint32_t)strtoul(argv[2], NULL, 0)), 128u);
	if (argc > 3)
		n_flows = (uint32_t)strtoul(argv[3], NULL, 0);
	rcu_register_thread();
	table = flow_table_create(1);
	if (!table)
		die("no memory");
	settle();
	before = rss_bytes();
	replace(1, "load");
	settle();
	print_bytes(before, "loaded");
	replace(2, "replace");
	settle();
	print_bytes(before, "replaced");
	hit_all();
	print_bytes(before, "hit");
	single();
	settle();
	lookups();
	flow_table_destroy(table);
	rcu_unregister_thread();
	return 0;
}

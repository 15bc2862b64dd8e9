/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cycles a packet that each stage of the data plane takes, on memory: no sockets, no tunnels.
 * Bursts of UDP flows between access ports, frames in cache as a copying kernel leaves them.
 *
 *   taskset -c 1 build/bench/stages [-f FLOWS] [-t] [-r RULES [-m MASKS] [-o] [-c CHANGES_PER_S]]
 *                                   [-p FILTER [-R RING_KIB] [-d]]
 *
 * -t: the flows come in tagged. -r: one rule for each flow, until there are none left of either; a
 * single rule is for all flows. -m: in how many masks, each with a priority of its own (1 to 16).
 * -o: rules say output, not normal. -c: another thread adds and removes rules of the last mask
 * meanwhile; give it a core of its own (taskset -c 0,1).
 * -p: the port that frames come in by is captured, those of a pcap filter; of '' all. 1 in 100:
 * 'ip[14:2] % 100 = 7'. -R: a ring of so many KiB, not 4096. -d: another thread reads what was
 * captured, as a capture's thread does; without it the frames are only let go.
 *
 * Cycles are core cycles: the time stamp counter, scaled by bench/scale.h. Of all bursts the median
 * counts. Both so that neighbours on the machine disturb little.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench/scale.h"
#include "capture/tap.h"
#include "dataplane/flow_cache.h"
#include "dataplane/stages.h"
#include "dataplane/vlan.h"
#include "lib/clock.h"
#include "lib/rcu.h"

#define N_PORTS 2
#define N_FRAMES 1024
#define N_BURSTS 20000
#define FRAME_LEN 64

#define N_CHANGED 10000		/* rules that come and go with -c */

enum step { SCALE, TAP_RX, PARSE, CLASSIFY, TAP_IN, MATCH, ACT, LEARN, FORWARD, REPLICATE, RETAG,
	    TAP_OUT, HASH, N_STEPS };
static const char *const step_names[N_STEPS] = {
	"scale", "tap rx", "parse", "classify", "tap in", "match", "act", "learn", "forward",
	"replicate", "retag", "tap out", "hash"};

static struct tables tables;
static struct counters counters;
static struct pool pool;
static struct spsc events;
static struct lane lane = {.tables = &tables, .pool = &pool, .counters = &counters,
			   .learn_events = &events, .now_s = 1, .now_ns = 1000000000};
static struct burst burst, copies;
static uint32_t n_flows = 1000, n_rules, n_masks = 1, changes_per_s;
static bool tagged, outputs, done, drained;
static const char *capture_filter;	/* NULL: no capture */
static uint64_t ring_kib = 4096;
static struct tap tap;
static uint64_t n_drained;

static void die(const char *what)
{
	fprintf(stderr, "stages: %s\n", what);
	exit(1);
}

static struct port_view *make_port(bool with_tag)
{
	struct port_view *port = calloc(1, sizeof(*port));

	if (!port)
		die("no memory");
	port->up = true;
	port->frame_max = 1518;
	port->n_networks = 2;
	port->vid_of_network = calloc(2, sizeof(uint16_t));
	port->network_of_vid = calloc(4096, sizeof(uint16_t));
	if (!port->vid_of_network || !port->network_of_vid)
		die("no memory");
	port->vid_of_network[0] = VID_NONE;
	port->vid_of_network[1] = with_tag ? 100 : VID_UNTAGGED;
	port->network_of_vid[100] = 1;
	port->untagged = with_tag ? NETWORK_NONE : 1;
	return port;
}

static void make_world(void)
{
	static const struct flood_list nobody;
	static const struct network network = {.id = 1, .flood = &nobody};
	uint8_t *area = aligned_alloc(FRAME_BYTES, N_FRAMES * FRAME_BYTES);

	if (!area || pool_init(&pool, area, N_FRAMES) ||
	    spsc_init(&events, 1024, sizeof(struct learn_event)))
		die("no memory");
	tables.network[1] = (struct network *)&network;
	tables.port[0] = make_port(tagged);
	tables.port[1] = make_port(false);
	tables.fdb = fdb_create(2 * n_flows);
	if (!tables.fdb)
		die("no memory");
	for (uint32_t i = 0; i < n_flows; i++) {
		uint8_t mac[6] = {2, 0, 0, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};

		fdb_set(tables.fdb, fdb_key(1, mac), 0, 0, 1);
		mac[1] = 1;
		fdb_set(tables.fdb, fdb_key(1, mac), 1, 0, 1);
	}
}

/* The rule of flow @i: its source address, and what else its mask has. */
static void make_rule(struct flow_spec *spec, uint32_t i)
{
	const uint8_t src[4] = {10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
	uint32_t m = i % n_masks;

	*spec = (struct flow_spec){.priority = (uint16_t)(1000 + m), .n_actions = 1,
				   .action[0].type = outputs ? FLOW_OUTPUT : FLOW_NORMAL,
				   .action[0].arg = outputs};
	spec->key.dl_type = 0x800;
	spec->mask.dl_type = 0xffff;
	if (n_rules == 1)
		return;
	memcpy(spec->key.src, src, 4);
	memset(spec->mask.src, 0xff, 4);
	if (m & 1)
		spec->key.nw_proto = 17, spec->mask.nw_proto = 0xff;
	if (m & 2)
		memcpy(spec->key.dst, (const uint8_t[]){10, 9, 9, 9}, 4),
			memset(spec->mask.dst, 0xff, 4);
	if (m & 4)
		spec->key.tp_src = 1024, spec->mask.tp_src = 0xffff;
	if (m & 8)
		spec->key.tp_dst = 53, spec->mask.tp_dst = 0xffff;
}

static void make_rules(void)
{
	struct flow_spec spec;

	tables.flows = flow_table_create(1);
	lane.flow_cache = flow_cache_create();
	if (!tables.flows || !lane.flow_cache)
		die("no memory");
	lane.flow_cells = flow_table_cells(tables.flows, 0);
	for (uint32_t i = 0; i < n_rules; i++) {
		make_rule(&spec, i);
		if (flow_table_add(tables.flows, &spec, 0) < 0)
			die("no memory");
	}
}

/* Adds and removes rules for addresses that no flow has, one after the other. */
static void *change_rules(void *arg)
{
	uint64_t start_ns, n = 0;
	struct flow_spec spec;

	rcu_register_thread();
	start_ns = clock_ns();
	while (!load_relaxed(&done)) {
		uint32_t i = (uint32_t)(n / 2 % N_CHANGED);

		make_rule(&spec, (1u << 20) * n_masks + i * n_masks + n_masks - 1);
		if (n++ % 2 == 0)
			flow_table_add(tables.flows, &spec, 0);
		else
			flow_table_remove(tables.flows, flow_rule_id(tables.flows,
				flow_table_find(tables.flows, &spec)));
		if (n % 64 == 0)
			flow_table_tidy(tables.flows);
		rcu_quiescent_state();
		while (clock_ns() - start_ns < n * NS_PER_S / changes_per_s)
			;
	}
	printf("%-10s %6.0f /s\n", "changes",
	       (double)n * NS_PER_S / (double)(clock_ns() - start_ns));
	rcu_unregister_thread();
	return NULL;
}

static void make_capture(void)
{
	static struct tap_options options = {.n_sources = 1, .dir = CAPTURE_BOTH, .sample = 1,
					     .snaplen = CAPTURE_SNAPLEN_MAX};
	const struct tap_options *const all_options[CAPTURE_MAX] = {&options};
	struct tap *const all_taps[CAPTURE_MAX] = {&tap};
	struct pcap_filter *filter = NULL;
	char why[256];

	if (*capture_filter && pcap_filter_compile(capture_filter, &filter, why, sizeof(why)))
		die(why);
	options.filter = filter;
	tap.options = &options;
	if (ring_init(&tap.ring, ring_kib * 1024))
		die("no memory for the ring");
	tables.taps = tap_set_create(all_options, all_taps);
	lane.taps = tables.taps;
	if (!lane.taps)
		die("no memory");
}

/* Every line of what there is, once. */
static uint64_t read_records(const struct record *r, const struct record *end)
{
	uint64_t sum = 0;

	for (const uint8_t *at = (const uint8_t *)r; at < (const uint8_t *)end; at += CACHE_LINE)
		sum += *at;
	for (; r < end; r = (const struct record *)((const uint8_t *)r + r->bytes))
		n_drained++;
	return sum;
}

static void *drain_ring(void *arg)
{
	const struct record *r, *end;
	static uint64_t sum;

	while (!load_relaxed(&done)) {
		if (!ring_peek(&tap.ring, &r, &end)) {
			usleep(1000);
			continue;
		}
		store_relaxed(&sum, sum + read_records(r, end));
		ring_release(&tap.ring, (uint64_t)((const uint8_t *)end - (const uint8_t *)r));
	}
	return NULL;
}

static void let_go(void)
{
	const struct record *r, *end;

	if (!drained && ring_peek(&tap.ring, &r, &end))
		ring_release(&tap.ring, (uint64_t)((const uint8_t *)end - (const uint8_t *)r));
}

static void write_frame(uint8_t *d, uint32_t flow)
{
	const uint8_t f[3] = {(uint8_t)(flow >> 16), (uint8_t)(flow >> 8), (uint8_t)flow};
	const uint8_t ip[28] = {0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, f[0], f[1], f[2],
				10,   9, 9, 9,	4, 0, 0, 53};

	memset(d, 0, FRAME_LEN);
	d[0] = d[6] = 2;
	d[1] = 1;
	memcpy(d + 3, f, 3);
	memcpy(d + 9, f, 3);
	if (tagged)
		put_be16(d + 12, TPID_C), put_be16(d + 14, 100), d += 4;
	put_be16(d + 12, 0x800);
	memcpy(d + 14, ip, sizeof(ip));
}

static void make_burst(uint32_t *flow, uint32_t *frame)
{
	burst.n = BURST_MAX;
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		struct packet *p = &burst.packet[i];

		*p = (struct packet){.data = pool_data(&pool, *frame), .len = FRAME_LEN};
		write_frame(p->data, *flow);
		*flow = (*flow + 7919) % n_flows;
		*frame = (*frame + 1) % N_FRAMES;
	}
}

static void hash_all(void)
{
	for (uint32_t i = 0; i < burst.n; i++)
		packet_hash(&lane, &burst.packet[i]);
}

static void run_burst(uint32_t cycles[N_STEPS])
{
	uint64_t t[N_STEPS + 1];

	t[SCALE] = __rdtsc();
	scale_chain();
	t[TAP_RX] = __rdtsc();
	if (unlikely(lane.taps))
		tap_rx(&lane, &burst);
	t[PARSE] = __rdtsc();
	parse(&lane, &burst);
	t[CLASSIFY] = __rdtsc();
	classify(&lane, &burst);
	t[TAP_IN] = __rdtsc();
	if (unlikely(lane.taps))
		tap_in(&lane, &burst);
	t[MATCH] = __rdtsc();
	match(&lane, &burst);
	t[ACT] = __rdtsc();
	while (n_rules && act(&lane, &burst, &copies))
		die("a copy: no rule has two outputs");
	t[LEARN] = __rdtsc();
	learn(&lane, &burst);
	t[FORWARD] = __rdtsc();
	forward(&lane, &burst);
	t[REPLICATE] = __rdtsc();
	while (replicate(&lane, &burst, &copies))
		die("a flood: the FDB does not know its own");
	t[RETAG] = __rdtsc();
	retag(&lane, &burst);
	t[TAP_OUT] = __rdtsc();
	if (unlikely(lane.taps)) {
		tap_out(&lane, &burst);
		tap_publish(&lane);
	}
	t[HASH] = __rdtsc();
	hash_all();
	t[N_STEPS] = __rdtsc();
	for (int i = 0; i < N_STEPS; i++)
		cycles[i] = (uint32_t)(t[i + 1] - t[i]);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static double median_of(const uint32_t (*cycles)[N_STEPS], int step)
{
	static uint32_t sorted[N_BURSTS];

	for (uint32_t i = 0; i < N_BURSTS; i++)
		sorted[i] = cycles[i][step];
	qsort(sorted, N_BURSTS, sizeof(sorted[0]), by_value);
	return (double)sorted[N_BURSTS / 2] / BURST_MAX;
}

static void read_options(int argc, char **argv)
{
	for (int c; (c = getopt(argc, argv, "f:tr:m:oc:p:R:d")) != -1;) {
		uint32_t n = optarg ? (uint32_t)strtoul(optarg, NULL, 0) : 0;

		switch (c) {
		case 'f':
			n_flows = max_of(1u, n);
			break;
		case 't':
			tagged = true;
			break;
		case 'r':
			n_rules = n;
			break;
		case 'm':
			n_masks = max_of(1u, min_of(16u, n));
			break;
		case 'o':
			outputs = true;
			break;
		case 'c':
			changes_per_s = n;
			break;
		case 'p':
			capture_filter = optarg;
			break;
		case 'R':
			ring_kib = n;
			break;
		case 'd':
			drained = true;
			break;
		default:
			die("see the head of bench/stages.c");
		}
	}
}

static void run(uint32_t cycles[N_BURSTS][N_STEPS])
{
	uint32_t flow = 0, frame = 0;

	for (uint32_t i = 0; i < N_BURSTS; i++) {
		make_burst(&flow, &frame);
		run_burst(cycles[i]);
		for (uint32_t k = 0; k < BURST_MAX; k++)
			if (burst.packet[k].drop || burst.packet[k].egress != 1)
				die("a packet went astray");
		if (lane.taps)
			let_go();
		rcu_quiescent_state();
	}
}

static void print(const uint32_t cycles[N_BURSTS][N_STEPS])
{
	double core_per_tsc = (double)SCALE_CYCLES / BURST_MAX / median_of(cycles, SCALE), sum = 0;

	printf("%-10s %6.2f\n", "core / TSC", core_per_tsc);
	for (int i = TAP_RX; i < N_STEPS; i++) {
		double median = median_of(cycles, i) * core_per_tsc;

		printf("%-10s %6.1f\n", step_names[i], median);
		sum += i == HASH ? 0 : median;
	}
	printf("%-10s %6.1f\n", "all - hash", sum);
	if (lane.taps)
		printf("%-10s %6.1f %%\n%-10s %6.1f %%\n", "captured",
		       100.0 * (double)tap.captured / BURST_MAX / N_BURSTS, "missed",
		       100.0 * (double)tap.missed / BURST_MAX / N_BURSTS);
}

int main(int argc, char **argv)
{
	static uint32_t cycles[N_BURSTS][N_STEPS];
	pthread_t changer, drainer;

	read_options(argc, argv);
	make_world();
	rcu_register_thread();
	if (n_rules)
		make_rules();
	if (n_rules && changes_per_s && pthread_create(&changer, NULL, change_rules, NULL))
		die("no thread");
	if (capture_filter)
		make_capture();
	if (lane.taps && drained && pthread_create(&drainer, NULL, drain_ring, NULL))
		die("no thread");
	run(cycles);
	done = true;
	if (lane.taps && drained)
		pthread_join(drainer, NULL);
	if (n_rules && changes_per_s)
		pthread_join(changer, NULL);
	print(cycles);
	rcu_unregister_thread();
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cycles a packet that each stage of the data plane takes, on memory: no sockets, no tunnels.
 * Bursts of UDP flows between access ports, frames in cache as a copying kernel leaves them.
 *
 *   taskset -c 1 build/bench/stages [FLOWS [TAGGED]]
 *
 * Cycles are core cycles: the time stamp counter, scaled by bench/scale.h. Of all bursts the median
 * counts. Both so that neighbours on the machine disturb little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "bench/scale.h"
#include "dataplane/stages.h"
#include "dataplane/vlan.h"

#define N_PORTS 2
#define N_FRAMES 1024
#define N_BURSTS 20000
#define FRAME_LEN 64

enum step { SCALE, PARSE, CLASSIFY, LEARN, FORWARD, REPLICATE, RETAG, HASH, N_STEPS };
static const char *const step_names[N_STEPS] = {"scale",   "parse",     "classify", "learn",
						"forward", "replicate", "retag",    "hash"};

static struct tables tables;
static struct counters counters;
static struct pool pool;
static struct spsc events;
static struct lane lane = {.tables = &tables, .pool = &pool, .counters = &counters,
			   .learn_events = &events, .now_s = 1, .now_ns = 1000000000};
static struct burst burst, copies;
static uint32_t n_flows = 1000;
static bool tagged;

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
	t[PARSE] = __rdtsc();
	parse(&lane, &burst);
	t[CLASSIFY] = __rdtsc();
	classify(&lane, &burst);
	t[LEARN] = __rdtsc();
	learn(&lane, &burst);
	t[FORWARD] = __rdtsc();
	forward(&lane, &burst);
	t[REPLICATE] = __rdtsc();
	while (replicate(&lane, &burst, &copies))
		die("a flood: the FDB does not know its own");
	t[RETAG] = __rdtsc();
	retag(&lane, &burst);
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

int main(int argc, char **argv)
{
	static uint32_t cycles[N_BURSTS][N_STEPS];
	uint32_t flow = 0, frame = 0;
	double sum = 0, core_per_tsc;

	if (argc > 1)
		n_flows = max_of(1u, (uint32_t)strtoul(argv[1], NULL, 0));
	tagged = argc > 2;
	make_world();
	for (uint32_t i = 0; i < N_BURSTS; i++) {
		make_burst(&flow, &frame);
		run_burst(cycles[i]);
		for (uint32_t k = 0; k < BURST_MAX; k++)
			if (burst.packet[k].drop || burst.packet[k].egress != 1)
				die("a packet went astray");
	}
	core_per_tsc = (double)SCALE_CYCLES / BURST_MAX / median_of(cycles, SCALE);
	printf("%-10s %6.2f\n", "core / TSC", core_per_tsc);
	for (int i = PARSE; i < N_STEPS; i++) {
		double median = median_of(cycles, i) * core_per_tsc;

		printf("%-10s %6.1f\n", step_names[i], median);
		sum += i == HASH ? 0 : median;
	}
	printf("%-10s %6.1f\n", "all - hash", sum);
	return 0;
}

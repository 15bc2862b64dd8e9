/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a packet costs a worker when there is no kernel around: capture files, preloaded and looped,
 * go in by pcap ports and leave by sink ports. Workers, ports and tables are culvertd's own; only
 * what control would put into the tables (who is where, the ways to remote VTEPs) is made up here,
 * from the files: sources live where their frames come in, destinations elsewhere.
 *
 *   build/bench/replay [-v VTEPS | -x] [-r RULES] [-s SECONDS] [-n TIMES] [-c CORE[,CORE]] FILE...
 *
 * Each FILE has a worker of its own, which is queue i of the one port that all of them come in by.
 * -v: destinations are behind so many remote VTEPs, the port is the way there. -x: the frames are
 * VXLAN, their VNIs networks (the first untagged at its port, the others with VLAN ids of their
 * own). -r: flow rules, in_port=1, output:2 and up. -c: cores of the workers.
 *
 * Prints, -n times, of all workers: cycles of the time stamp counter a packet, nanoseconds a
 * packet, and millions of packets a second; by the workers' CPU time, so that neighbours do not
 * count.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "afxdp/pcap_port.h"
#include "afxdp/port.h"
#include "afxdp/queue.h"
#include "afxdp/worker.h"
#include "bench/number.h"
#include "dataplane/flow_table.h"
#include "lib/clock.h"
#include "lib/rcu.h"
#include "rules/rules.h"
#include "tunnels/vxlan.h"

#define FILES_MAX 2
#define RING 4096	/* what workers.ring is by default: it decides how many frames there are */
#define WARM_US 300000
#define UNDERLAY 1	/* the port that tunnels leave by */
#define FIRST_HOLE 1
#define NETWORKS_OF_HOLE 4094	/* untagged, and VLANs 1 to 4093 */
#define HOLES_MAX (NETWORK_MAX / NETWORKS_OF_HOLE + 1)
/* Of a frame that is VXLAN over IPv4. */
#define OUTER_SRC (ETH_BYTES + 12)
#define OUTER_VNI (VXLAN_OVERHEAD_V4 - 4)

static struct {
	uint32_t n_files, n_vteps, n_runs, seconds;
	const char *file[FILES_MAX], *rules;
	int core[FILES_MAX];
	bool vxlan;
} options = {.n_runs = 1, .seconds = 1, .core = {-1, -1}};

static struct tables tables;
static const struct flood_list nobody;
static struct tunnel_set everybody;
static uint16_t n_holes;

/* What a worker did so far, said by itself. */
struct sample {
	uint64_t cpu_ns;
	uint64_t packets;
	uint64_t forwarded;
};

static struct runner {
	struct worker *worker;
	struct port_queue queue[1 + HOLES_MAX];
	struct sample sample;
} runners[FILES_MAX];

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list ap;

	fputs("replay: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static void *need(void *memory)
{
	if (!memory)
		die("no memory");
	return memory;
}

/* --- tables ---------------------------------------------------------------------------------- */

static struct port_view *make_port(uint16_t port)
{
	struct port_view *view = need(calloc(1, sizeof(*view)));

	*view = (struct port_view){.up = true, .frame_max = 1600, .n_networks = NETWORK_MAX};
	view->vid_of_network = need(malloc(NETWORK_MAX * sizeof(uint16_t)));
	view->network_of_vid = need(calloc(4096, sizeof(uint16_t)));
	memset(view->vid_of_network, 0xff, NETWORK_MAX * sizeof(uint16_t));
	tables.port[port] = view;
	return view;
}

static void join(uint16_t port, uint16_t id, uint16_t vid)
{
	struct port_view *view = tables.port[port];

	view->vid_of_network[id] = vid;
	if (vid == VID_UNTAGGED)
		view->untagged = id;
	else
		view->network_of_vid[vid] = id;
}

/* The port behind which network @id is, made with it when they are new. */
static uint16_t hole_of(uint16_t id)
{
	uint16_t hole = FIRST_HOLE + (id - 1) / NETWORKS_OF_HOLE;
	struct network *network;

	if (tables.network[id])
		return hole;
	network = need(calloc(1, sizeof(*network)));
	*network = (struct network){.id = id, .vni = id, .tunnels = &everybody, .flood = &nobody};
	tables.network[id] = network;
	if (!tables.port[hole])
		make_port(hole);
	n_holes = max_of(n_holes, hole - FIRST_HOLE + 1);
	join(hole, id, (id - 1) % NETWORKS_OF_HOLE);
	return hole;
}

static void make_tunnels(void)
{
	struct tunnel_options o = {.n_local = 1, .udp_port = 4789, .source_port_min = 49152,
				   .source_port_max = 65535, .ttl = 64, .df = DF_SET,
				   .checksum = CHECKSUM_AUTO};

	o.local[0] = ip_from_v4((const uint8_t[]){192, 0, 2, 1});
	tables.tunnels = need(tunnels_create(&o));
}

static uint16_t add_tunnel(const struct ip *remote)
{
	uint16_t n = (uint16_t)tables.tunnels->n_tunnels, id = tunnels_add(tables.tunnels, remote);
	struct tunnel_path path = {.state = TUNNEL_OK, .egress_port = UNDERLAY, .mtu = 1600,
				   .source = tables.tunnels->options.local[0],
				   .source_mac = {{2, 0, 0, 0, 0, 1}},
				   .next_hop_mac = {{2, 0, 0, 0, 0, 2}}};

	if (id == EGRESS_NONE)
		die("no room for a tunnel");
	if (tables.tunnels->n_tunnels == n)
		return id;
	if (tunnels_set_path(tables.tunnels, id, &path))
		die("no memory");
	everybody.bits[n / 64] |= 1ull << n % 64;
	return id;
}

static void know(uint16_t network, const uint8_t *mac, uint16_t egress)
{
	if (fdb_set(tables.fdb, fdb_key(network, mac), egress, 0, 0) < 0)
		die("no memory");
}

static void know_inner(const uint8_t *data, uint32_t bytes)
{
	struct ip remote = ip_from_v4(data + OUTER_SRC);
	uint32_t vni = get_be32(data + OUTER_VNI) >> 8;
	const uint8_t *inner = data + VXLAN_OVERHEAD_V4;
	uint16_t id = (uint16_t)vni;

	if (bytes < VXLAN_OVERHEAD_V4 + ETH_BYTES || !vni || vni >= NETWORK_MAX)
		die("-x: a frame is not VXLAN over IPv4 with a VNI below %u", NETWORK_MAX);
	tunnels_set_vni(tables.tunnels, vni, id);
	know(id, inner, hole_of(id));
	know(id, inner + 6, add_tunnel(&remote));
}

static void know_frame(const uint8_t *data, uint32_t bytes)
{
	uint32_t vtep = options.n_vteps ? get_be32(data + 2) % options.n_vteps : 0;
	const uint8_t address[4] = {198, 18, (uint8_t)(vtep >> 8), (uint8_t)vtep};
	struct ip remote = ip_from_v4(address);

	if (bytes < ETH_BYTES)
		die("a frame is too short");
	know(1, data, options.n_vteps ? add_tunnel(&remote) : FIRST_HOLE);
	know(1, data + 6, 0);
}

static struct pcap_port *open_file(const char *path, bool endless)
{
	struct pcap_port *file;
	char why[256];

	if (pcap_port_open(path, NULL, endless, endless, &file, why, sizeof(why)))
		die("%s", why);
	return file;
}

static void know_file(const char *path)
{
	struct pcap_port *file = open_file(path, false);
	const uint8_t *data;
	uint32_t bytes;

	while (pcap_port_next(file, &data, &bytes)) {
		if (options.vxlan)
			know_inner(data, bytes);
		else
			know_frame(data, bytes);
		rcu_quiescent_state();
	}
	pcap_port_close(file);
}

static void make_tables(void)
{
	tables.fdb = need(fdb_create(0));
	tables.flows = need(flow_table_create(options.n_files));
	if (options.n_vteps || options.vxlan)
		make_tunnels();
	make_port(0);
	if (options.vxlan) {
		tables.port[0]->underlay = true;
	} else {
		hole_of(1);
		join(0, 1, VID_UNTAGGED);
		tables.port[UNDERLAY]->underlay = options.n_vteps;
	}
	for (uint32_t i = 0; i < options.n_files; i++)
		know_file(options.file[i]);
}

/* --- rules ----------------------------------------------------------------------------------- */

static uint16_t port_of_number(void *arg, uint32_t number)
{
	return number >= 1 && number <= PORT_MAX ? (uint16_t)(number - 1) : EGRESS_NONE;
}

static uint16_t port_of_name(void *arg, const char *name, size_t n)
{
	return EGRESS_NONE;
}

static int add_rule(void *arg, const struct flow_spec *spec, uint32_t line)
{
	return min_of(flow_table_add(tables.flows, spec, 0), 0);
}

static void read_rules(const char *path)
{
	static const struct rules_ports ports = {.of_number = port_of_number,
						 .of_name = port_of_name};
	struct rules_error error = {.why = "no memory"};
	int fd = open(path, O_RDONLY), result = 0;
	struct rules_reader reader;
	char text[65536];
	ssize_t n = 0;

	if (fd < 0)
		die("%s: %m", path);
	rules_reader_init(&reader, &ports, add_rule, NULL);
	while (!result && (n = read(fd, text, sizeof(text))) > 0)
		result = rules_reader_feed(&reader, text, (size_t)n, &error);
	if (!result)
		result = rules_reader_end(&reader, &error);
	if (result || n < 0)
		die("%s:%u:%u: %s", path, error.line, error.column, error.why);
	rules_reader_fini(&reader);
	close(fd);
}

/* --- workers --------------------------------------------------------------------------------- */

static void attach(struct worker *worker, void *arg)
{
	worker_attach(worker, arg);
}

static void make_runner(uint32_t i)
{
	struct worker_options o = {.index = i, .core = options.core[i], .busy = true,
				   .n_frames = port_frames_needed(2, RING), .tables = &tables};
	struct runner *r = &runners[i];
	char why[256];

	if (worker_create(&o, &r->worker, why, sizeof(why)) || worker_start(r->worker))
		die("worker: %s", why);
	for (uint16_t k = 1; k <= n_holes; k++) {
		r->queue[k] = (struct port_queue){.kind = QUEUE_SINK, .port = k, .fd = -1};
		worker_call(r->worker, attach, &r->queue[k]);
	}
	r->queue[0] = (struct port_queue){.kind = QUEUE_PCAP, .fd = -1, .polled = true,
					  .pcap = open_file(options.file[i], true)};
}

static void take_sample(struct worker *worker, void *arg)
{
	const struct port_counters *c = &worker_counters(worker)->port[0];
	struct sample *sample = arg;
	struct timespec cpu;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	sample->cpu_ns = (uint64_t)cpu.tv_sec * NS_PER_S + (uint64_t)cpu.tv_nsec;
	sample->packets = c->rx_packets;
	sample->forwarded = c->forwarded;
}

/* A packet that is dropped is cheap: then there is nothing to be said. */
static void say_drops(const struct runner *r)
{
	const struct port_counters *c = &worker_counters(r->worker)->port[0];

	for (int i = 1; i < DROP_REASON_COUNT; i++)
		if (c->drop[i].packets)
			die("packets were dropped: %s", drop_sentence(i));
	die("packets went astray");
}

static void sleep_us(uint32_t us)
{
	rcu_thread_offline();
	usleep(us);
	rcu_thread_online();
}

static void measure(void)
{
	uint64_t tsc = __rdtsc(), begin_ns = clock_ns(), spent_ns = 0, packets = 0;
	struct sample before[FILES_MAX];
	double tsc_per_ns, mpps = 0;

	for (uint32_t i = 0; i < options.n_files; i++)
		worker_call(runners[i].worker, take_sample, &before[i]);
	sleep_us(options.seconds * 1000000);
	for (uint32_t i = 0; i < options.n_files; i++) {
		struct sample now;

		worker_call(runners[i].worker, take_sample, &now);
		if (now.packets != now.forwarded)
			say_drops(&runners[i]);
		now.cpu_ns -= before[i].cpu_ns;
		now.packets -= before[i].packets;
		spent_ns += now.cpu_ns;
		packets += now.packets;
		mpps += (double)now.packets * 1e3 / (double)now.cpu_ns;
	}
	tsc_per_ns = (double)(__rdtsc() - tsc) / (double)(clock_ns() - begin_ns);
	printf("%.2f %.3f %.3f\n", (double)spent_ns * tsc_per_ns / (double)packets,
	       (double)spent_ns / (double)packets, mpps);
	fflush(stdout);
}

/* --- options --------------------------------------------------------------------------------- */

static bool read_cores(const char *text)
{
	return sscanf(text, "%d,%d", &options.core[0], &options.core[1]) >= 1;
}

static bool read_options(int argc, char **argv)
{
	bool good = true;
	int c;

	while ((c = getopt(argc, argv, "v:xr:s:n:c:")) != -1)
		if (c == 'v')
			good &= read_number(optarg, 1, TUNNEL_MAX, &options.n_vteps);
		else if (c == 'x')
			options.vxlan = true;
		else if (c == 'r')
			options.rules = optarg;
		else if (c == 's')
			good &= read_number(optarg, 1, 3600, &options.seconds);
		else if (c == 'n')
			good &= read_number(optarg, 1, 1000, &options.n_runs);
		else if (c == 'c')
			good &= read_cores(optarg);
		else
			good = false;
	for (; optind < argc && options.n_files < FILES_MAX; optind++)
		options.file[options.n_files++] = argv[optind];
	return good && optind == argc && options.n_files && !(options.vxlan && options.n_vteps);
}

int main(int argc, char **argv)
{
	if (!read_options(argc, argv))
		die("see the head of bench/replay.c");
	rcu_register_thread();
	make_tables();
	if (options.rules)
		read_rules(options.rules);
	for (uint32_t i = 0; i < options.n_files; i++)
		make_runner(i);
	for (uint32_t i = 0; i < options.n_files; i++)
		worker_call(runners[i].worker, attach, &runners[i].queue[0]);
	sleep_us(WARM_US);
	for (uint32_t i = 0; i < options.n_runs; i++)
		measure();
	for (uint32_t i = 0; i < options.n_files; i++)
		worker_stop(runners[i].worker);
	rcu_unregister_thread();
	return 0;
}

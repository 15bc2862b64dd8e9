/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole pipeline on memory: a capture file in, the real stages, a capture file and a sink out.
 *
 *     in (port 0, pcap) --- network 1 --- out (port 1, pcap), hole (port 2, sink)
 *
 * However broken the file: no crash, the books balance, and every frame is back in the pool.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "afxdp/pcap_port.h"
#include "afxdp/pipeline.h"
#include "afxdp/queue.h"
#include "afxdp/worker.h"
#include "capture/tap.h"
#include "dataplane/flow_table.h"
#include "lib/clock.h"
#include "lib/rcu.h"
#include "tests/unit/pcap_files.h"

#define FRAMES 512
#define MICRO 0xa1b2c3d4
#define NANO 0xa1b23c4d
#define ETHERNET 1
#define N_PORTS 3

enum { PORT_IN, PORT_OUT, PORT_HOLE };

struct bench {
	struct tables tables;
	struct network network;
	struct flood_list *flood;
	struct port_view view[N_PORTS];
	uint16_t vid_of_network[2];
	struct worker *worker;
	struct port_queue *queue[N_PORTS];
	char dir[64];
	char in[96];
	char out[96];
};

static void frame_make(uint8_t *frame, uint32_t len, unsigned int number)
{
	static const uint8_t head[ETH_BYTES] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
	uint32_t i;

	memcpy(frame, head, min_of(len, ETH_BYTES));
	for (i = ETH_BYTES; i < len; i++)
		frame[i] = (uint8_t)(number + i);
}

static struct port_queue *queue_create(enum queue_kind kind, uint16_t port)
{
	struct port_queue *q = aligned_alloc(CACHE_LINE, sizeof(*q));

	assert_non_null(q);
	memset(q, 0, sizeof(*q));
	q->kind = kind;
	q->port = port;
	q->fd = -1;
	return q;
}

static void make_tables(struct bench *b)
{
	unsigned int i;

	b->flood = calloc(1, sizeof(*b->flood) + N_PORTS * sizeof(b->flood->egress[0]));
	assert_non_null(b->flood);
	b->network = (struct network){.id = 1, .flood = b->flood};
	b->vid_of_network[0] = VID_NONE;
	b->vid_of_network[1] = VID_UNTAGGED;
	for (i = 0; i < N_PORTS; i++) {
		b->view[i] = (struct port_view){.up = true,
						.frame_max = 9018,
						.untagged = 1,
						.vid_of_network = b->vid_of_network,
						.n_networks = 2};
		b->tables.port[i] = &b->view[i];
		b->flood->egress[b->flood->n++] = (uint16_t)i;
	}
	b->tables.network[1] = &b->network;
	b->tables.fdb = fdb_create(16);
	assert_non_null(b->tables.fdb);
}

static int setup_with(void **state, bool rules)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct worker_options options = {.core = -1, .n_frames = FRAMES, .cookie = 1};
	char why[256] = "";
	unsigned int i;

	assert_non_null(b);
	make_tables(b);
	if (rules) {
		b->tables.flows = flow_table_create(1);
		assert_non_null(b->tables.flows);
	}
	options.tables = &b->tables;
	assert_int_equal(worker_create(&options, &b->worker, why, sizeof(why)), 0);
	for (i = 0; i < N_PORTS; i++)
		b->queue[i] = queue_create(i == PORT_HOLE ? QUEUE_SINK : QUEUE_PCAP, (uint16_t)i);
	b->queue[PORT_IN]->polled = true;
	snprintf(b->dir, sizeof(b->dir), "/tmp/culvert-pipeline-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	snprintf(b->in, sizeof(b->in), "%s/in.pcap", b->dir);
	snprintf(b->out, sizeof(b->out), "%s/out.pcap", b->dir);
	*state = b;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, false);
}

static int setup_rules(void **state)
{
	return setup_with(state, true);
}

static void close_ports(struct bench *b)
{
	unsigned int i;

	for (i = 0; i < N_PORTS; i++) {
		worker_detach(b->worker, b->queue[i]);
		pcap_port_close(b->queue[i]->pcap);
		b->queue[i]->pcap = NULL;
	}
}

static int teardown(void **state)
{
	struct bench *b = *state;
	unsigned int i;

	worker_stop(b->worker);
	close_ports(b);
	worker_destroy(b->worker);
	for (i = 0; i < N_PORTS; i++)
		free(b->queue[i]);
	fdb_destroy(b->tables.fdb);
	flow_table_destroy(b->tables.flows);
	free(b->flood);
	unlink(b->in);
	unlink(b->out);
	assert_int_equal(rmdir(b->dir), 0);
	free(b);
	return 0;
}

/* Opens the files and attaches the three ports. */
static int open_ports(struct bench *b, bool loop, bool preload, char *why, uint32_t why_bytes)
{
	unsigned int i;
	int error;

	error =
	    pcap_port_open(b->in, NULL, loop, preload, &b->queue[PORT_IN]->pcap, why, why_bytes);
	if (error)
		return error;
	error =
	    pcap_port_open(NULL, b->out, false, false, &b->queue[PORT_OUT]->pcap, why, why_bytes);
	assert_int_equal(error, 0);
	for (i = 0; i < N_PORTS; i++)
		worker_attach(b->worker, b->queue[i]);
	return 0;
}

static void run_to_end(struct bench *b)
{
	struct pcap_port *in = b->queue[PORT_IN]->pcap;
	unsigned int i;

	for (i = 0; i < 100000 && !pcap_port_done(in); i++)
		pipeline_run(b->worker, b->queue[PORT_IN]);
	assert_true(pcap_port_done(in));
	assert_int_equal(pipeline_run(b->worker, b->queue[PORT_IN]), 0);
}

static uint64_t drops(const struct port_counters *c)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < DROP_REASON_COUNT; i++)
		sum += c->drop[i].packets;
	return sum;
}

static const struct port_counters *port_counters(const struct bench *b, unsigned int port)
{
	return &worker_counters(b->worker)->port[port];
}

static void check_books(const struct bench *b)
{
	uint64_t in = 0, out = 0;
	struct worker_stats stats;
	unsigned int i;

	for (i = 0; i < N_PORTS; i++) {
		const struct port_counters *c = port_counters(b, i);

		assert_int_equal(c->rx_packets + c->copied, c->forwarded + drops(c));
		in += c->rx_packets + c->copied + c->generated;
		out += c->tx_packets + drops(c);
	}
	assert_int_equal(in, out);
	worker_stats(b->worker, &stats);
	assert_int_equal(stats.frames_free, FRAMES);
}

/* Frames of 14, 15, ... bytes, @n of them. */
static void put_frames(struct blob *file, unsigned int n, bool swapped)
{
	uint8_t frame[2048];
	unsigned int i;

	for (i = 0; i < n; i++) {
		frame_make(frame, ETH_BYTES + i, i);
		put_record(file, frame, ETH_BYTES + i, swapped);
	}
}

static void put_pcapng_frames(struct blob *file, unsigned int n)
{
	uint8_t frame[2048];
	unsigned int i;

	for (i = 0; i < n; i++) {
		frame_make(frame, ETH_BYTES + i, i);
		put_pcapng_packet(file, frame, ETH_BYTES + i);
	}
}

/* The file that was written has the frames of put_frames, in order, and nothing else. */
static void check_out(struct bench *b, unsigned int n)
{
	uint32_t file_header[6], record[4];
	uint8_t frame[2048], got[2048];
	FILE *f = fopen(b->out, "r");
	uint64_t time_s = (uint64_t)time(NULL);
	unsigned int i;

	assert_non_null(f);
	assert_int_equal(fread(file_header, sizeof(file_header), 1, f), 1);
	assert_int_equal(file_header[0], MICRO);
	assert_int_equal(file_header[5], ETHERNET);
	for (i = 0; i < n; i++) {
		assert_int_equal(fread(record, sizeof(record), 1, f), 1);
		assert_in_range(record[0], time_s - 100, time_s + 1);
		assert_in_range(record[1], 0, 999999);
		assert_int_equal(record[2], ETH_BYTES + i);
		assert_int_equal(record[3], ETH_BYTES + i);
		assert_int_equal(fread(got, record[2], 1, f), 1);
		frame_make(frame, ETH_BYTES + i, i);
		assert_memory_equal(got, frame, record[2]);
	}
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
}

static void formats_go_through(void **state)
{
	static const struct {
		uint32_t magic; /* 0: pcapng */
		bool swapped;
		bool preload;
	} table[] = {
		{MICRO, false, false}, {MICRO, true, false}, {NANO, false, false},
		{NANO, true, true},    {MICRO, false, true}, {0, false, false},
		{0, false, true},
	};
	struct bench *b = *state;
	uint64_t before = 0;
	unsigned int i;
	char why[256];

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct blob file = {0};

		if (table[i].magic) {
			put_pcap_header(&file, table[i].magic, 65535, ETHERNET, table[i].swapped);
			put_frames(&file, 1000, table[i].swapped);
		} else {
			put_pcapng_header(&file, ETHERNET);
			put_pcapng_frames(&file, 1000);
		}
		blob_write(&file, b->in);
		blob_free(&file);
		assert_int_equal(open_ports(b, false, table[i].preload, why, sizeof(why)), 0);
		run_to_end(b);
		assert_string_equal(pcap_port_damage(b->queue[PORT_IN]->pcap), "");
		check_books(b);
		close_ports(b);
		check_out(b, 1000);
		assert_int_equal(port_counters(b, PORT_OUT)->tx_packets - before, 1000);
		assert_int_equal(port_counters(b, PORT_HOLE)->tx_packets - before, 1000);
		before = port_counters(b, PORT_OUT)->tx_packets;
	}
}

static void make_empty(struct blob *f)
{
	put(f, "", 0);
}

static void make_text(struct blob *f)
{
	put(f, "ports: {}\nnetworks: {}\nand more text\n", 37);
}

static void make_short_header(struct blob *f)
{
	put_pcap_header(f, MICRO, 65535, ETHERNET, false);
	f->n -= 4;
}

static void make_raw_ip(struct blob *f)
{
	put_pcap_header(f, MICRO, 65535, 101, false);
}

static void make_ng_raw_ip(struct blob *f)
{
	put_pcapng_header(f, 101);
}

static void make_unknown_link(struct blob *f)
{
	put_pcap_header(f, MICRO, 65535, 0x3ff, false);
}

static void bad_files_are_refused(void **state)
{
	static const struct {
		void (*make)(struct blob *file);
		const char *says;
	} table[] = {
		{make_empty, "in.pcap: not a capture file: "},
		{make_text, "in.pcap: not a capture file: "},
		{make_short_header, "in.pcap: not a capture file: "},
		{make_raw_ip, "in.pcap: link type RAW (12), only Ethernet is understood"},
		{make_ng_raw_ip, "in.pcap: link type RAW (12), only Ethernet is understood"},
		{make_unknown_link, "only Ethernet is understood"},
	};
	struct bench *b = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct blob file = {0};
		char why[256] = "";

		table[i].make(&file);
		blob_write(&file, b->in);
		blob_free(&file);
		assert_int_equal(open_ports(b, false, i % 2, why, sizeof(why)), -EINVAL);
		if (!strstr(why, table[i].says))
			fail_msg("case %u: \"%s\" does not say \"%s\"", i, why, table[i].says);
	}
}

static void odd_paths_are_refused(void **state)
{
	struct bench *b = *state;
	struct pcap_port *port = NULL;
	struct blob file = {0};
	char why[256] = "";

	assert_int_equal(pcap_port_open("/nowhere/x", NULL, false, false, &port, why, sizeof(why)),
			 -ENOENT);
	assert_string_equal(why, "/nowhere/x: No such file or directory");
	assert_int_equal(pcap_port_open(b->dir, NULL, false, false, &port, why, sizeof(why)),
			 -EINVAL);
	assert_int_equal(pcap_port_open("/dev/zero", NULL, false, false, &port, why, sizeof(why)),
			 -EINVAL);
	assert_int_equal(mkfifo(b->in, 0600), 0);
	assert_int_equal(pcap_port_open(b->in, NULL, false, false, &port, why, sizeof(why)),
			 -EINVAL);
	assert_non_null(strstr(why, "is not a regular file"));
	unlink(b->in);

	put_pcap_header(&file, MICRO, 65535, ETHERNET, false);
	put_frames(&file, 3, false);
	blob_write(&file, b->in);
	assert_int_equal(pcap_port_open(b->in, b->in, false, false, &port, why, sizeof(why)),
			 -EINVAL);
	assert_non_null(strstr(why, "rx and tx are the same file"));
	assert_int_equal(pcap_port_open(b->in, "/nowhere/y", false, true, &port, why, sizeof(why)),
			 -ENOENT);
	/* And the input is as it was. */
	assert_int_equal(open_ports(b, false, false, why, sizeof(why)), 0);
	run_to_end(b);
	assert_int_equal(port_counters(b, PORT_IN)->rx_packets, 3);
	blob_free(&file);
}

static void make_cut_packet(struct blob *f)
{
	put_pcap_header(f, MICRO, 65535, ETHERNET, false);
	put_frames(f, 10, false);
	f->n -= 5;
}

static void make_cut_record(struct blob *f)
{
	put_pcap_header(f, MICRO, 65535, ETHERNET, false);
	put_frames(f, 9, false);
	put_record_header(f, 60, 60, false);
	f->n -= 3;
}

static void make_monster(struct blob *f)
{
	put_pcap_header(f, MICRO, 65535, ETHERNET, false);
	put_frames(f, 9, false);
	put_record_header(f, 0x7fffffff, 0x7fffffff, false);
	put(f, "never", 5);
}

static void make_cut_ng(struct blob *f)
{
	put_pcapng_header(f, ETHERNET);
	put_pcapng_frames(f, 10);
	f->n -= 7;
}

static void make_mixed_ng(struct blob *f)
{
	put_pcapng_header(f, ETHERNET);
	put_pcapng_frames(f, 9);
	put_pcapng_header(f, 101);
	put_pcapng_frames(f, 1);
}

static void damage_ends_the_file(void **state)
{
	static void (*const make[])(struct blob * file) = {
	    make_cut_packet, make_cut_record, make_monster, make_cut_ng, make_mixed_ng};
	struct bench *b = *state;
	uint64_t before = 0;
	char why[256];
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(make); i++) {
		struct blob file = {0};

		make[i / 2](&file);
		blob_write(&file, b->in);
		blob_free(&file);
		assert_int_equal(open_ports(b, false, i % 2, why, sizeof(why)), 0);
		run_to_end(b);
		assert_int_equal(port_counters(b, PORT_IN)->rx_packets - before, 9);
		before = port_counters(b, PORT_IN)->rx_packets;
		if (!*pcap_port_damage(b->queue[PORT_IN]->pcap))
			fail_msg("case %u: the damage is not named", i);
		check_books(b);
		close_ports(b);
	}
}

/* What no frame holds, and what is no frame. */
static void sizes_are_met(void **state)
{
	static const struct {
		uint32_t bytes;
		enum drop_reason drop;
	} table[] = {
		{0, DROP_RUNT},        {1, DROP_RUNT},        {13, DROP_RUNT},
		{14, DROP_NONE},       {1514, DROP_NONE},     {3840, DROP_NONE},
		{3841, DROP_TOO_BIG},  {4096, DROP_TOO_BIG},  {9014, DROP_TOO_BIG},
		{65535, DROP_TOO_BIG}, {65536, DROP_TOO_BIG}, {262144, DROP_TOO_BIG},
	};
	struct bench *b = *state;
	uint64_t expected[DROP_REASON_COUNT] = {0}, bytes = 0;
	struct blob file = {0};
	uint8_t *frame = malloc(262144);
	char why[256];
	unsigned int i;

	assert_non_null(frame);
	put_pcap_header(&file, MICRO, 262144, ETHERNET, false);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		frame_make(frame, table[i].bytes, i);
		put_record(&file, frame, table[i].bytes, false);
		expected[table[i].drop]++;
		bytes += table[i].bytes;
	}
	blob_write(&file, b->in);
	assert_int_equal(open_ports(b, false, false, why, sizeof(why)), 0);
	run_to_end(b);
	assert_int_equal(port_counters(b, PORT_IN)->rx_packets, ARRAY_SIZE(table));
	assert_int_equal(port_counters(b, PORT_IN)->rx_bytes, bytes);
	assert_int_equal(port_counters(b, PORT_IN)->drop[DROP_RUNT].packets, expected[DROP_RUNT]);
	assert_int_equal(port_counters(b, PORT_IN)->drop[DROP_TOO_BIG].packets,
			 expected[DROP_TOO_BIG]);
	assert_int_equal(port_counters(b, PORT_IN)->drop[DROP_TOO_BIG].detail, 262144);
	assert_int_equal(port_counters(b, PORT_OUT)->tx_packets, expected[DROP_NONE]);
	check_books(b);
	blob_free(&file);
	free(frame);
}

static void loops_begin_again(void **state)
{
	struct bench *b = *state;
	unsigned int preload, i;
	char why[256];

	for (preload = 0; preload < 2; preload++) {
		struct blob file = {0};
		uint64_t got = 0;

		put_pcap_header(&file, MICRO, 65535, ETHERNET, false);
		blob_write(&file, b->in); /* no packet: not for ever */
		assert_int_equal(open_ports(b, true, preload, why, sizeof(why)), 0);
		run_to_end(b);
		close_ports(b);

		put_frames(&file, 100, false);
		blob_write(&file, b->in);
		blob_free(&file);
		assert_int_equal(open_ports(b, true, preload, why, sizeof(why)), 0);
		for (i = 0; i < 50; i++)
			got += pipeline_run(b->worker, b->queue[PORT_IN]);
		assert_int_equal(got, 50 * BURST_MAX);
		assert_false(pcap_port_done(b->queue[PORT_IN]->pcap));
		check_books(b);
		close_ports(b);
	}
}

static void an_empty_pool_waits(void **state)
{
	struct bench *b = *state;
	struct pool *pool = worker_lane(b->worker)->pool;
	struct blob file = {0};
	char why[256];

	put_pcap_header(&file, MICRO, 65535, ETHERNET, false);
	put_frames(&file, 10, false);
	blob_write(&file, b->in);
	blob_free(&file);
	assert_int_equal(open_ports(b, false, false, why, sizeof(why)), 0);
	pool->n_free = 0;
	assert_int_equal(pipeline_run(b->worker, b->queue[PORT_IN]), 0);
	pool->n_free = FRAMES;
	run_to_end(b);
	assert_int_equal(port_counters(b, PORT_IN)->rx_packets, 10);
	check_books(b);
}

/* A sane file with bytes changed at random: whatever comes out, the books balance. */
static void corrupt_files_go_through(void **state)
{
	const char *given = getenv("SEED");
	unsigned int seed =
	    given ? (unsigned int)strtoul(given, NULL, 0) : (unsigned int)time(NULL);
	struct bench *b = *state;
	unsigned int round, i;
	char why[256];

	print_message("SEED=%u\n", seed);
	srandom(seed);
	for (round = 0; round < 400; round++) {
		struct blob file = {0};

		if (round % 2) {
			put_pcap_header(&file, MICRO, 65535, ETHERNET, false);
			put_frames(&file, 80, false);
		} else {
			put_pcapng_header(&file, ETHERNET);
			put_pcapng_frames(&file, 80);
		}
		for (i = (unsigned int)random() % 30; i; i--)
			file.data[(size_t)random() % file.n] = (uint8_t)random();
		file.n -= random() % 3 ? 0 : (size_t)random() % file.n;
		blob_write(&file, b->in);
		blob_free(&file);
		if (open_ports(b, false, round % 4 > 1, why, sizeof(why)) == 0)
			run_to_end(b);
		check_books(b);
		close_ports(b);
	}
	assert_true(port_counters(b, PORT_IN)->rx_packets > 0);
}

#define DO(what) {.type = (what)}
#define TO(port) {.type = FLOW_OUTPUT, .arg = (port)}

/* One rule for all frames; without one they are flooded. */
static void rules_are_followed(void **state)
{
	static const struct {
		const char *name;
		uint32_t n_actions;
		struct flow_action action[3];
		uint32_t out, hole, copied; /* for each frame */
	} table[] = {
		{"drop", 0, {DO(0)}, 0, 0, 0},
		{"normal", 1, {DO(FLOW_NORMAL)}, 1, 1, 1},
		{"output", 1, {TO(PORT_OUT)}, 1, 0, 0},
		{"output to two", 2, {TO(PORT_OUT), TO(PORT_HOLE)}, 1, 1, 1},
		{"mirror", 2, {TO(PORT_OUT), DO(FLOW_NORMAL)}, 2, 1, 2},
		{"flooded twice", 3, {DO(FLOW_FLOOD), TO(PORT_HOLE), DO(FLOW_ALL)}, 2, 3, 4},
		{"to where it came from", 1, {TO(PORT_IN)}, 0, 0, 0},
	};
	struct bench *b = *state;
	struct flow_spec spec = {.key.dl_type = 0x88b5, .mask.dl_type = 0xffff};
	struct port_counters in, out, hole;
	struct flow_stats stats;
	char why[256];

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct blob file = {0};

		put_pcap_header(&file, MICRO, 65535, ETHERNET, false);
		put_frames(&file, 1000, false);
		blob_write(&file, b->in);
		blob_free(&file);
		spec.n_actions = (uint16_t)table[i].n_actions;
		memcpy(spec.action, table[i].action, sizeof(table[i].action));
		assert_true(flow_table_add(b->tables.flows, &spec, 1) >= 0);
		in = *port_counters(b, PORT_IN);
		out = *port_counters(b, PORT_OUT);
		hole = *port_counters(b, PORT_HOLE);
		assert_int_equal(open_ports(b, false, false, why, sizeof(why)), 0);
		run_to_end(b);
		close_ports(b);
		check_books(b);
		print_message("%s\n", table[i].name);
		assert_int_equal(port_counters(b, PORT_OUT)->tx_packets - out.tx_packets,
				 1000 * table[i].out);
		assert_int_equal(port_counters(b, PORT_HOLE)->tx_packets - hole.tx_packets,
				 1000 * table[i].hole);
		assert_int_equal(port_counters(b, PORT_IN)->copied - in.copied,
				 1000 * table[i].copied);
		assert_int_equal(port_counters(b, PORT_IN)->drop[DROP_FLOW].packets -
					 in.drop[DROP_FLOW].packets,
				 table[i].out + table[i].hole ? 0 : 1000);
		flow_rule_stats(b->tables.flows, flow_table_find(b->tables.flows, &spec), &stats);
		assert_int_equal(stats.packets, 1000);
	}
}

/*
 * Captures
 */

struct capture {
	struct tap_options options;
	struct tap tap;
};

static struct capture *capture_create(const struct capture_source *source, uint32_t n, uint8_t dir)
{
	struct capture *c = aligned_alloc(CACHE_LINE, (sizeof(*c) + 63) / 64 * 64);

	assert_non_null(c);
	memset(c, 0, sizeof(*c));
	memcpy(c->options.source, source, n * sizeof(*source));
	c->options.n_sources = n;
	c->options.dir = dir;
	c->options.snaplen = CAPTURE_SNAPLEN_MAX;
	c->options.sample = 1;
	c->tap.options = &c->options;
	assert_int_equal(ring_init(&c->tap.ring, 4 << 20), 0);
	return c;
}

static void capture_destroy(struct capture *c)
{
	ring_fini(&c->tap.ring);
	free(c);
}

static struct tap_set *captures_run(struct bench *b, struct capture *const *c, uint32_t n)
{
	const struct tap_options *options[CAPTURE_MAX] = {0};
	struct tap *taps[CAPTURE_MAX] = {0};
	struct tap_set *set;

	for (uint32_t i = 0; i < n; i++) {
		options[i] = &c[i]->options;
		taps[i] = &c[i]->tap;
	}
	set = tap_set_create(options, taps);
	assert_non_null(set);
	b->tables.taps = set;
	return set;
}

/* How many records of @where and @dir there are; they are put_frames' frames, in this order, and
 * have this end. */
static uint32_t count_records(const struct capture *c, uint16_t where, uint8_t dir,
			      enum drop_reason drop)
{
	const struct record *r = NULL, *end = NULL;
	uint8_t frame[2048];
	uint32_t n = 0;

	if (!ring_peek(&c->tap.ring, &r, &end))
		return 0;
	for (; r < end; r = (const struct record *)((const uint8_t *)r + r->bytes)) {
		if (r->where != where || r->dir != dir)
			continue;
		frame_make(frame, ETH_BYTES + n, n);
		assert_int_equal(r->len, ETH_BYTES + n);
		assert_int_equal(r->caplen, r->len);
		assert_memory_equal(r->frame, frame, r->caplen);
		assert_int_equal(r->drop, drop);
		assert_int_equal(r->flags, 0);
		assert_true(r->time_ns <= clock_ns());
		n++;
	}
	return n;
}

/* All ports in both directions, once more by another capture, and the network: what was sent. */
static void captures_see_all(void **state)
{
	static const struct capture_source all[] = {{PORT_IN, 0}, {PORT_OUT, 0}, {PORT_HOLE, 0}};
	static const struct capture_source port_and_network[] = {{PORT_OUT, 0}, {EGRESS_NONE, 1}};
	struct capture *c[] = {capture_create(all, 3, CAPTURE_BOTH),
			       capture_create(all + 2, 1, CAPTURE_BOTH),
			       capture_create(port_and_network, 2, CAPTURE_BOTH),
			       capture_create(all, 3, CAPTURE_BOTH)};
	struct bench *b = *state;
	struct blob file = {0};
	struct tap_set *set;
	char why[256];

	c[3]->options.drops = true;
	set = captures_run(b, c, ARRAY_SIZE(c));
	put_pcap_header(&file, MICRO, 65535, ETHERNET, false);
	put_frames(&file, 1000, false);
	blob_write(&file, b->in);
	blob_free(&file);
	assert_int_equal(open_ports(b, false, false, why, sizeof(why)), 0);
	run_to_end(b);
	check_books(b);
	close_ports(b);
	check_out(b, 1000);
	assert_int_equal(count_records(c[0], PORT_IN, CAPTURE_IN, DROP_NONE), 1000);
	assert_int_equal(count_records(c[0], PORT_OUT, CAPTURE_OUT, DROP_NONE), 1000);
	assert_int_equal(count_records(c[0], PORT_HOLE, CAPTURE_OUT, DROP_NONE), 1000);
	assert_int_equal(c[0]->tap.captured, 3000);
	assert_int_equal(count_records(c[1], PORT_HOLE, CAPTURE_OUT, DROP_NONE), 1000);
	assert_int_equal(c[1]->tap.captured, 1000);
	assert_int_equal(count_records(c[2], PORT_IN, CAPTURE_IN, DROP_NONE), 1000);
	assert_int_equal(count_records(c[2], PORT_OUT, CAPTURE_OUT, DROP_NONE), 1000);
	assert_int_equal(count_records(c[2], PORT_HOLE, CAPTURE_OUT, DROP_NONE), 1000);
	assert_int_equal(c[2]->tap.captured, 3000);
	assert_int_equal(c[3]->tap.matched, 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(c); i++) {
		assert_int_equal(c[i]->tap.missed, 0);
		capture_destroy(c[i]);
	}
	tap_set_destroy(set);
}

/* A burst that finds no frames for its copies: what came in says so, and a capture of drops has
 * it. */
static void captures_see_the_end(void **state)
{
	static const struct capture_source in = {PORT_IN, 0};
	struct capture *c[] = {capture_create(&in, 1, CAPTURE_IN),
			       capture_create(&in, 1, CAPTURE_BOTH)};
	struct bench *b = *state;
	struct pool *pool = worker_lane(b->worker)->pool;
	struct blob file = {0};
	struct tap_set *set;
	char why[256];

	c[1]->options.drops = true;
	set = captures_run(b, c, ARRAY_SIZE(c));
	put_pcap_header(&file, MICRO, 65535, ETHERNET, false);
	put_frames(&file, BURST_MAX, false);
	blob_write(&file, b->in);
	blob_free(&file);
	assert_int_equal(open_ports(b, false, false, why, sizeof(why)), 0);
	pool->n_free = BURST_MAX;
	run_to_end(b);
	pool->n_free += FRAMES - BURST_MAX;
	check_books(b);
	assert_int_equal(port_counters(b, PORT_IN)->drop[DROP_NO_FRAME].packets, BURST_MAX);
	assert_int_equal(count_records(c[0], PORT_IN, CAPTURE_IN, DROP_NO_FRAME), BURST_MAX);
	assert_int_equal(count_records(c[1], PORT_IN, CAPTURE_IN, DROP_NO_FRAME), BURST_MAX);
	assert_int_equal(c[0]->tap.captured + c[1]->tap.captured, 2 * BURST_MAX);
	capture_destroy(c[0]);
	capture_destroy(c[1]);
	tap_set_destroy(set);
}

static void read_cpu(struct worker *w, void *arg)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	*(uint64_t *)arg = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The thread: plays the file, says when there is news, and sleeps when all is done. */
static void the_thread_plays_and_sleeps(void **state)
{
	struct bench *b = *state;
	uint64_t before, after, news = 0, deadline;
	struct blob file = {0};
	char why[256];

	put_pcap_header(&file, MICRO, 65535, ETHERNET, false);
	put_frames(&file, 1000, false);
	blob_write(&file, b->in);
	blob_free(&file);
	assert_int_equal(open_ports(b, false, false, why, sizeof(why)), 0);
	assert_int_equal(worker_start(b->worker), 0);
	deadline = clock_ns() + 10 * NS_PER_S;
	while (!pcap_port_done(b->queue[PORT_IN]->pcap) && clock_ns() < deadline)
		usleep(1000);
	assert_true(pcap_port_done(b->queue[PORT_IN]->pcap));
	usleep(50000);
	/* The file can be read while the worker lives: it was flushed. */
	check_out(b, 1000);
	assert_true(spsc_pending(worker_learn_events(b->worker)));
	assert_int_equal(read(worker_event_fd(), &news, sizeof(news)), sizeof(news));
	assert_true(news > 0);

	worker_call(b->worker, read_cpu, &before);
	sleep(2);
	worker_call(b->worker, read_cpu, &after);
	print_message("idle: %.4f %% of a core\n", (double)(after - before) / (2e9) * 100);
	assert_true(after - before < 10 * NS_PER_MS);

	before = clock_ns();
	worker_stop(b->worker);
	assert_true(clock_ns() - before < NS_PER_S / 2);
	check_books(b);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(formats_go_through),
	    CASE(bad_files_are_refused),
	    CASE(odd_paths_are_refused),
	    CASE(damage_ends_the_file),
	    CASE(sizes_are_met),
	    CASE(loops_begin_again),
	    CASE(an_empty_pool_waits),
	    CASE(corrupt_files_go_through),
	    cmocka_unit_test_setup_teardown(rules_are_followed, setup_rules, teardown),
	    CASE(captures_see_all),
	    CASE(captures_see_the_end),
	    CASE(the_thread_plays_and_sleeps),
	};
	int failed;

	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return failed;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker on real sockets. Needs root, and a network namespace of its own, which it makes:
 *
 *     a0 ==veth== a1 (port 0) --- network 1 --- (port 1) b1 ==veth== b0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "afxdp/port.h"
#include "afxdp/worker_own.h"
#include "lib/clock.h"
#include "lib/rcu.h"

#define RING 1024
#define FRAME_TEST_BYTES 200
#define ETHERTYPE 0x88b5
#define SKIPPED 77

static struct {
	struct tables tables;
	struct network network;
	struct flood_list *flood;
	struct port_view view[2];
	uint16_t vid_of_network[2];
	struct worker *worker;
	struct port *port[2];
	struct port_queue *queue[2];
	int host[2]; /* packet sockets on a0 and b0 */
	char run_dir[64];
} t;

static const char *const device[] = {"a1", "b1"};

static void make_devices(void)
{
	static const char *const command[] = {
	    "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1",
	    "ip link add a0 numtxqueues 1 numrxqueues 1 type veth peer name a1 numtxqueues 1 "
	    "numrxqueues 1",
	    "ip link add b0 numtxqueues 1 numrxqueues 1 type veth peer name b1 numtxqueues 1 "
	    "numrxqueues 1",
	    "ip link set a0 up; ip link set a1 up; ip link set b0 up; ip link set b1 up",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(command); i++)
		assert_int_equal(system(command[i]), 0);
}

static void make_tables(void)
{
	unsigned int i;

	t.flood = calloc(1, sizeof(*t.flood) + 2 * sizeof(t.flood->egress[0]));
	assert_non_null(t.flood);
	t.network = (struct network){.id = 1, .flood = t.flood};
	t.vid_of_network[0] = VID_NONE;
	for (i = 0; i < 2; i++) {
		t.view[i] = (struct port_view){.up = true,
					       .frame_max = 1518,
					       .untagged = 1,
					       .vid_of_network = t.vid_of_network,
					       .n_networks = 2};
		t.tables.port[i] = &t.view[i];
		t.flood->egress[t.flood->n++] = (uint16_t)i;
	}
	t.tables.network[1] = &t.network;
	t.tables.fdb = fdb_create(16);
	assert_non_null(t.tables.fdb);
}

static int host_socket(const char *name)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETHERTYPE),
				 .sll_ifindex = (int)if_nametoindex(name)};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETHERTYPE)), bytes = 8 << 20;

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)), 0);
	return fd;
}

static void open_port(unsigned int i)
{
	struct port_options options = {.index = (uint16_t)i,
				       .kind = PORT_NETDEV,
				       .mode = MODE_AUTO,
				       .name = device[i],
				       .device = device[i],
				       .ring = RING,
				       .run_dir = t.run_dir};
	char why[256] = "";
	int error;

	memset(options.vlans, 0xff, sizeof(options.vlans));
	error = port_open(&options, &t.worker, 1, &t.port[i], why, sizeof(why));
	if (error)
		fail_msg("port_open %s: %d %s", device[i], error, why);
	t.queue[i] = t.worker->tx.queue[i];
	assert_non_null(t.queue[i]);
}

static int setup(void **state)
{
	struct worker_options options = {.core = -1, .cookie = 0x12345678, .tables = &t.tables};
	char why[256] = "";
	unsigned int i;

	make_devices();
	make_tables();
	snprintf(t.run_dir, sizeof(t.run_dir), "/tmp/culvert-worker-XXXXXX");
	assert_non_null(mkdtemp(t.run_dir));
	options.n_frames = port_frames_needed(2, RING);
	if (worker_create(&options, &t.worker, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(worker_start(t.worker), 0);
	t.host[0] = host_socket("a0");
	t.host[1] = host_socket("b0");
	for (i = 0; i < 2; i++)
		open_port(i);
	return 0;
}

/* The frames that the worker can account for. At rest that is all of them. */
static void count_frames(struct worker *w, void *arg)
{
	uint32_t *sum = arg;
	unsigned int i;

	*sum = w->pool.n_free;
	for (i = 0; i < 2; i++)
		if (w->tx.queue[i])
			*sum += 2 * RING - w->tx.queue[i]->fill_missing +
				w->tx.queue[i]->tx_outstanding;
}

static uint32_t frames_known(void)
{
	uint32_t sum;

	worker_call(t.worker, count_frames, &sum);
	return sum;
}

static void check_at_rest(void)
{
	unsigned int i, j;

	usleep(300000);
	assert_int_equal(frames_known(), t.worker->options.n_frames);
	for (i = 0; i < 2; i++) {
		const struct port_counters *c = &worker_counters(t.worker)->port[i];
		uint64_t drops = 0;

		for (j = 0; j < DROP_REASON_COUNT; j++)
			drops += c->drop[j].packets;
		assert_true(c->rx_packets > 0);
		assert_int_equal(c->rx_packets + c->copied, c->forwarded + drops);
	}
}

static void frame_make(uint8_t frame[FRAME_TEST_BYTES], unsigned int from, uint32_t number)
{
	uint8_t head[ETH_BYTES] = {2,
				   0,
				   0,
				   0,
				   0,
				   (uint8_t)!from,
				   2,
				   0,
				   0,
				   0,
				   0,
				   (uint8_t)from,
				   ETHERTYPE >> 8,
				   ETHERTYPE & 0xff};

	memset(frame, (int)number, FRAME_TEST_BYTES);
	memcpy(frame, head, sizeof(head));
	memcpy(frame + sizeof(head), &number, sizeof(number));
}

static bool host_send(unsigned int from, uint32_t number)
{
	uint8_t frame[FRAME_TEST_BYTES];

	frame_make(frame, from, number);
	return send(t.host[from], frame, sizeof(frame), 0) == sizeof(frame);
}

/* The next frame that arrives from the other side is @number. */
static void host_expect(unsigned int at, uint32_t number)
{
	struct pollfd p = {.fd = t.host[at], .events = POLLIN};
	uint8_t frame[FRAME_TEST_BYTES], got[2048];

	frame_make(frame, !at, number);
	assert_int_equal(poll(&p, 1, 3000), 1);
	assert_int_equal(recv(t.host[at], got, sizeof(got), 0), sizeof(frame));
	assert_memory_equal(got, frame, sizeof(frame));
}

static void empty_hosts(void)
{
	uint8_t got[2048];
	unsigned int i;

	usleep(300000);
	for (i = 0; i < 2; i++)
		while (recv(t.host[i], got, sizeof(got), MSG_DONTWAIT) > 0)
			;
}

/* Bursts bigger than one sendto moves, all the way through, in order. */
static void frames_cross(void **state)
{
	uint32_t round, i, from;

	for (round = 0; round < 20; round++)
		for (from = 0; from < 2; from++) {
			for (i = 0; i < 200; i++)
				assert_true(host_send(from, round * 200 + i));
			for (i = 0; i < 200; i++)
				host_expect(!from, round * 200 + i);
		}
	check_at_rest();
}

/* A wake-up that is missed would show as the whole second that a worker sleeps. */
static void sleep_costs_no_frame(void **state)
{
	uint64_t start, longest = 0;
	uint32_t i;

	for (i = 0; i < 300; i++) {
		usleep(i * 10); /* awake, about to sleep, asleep */
		start = clock_ns();
		assert_true(host_send(i % 2, i));
		host_expect(!(i % 2), i);
		longest = max_of(longest, clock_ns() - start);
	}
	print_message("longest way: %.2f ms\n", (double)longest / 1e6);
	assert_true(longest < NS_PER_S / 2);
}

static void read_cpu(struct worker *w, void *arg)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	*(uint64_t *)arg = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void an_idle_worker_sleeps(void **state)
{
	uint64_t before, after;

	usleep(200000);
	worker_call(t.worker, read_cpu, &before);
	sleep(2);
	worker_call(t.worker, read_cpu, &after);
	print_message("idle: %.4f %% of a core\n", (double)(after - before) / 2e9 * 100);
	assert_true(after - before < 10 * NS_PER_MS);
}

/* A device that takes nothing: what waits in its ring must neither cost a core nor get lost. */
static void a_stuck_device_costs_no_core(void **state)
{
	uint64_t before, after;
	uint32_t i;

	assert_int_equal(system("ip link set b1 down"), 0);
	for (i = 0; i < 100; i++)
		assert_true(host_send(0, i));
	usleep(300000);
	assert_true(t.queue[1]->tx_outstanding > 0);
	worker_call(t.worker, read_cpu, &before);
	sleep(2);
	worker_call(t.worker, read_cpu, &after);
	print_message("stuck: %.4f %% of a core\n", (double)(after - before) / 2e9 * 100);
	assert_true(after - before < 40 * NS_PER_MS);

	assert_int_equal(system("ip link set b1 up"), 0);
	check_at_rest();
	assert_int_equal(t.queue[1]->tx_outstanding, 0);
	empty_hosts();
	frames_cross(state);
}

static bool load_stop;

static void *load_main(void *arg)
{
	uint32_t n = 0;

	while (!load_relaxed(&load_stop)) {
		host_send(n % 2, n);
		if (++n % 512 == 0)
			usleep(100);
	}
	return NULL;
}

static void load_start(pthread_t *thread)
{
	store_relaxed(&load_stop, false);
	assert_int_equal(pthread_create(thread, NULL, load_main, NULL), 0);
}

static void load_end(pthread_t thread)
{
	store_relaxed(&load_stop, true);
	pthread_join(thread, NULL);
}

static void attach(struct worker *w, void *queue)
{
	worker_attach(w, queue);
}

static void detach(struct worker *w, void *queue)
{
	worker_detach(w, queue);
}

static void queues_come_and_go_under_load(void **state)
{
	uint64_t before = worker_counters(t.worker)->port[0].rx_packets;
	pthread_t load;
	unsigned int i;

	load_start(&load);
	for (i = 0; i < 100; i++) {
		usleep(2000);
		worker_call(t.worker, detach, t.queue[i % 2]);
		usleep(i * 20);
		worker_call(t.worker, attach, t.queue[i % 2]);
	}
	load_end(load);
	check_at_rest();
	assert_true(worker_counters(t.worker)->port[0].rx_packets - before > 100);
	assert_int_equal(t.queue[0]->bad_descriptors + t.queue[1]->bad_descriptors, 0);
	empty_hosts();
	frames_cross(state);
}

static void ports_come_and_go_under_load(void **state)
{
	pthread_t load;
	unsigned int i;

	load_start(&load);
	for (i = 0; i < 12; i++) {
		usleep(5000);
		port_close(t.port[i % 2], false);
		t.port[i % 2] = NULL;
		usleep(5000);
		open_port(i % 2);
	}
	load_end(load);
	check_at_rest();
	empty_hosts();
	frames_cross(state);
}

static void stop_under_load_is_clean(void **state)
{
	pthread_t load;
	unsigned int i;

	load_start(&load);
	usleep(50000);
	for (i = 0; i < 2; i++) {
		port_close(t.port[i], false);
		t.port[i] = NULL;
	}
	assert_int_equal(frames_known(), t.worker->options.n_frames);
	worker_stop(t.worker);
	load_end(load);
	assert_int_equal(t.worker->pool.n_free, t.worker->options.n_frames);
}

static int teardown(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		port_close(t.port[i], false);
		close(t.host[i]);
	}
	worker_destroy(t.worker);
	fdb_destroy(t.tables.fdb);
	free(t.flood);
	return rmdir(t.run_dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(frames_cross),
	    cmocka_unit_test(sleep_costs_no_frame),
	    cmocka_unit_test(an_idle_worker_sleeps),
	    cmocka_unit_test(a_stuck_device_costs_no_core),
	    cmocka_unit_test(queues_come_and_go_under_load),
	    cmocka_unit_test(ports_come_and_go_under_load),
	    cmocka_unit_test(stop_under_load_is_clean),
	};

	if (geteuid() || unshare(CLONE_NEWNET)) {
		fprintf(stderr, "skipped: needs root and a network namespace of its own\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}

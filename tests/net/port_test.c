/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports on real devices: opened, closed, changed, refused and put back.
 *
 *     e0 --- p0  p1  p2        veth pairs in a network namespace of the test's own; ports on p0,
 * p1, p2, e1 --- p1                one network over all; the test sends and listens on e0, e1, e2
 *     e2 --- p2
 *
 * Needs root (exit 77).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "afxdp/meta.h"
#include "afxdp/port_own.h"
#include "dataplane/pool.h"
#include "lib/bits.h"
#include "lib/log.h"
#include "lib/nl.h"
#include "tests/net/sh.h"

#define COOKIE 0x5eed1234
#define N_PORTS 3
#define RING 64
#define RUN_DIR "/run/culvert-port-test"
#define ETHERTYPE 0x88b5 /* for local experiments */

static struct {
	struct tables tables;
	struct network network;
	struct flood_list *flood;
	struct port_view view[N_PORTS];
	uint16_t vid_of_network[2];
	struct worker *worker[2];
	uint32_t n_workers;
	struct port *port[N_PORTS];
	char why[256];
} t;

static void make_tables(void)
{
	t.flood = calloc(1, sizeof(*t.flood) + N_PORTS * sizeof(t.flood->egress[0]));
	t.network = (struct network){.id = 1, .flood = t.flood, .learn = LEARN_OFF};
	t.vid_of_network[0] = VID_NONE;
	t.vid_of_network[1] = VID_UNTAGGED;
	for (uint16_t i = 0; i < N_PORTS; i++) {
		t.view[i] = (struct port_view){.up = true,
					       .frame_max = 1518,
					       .untagged = 1,
					       .vid_of_network = t.vid_of_network,
					       .n_networks = 2};
		t.tables.port[i] = &t.view[i];
		t.flood->egress[t.flood->n++] = i;
	}
	t.tables.network[1] = &t.network;
	t.tables.fdb = fdb_create(16);
}

static void make_workers(uint32_t n, bool start)
{
	for (uint32_t i = 0; i < n; i++) {
		struct worker_options o = {.index = i,
					   .core = -1,
					   .cookie = COOKIE,
					   .tables = &t.tables,
					   .n_frames = port_frames_needed(N_PORTS, RING)};

		assert_int_equal(worker_create(&o, &t.worker[i], t.why, sizeof(t.why)), 0);
		if (start)
			assert_int_equal(worker_start(t.worker[i]), 0);
	}
	t.n_workers = n;
}

static int setup(void **state)
{
	memset(&t, 0, sizeof(t));
	make_tables();
	for (int i = 0; i < N_PORTS; i++) {
		MUST("ip link add p%d numrxqueues 2 numtxqueues 2 type veth peer name e%d", i, i);
		MUST("ethtool -L p%d rx 1 tx 1", i);
		MUST("ethtool -L e%d rx 1 tx 1", i);
		MUST("ip link set e%d up", i);
	}
	return 0;
}

static void close_port(int i)
{
	port_close(t.port[i], false);
	t.port[i] = NULL;
}

/* Frames that are not back in their pool. */
static uint32_t count_lost(struct worker *worker)
{
	const struct pool *pool = worker_lane(worker)->pool;

	return pool->n_frames - pool->n_free;
}

static void check_frames(void)
{
	for (uint32_t i = 0; i < t.n_workers; i++)
		assert_int_equal(count_lost(t.worker[i]), 0);
}

static int teardown(void **state)
{
	uint32_t lost = 0;
	bool left;

	for (int i = 0; i < N_PORTS; i++)
		close_port(i);
	for (uint32_t i = 0; i < t.n_workers; i++)
		lost += count_lost(t.worker[i]);
	for (uint32_t i = 0; i < t.n_workers; i++)
		worker_destroy(t.worker[i]);
	for (int i = 0; i < N_PORTS; i++)
		sh("ip link del p%d", i);
	fdb_destroy(t.tables.fdb);
	free(t.flood);
	/* Everything was put back and forgotten: the directory is empty. */
	left = rmdir(RUN_DIR) && errno != ENOENT;
	if (left)
		sh("rm -rf " RUN_DIR);
	return lost || left;
}

static struct port_options options_of(int i)
{
	static const char *const names[] = {"p0", "p1", "p2"};

	return (struct port_options){
	    .index = (uint16_t)i,
	    .kind = PORT_NETDEV,
	    .mode = MODE_AUTO,
	    .name = names[i],
	    .device = names[i],
	    .ring = RING,
	    .want_hash = true,
	    .run_dir = RUN_DIR,
	};
}

static int open_with(const struct port_options *o)
{
	t.why[0] = 0;
	return port_open(o, t.worker, t.n_workers, &t.port[o->index], t.why, sizeof(t.why));
}

static int open_port(int i)
{
	struct port_options o = options_of(i);

	return open_with(&o);
}

static void must_open(const struct port_options *o)
{
	int r = open_with(o);

	if (r)
		fail_msg("%s: %s", strerror(-r), t.why);
}

/* Refused with this error, and a sentence that has these words. */
static void must_refuse(const struct port_options *o, int error, const char *words,
			const char *cure)
{
	int r = open_with(o);

	if (r != error || !strstr(t.why, words) || !strstr(t.why, cure))
		fail_msg("wanted %s '%s' '%s', got %d '%s'", strerror(-error), words, cure, r,
			 t.why);
	assert_null(t.port[o->index]);
}

static int listen_on(const char *device)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htobe16(ETHERTYPE),
				 .sll_ifindex = (int)if_nametoindex(device)};
	int fd = socket(AF_PACKET, SOCK_RAW, htobe16(ETHERTYPE));

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void make_frame(uint8_t frame[60], uint8_t number)
{
	static const uint8_t head[ETH_BYTES] = {2, 0, 0, 0, 0, 0x99, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};

	memset(frame, number, 60);
	memcpy(frame, head, sizeof(head));
}

/* A frame sent into e@from comes out of e@to. */
static bool passes(int from, int to)
{
	static uint8_t number;
	uint8_t frame[60], got[128];
	char in[8], out[8];
	struct pollfd p;
	bool found = false;
	int fd;

	snprintf(in, sizeof(in), "e%d", from);
	snprintf(out, sizeof(out), "e%d", to);
	make_frame(frame, ++number);
	p = (struct pollfd){.fd = listen_on(out), .events = POLLIN};
	fd = listen_on(in);
	assert_int_equal(send(fd, frame, sizeof(frame), 0), sizeof(frame));
	while (!found && poll(&p, 1, 500) > 0)
		found = recv(p.fd, got, sizeof(got), 0) == sizeof(frame) &&
			memcmp(got, frame, sizeof(frame)) == 0;
	close(fd);
	close(p.fd);
	return found;
}

static void check_info(int i, enum port_mode mode, bool bound)
{
	struct port_info info;

	port_info(t.port[i], &info);
	assert_int_equal(info.mode, mode);
	assert_int_equal(info.bound_program, bound);
	assert_int_equal(info.queues, t.n_workers);
	assert_int_equal(info.mtu, 1500);
	assert_true(info.link);
	assert_string_equal(info.driver, "veth");
	assert_int_equal(info.ifindex, if_nametoindex(info.device));
	assert_true(info.program_why[0] || info.mode_why[0]);
}

static uint32_t setting(const char *device, enum netdev_key key)
{
	struct netdev dev;
	uint32_t value = UINT32_MAX;

	assert_int_equal(netdev_open(&dev, device), 0);
	assert_int_equal(netdev_get(&dev, key, &value), 0);
	netdev_close(&dev);
	return value;
}

static bool has_program(const char *device)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	assert_int_equal(bpf_xdp_query((int)if_nametoindex(device), 0, &query), 0);
	return query.prog_id || query.drv_prog_id || query.skb_prog_id;
}

/* The first is closed first and opened again, a third joins, one loses its device. */
static void ports_come_and_go_in_any_order(void **state)
{
	make_workers(1, true);
	assert_int_equal(open_port(0), 0);
	assert_int_equal(open_port(1), 0);
	assert_true(passes(0, 1) && passes(1, 0));
	close_port(0);
	assert_false(passes(0, 1));
	assert_int_equal(open_port(0), 0);
	assert_true(passes(0, 1) && passes(1, 0));
	assert_int_equal(open_port(2), 0);
	assert_true(passes(2, 0) && passes(2, 1) && passes(0, 2));
	close_port(1);
	assert_true(passes(2, 0) && passes(0, 2));
	MUST("ip link del p0");
	port_close(t.port[0], true);
	t.port[0] = NULL;
	assert_int_equal(open_port(1), 0);
	assert_true(passes(2, 1) && passes(1, 2));
	close_port(2);
	close_port(1);
	check_frames();
}

static void opening_again_and_again_leaks_nothing(void **state)
{
	make_workers(1, true);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(open_port(0), 0);
		close_port(0);
		check_frames();
	}
	/* Sockets, programs and maps of closed ports are closed. */
	assert_true(dup(0) < 40);
}

/* Sends into e0 until *@arg. */
static void *flood(void *arg)
{
	uint8_t frame[60];
	int fd = listen_on("e0");

	make_frame(frame, 1);
	while (!__atomic_load_n((bool *)arg, __ATOMIC_RELAXED))
		if (send(fd, frame, sizeof(frame), MSG_DONTWAIT) < 0)
			usleep(100);
	close(fd);
	return NULL;
}

static void ports_close_under_load(void **state)
{
	struct port_kernel_stats stats;
	bool stop = false;
	pthread_t thread;

	make_workers(1, true);
	assert_int_equal(pthread_create(&thread, NULL, flood, &stop), 0);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(open_port(i % 2), 0);
		assert_int_equal(open_port(!(i % 2)), 0);
		usleep(50000);
		close_port(0);
		usleep(10000);
		close_port(1);
		check_frames();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(open_port(0), 0);
	assert_int_equal(open_port(1), 0);
	assert_true(passes(0, 1) && passes(1, 0));
	port_kernel_stats(t.port[0], &stats);
	assert_int_equal(stats.tx_invalid, 0);
}

static void modes(void **state)
{
	struct port_options o = options_of(0);

	make_workers(1, true);
	must_open(&o);
	check_info(0, MODE_NATIVE, steer_kernel_has_hash());
	close_port(0);
	o.mode = MODE_NATIVE;
	must_open(&o);
	check_info(0, MODE_NATIVE, steer_kernel_has_hash());
	close_port(0);
	o.mode = MODE_SKB;
	must_open(&o);
	check_info(0, MODE_SKB, false);
	assert_int_equal(open_port(1), 0);
	assert_true(passes(0, 1) && passes(1, 0));
	close_port(0);
	o.mode = MODE_ZERO_COPY;
	must_refuse(&o, -EOPNOTSUPP, "no zero-copy", "mode: native");
	assert_false(has_program("p0"));
}

static void two_workers_have_two_queues(void **state)
{
	make_workers(2, true);
	assert_int_equal(open_port(0), 0);
	assert_int_equal(open_port(1), 0);
	check_info(0, MODE_NATIVE, steer_kernel_has_hash());
	assert_int_equal(setting("p0", NETDEV_RX_QUEUES), 2);
	assert_int_equal(setting("p0", NETDEV_TX_QUEUES), 2);
	assert_true(passes(0, 1) && passes(1, 0));
	close_port(0);
	assert_int_equal(setting("p0", NETDEV_RX_QUEUES), 1);
	assert_int_equal(setting("p0", NETDEV_TX_QUEUES), 1);
}

static void queues_that_cannot_be_are_refused(void **state)
{
	struct port_options o = options_of(0);

	make_workers(2, true);
	o.queues = 1;
	must_refuse(&o, -ENOSPC, "queues: 1", "workers.cores");
	MUST("ip link add lone numrxqueues 1 numtxqueues 1 type veth peer name enol");
	o.queues = 0;
	o.device = "lone";
	must_refuse(&o, -ENOSPC, "lone", "workers.cores");
	MUST("ip link del lone");
}

static void a_peer_with_more_queues_is_refused(void **state)
{
	struct port_options o = options_of(0);

	make_workers(1, true);
	MUST("ip link del p0");
	MUST("ip link add p0 type veth peer name e0 numtxqueues 2 numrxqueues 2");
	MUST("ethtool -L e0 tx 2");
	MUST("ip link set e0 up");
	must_refuse(&o, -ENOSPC, "p0", "ethtool -L e0 tx 1");
	MUST("ethtool -L e0 tx 1");
	must_open(&o);
}

static void settings_are_put_back(void **state)
{
	struct port_options o = options_of(0);

	make_workers(2, true);
	o.mtu = 1400;
	must_open(&o);
	assert_int_equal(access(RUN_DIR "/p0.saved", F_OK), 0);
	assert_int_equal(setting("p0", NETDEV_MTU), 1400);
	assert_int_equal(setting("p0", NETDEV_UP), 1);
	assert_int_equal(sh("ip -d link show p0 | grep -q 'promiscuity 1'"), 0);
	close_port(0);
	assert_int_equal(access(RUN_DIR "/p0.saved", F_OK), -1);
	assert_int_equal(setting("p0", NETDEV_MTU), 1500);
	assert_int_equal(setting("p0", NETDEV_UP), 0);
	assert_int_equal(setting("p0", NETDEV_RX_QUEUES), 1);
	assert_int_equal(sh("ip -d link show p0 | grep -q 'promiscuity 0'"), 0);
	/* And when opening fails half way. */
	o.mode = MODE_ZERO_COPY;
	must_refuse(&o, -EOPNOTSUPP, "p0", "mode");
	assert_int_equal(setting("p0", NETDEV_MTU), 1500);
	assert_int_equal(setting("p0", NETDEV_UP), 0);
	assert_int_equal(access(RUN_DIR "/p0.saved", F_OK), -1);
}

/* A child that has opened @o and waits. */
static pid_t child_with_port(const struct port_options *o)
{
	int ready[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		make_workers(1, true);
		c = open_with(o) ? 'n' : 'y';
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(c, 'y');
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void cleanup_after_sigkill(void **state)
{
	struct port_options o = options_of(0);
	pid_t pid;

	MUST("ethtool -L p0 rx 2");
	o.mtu = 1400;
	pid = child_with_port(&o);
	assert_int_equal(setting("p0", NETDEV_RX_QUEUES), 1);
	kill_child(pid);
	assert_int_equal(setting("p0", NETDEV_MTU), 1400);
	assert_int_equal(sh("ip -d link show p0 | grep -q 'promiscuity 0'"), 0);
	assert_int_equal(port_cleanup(RUN_DIR, true), 1);
	assert_int_equal(setting("p0", NETDEV_MTU), 1500);
	assert_int_equal(setting("p0", NETDEV_RX_QUEUES), 2);
	assert_int_equal(setting("p0", NETDEV_UP), 0);
	assert_int_equal(port_cleanup(RUN_DIR, true), 0);
}

/* Without a cleanup in between the originals are still the first ones. */
static void a_start_after_sigkill_keeps_the_originals(void **state)
{
	struct port_options o = options_of(0);

	o.mtu = 1400;
	kill_child(child_with_port(&o));
	make_workers(1, true);
	must_open(&o);
	close_port(0);
	assert_int_equal(setting("p0", NETDEV_MTU), 1500);
	assert_int_equal(setting("p0", NETDEV_UP), 0);
}

/* The file is about another device that had the name. */
static void another_device_of_that_name_is_left_alone(void **state)
{
	struct port_options o = options_of(0);

	o.mtu = 1400;
	kill_child(child_with_port(&o));
	MUST("ip link del p0");
	MUST("ip link add p0 mtu 1300 type veth peer name e0");
	assert_int_equal(port_cleanup(RUN_DIR, true), 0);
	assert_int_equal(setting("p0", NETDEV_MTU), 1300);
}

static void a_running_culvertd_is_not_robbed(void **state)
{
	struct port_options o = options_of(0);
	pid_t pid = child_with_port(&o);

	make_workers(1, true);
	must_refuse(&o, -EBUSY, "another culvertd", "stop");
	kill_child(pid);
	must_open(&o);
}

/* Two instructions: return XDP_PASS. */
static int pass_program(const char *name)
{
	static const struct bpf_insn code[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 2},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, name, "GPL", code, ARRAY_SIZE(code), NULL);

	assert_true(fd >= 0);
	return fd;
}

static void a_stale_program_is_replaced(void **state)
{
	static const uint32_t flags[] = {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE};
	struct port_options o = options_of(0);

	make_workers(1, true);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		int fd = pass_program("culvert_plain");

		assert_int_equal(bpf_xdp_attach((int)if_nametoindex("p0"), fd, flags[i], NULL), 0);
		close(fd);
		must_open(&o);
		close_port(0);
		assert_false(has_program("p0"));
	}
}

static void a_pinned_stale_program_is_replaced(void **state)
{
	struct port_options o = options_of(0);
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int program, link;

	make_workers(1, true);
	if (mkdir(RUN_DIR, 0755) || mount("bpf", RUN_DIR, "bpf", 0, NULL))
		fail_msg("mounting bpffs: %s", strerror(errno));
	program = pass_program("culvert_bound");
	link = bpf_link_create(program, (int)if_nametoindex("p0"), BPF_XDP, &opts);
	assert_true(link >= 0);
	assert_int_equal(bpf_obj_pin(link, RUN_DIR "/link"), 0);
	close(link);
	close(program);
	assert_true(has_program("p0"));
	o.run_dir = NULL;
	must_open(&o);
	assert_int_equal(umount(RUN_DIR), 0);
}

static void a_foreign_program_is_refused(void **state)
{
	struct port_options o = options_of(0);
	int fd = pass_program("somebodys");

	make_workers(1, true);
	assert_int_equal(bpf_xdp_attach((int)if_nametoindex("p0"), fd, XDP_FLAGS_DRV_MODE, NULL),
			 0);
	must_refuse(&o, -EBUSY, "'somebodys' (id ", "ip link set dev p0 xdp off");
	assert_true(has_program("p0"));
	assert_int_equal(bpf_xdp_detach((int)if_nametoindex("p0"), XDP_FLAGS_DRV_MODE, NULL), 0);
	assert_int_equal(bpf_xdp_attach((int)if_nametoindex("p0"), fd, XDP_FLAGS_SKB_MODE, NULL),
			 0);
	must_refuse(&o, -EBUSY, "'somebodys' (id ", "ip link set dev p0 xdpgeneric off");
	close(fd);
}

static void a_socket_of_somebody_elses_is_named(void **state)
{
	struct port_options o = options_of(0);
	struct port_queue *q = aligned_alloc(CACHE_LINE, sizeof(*q));
	struct xsk_bind bind = {.device = "p0", .ring = RING};
	struct pool *pool;

	make_workers(1, false);
	MUST("ip link set p0 up");
	bind.ifindex = (int)if_nametoindex("p0");
	memset(q, 0, sizeof(*q));
	q->port = 2;
	pool = worker_lane(t.worker[0])->pool;
	assert_int_equal(xsk_open(q, pool, &bind), 0);
	must_refuse(&o, -EBUSY, "queue 0 is in use", "stop");
	xsk_close(q);
	pool_reclaim(pool, 2);
	free(q);
}

static void limits_of_mtu(void **state)
{
	struct port_options o = options_of(0);

	make_workers(1, true);
	o.mtu = 9000;
	must_refuse(&o, -ERANGE, "3818", "mtu 3506");
	o.mtu = 0;
	MUST("ip link set p0 mtu 9000");
	must_refuse(&o, -ERANGE, "9000", "ip link set dev p0 mtu 3506");
	MUST("ip link set p0 mtu 3506");
	must_open(&o);
	close_port(0);
	MUST("ip link set e0 mtu 9000");
	must_refuse(&o, -ERANGE, "its peer's MTU", "3506");
	/* Over the driver's limit, but the stack can: auto takes skb and says why. */
	MUST("ip link set p0 mtu 3800");
	MUST("ip link set e0 mtu 3800");
	must_open(&o);
	assert_int_equal(t.port[0]->mode, MODE_SKB);
	assert_non_null(strstr(t.port[0]->mode_why, "3506"));
	close_port(0);
	o.mode = MODE_NATIVE;
	must_refuse(&o, -ERANGE, "3506", "ip link set dev p0 mtu 3506");
}

static void missing_devices(void **state)
{
	struct port_options o = options_of(0);

	make_workers(1, true);
	o.device = "nosuch0";
	must_refuse(&o, -ENODEV, "nosuch0", "missing: wait");
	o.device = "a-name-that-is-too-long";
	must_refuse(&o, -ENODEV, "a-name", "missing: wait");
	o.device = "";
	must_refuse(&o, -ENODEV, "", "missing: wait");
}

static void frames_that_are_short_are_refused(void **state)
{
	struct port_options o = options_of(0);

	make_workers(1, true);
	o.ring = 1 << 14;
	must_open(&o); /* with a FILL ring that is only partly filled */
	assert_int_equal(t.port[0]->queue[0].fill_missing, 0);
	o = options_of(1);
	o.ring = 1 << 14;
	must_open(&o);
	o = options_of(2);
	o.ring = 1 << 14;
	must_open(&o);
	assert_true(passes(0, 1) && passes(1, 2));
}

/* The last received packet of p@i, before any worker took it: its frame, and what stands before it.
 */
static const uint8_t *received(int i, struct rx_meta *meta, uint32_t *bytes)
{
	struct port_queue *q = &t.port[i]->queue[0];
	const struct xdp_desc *d;
	const uint8_t *data;
	uint32_t at;

	for (int try = 0; !xsk_ring_cons__peek(&q->rx, 1, &at); try++) {
		assert_true(try < 500);
		usleep(1000);
	}
	d = xsk_ring_cons__rx_desc(&q->rx, at);
	data = worker_lane(t.worker[0])->pool->area + d->addr;
	memcpy(meta, data - sizeof(*meta), sizeof(*meta));
	*bytes = d->len;
	xsk_ring_cons__release(&q->rx, 1);
	return data;
}

static void send_udp(int number)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htobe16(9)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	to.sin_addr.s_addr = htobe32(0x0a000002);
	assert_int_equal(sendto(fd, &number, sizeof(number), 0, (struct sockaddr *)&to, sizeof(to)),
			 sizeof(number));
	close(fd);
}

static void the_hash_comes_with_the_frame(void **state)
{
	struct port_options o = options_of(0);
	struct rx_meta meta;
	uint32_t bytes;

	if (!steer_kernel_has_hash())
		skip();
	make_workers(1, false);
	must_open(&o);
	MUST("sysctl -w net.ipv6.conf.e0.disable_ipv6=1");
	MUST("ip addr add 10.0.0.1/24 dev e0");
	MUST("ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:22 dev e0");
	send_udp(1);
	while (received(0, &meta, &bytes)[12] != 0x08)
		;
	assert_int_equal(meta.cookie, COOKIE);
	assert_true(meta.flags & META_HASH);
	assert_int_not_equal(meta.hash, 0);
	/* A veth that is asked for the time knows none, and all is as it was. */
	port_set_time(t.port[0], true);
	send_udp(3);
	while (received(0, &meta, &bytes)[12] != 0x08)
		;
	assert_int_equal(meta.cookie, COOKIE);
	assert_true(meta.flags & META_HASH);
	assert_false(meta.flags & META_TIME);
	close_port(0);
	/* Not asked for, not there. */
	o.want_hash = false;
	must_open(&o);
	send_udp(2);
	while (received(0, &meta, &bytes)[12] != 0x08)
		;
	assert_false(meta.cookie == COOKIE && meta.flags & META_HASH);
}

/* What a VLAN netdev does on e0: the tag travels beside the frame. */
static void tag_aside(uint16_t tci)
{
	const struct bpf_insn code[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = htobe16(0x8100)},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = tci},
	    {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_skb_vlan_push},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)if_nametoindex("e0"),
		    .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts);

	opts.prog_fd =
	    bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "tag", "GPL", code, ARRAY_SIZE(code), NULL);
	assert_true(opts.prog_fd >= 0);
	assert_int_equal(bpf_tc_hook_create(&hook), 0);
	assert_int_equal(bpf_tc_attach(&hook, &opts), 0);
	close(opts.prog_fd);
}

static void send_frame(const char *device, uint8_t number)
{
	uint8_t frame[60];
	int fd = listen_on(device);

	make_frame(frame, number);
	assert_int_equal(send(fd, frame, sizeof(frame), 0), sizeof(frame));
	close(fd);
}

static void tags_beside_the_frame(void **state)
{
	struct port_options o = options_of(0);
	struct rx_meta meta;
	const uint8_t *data;
	uint32_t bytes;

	make_workers(1, false);
	o.tagged = true;
	if (!steer_kernel_has_vlan()) {
		must_refuse(&o, -EINVAL, "tagged:", "ethtool -K e0 txvlan off");
		return;
	}
	must_open(&o);
	tag_aside(0xa0c8);
	send_frame("e0", 7);
	do
		data = received(0, &meta, &bytes);
	while (data[12] != 0x88);
	assert_int_equal(bytes, 60);
	assert_int_equal(meta.cookie, COOKIE);
	assert_true(meta.flags & META_VLAN);
	assert_int_equal(meta.tci, 0xa0c8);
	assert_int_equal(meta.tpid, 0x8100);
}

/* Without the metadata kfunc tags are refused, until the cure is taken: then they are in the frame.
 */
static void tags_that_cannot_be_seen(void **state)
{
	struct port_options o = options_of(0);
	struct rx_meta meta;
	const uint8_t *data;
	uint32_t bytes;

	make_workers(1, false);
	o.mode = MODE_SKB;
	must_open(&o);
	assert_non_null(strstr(t.port[0]->device.warning, "ethtool -K e0 txvlan off"));
	close_port(0);
	o.tagged = true;
	must_refuse(&o, -EINVAL, "tagged:", "ethtool -K e0 txvlan off");
	MUST("ip netns add cvp-far && ip link set e0 netns cvp-far");
	must_refuse(&o, -EINVAL, "tagged:", "ethtool -K e0 txvlan off");
	MUST("ip netns exec cvp-far ethtool -K e0 txvlan off");
	must_open(&o);
	close_port(0);
	MUST("ip -n cvp-far link set e0 netns %d", (int)getpid());
	MUST("ip netns del cvp-far && ip link set e0 up");
	must_open(&o);
	tag_aside(0xa0c8);
	send_frame("e0", 7);
	do
		data = received(0, &meta, &bytes);
	while (data[12] != 0x81);
	assert_int_equal(bytes, 64);
	assert_int_equal(data[14] << 8 | data[15], 0xa0c8);
}

/* A peer that leaves checksums to the hardware is warned about. */
static void a_peer_that_needs_a_cure_is_named(void **state)
{
	struct port_options o = options_of(0);
	struct port_info info;

	make_workers(1, true);
	must_open(&o);
	port_info(t.port[0], &info);
	assert_non_null(strstr(info.warning, "ethtool -K e0 tx off"));
	close_port(0);
	MUST("ethtool -K e0 tx off");
	must_open(&o);
	port_info(t.port[0], &info);
	assert_null(strstr(info.warning, "checksum"));
}

static void internal_ports(void **state)
{
	struct port_options o = options_of(0);
	struct mac mac = {{2, 0, 0, 0, 7, 1}}, other = {{2, 0, 0, 0, 7, 2}};
	struct nl_link link;
	struct port_info info;
	int ifindex;

	make_workers(1, true);
	o.kind = PORT_INTERNAL;
	o.name = o.device = "gw0";
	o.mac = mac;
	o.persist = true;
	must_open(&o);
	assert_int_equal(nl_link_by_name("gw0", &link), 0);
	ifindex = link.ifindex;
	assert_memory_equal(&link.mac, &mac, sizeof(mac));
	assert_int_equal(setting("gw0", NETDEV_TX_CHECKSUM), 0);
	assert_int_equal(setting("gw0", NETDEV_TXVLAN), 0);
	assert_int_equal(setting("gw0", NETDEV_GRO), 1);
	assert_int_equal(setting("gw0", NETDEV_UP), 1);
	assert_int_equal(sh("ip -6 addr show dev cv-gw0 | grep -q inet6"), 256);
	port_info(t.port[0], &info);
	assert_string_equal(info.device, "gw0");
	assert_memory_equal(&info.mac, &mac, sizeof(mac));
	close_port(0);
	/* It is the same one after a restart, with the MAC address that the file says then. */
	assert_int_equal(port_cleanup(RUN_DIR, true), 0);
	o.mac = other;
	must_open(&o);
	assert_int_equal(nl_link_by_name("gw0", &link), 0);
	assert_int_equal(link.ifindex, ifindex);
	assert_memory_equal(&link.mac, &other, sizeof(other));
	close_port(0);
	assert_int_equal(port_cleanup(RUN_DIR, false), 1);
	assert_int_equal(nl_link_by_name("gw0", &link), -ENODEV);
	o.persist = false;
	o.device = "gw-fifteen-char";
	must_open(&o);
	assert_int_equal(nl_link_by_name("gw-fifteen-char", &link), 0);
	close_port(0);
	assert_int_equal(nl_link_by_name("gw-fifteen-char", &link), -ENODEV);
	o.device = "p1";
	must_refuse(&o, -EBUSY, "p1", "ip link del p1");
	assert_int_equal(nl_link_by_name("p1", &link), 0);
}

/* Somebody took the host's end into a namespace of its own: the port goes on, also after a restart.
 */
static void the_host_end_may_live_elsewhere(void **state)
{
	struct port_options o = options_of(0);

	make_workers(1, true);
	o.kind = PORT_INTERNAL;
	o.name = o.device = "gw0";
	o.mac = (struct mac){{2, 0, 0, 0, 7, 1}};
	o.persist = true;
	must_open(&o);
	MUST("ip netns add cvp-elsewhere && ip link set gw0 netns cvp-elsewhere");
	close_port(0);
	must_open(&o);
	close_port(0);
	MUST("ip netns del cvp-elsewhere");
	for (int i = 0; i < 200 && if_nametoindex("cv-gw0"); i++)
		usleep(10000);
	assert_int_equal(port_cleanup(RUN_DIR, false), 0);
}

static void internal_ports_after_sigkill(void **state)
{
	struct port_options o = options_of(0);
	struct nl_link link;

	o.kind = PORT_INTERNAL;
	o.name = o.device = "gw0";
	o.mac = (struct mac){{2, 0, 0, 0, 7, 1}};
	kill_child(child_with_port(&o));
	assert_int_equal(nl_link_by_name("gw0", &link), 0);
	/* It was not to persist. */
	assert_int_equal(port_cleanup(RUN_DIR, true), 1);
	assert_int_equal(nl_link_by_name("gw0", &link), -ENODEV);
}

static void sinks_and_files(void **state)
{
	struct port_options o = options_of(0);
	struct port_info info;

	make_workers(2, true);
	o.kind = PORT_SINK;
	must_open(&o);
	o.index = 1;
	o.kind = PORT_PCAP;
	o.pcap_rx = RUN_DIR "-none.pcap";
	must_refuse(&o, -ENOENT, "none.pcap", "");
	o.pcap_rx = NULL;
	o.pcap_tx = RUN_DIR "-out.pcap";
	must_open(&o);
	port_info(t.port[1], &info);
	assert_int_equal(info.mode, MODE_NONE);
	assert_int_equal(info.ifindex, 0);
	close_port(1);
	unlink(o.pcap_tx);
	port_info(t.port[0], &info);
	assert_true(info.link);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(ports_come_and_go_in_any_order),
	    TEST(opening_again_and_again_leaks_nothing),
	    TEST(modes),
	    TEST(two_workers_have_two_queues),
	    TEST(queues_that_cannot_be_are_refused),
	    TEST(a_peer_with_more_queues_is_refused),
	    TEST(settings_are_put_back),
	    TEST(cleanup_after_sigkill),
	    TEST(a_start_after_sigkill_keeps_the_originals),
	    TEST(another_device_of_that_name_is_left_alone),
	    TEST(a_running_culvertd_is_not_robbed),
	    TEST(a_stale_program_is_replaced),
	    TEST(a_pinned_stale_program_is_replaced),
	    TEST(a_foreign_program_is_refused),
	    TEST(a_socket_of_somebody_elses_is_named),
	    TEST(limits_of_mtu),
	    TEST(missing_devices),
	    TEST(frames_that_are_short_are_refused),
	    TEST(the_hash_comes_with_the_frame),
	    TEST(tags_beside_the_frame),
	    TEST(tags_that_cannot_be_seen),
	    TEST(a_peer_that_needs_a_cure_is_named),
	    TEST(ports_close_under_load),
	    TEST(internal_ports),
	    TEST(the_host_end_may_live_elsewhere),
	    TEST(internal_ports_after_sigkill),
	    TEST(sinks_and_files),
	};

	if (geteuid() || isolate())
		return 77;
	log_set_level(LOG_LVL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

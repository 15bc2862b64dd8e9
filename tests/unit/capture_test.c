/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running captures: threads play workers, whose frames come in at srv1 and leave at srv2, or are
 * dropped; a socket pair leads to a client that reads the whole file, nothing, or hangs up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/capture.h"
#include "lib/buffer.h"
#include "lib/clock.h"
#include "tests/unit/pcapng_reader.h"

#define N_WORKERS 2
#define WAIT_MS 60000
#define BURST 32
#define FRAME_BYTES_MIN 60
#define FRAME_BYTES_MAX 260
#define N_TOO_MANY 100000	/* frames, for the rings and the socket */

#define NIC_OFF_NS (20 * NS_PER_S)
#define TAI_NS (37 * NS_PER_S)

enum { SRV1, SRV2, N_PORTS };

/* Frame number @n of worker @w, all of it. */
static uint16_t make_frame(uint8_t *frame, uint32_t w, uint32_t n)
{
	uint16_t len = (uint16_t)(FRAME_BYTES_MIN + n % (FRAME_BYTES_MAX - FRAME_BYTES_MIN));

	memset(frame, (int)(n * 7 + w), len);
	memcpy(frame + 20, &w, sizeof(w));
	memcpy(frame + 24, &n, sizeof(n));
	return len;
}

static uint64_t utc_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static bool is_dropped(uint32_t n)
{
	return n % 16 == 5;
}

/* What a NIC says: a time that can be told from ours, nonsense, or nothing. */
static uint64_t nic_time_ns(uint32_t n)
{
	switch (n % 16) {
	case 7:
		return utc_ns() - NIC_OFF_NS;
	case 9:
		return 12345;
	case 11:
		return utc_ns() + TAI_NS;
	}
	return 0;
}

/* --- a capture and its workers */

struct bed {
	struct capture *capture;
	struct tap_set *set;
	int server;		/* the capture's end of the pair */
	int client;
	uint64_t begun_ns;	/* UTC */
	uint32_t n_produced;	/* by each worker */
	struct producer {
		struct bed *bed;
		uint32_t index;
		uint32_t first;
		uint32_t end;
		pthread_t thread;
	} producer[N_WORKERS];
};

/* @ifindex: 0, or of the device that frames go to. */
static void bed_init_for(struct bed *bed, int ifindex, const char *filter_text)
{
	struct capture_options options = {
		.tap = {.source = {{.egress = SRV1}, {.egress = SRV2}}, .n_sources = 2,
			.dir = CAPTURE_BOTH, .snaplen = CAPTURE_SNAPLEN_MAX, .sample = 1},
		.n_workers = N_WORKERS,
		.ifindex = ifindex,
		.device_max = 1514,
		.names = calloc(N_PORTS, CAPTURE_NAME_BYTES),
		.n_names = N_PORTS,
		.filter_text = filter_text,
	};
	const struct tap_options *of[CAPTURE_MAX] = {NULL};
	struct tap *taps[CAPTURE_MAX] = {NULL};
	char why[256];
	int pair[2];

	strcpy(options.names[SRV1], "srv1");
	strcpy(options.names[SRV2], "srv2");
	*bed = (struct bed){.begun_ns = utc_ns()};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	bed->server = pair[0];
	bed->client = pair[1];
	assert_int_equal(capture_create(&options, &bed->capture,
					&(struct why){why, sizeof(why)}), 0);
	of[3] = capture_tap_options(bed->capture);
	taps[3] = capture_taps(bed->capture);
	bed->set = tap_set_create(of, taps);
	assert_non_null(bed->set);
}

static void bed_init(struct bed *bed, const char *filter_text)
{
	bed_init_for(bed, 0, filter_text);
}

static void bed_fini(struct bed *bed)
{
	capture_destroy(bed->capture);
	tap_set_destroy(bed->set);
	close(bed->server);
	if (bed->client >= 0)
		close(bed->client);
}

/* As the pipeline does. */
static void run_burst(struct lane *lane, struct burst *burst)
{
	tap_rx(lane, burst);
	tap_in(lane, burst);
	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];
		uint32_t n = get_u32(p->data + 24);

		if (is_dropped(n))
			drop_packet(p, DROP_NO_TARGET, 0);
		else
			p->egress = SRV2;
	}
	tap_out(lane, burst);
	tap_publish(lane);
}

static void *produce(void *arg)
{
	struct producer *me = arg;
	struct lane lane = {.index = me->index, .taps = me->bed->set};
	static _Thread_local uint8_t frame[BURST][FRAME_BYTES_MAX];
	static _Thread_local struct burst burst;

	for (uint32_t n = me->first; n < me->end; n += burst.n) {
		burst.n = min_of(BURST, me->end - n);
		for (uint32_t i = 0; i < burst.n; i++)
			burst.packet[i] = (struct packet){
				.data = frame[i],
				.len = make_frame(frame[i], me->index, n + i),
				.rx_port = SRV1,
				.ingress = SRV1,
				.egress = EGRESS_NONE,
				.rx_time_ns = nic_time_ns(n + i),
			};
		run_burst(&lane, &burst);
	}
	return NULL;
}

/* @n_frames of each worker. */
static void bed_produce(struct bed *bed, uint32_t n_frames)
{
	uint32_t first = bed->n_produced, end = first + n_frames;

	for (uint32_t i = 0; i < N_WORKERS; i++) {
		struct producer *p = &bed->producer[i];

		*p = (struct producer){bed, i, first, end, 0};
		assert_int_equal(pthread_create(&p->thread, NULL, produce, p), 0);
	}
	for (uint32_t i = 0; i < N_WORKERS; i++)
		pthread_join(bed->producer[i].thread, NULL);
	bed->n_produced = end;
}

static void wait_until_done(const struct bed *bed)
{
	struct pollfd done = {.fd = capture_done_fd(bed->capture), .events = POLLIN};

	assert_int_equal(poll(&done, 1, WAIT_MS), 1);
}

static bool is_done(const struct bed *bed)
{
	struct pollfd done = {.fd = capture_done_fd(bed->capture), .events = POLLIN};

	return poll(&done, 1, 0) == 1;
}

/* --- the client */

static void *read_all(void *arg)
{
	struct bed *bed = arg;
	struct buffer *all = calloc(1, sizeof(*all));
	ssize_t n;

	do {
		buffer_reserve(all, 65536);
		n = read(bed->client, all->data + all->n, 65536);
		all->n += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	return all;
}

/* Without the lines between them; the client hung up or was hung up on between two chunks. */
static void join_chunks(struct buffer *all)
{
	size_t from = 0, to = 0;

	while (from < all->n) {
		char *end;
		size_t n = strtoul(all->data + from, &end, 10);

		assert_int_equal(*end, '\n');
		from = (size_t)(end + 1 - all->data);
		assert_in_range(n, 1, all->n - from);
		memmove(all->data + to, all->data + from, n);
		from += n;
		to += n;
	}
	all->n = to;
}

/* What was in a file. */
struct found {
	uint32_t n_interfaces;
	char name[8][16];
	uint32_t n_filters;
	uint64_t n[N_WORKERS][2];	/* packets, by direction: in, out */
	uint64_t next[N_WORKERS][2];
	uint64_t missed;		/* told at packets */
	uint64_t received_in_end;
	uint64_t missed_in_end;
};

static void find_interface(struct found *f, struct reader block)
{
	const uint8_t *value;
	uint32_t code, n;

	block.at += 8;
	assert_in_range(f->n_interfaces, 0, ARRAY_SIZE(f->name) - 1);
	while (take_option(&block, &code, &value, &n)) {
		if (code == 2)
			memcpy(f->name[f->n_interfaces], value, n);
		f->n_filters += code == 11;
	}
	f->n_interfaces++;
}

static void check_frame(struct found *f, const uint8_t *frame, uint32_t len, bool out, uint32_t *n)
{
	uint8_t expected[FRAME_BYTES_MAX];
	uint32_t w = get_u32(frame + 20);

	*n = get_u32(frame + 24);
	assert_in_range(w, 0, N_WORKERS - 1);
	assert_int_equal(len, make_frame(expected, w, *n));
	assert_memory_equal(frame, expected, len);
	assert_true(*n >= f->next[w][out]);
	f->next[w][out] = *n + 1;
	f->n[w][out]++;
}

static void find_packet(struct found *f, struct reader block, uint64_t begun_ns)
{
	static const char comment[] = "dropped: no-target (nothing to flood to: no other port or "
				      "tunnel in this network)";
	uint32_t interface = take_u32(&block), high = take_u32(&block), low = take_u32(&block);
	uint32_t caplen = take_u32(&block), len = take_u32(&block), code, n, number;
	const uint8_t *frame = take_padded(&block, caplen), *value;
	uint64_t time_ns = (uint64_t)high << 32 | low;
	bool out = false, commented = false;

	assert_true(interface < f->n_interfaces);
	assert_int_equal(caplen, len);
	while (take_option(&block, &code, &value, &n)) {
		if (code == 1) {
			assert_int_equal(n, strlen(comment));
			assert_memory_equal(value, comment, n);
			commented = true;
		} else if (code == 2) {
			assert_in_range(get_u32(value), 1, 2);
			out = get_u32(value) == 2;
		} else {
			assert_int_equal(code, 4);
			assert_true(get_u64(value) > 0);
			f->missed += get_u64(value);
		}
	}
	assert_string_equal(f->name[interface], out ? "srv2" : "srv1");
	check_frame(f, frame, len, out, &number);
	assert_int_equal(commented, is_dropped(number));
	if (number % 16 == 7 && !out)
		time_ns += NIC_OFF_NS;
	assert_in_range(time_ns, begun_ns - NS_PER_MS, utc_ns() + NS_PER_MS);
}

static void find_statistics(struct found *f, struct reader block)
{
	const uint8_t *value;
	uint32_t code, n;

	block.at += 12;
	while (take_option(&block, &code, &value, &n)) {
		assert_int_equal(n, 8);
		if (code == 4)
			f->received_in_end += get_u64(value);
		else
			f->missed_in_end += get_u64(value);
	}
}

static void find_all(struct found *f, const struct buffer *file, uint64_t begun_ns)
{
	struct reader r = {(uint8_t *)file->data, (uint8_t *)file->data + file->n};
	uint32_t type;

	memset(f, 0, sizeof(*f));
	take_block(&r, &type);
	assert_int_equal(type, 0x0a0d0d0a);
	while (r.at < r.end) {
		struct reader block = take_block(&r, &type);

		if (type == 1) {
			find_interface(f, block);
		} else if (type == 6) {
			find_packet(f, block, begun_ns);
		} else {
			assert_int_equal(type, 5);
			find_statistics(f, block);
		}
	}
}

/* Of a capture that has ended: the client's file. */
static void finish_reading(struct bed *bed, pthread_t reader, struct found *f)
{
	void *all;

	shutdown(bed->server, SHUT_WR);
	pthread_join(reader, &all);
	join_chunks(all);
	find_all(f, all, bed->begun_ns);
	buffer_fini(all);
	free(all);
}

static uint32_t count_dropped(uint32_t n_frames)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_frames; i++)
		n += is_dropped(i);
	return n;
}

/* --- the tests */

/* All that was taken arrives, though the end comes at once. */
static void whole_life(void **state)
{
	const uint32_t n_frames = 5001;
	struct capture_counts counts;
	struct bed bed;
	struct found f;
	pthread_t reader;

	bed_init(&bed, "ether[20] < 2");
	assert_int_equal(capture_start(bed.capture, bed.server), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_all, &bed), 0);
	bed_produce(&bed, n_frames);
	capture_finish(bed.capture, false);
	wait_until_done(&bed);
	assert_int_equal(capture_error(bed.capture), 0);
	finish_reading(&bed, reader, &f);
	assert_int_equal(f.n_interfaces, 2);
	assert_int_equal(f.n_filters, 2);
	for (uint32_t w = 0; w < N_WORKERS; w++) {
		assert_int_equal(f.n[w][0], n_frames);
		assert_int_equal(f.n[w][1], n_frames - count_dropped(n_frames));
	}
	capture_counts(bed.capture, &counts);
	assert_int_equal(counts.captured, f.n[0][0] + f.n[0][1] + f.n[1][0] + f.n[1][1]);
	assert_int_equal(counts.matched, counts.captured);
	assert_int_equal(counts.missed + counts.cut + f.missed, 0);
	assert_int_equal(f.received_in_end, counts.captured);
	capture_finish(bed.capture, true);
	bed_fini(&bed);
}

/* Rings fill, workers go on, and the file says how many are not in it. */
static void slow_reader(void **state)
{
	struct capture_counts counts, before;
	struct bed bed;
	struct found f;
	pthread_t reader;

	bed_init(&bed, NULL);
	assert_int_equal(capture_start(bed.capture, bed.server), 0);
	bed_produce(&bed, N_TOO_MANY);
	capture_counts(bed.capture, &before);
	assert_true(before.missed > 0);
	assert_false(is_done(&bed));
	assert_int_equal(pthread_create(&reader, NULL, read_all, &bed), 0);
	/* Until there is room again: the next packet tells what was missed before it. */
	do {
		bed_produce(&bed, BURST);
		capture_counts(bed.capture, &counts);
	} while (counts.captured == before.captured);
	capture_finish(bed.capture, false);
	wait_until_done(&bed);
	assert_int_equal(capture_error(bed.capture), 0);
	finish_reading(&bed, reader, &f);
	assert_int_equal(f.n[0][0] + f.n[0][1] + f.n[1][0] + f.n[1][1], counts.captured);
	assert_in_range(f.missed, 1, counts.missed);
	assert_int_equal(f.missed_in_end, counts.missed);
	assert_int_equal(f.received_in_end, counts.matched);
	assert_int_equal(counts.matched, counts.captured + counts.missed);
	bed_fini(&bed);
}

static void read_frame(struct bed *bed, uint32_t n)
{
	struct pollfd client = {.fd = bed->client, .events = POLLIN};
	char seen[4096];
	uint8_t frame[FRAME_BYTES_MAX];
	uint16_t len = make_frame(frame, 0, n);
	size_t n_seen = 0;

	while (!memmem(seen, n_seen, frame, len)) {
		ssize_t r;

		assert_int_equal(poll(&client, 1, WAIT_MS), 1);
		r = read(bed->client, seen + n_seen, sizeof(seen) - n_seen);
		assert_true(r > 0);
		n_seen += (size_t)r;
	}
}

/* A frame does not wait for others that would fill the chunk, whether the thread slept or not. */
static void live(void **state)
{
	struct bed bed;

	bed_init(&bed, NULL);
	assert_int_equal(capture_start(bed.capture, bed.server), 0);
	for (uint32_t n = 0; n < 4; n++) {
		while (n % 2 && !load_relaxed(&capture_taps(bed.capture)->asleep))
			usleep(1000);
		bed_produce(&bed, 1);
		read_frame(&bed, n);
	}
	assert_false(is_done(&bed));
	bed_fini(&bed);
}

static bool is_woken(const struct tap *tap)
{
	struct pollfd wake = {.fd = tap->wake_fd, .events = POLLIN};
	uint64_t count;

	return poll(&wake, 1, 0) == 1 && read(tap->wake_fd, &count, sizeof(count)) > 0;
}

/* A worker wakes a thread that sleeps, once, and only when it has something for it. */
static void wakes(void **state)
{
	struct burst nothing = {.n = 0};
	struct tap *tap;
	struct bed bed;

	bed_init(&bed, NULL);
	tap = capture_taps(bed.capture);
	bed_produce(&bed, BURST);
	assert_false(is_woken(tap));
	store_relaxed(&tap->asleep, 1u);
	run_burst(&(struct lane){.taps = bed.set}, &nothing);
	assert_false(is_woken(tap));
	assert_int_equal(tap->asleep, 1);
	bed_produce(&bed, BURST);
	assert_true(is_woken(tap));
	assert_int_equal(tap->asleep, 0);
	bed_produce(&bed, BURST);
	assert_false(is_woken(tap));
	bed_fini(&bed);
}

/* No frame at all: libpcap calls it a file nevertheless. */
static void empty_file(void **state)
{
	struct bed bed;
	struct buffer *all;
	pthread_t reader;
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *head;
	const u_char *frame;
	pcap_t *file;

	bed_init(&bed, NULL);
	assert_int_equal(capture_start(bed.capture, bed.server), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_all, &bed), 0);
	capture_finish(bed.capture, false);
	wait_until_done(&bed);
	shutdown(bed.server, SHUT_WR);
	pthread_join(reader, (void **)&all);
	join_chunks(all);
	file = pcap_fopen_offline(fmemopen(all->data, all->n, "r"), error);
	assert_non_null(file);
	assert_int_equal(pcap_next_ex(file, &head, &frame), PCAP_ERROR_BREAK);
	pcap_close(file);
	buffer_fini(all);
	free(all);
	bed_fini(&bed);
}

/* While frames come, and while none do. */
static void reader_gone(void **state)
{
	for (int busy = 0; busy < 2; busy++) {
		struct bed bed;

		bed_init(&bed, NULL);
		assert_int_equal(capture_start(bed.capture, bed.server), 0);
		if (busy)
			bed_produce(&bed, N_TOO_MANY);
		close(bed.client);
		bed.client = -1;
		wait_until_done(&bed);
		assert_int_equal(capture_error(bed.capture), -EPIPE);
		bed_produce(&bed, N_TOO_MANY);
		capture_finish(bed.capture, false);
		bed_fini(&bed);
	}
}

/* What is there: how much the last chunk lacks. @eof: whether the client was hung up on. */
static size_t read_chunks(int client, bool *eof)
{
	char line[24], rest[65536];
	size_t left = 0, n = 0;
	ssize_t r;

	while ((r = recv(client, left ? rest : &line[n],
			 left ? min_of(left, sizeof(rest)) : 1, MSG_DONTWAIT)) > 0) {
		if (left) {
			left -= (size_t)r;
		} else if (line[n] == '\n') {
			left = strtoul(line, NULL, 10);
			n = 0;
		} else {
			n++;
		}
	}
	*eof = r == 0;
	return left;
}

/* A client that does not read holds up a gentle end, but not a quick one. */
static void finish_now(void **state)
{
	struct bed bed;
	bool eof;

	bed_init(&bed, NULL);
	assert_int_equal(capture_start(bed.capture, bed.server), 0);
	bed_produce(&bed, N_TOO_MANY);
	capture_finish(bed.capture, false);
	usleep(20000);
	assert_false(is_done(&bed));
	capture_finish(bed.capture, true);
	wait_until_done(&bed);
	assert_int_equal(capture_error(bed.capture), -ECANCELED);
	assert_true(read_chunks(bed.client, &eof) > 0);
	assert_true(eof);
	bed_fini(&bed);
}

/* No thread, for a stack of that size: as if nothing had been tried, so it may be tried again. The
 * lowest free descriptor is the same again: nothing was left open. */
static void no_thread(void **state)
{
	pthread_attr_t as_it_is, huge;
	struct bed bed;
	int fd;

	assert_int_equal(pthread_getattr_default_np(&as_it_is), 0);
	assert_int_equal(pthread_getattr_default_np(&huge), 0);
	assert_int_equal(pthread_attr_setstacksize(&huge, 1ul << 46), 0);
	bed_init(&bed, NULL);
	fd = dup(bed.server);
	close(fd);
	assert_int_equal(pthread_setattr_default_np(&huge), 0);
	assert_int_equal(capture_start(bed.capture, bed.server), -EAGAIN);
	assert_int_equal(pthread_setattr_default_np(&as_it_is), 0);
	pthread_attr_destroy(&as_it_is);
	pthread_attr_destroy(&huge);
	assert_int_equal(dup(bed.server), fd);
	close(fd);
	assert_int_equal(capture_start(bed.capture, bed.server), 0);
	bed_fini(&bed);
}

static void never_started(void **state)
{
	struct bed bed;

	bed_init(&bed, "tcp");
	bed_produce(&bed, BURST);
	assert_false(is_done(&bed));
	capture_finish(bed.capture, false);
	wait_until_done(&bed);
	assert_int_equal(capture_error(bed.capture), 0);
	bed_fini(&bed);
	capture_destroy(NULL);
}

/* --- to a device */

/* A pair of devices in a namespace of our own: what is sent on cap0 comes out of cap1. */
static int make_devices(void)
{
	static const char commands[] = "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6;"
				       "ip link add cap0 type veth peer name cap1 &&"
				       "ip link set cap0 up && ip link set cap1 up";

	if (geteuid() || unshare(CLONE_NEWNET)) {
		print_message("SKIPPED: needs root and a network namespace of its own\n");
		skip();
	}
	assert_int_equal(system(commands), 0);
	return (int)if_nametoindex("cap0");
}

static int listen_on(const char *device)
{
	const struct sockaddr_ll address = {.sll_family = AF_PACKET,
					    .sll_protocol = htons(ETH_P_ALL),
					    .sll_ifindex = (int)if_nametoindex(device)};
	const int bytes = 64 << 20;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)), 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Each frame came once, and again unless it was dropped. */
static void device(void **state)
{
	static uint8_t times[N_WORKERS][2000];
	const uint32_t n_frames = ARRAY_SIZE(times[0]);
	int ifindex = make_devices(), fd = listen_on("cap1");
	uint64_t n_due = N_WORKERS * (2 * n_frames - count_dropped(n_frames));
	struct pollfd wire = {.fd = fd, .events = POLLIN};
	struct capture_counts counts;
	struct bed bed;
	struct found f = {0};
	uint32_t n;

	bed_init_for(&bed, ifindex, NULL);
	assert_int_equal(capture_start(bed.capture, -1), 0);
	bed_produce(&bed, n_frames);
	capture_finish(bed.capture, false);
	wait_until_done(&bed);
	assert_int_equal(capture_error(bed.capture), 0);
	capture_counts(bed.capture, &counts);
	assert_int_equal(counts.captured, n_due);
	assert_int_equal(counts.missed + counts.cut, 0);
	while (n_due--) {
		uint8_t frame[2048];
		ssize_t len;

		assert_int_equal(poll(&wire, 1, WAIT_MS), 1);
		len = recv(fd, frame, sizeof(frame), 0);
		assert_in_range(len, FRAME_BYTES_MIN, FRAME_BYTES_MAX);
		memset(f.next, 0, sizeof(f.next));
		check_frame(&f, frame, (uint32_t)len, false, &n);
		times[get_u32(frame + 20)][n]++;
	}
	for (uint32_t w = 0; w < N_WORKERS; w++)
		for (n = 0; n < n_frames; n++)
			assert_int_equal(times[w][n], is_dropped(n) ? 1 : 2);
	close(fd);
	bed_fini(&bed);
}

/* Down, it refuses, and that is counted; gone, it ends the capture. */
static void device_gone(void **state)
{
	int ifindex = make_devices();
	struct capture_counts counts;
	struct bed bed;

	bed_init_for(&bed, ifindex, NULL);
	assert_int_equal(capture_start(bed.capture, -1), 0);
	assert_int_equal(system("ip link set cap0 down"), 0);
	bed_produce(&bed, BURST);
	do {
		usleep(1000);
		capture_counts(bed.capture, &counts);
	} while (counts.captured);
	assert_int_equal(counts.missed, counts.matched);
	assert_false(is_done(&bed));
	assert_int_equal(system("ip link del cap0"), 0);
	bed_produce(&bed, BURST);
	wait_until_done(&bed);
	assert_in_set(capture_error(bed.capture), ((const unsigned long[]){-ENXIO, -ENODEV}), 2);
	bed_fini(&bed);
}

/* What was given to it is freed all the same. */
static void no_device(void **state)
{
	struct capture_options options = {
		.tap.filter = calloc(1, sizeof(*options.tap.filter)),
		.n_workers = 1,
		.ifindex = INT32_MAX,
		.names = calloc(1, CAPTURE_NAME_BYTES),
		.filter_text = "ip",
	};
	struct capture *capture = NULL;
	char why[256] = "";

	assert_int_equal(capture_create(&options, &capture, &(struct why){why, sizeof(why)}),
			 -ENODEV);
	assert_string_equal(why, "cannot send to the capture's device: No such device");
	assert_null(capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_life),  cmocka_unit_test(slow_reader),
		cmocka_unit_test(live),	       cmocka_unit_test(wakes),
		cmocka_unit_test(empty_file),
		cmocka_unit_test(reader_gone), cmocka_unit_test(finish_now),
		cmocka_unit_test(no_thread),   cmocka_unit_test(never_started),
		cmocka_unit_test(device),      cmocka_unit_test(device_gone),
		cmocka_unit_test(no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

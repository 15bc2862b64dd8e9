/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures that begin, start and end at random while two workers run real taps: each is over once,
 * whatever ends it, and a client that stays to the end has every frame that was copied for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctrl/captures.h"
#include "ctrl/gateway.h"
#include "lib/buffer.h"
#include "lib/rcu.h"
#include "tests/unit/random.h"

#define N_PORTS 2
#define N_WORKERS 2
#define N_SUBJECTS 6		/* at a time: their rings are memory */
#define STEPS 1000
#define FRAME 100

/* A capture, and its client. */
struct subject {
	struct capture_run *run;	/* NULL: there is none */
	int client;		/* our end, or -1: closed */
	int server;		/* the server's, as long as the capture may use it */
	uint32_t id;
	bool started;
	bool whole;		/* nobody has cut it short: all that was copied comes */
	struct buffer got;
};

static struct conf_port ports[N_PORTS] = {{.name = (char *)"a"}, {.name = (char *)"b"}};
static struct gateway_port gateway_ports[N_PORTS] = {{.conf = &ports[0]}, {.conf = &ports[1]}};
static struct tables tables;
static struct gateway g = {
	.tables = &tables,
	.n_workers = N_WORKERS,
	.n_ports = N_PORTS,
	.port = gateway_ports,
};
static struct subject subject[N_SUBJECTS];
static uint32_t stop_workers;
static uint32_t step, n_over, n_begun, n_whole;
static uint64_t n_frames;	/* that clients have got */

static void *worker(void *arg)
{
	struct lane lane = {.tables = &tables, .index = (uint32_t)(uintptr_t)arg};
	static uint8_t frame[N_WORKERS][FRAME];
	struct burst burst = {.n = 4};

	rcu_register_thread();
	for (uint32_t i = 0; i < burst.n; i++)
		burst.packet[i] = (struct packet){
			.data = frame[lane.index],
			.len = FRAME,
			.egress = EGRESS_NONE,
		};
	for (uint16_t port = 0; !load_relaxed(&stop_workers); port = (port + 1) % N_PORTS) {
		burst.packet[0].rx_port = port;
		lane.taps = rcu_dereference(tables.taps);
		if (lane.taps) {
			tap_rx(&lane, &burst);
			tap_publish(&lane);
		}
		rcu_quiescent_state();
		if (port == 0)
			usleep(20);
	}
	rcu_unregister_thread();
	return NULL;
}

/* --- clients */

static void listen_to(struct subject *s)
{
	ssize_t n = 1;

	while (s->client >= 0 && n > 0 && buffer_reserve(&s->got, 65536)) {
		n = recv(s->client, s->got.data + s->got.n, 65536, MSG_DONTWAIT);
		if (n > 0)
			s->got.n += (size_t)n;
	}
}

/* The frames in all chunks, which have to be whole. */
static uint64_t count_frames(const struct subject *s)
{
	struct buffer file = {0};
	const char *at = s->got.data, *end = at + s->got.n;
	uint64_t n = 0;

	while (at < end) {
		char *line_end;
		size_t bytes = strtoul(at, &line_end, 10);

		assert_int_equal(*line_end, '\n');
		at = line_end + 1;
		assert_true(bytes && bytes <= (size_t)(end - at));
		buffer_add(&file, at, bytes);
		at += bytes;
	}
	for (size_t i = 0; i < file.n;) {
		uint32_t block[2];

		memcpy(block, file.data + i, sizeof(block));
		assert_true(block[1] >= 12 && block[1] <= file.n - i);
		n += block[0] == 6;
		i += block[1];
	}
	buffer_fini(&file);
	return n;
}

static void hang_up(struct subject *s)
{
	if (s->client >= 0)
		close(s->client);
	s->client = -1;
	s->whole = false;
}

static void forget(struct subject *s)
{
	hang_up(s);
	close(s->server);
	buffer_fini(&s->got);
	*s = (struct subject){0};
}

static void on_over(struct capture_run *run, const struct capture_counts *counts, int error)
{
	struct subject *s = run->owner;

	assert_ptr_equal(s->run, run);
	assert_int_equal(error, 0);
	assert_null(captures_find(g.captures, s->id));
	assert_int_equal(counts->matched, counts->captured + counts->missed);
	listen_to(s);
	if (s->whole && s->started) {
		uint64_t n = count_frames(s);

		assert_int_equal(n, counts->captured);
		n_frames += n;
		n_whole++;
	}
	n_over++;
	forget(s);
}

/* --- what happens */

static void begin(struct subject *s)
{
	char text[256] = "";
	struct why why = {text, sizeof(text)};
	struct capture_wish wish = {
		.name = "test",
		.tap = {
			.source = {{.egress = (uint16_t)random_below(N_PORTS)}},
			.n_sources = 1,
			.dir = CAPTURE_IN,
			.snaplen = CAPTURE_SNAPLEN_MAX,
			.sample = 1,
		},
		.pcapng = true,
	};
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	if (captures_begin(g.captures, &wish, &s->run, &why) < 0)
		fail_msg("%s", text);
	s->run->over = on_over;
	s->run->owner = s;
	assert_true(s->run->id > s->id);
	s->id = s->run->id;
	s->client = pair[0];
	s->server = pair[1];
	s->started = false;
	s->whole = true;
	n_begun++;
}

static void end(struct subject *s)
{
	bool now = random_below(3) == 0;

	if (now)
		s->whole = false;
	captures_end(s->run, now);
}

static void act(struct subject *s)
{
	uint32_t dice = random_below(8);

	if (!s->run) {
		begin(s);
	} else if (!s->started && dice) {
		assert_int_equal(captures_start(s->run, s->server), 0);
		s->started = true;
	} else if (!s->started || dice < 3) {
		end(s);
	} else if (dice == 3) {
		hang_up(s);
	}
}

static uint32_t n_there(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < CAPTURE_MAX; i++)
		n += captures_at(g.captures, i) != NULL;
	return n;
}

static void on_tick(struct loop_timer *timer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < N_SUBJECTS; i++)
		listen_to(&subject[i]);
	if (random_below(2))
		act(&subject[random_below(N_SUBJECTS)]);
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		n += subject[i].run != NULL;
		if (subject[i].run)
			assert_ptr_equal(captures_find(g.captures, subject[i].id), subject[i].run);
	}
	assert_int_equal(n, n_there());
	assert_int_equal(n, n_begun - n_over);
	captures_every_second(g.captures);
	if (++step == STEPS)
		loop_stop(timer->loop);
}

static void they_come_and_go(void **state)
{
	struct loop_timer timer = {0};
	pthread_t thread[N_WORKERS];
	char why[256];

	random_init("captures");
	rcu_register_thread();
	if (loop_create(&g.loop, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	loop_set_rest(g.loop, rcu_thread_offline, rcu_thread_online);
	assert_int_equal(captures_create(&g, &g.captures), 0);
	for (uintptr_t i = 0; i < N_WORKERS; i++)
		pthread_create(&thread[i], NULL, worker, (void *)i);
	loop_timer_start(g.loop, &timer, 1, on_tick);
	assert_int_equal(loop_run(g.loop), 0);
	loop_timer_stop(&timer);

	store_relaxed(&stop_workers, 1);
	rcu_thread_offline();
	for (uint32_t i = 0; i < N_WORKERS; i++)
		pthread_join(thread[i], NULL);
	rcu_thread_online();
	/* In whatever state they are. */
	captures_destroy(g.captures);
	assert_null(tables.taps);
	for (uint32_t i = 0; i < N_SUBJECTS; i++)
		if (subject[i].run)
			forget(&subject[i]);
	loop_destroy(g.loop);
	rcu_unregister_thread();
	print_message("%u begun, %u over, %u of them whole, with %llu frames\n", n_begun, n_over,
		      n_whole, (unsigned long long)n_frames);
	assert_true(n_over > 10 && n_whole > 5 && n_frames > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

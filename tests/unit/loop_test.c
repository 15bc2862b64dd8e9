/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctrl/loop.h"
#include "lib/bits.h"
#include "lib/clock.h"

static struct loop *make_loop(void)
{
	struct loop *loop = NULL;
	char why[256] = "";

	if (loop_create(&loop, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	return loop;
}

/* Ends the loop after @ms. */
struct deadline {
	struct loop_timer timer;
	struct loop *loop;
};

static void deadline_tick(struct loop_timer *timer)
{
	loop_stop(container_of(timer, struct deadline, timer)->loop);
}

static void run_for(struct loop *loop, uint32_t ms)
{
	struct deadline d = {.loop = loop};

	loop_timer_start(loop, &d.timer, ms, deadline_tick);
	assert_int_equal(loop_run(loop), 0);
	loop_timer_stop(&d.timer);
}

struct counter {
	struct loop_timer timer;
	unsigned int ticks;
	unsigned int stop_at;
	bool free_at_stop;
};

static void count_tick(struct loop_timer *timer)
{
	struct counter *c = container_of(timer, struct counter, timer);

	if (++c->ticks != c->stop_at)
		return;
	loop_timer_stop(timer);
	if (c->free_at_stop)
		free(c);
}

static void timer_period(void **state)
{
	struct loop *loop = make_loop();
	struct counter fast = {0}, slow = {0};
	uint64_t start_ns = clock_ns();
	uint64_t ms;

	loop_timer_start(loop, &fast.timer, 10, count_tick);
	loop_timer_start(loop, &slow.timer, 60000, count_tick);
	run_for(loop, 205);
	ms = (clock_ns() - start_ns) / NS_PER_MS;
	assert_true(ms >= 205);
	/* No drift, however late single ticks are; and never early. */
	assert_true(fast.ticks <= ms / 10);
	assert_true(fast.ticks >= 5);
	assert_int_equal(slow.ticks, 0);
	loop_timer_stop(&fast.timer);
	loop_timer_stop(&slow.timer);
	loop_timer_stop(&slow.timer);
	loop_destroy(loop);
}

static void timer_stops_itself(void **state)
{
	struct loop *loop = make_loop();
	struct counter *freed = calloc(1, sizeof(*freed));
	struct counter kept = {.stop_at = 3};

	freed->stop_at = 2;
	freed->free_at_stop = true;
	loop_timer_start(loop, &freed->timer, 1, count_tick);
	loop_timer_start(loop, &kept.timer, 1, count_tick);
	run_for(loop, 50);
	assert_int_equal(kept.ticks, 3);
	loop_timer_start(loop, &kept.timer, 1, count_tick);
	run_for(loop, 50);
	assert_true(kept.ticks > 3);
	loop_timer_stop(&kept.timer);
	loop_destroy(loop);
}

static void timer_skips_missed_ticks(void **state)
{
	struct loop *loop = make_loop();
	struct counter c = {0};

	loop_timer_start(loop, &c.timer, 10, count_tick);
	usleep(200 * 1000);
	run_for(loop, 15);
	assert_in_range(c.ticks, 1, 4);
	loop_timer_stop(&c.timer);
	loop_destroy(loop);
}

struct reader {
	struct loop_watch watch;
	struct loop *loop;
	unsigned int calls;
	unsigned int leave;	/* calls that do not read */
	uint64_t read;
};

static void read_event(struct loop_watch *watch)
{
	struct reader *r = container_of(watch, struct reader, watch);
	uint64_t n;

	if (++r->calls <= r->leave)
		return;
	assert_int_equal(read(watch->fd, &n, sizeof(n)), sizeof(n));
	r->read += n;
	loop_stop(r->loop);
}

static void watch_is_level(void **state)
{
	struct loop *loop = make_loop();
	struct reader r = {.loop = loop, .leave = 3};
	int fd = eventfd(5, EFD_CLOEXEC);

	loop_watch_start(loop, &r.watch, fd, read_event);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(r.calls, 4);
	assert_int_equal(r.read, 5);
	run_for(loop, 20);
	assert_int_equal(r.calls, 4);
	assert_int_equal(eventfd_write(fd, 2), 0);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(r.read, 7);
	loop_watch_stop(&r.watch);
	assert_int_equal(eventfd_write(fd, 2), 0);
	run_for(loop, 20);
	assert_int_equal(r.calls, 5);
	close(fd);
	loop_destroy(loop);
}

struct receive {
	struct loop_op op;
	int result;
	unsigned int n_done;
	char byte[16];
};

static void receive_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct receive *r = container_of(op, struct receive, op);

	r->result = result;
	r->n_done++;
}

static void start_receive(struct loop *loop, struct receive *r, int fd)
{
	r->op.done = receive_done;
	io_uring_prep_recv(loop_sqe(loop, &r->op), fd, r->byte, sizeof(r->byte), 0);
}

static void cancel_and_forget(void **state)
{
	struct loop *loop = make_loop();
	struct receive r = {0};
	struct receive *heap;
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	start_receive(loop, &r, fd[0]);
	run_for(loop, 5);
	assert_int_equal(r.n_done, 0);
	loop_cancel(loop, &r.op);
	run_for(loop, 5);
	assert_int_equal(r.n_done, 1);
	assert_int_equal(r.result, -ECANCELED);

	/* Forgotten before the kernel ever saw it, while it waits, and when it is done already. */
	for (int i = 0; i < 3; i++) {
		heap = calloc(1, sizeof(*heap));
		start_receive(loop, heap, fd[0]);
		if (i > 0)
			run_for(loop, 1);
		if (i == 2) {
			assert_int_equal(write(fd[1], "abc", 3), 3);
			assert_int_equal(loop_forget(loop, &heap->op), 3);
			assert_memory_equal(heap->byte, "abc", 3);
		} else {
			assert_int_equal(loop_forget(loop, &heap->op), -ECANCELED);
		}
		assert_int_equal(heap->n_done, 0);
		free(heap);
	}
	run_for(loop, 5);
	close(fd[0]);
	close(fd[1]);
	loop_destroy(loop);
}

static void more_than_the_queue_holds(void **state)
{
	struct loop *loop = make_loop();
	static struct receive nops[3000];
	unsigned int n_done = 0;

	memset(nops, 0, sizeof(nops));
	for (size_t i = 0; i < ARRAY_SIZE(nops); i++) {
		nops[i].op.done = receive_done;
		io_uring_prep_nop(loop_sqe(loop, &nops[i].op));
	}
	run_for(loop, 20);
	for (size_t i = 0; i < ARRAY_SIZE(nops); i++)
		n_done += nops[i].n_done;
	assert_int_equal(n_done, ARRAY_SIZE(nops));
	loop_destroy(loop);
}

static void destroy_with_operations_pending(void **state)
{
	struct loop *loop = make_loop();
	struct receive r[40] = {0};
	struct counter c = {0};
	struct reader watch = {0};
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	loop_timer_start(loop, &c.timer, 1, count_tick);
	loop_watch_start(loop, &watch.watch, fd[1], read_event);
	for (size_t i = 0; i < ARRAY_SIZE(r); i++)
		start_receive(loop, &r[i], fd[0]);
	usleep(3000);
	loop_destroy(loop);
	for (size_t i = 0; i < ARRAY_SIZE(r); i++) {
		assert_int_equal(r[i].n_done, 1);
		assert_int_equal(r[i].result, -ECANCELED);
	}
	assert_int_equal(c.ticks, 0);
	assert_int_equal(watch.calls, 0);
	close(fd[0]);
	close(fd[1]);
	loop_destroy(NULL);
}

/* 50 tasks that never come to an end. */
struct crowd {
	struct loop *loop;
	struct crowd_task {
		struct loop_task task;
		struct crowd *crowd;
		unsigned int runs;
	} task[50];
	unsigned int runs;
	int fd;
	struct loop_watch watch;
	unsigned int written_at, heard_at;
};

static void crowd_run(struct loop_task *task)
{
	struct crowd_task *t = container_of(task, struct crowd_task, task);
	struct crowd *c = t->crowd;

	t->runs++;
	if (++c->runs == 1234) {
		c->written_at = c->runs;
		assert_int_equal(eventfd_write(c->fd, 1), 0);
	}
	loop_later(c->loop, task);
	loop_later(c->loop, task);
}

static void crowd_heard(struct loop_watch *watch)
{
	struct crowd *c = container_of(watch, struct crowd, watch);
	uint64_t n;

	assert_int_equal(read(c->fd, &n, sizeof(n)), sizeof(n));
	c->heard_at = c->runs;
	loop_stop(c->loop);
}

/* What happens is heard of before the next task runs, however many are queued; and they all have
 * their turn. */
static void tasks_wait(void **state)
{
	struct crowd c = {.loop = make_loop(), .fd = eventfd(0, EFD_CLOEXEC)};

	loop_watch_start(c.loop, &c.watch, c.fd, crowd_heard);
	for (size_t i = 0; i < ARRAY_SIZE(c.task); i++) {
		c.task[i].crowd = &c;
		c.task[i].task.run = crowd_run;
		loop_later(c.loop, &c.task[i].task);
	}
	assert_int_equal(loop_run(c.loop), 0);
	assert_int_equal(c.heard_at, c.written_at);
	for (size_t i = 0; i < ARRAY_SIZE(c.task); i++)
		assert_in_range(c.task[i].runs, c.runs / 50, c.runs / 50 + 1);
	loop_watch_stop(&c.watch);
	close(c.fd);
	loop_destroy(c.loop);
}

static void no_run(struct loop_task *task)
{
	fail();
}

static void tasks_taken_back(void **state)
{
	struct crowd c = {.loop = make_loop(), .runs = 2000};
	struct loop_task out[3];

	/* The first, one in the middle, the last; and one that was never in. */
	for (size_t i = 0; i < ARRAY_SIZE(out); i++) {
		out[i] = (struct loop_task){.run = no_run};
		loop_later(c.loop, &out[i]);
		c.task[i].crowd = &c;
		c.task[i].task.run = crowd_run;
		if (i < 2)
			loop_later(c.loop, &c.task[i].task);
	}
	for (size_t i = 0; i < ARRAY_SIZE(out); i++)
		loop_not_later(c.loop, &out[i]);
	loop_not_later(c.loop, &c.task[2].task);
	run_for(c.loop, 5);
	assert_true(c.task[0].runs > 0);
	assert_true(c.task[1].runs > 0);
	assert_int_equal(c.task[2].runs, 0);
	loop_destroy(c.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timer_period),
		cmocka_unit_test(timer_stops_itself),
		cmocka_unit_test(timer_skips_missed_ticks),
		cmocka_unit_test(watch_is_level),
		cmocka_unit_test(cancel_and_forget),
		cmocka_unit_test(more_than_the_queue_holds),
		cmocka_unit_test(destroy_with_operations_pending),
		cmocka_unit_test(tasks_wait),
		cmocka_unit_test(tasks_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/log.h"

#define SQ_ENTRIES 256
/* More than all that can be under way at once (two for each client, a few for the rest): the kernel
 * never has to keep completions back. */
#define CQ_ENTRIES 4096

struct loop {
	struct io_uring ring;
	struct io_uring_sqe *open_sqe;	/* given out by loop_sqe, perhaps not prepared yet */
	struct loop_op *open_op;
	uint32_t under_way;		/* operations whose final completion is still to come */
	struct loop_task *first_task, *last_task;
	void (*sleep)(void);
	void (*wake)(void);
	bool stop;
	bool closing;
};

static void explain(int error, char *why, uint32_t why_bytes)
{
	const char *cure = "";

	if (error == -EPERM)
		cure = ": io_uring is switched off here: sysctl kernel.io_uring_disabled=0, or "
		       "allow it in the container's or unit's seccomp filter";
	else if (error == -ENOSYS)
		cure = ": this kernel has no CONFIG_IO_URING, or a seccomp filter hides it";
	else if (error == -ENOMEM)
		cure = ": raise RLIMIT_MEMLOCK (LimitMEMLOCK=infinity in the unit)";
	snprintf(why, why_bytes, "io_uring_setup: %s%s", strerror(-error), cure);
}

int loop_create(struct loop **loop, char *why, uint32_t why_bytes)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_CQSIZE | IORING_SETUP_COOP_TASKRUN,
		.cq_entries = CQ_ENTRIES,
	};
	struct loop *l = calloc(1, sizeof(*l));
	int r = -ENOMEM;

	if (l)
		r = io_uring_queue_init_params(SQ_ENTRIES, &l->ring, &params);
	if (r < 0) {
		explain(r, why, why_bytes);
		free(l);
		return r;
	}
	*loop = l;
	return 0;
}

/* prep functions of some liburing versions clear user_data, so it is set when prep is over. */
static void seal(struct loop *loop)
{
	if (loop->open_sqe)
		io_uring_sqe_set_data(loop->open_sqe, loop->open_op);
	loop->open_sqe = NULL;
}

static int real_error(int r)
{
	return r < 0 && r != -EINTR && r != -EAGAIN && r != -EBUSY ? r : 0;
}

static int submit_and_wait(struct loop *loop, uint32_t n_wait)
{
	int r;

	seal(loop);
	if (n_wait && loop->sleep)
		loop->sleep();
	r = io_uring_submit_and_wait(&loop->ring, n_wait);
	if (n_wait && loop->wake)
		loop->wake();
	return real_error(r);
}

/* Submits, and has the kernel post what is done by now. */
static int submit_and_look(struct loop *loop)
{
	int r;

	seal(loop);
	if (loop->sleep)
		loop->sleep();
	r = io_uring_submit_and_get_events(&loop->ring);
	if (loop->wake)
		loop->wake();
	return real_error(r);
}

static struct io_uring_sqe *take_sqe(struct loop *loop, struct loop_op *op)
{
	struct io_uring_sqe *sqe;

	seal(loop);
	while (!(sqe = io_uring_get_sqe(&loop->ring)))
		submit_and_wait(loop, 0);
	io_uring_sqe_set_data(sqe, op);
	loop->open_sqe = sqe;
	loop->open_op = op;
	return sqe;
}

struct io_uring_sqe *loop_sqe(struct loop *loop, struct loop_op *op)
{
	loop->under_way++;
	return take_sqe(loop, op);
}

void loop_cancel(struct loop *loop, struct loop_op *op)
{
	io_uring_prep_cancel(take_sqe(loop, NULL), op, 0);
}

/* Makes completions of @op that wait in the ring nobody's. True when the final one was there. */
static bool disown(struct loop *loop, struct loop_op *op, int *result)
{
	struct io_uring_cqe *cqe;
	bool final = false;
	unsigned int head;

	io_uring_for_each_cqe(&loop->ring, head, cqe) {
		if (io_uring_cqe_get_data(cqe) != op)
			continue;
		cqe->user_data = 0;
		*result = cqe->res;
		final |= !(cqe->flags & IORING_CQE_F_MORE);
	}
	return final;
}

int loop_forget(struct loop *loop, struct loop_op *op)
{
	int result = 0;

	submit_and_wait(loop, 0);
	loop_cancel(loop, op);
	while (!disown(loop, op, &result)) {
		/* Wait for one completion more than there are, not for any. */
		int r = submit_and_wait(loop, io_uring_cq_ready(&loop->ring) + 1);

		if (r < 0)
			return r;
	}
	loop->under_way--;
	return result;
}

/* Calls back for every completion that is there now. */
static void deliver(struct loop *loop)
{
	struct io_uring_cqe *cqe;

	while (io_uring_peek_cqe(&loop->ring, &cqe) == 0) {
		struct loop_op *op = io_uring_cqe_get_data(cqe);
		uint32_t flags = cqe->flags;
		int result = cqe->res;

		io_uring_cqe_seen(&loop->ring, cqe);
		if (!op)
			continue;
		if (!(flags & IORING_CQE_F_MORE))
			loop->under_way--;
		op->done(op, result, flags);
	}
}

void loop_destroy(struct loop *loop)
{
	if (!loop)
		return;
	loop->closing = true;
	while (loop->under_way) {
		io_uring_prep_cancel(take_sqe(loop, NULL), NULL,
				     IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
		if (submit_and_wait(loop, 1) < 0)
			break;
		deliver(loop);
	}
	io_uring_queue_exit(&loop->ring);
	free(loop);
}

void loop_later(struct loop *loop, struct loop_task *task)
{
	if (task->queued)
		return;
	task->queued = true;
	task->next = NULL;
	task->previous = loop->last_task;
	if (loop->last_task)
		loop->last_task->next = task;
	else
		loop->first_task = task;
	loop->last_task = task;
}

void loop_not_later(struct loop *loop, struct loop_task *task)
{
	if (!task->queued)
		return;
	task->queued = false;
	if (task->previous)
		task->previous->next = task->next;
	else
		loop->first_task = task->next;
	if (task->next)
		task->next->previous = task->previous;
	else
		loop->last_task = task->previous;
}

static void run_task(struct loop *loop)
{
	struct loop_task *task = loop->first_task;

	if (!task)
		return;
	loop_not_later(loop, task);
	task->run(task);
}

int loop_run(struct loop *loop)
{
	int r = 0;

	while (!loop->stop && r == 0) {
		r = loop->first_task ? submit_and_look(loop) : submit_and_wait(loop, 1);
		deliver(loop);
		run_task(loop);
	}
	loop->stop = false;
	return r;
}

void loop_stop(struct loop *loop)
{
	loop->stop = true;
}

void loop_set_rest(struct loop *loop, void (*sleep)(void), void (*wake)(void))
{
	loop->sleep = sleep;
	loop->wake = wake;
}

static void timer_arm(struct loop_timer *timer)
{
	struct io_uring_sqe *sqe = loop_sqe(timer->loop, &timer->op);

	io_uring_prep_timeout(sqe, &timer->next, 0, IORING_TIMEOUT_ABS);
	timer->armed = true;
}

static void timer_set_next(struct loop_timer *timer, uint64_t ns)
{
	timer->next.tv_sec = (int64_t)(ns / NS_PER_S);
	timer->next.tv_nsec = (int64_t)(ns % NS_PER_S);
}

static void timer_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct loop_timer *timer = container_of(op, struct loop_timer, op);
	uint64_t planned_ns = (uint64_t)timer->next.tv_sec * NS_PER_S +
			      (uint64_t)timer->next.tv_nsec;
	uint64_t next_ns = planned_ns + timer->period_ms * NS_PER_MS;
	uint64_t now_ns = clock_ns();

	timer->armed = false;
	if (timer->loop->closing || timer->stopped)
		return;
	timer_set_next(timer, max_of(next_ns, now_ns));
	timer_arm(timer);
	timer->tick(timer);
}

void loop_timer_start(struct loop *loop, struct loop_timer *timer, uint32_t period_ms,
		      void (*tick)(struct loop_timer *timer))
{
	*timer = (struct loop_timer){
		.op.done = timer_done,
		.loop = loop,
		.tick = tick,
		.period_ms = period_ms,
	};
	timer_set_next(timer, clock_ns() + period_ms * NS_PER_MS);
	timer_arm(timer);
}

void loop_timer_stop(struct loop_timer *timer)
{
	timer->stopped = true;
	if (timer->armed)
		loop_forget(timer->loop, &timer->op);
	timer->armed = false;
}

static void watch_arm(struct loop_watch *watch)
{
	/* One shot, armed again for every call: what is still readable then completes at once. */
	io_uring_prep_poll_add(loop_sqe(watch->loop, &watch->op), watch->fd, POLLIN);
	watch->armed = true;
}

static void watch_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct loop_watch *watch = container_of(op, struct loop_watch, op);

	watch->armed = false;
	if (watch->loop->closing || watch->stopped)
		return;
	if (result < 0) {
		log_error("poll of descriptor %d: %s", watch->fd, strerror(-result));
		watch->stopped = true;
		return;
	}
	watch_arm(watch);
	watch->ready(watch);
}

void loop_watch_start(struct loop *loop, struct loop_watch *watch, int fd,
		      void (*ready)(struct loop_watch *watch))
{
	*watch = (struct loop_watch){
		.op.done = watch_done,
		.loop = loop,
		.fd = fd,
		.ready = ready,
	};
	watch_arm(watch);
}

void loop_watch_stop(struct loop_watch *watch)
{
	watch->stopped = true;
	if (watch->armed)
		loop_forget(watch->loop, &watch->op);
	watch->armed = false;
}

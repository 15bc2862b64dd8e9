/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control thread's event loop: one io_uring, completions call back; and a queue of work that
 * may wait.
 *
 * An operation is a struct loop_op inside whatever it belongs to; it must stay where it is until
 * its final completion was delivered (cqe_flags without IORING_CQE_F_MORE).
 *
 * Whatever is long (a dump, a million rules) is cut into tasks of well under a millisecond. The
 * loop runs one of them, then looks at the ring again: no completion waits for more than one task.
 * Threads: control only.
 */
#ifndef CTRL_LOOP_H
#define CTRL_LOOP_H

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

struct loop;

struct loop_op {
	/* @result as in cqe->res: a count or -errno. May start the next operation. */
	void (*done)(struct loop_op *op, int result, uint32_t cqe_flags);
};

/* -errno with a sentence in @why that has the cure (io_uring switched off by sysctl or seccomp,
 * ...). */
int loop_create(struct loop **loop, char *why, uint32_t why_bytes);
/* Accepts NULL. Cancels what is still under way and waits for it. */
void loop_destroy(struct loop *loop);

/* Until loop_stop. 0 or -errno. */
int loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* @sleep is called before the loop looks at the ring (and waits, when there is nothing to do),
 * @wake after: the thread as an RCU reader is offline meanwhile. NULL: nothing is. */
void loop_set_rest(struct loop *loop, void (*sleep)(void), void (*wake)(void));

/* A submission entry whose completion calls @op->done; fill it with io_uring_prep_*. Never NULL:
 * submits when the queue is full. User data is set by the call and again after prep by the loop:
 * prepare with the returned entry at once, before any other call of this header. */
struct io_uring_sqe *loop_sqe(struct loop *loop, struct loop_op *op);

/* Asks for the cancellation of @op; its done comes with -ECANCELED (or its real result). */
void loop_cancel(struct loop *loop, struct loop_op *op);

/* Cancels @op, which must be under way, and returns when the kernel has let go of it: its done does
 * not come, and its memory (buffers too) may be freed. For what the kernel can end at once: polls,
 * timeouts, socket I/O. Returns what done would have got: -ECANCELED, or a real result. */
int loop_forget(struct loop *loop, struct loop_op *op);

/* Work that may wait, of about this long at most. */
#define LOOP_TASK_NS (500 * 1000)
struct loop_task {
	void (*run)(struct loop_task *task);	/* may free it, or queue it again */
	struct loop_task *next, *previous;	/* in the queue */
	bool queued;
};
/* Runs @task once, after all completions that are there, and after the tasks queued before it.
 * Harmless when it is queued already. */
void loop_later(struct loop *loop, struct loop_task *task);
/* Takes it out of the queue again: it may be freed. Harmless when it is not in it. */
void loop_not_later(struct loop *loop, struct loop_task *task);

/* A periodic timer. @tick runs every @period_ms until loop_timer_stop, which @tick may call. Ticks
 * that a busy thread missed are skipped, not made up for. */
struct loop_timer {
	struct loop_op op;
	struct loop *loop;
	void (*tick)(struct loop_timer *timer);
	struct __kernel_timespec next;	/* CLOCK_MONOTONIC */
	uint32_t period_ms;
	bool armed;		/* the kernel has op */
	bool stopped;
};
void loop_timer_start(struct loop *loop, struct loop_timer *timer, uint32_t period_ms,
		      void (*tick)(struct loop_timer *timer));
/* When it returns @timer may be freed or started again. Harmless on a zeroed or stopped timer. */
void loop_timer_stop(struct loop_timer *timer);

/* Calls @ready whenever @fd is readable (level: again when it still is), until loop_watch_stop. */
struct loop_watch {
	struct loop_op op;
	struct loop *loop;
	int fd;
	void (*ready)(struct loop_watch *watch);
	bool armed;		/* the kernel has op */
	bool stopped;
};
void loop_watch_start(struct loop *loop, struct loop_watch *watch, int fd,
		      void (*ready)(struct loop_watch *watch));
/* When it returns @watch may be freed and the descriptor closed. Harmless on a zeroed or stopped
 * watch. */
void loop_watch_stop(struct loop_watch *watch);

#endif

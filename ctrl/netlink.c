/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/netlink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/bits.h"
#include "lib/log.h"

/* The kernel fills at most 32 KiB at once with the parts of a dump. */
#define RECEIVE_BYTES 32768
/* Room for a burst of route changes; SO_RCVBUFFORCE needs CAP_NET_ADMIN, which we have. */
#define EVENT_QUEUE_BYTES (4 << 20)

/* A socket and the receive operation that is always under way on it. */
struct inbox {
	struct loop_op op;
	struct netlink *netlink;
	struct mnl_socket *socket;
	bool armed;
	struct sockaddr_nl from;
	struct iovec iov;
	struct msghdr header;
	char buffer[RECEIVE_BYTES] __attribute__((aligned(8)));
};

struct netlink {
	struct netlink_options options;
	struct inbox events;
	struct inbox answers;
	struct loop_op send_op;
	bool sending;
	bool dump_interrupted;
	uint32_t seq;
	struct netlink_request *current;	/* sent, or being sent */
	struct netlink_request *first;		/* waiting */
	struct netlink_request **last;
};

static void arm(struct inbox *in)
{
	in->iov = (struct iovec){.iov_base = in->buffer, .iov_len = sizeof(in->buffer)};
	in->header = (struct msghdr){
		.msg_name = &in->from,
		.msg_namelen = sizeof(in->from),
		.msg_iov = &in->iov,
		.msg_iovlen = 1,
	};
	io_uring_prep_recvmsg(loop_sqe(in->netlink->options.loop, &in->op),
			      mnl_socket_get_fd(in->socket), &in->header, 0);
	in->armed = true;
}

/* Whether the kernel sent all of what was received. */
static bool sound(const struct inbox *in)
{
	return in->header.msg_namelen == sizeof(in->from) && in->from.nl_pid == 0 &&
	       !(in->header.msg_flags & MSG_TRUNC);
}

static void events_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct inbox *in = container_of(op, struct inbox, op);
	const struct netlink_options *o = &in->netlink->options;
	const struct nlmsghdr *m = (const void *)in->buffer;

	in->armed = false;
	if (result == -ECANCELED)
		return;
	if (result < 0 || in->header.msg_flags & MSG_TRUNC) {
		log_debug("netlink: events lost (%s)", strerror(result < 0 ? -result : EMSGSIZE));
		o->resync(o->arg);
	} else if (sound(in)) {
		for (; mnl_nlmsg_ok(m, result); m = mnl_nlmsg_next(m, &result))
			if (m->nlmsg_type >= NLMSG_MIN_TYPE)
				o->event(o->arg, m);
	}
	arm(in);
}

static void send_next(struct netlink *n)
{
	struct netlink_request *r = n->first;
	struct nlmsghdr *m;

	if (n->current || n->sending || !r)
		return;
	n->first = r->next;
	if (!n->first)
		n->last = &n->first;
	n->current = r;
	n->dump_interrupted = false;
	m = (void *)r->message;
	m->nlmsg_seq = ++n->seq;
	n->sending = true;
	io_uring_prep_send(loop_sqe(n->options.loop, &n->send_op),
			   mnl_socket_get_fd(n->answers.socket), m, m->nlmsg_len, 0);
}

static void finish(struct netlink *n, int error)
{
	struct netlink_request *r = n->current;

	n->current = NULL;
	if (n->dump_interrupted && !error)
		error = -EINTR;
	if (r)
		r->done(r, error);
	send_next(n);
}

static void send_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct netlink *n = container_of(op, struct netlink, send_op);

	n->sending = false;
	if (result < 0 && result != -ECANCELED)
		finish(n, result);
	else
		send_next(n);
}

static int error_of(const struct nlmsghdr *m)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(m);

	return m->nlmsg_len < MNL_NLMSG_HDRLEN + sizeof(int) ? -EBADMSG : e->error;
}

/* One message of the answer socket. A request without NLM_F_ACK and NLM_F_DUMP is answered by one
 * message, or by an error. */
static void take_answer(struct netlink *n, const struct nlmsghdr *m)
{
	const struct nlmsghdr *asked;
	struct netlink_request *r = n->current;

	if (!r || m->nlmsg_seq != n->seq)
		return;
	asked = (const void *)r->message;
	if (m->nlmsg_flags & NLM_F_DUMP_INTR)
		n->dump_interrupted = true;
	if (m->nlmsg_type == NLMSG_ERROR) {
		finish(n, error_of(m));
	} else if (m->nlmsg_type == NLMSG_DONE) {
		finish(n, 0);
	} else if (m->nlmsg_type >= NLMSG_MIN_TYPE) {
		if (r->reply)
			r->reply(r, m);
		if (!(asked->nlmsg_flags & (NLM_F_ACK | NLM_F_DUMP)))
			finish(n, 0);
	}
}

static void answers_done(struct loop_op *op, int result, uint32_t cqe_flags)
{
	struct inbox *in = container_of(op, struct inbox, op);
	struct netlink *n = in->netlink;
	const struct nlmsghdr *m = (const void *)in->buffer;

	in->armed = false;
	if (result == -ECANCELED)
		return;
	if (result < 0 || in->header.msg_flags & MSG_TRUNC) {
		finish(n, -ENOBUFS);
	} else if (sound(in)) {
		for (; mnl_nlmsg_ok(m, result); m = mnl_nlmsg_next(m, &result))
			take_answer(n, m);
	}
	arm(in);
}

static int open_inbox(struct netlink *n, struct inbox *in, void (*done)(struct loop_op *, int,
									 uint32_t))
{
	in->netlink = n;
	in->op.done = done;
	/* Blocking for io_uring's sake: with O_NONBLOCK it answers EAGAIN instead of waiting. */
	in->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!in->socket)
		return -errno;
	return mnl_socket_bind(in->socket, 0, MNL_SOCKET_AUTOPID) < 0 ? -errno : 0;
}

static int subscribe(struct netlink *n)
{
	int fd = mnl_socket_get_fd(n->events.socket);
	int bytes = EVENT_QUEUE_BYTES;
	int group;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	for (uint32_t i = 0; i < n->options.n_groups; i++) {
		group = (int)n->options.groups[i];
		if (mnl_socket_setsockopt(n->events.socket, NETLINK_ADD_MEMBERSHIP, &group,
					  sizeof(group)) < 0)
			return -errno;
	}
	return 0;
}

int netlink_create(const struct netlink_options *options, struct netlink **netlink)
{
	struct netlink *n = calloc(1, sizeof(*n));
	int r = -ENOMEM;

	if (!n)
		goto fail;
	n->options = *options;
	n->last = &n->first;
	n->send_op.done = send_done;
	r = open_inbox(n, &n->events, events_done);
	if (r == 0)
		r = open_inbox(n, &n->answers, answers_done);
	if (r == 0)
		r = subscribe(n);
	if (r < 0)
		goto fail;
	*netlink = n;
	return 0;
fail:
	log_error("netlink: %s", strerror(-r));
	netlink_destroy(n);
	return r;
}

void netlink_start(struct netlink *netlink)
{
	arm(&netlink->events);
	arm(&netlink->answers);
}

static void close_inbox(struct inbox *in)
{
	if (in->armed)
		loop_forget(in->netlink->options.loop, &in->op);
	if (in->socket)
		mnl_socket_close(in->socket);
}

void netlink_destroy(struct netlink *netlink)
{
	if (!netlink)
		return;
	if (netlink->sending)
		loop_forget(netlink->options.loop, &netlink->send_op);
	close_inbox(&netlink->answers);
	close_inbox(&netlink->events);
	free(netlink);
}

void netlink_send(struct netlink *netlink, struct netlink_request *request)
{
	request->next = NULL;
	*netlink->last = request;
	netlink->last = &request->next;
	send_next(netlink);
}

void netlink_post(struct netlink *netlink, void *message)
{
	struct nlmsghdr *m = message;

	m->nlmsg_flags &= (uint16_t)~NLM_F_ACK;
	m->nlmsg_seq = 0;
	if (mnl_socket_sendto(netlink->answers.socket, m, m->nlmsg_len) < 0)
		log_debug("netlink: %s", strerror(errno));
}

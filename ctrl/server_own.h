/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What server.c (who may connect), client.c (one connection) and job.c (what is done in steps)
 * share.
 */
#ifndef CTRL_SERVER_OWN_H
#define CTRL_SERVER_OWN_H

#include "ctrl/listen.h"
#include "ctrl/server.h"

struct server {
	struct server_options options;
	struct loop *loop;
	struct listener listener;
	struct loop_op accept;
	struct __kernel_timespec accept_pause;
	bool accept_pauses;
	bool accept_fails;	/* said so already */
	struct client *clients;
	uint32_t n_clients;
	struct job *jobs;
};

/* Takes @fd, also when there is no memory. */
void client_create(struct server *server, int fd);
/* Ends the connection and all that was asked for. */
void client_free(struct client *client);
/* The client's job returned JOB_TAKES or JOB_DONE. */
void client_job(struct client *client, enum job_step step);

/* @client hears of it. */
void job_start(struct server *server, struct client *client, struct job *job);
/* Nobody waits for @job any more: it goes on alone, an upload to its cancellation. */
void job_leave(struct job *job);
void job_free(struct job *job);

#endif

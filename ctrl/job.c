/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/server_own.h"
#include "lib/bits.h"

static void job_run(struct loop_task *task)
{
	struct job *job = container_of(task, struct job, task);
	enum job_step step = job->step(job);

	if (step == JOB_MORE)
		loop_later(job->server->loop, task);
	else if (step != JOB_WAITS && job->client)
		client_job(job->client, step);
	else if (step == JOB_DONE)
		job_free(job);
}

void job_start(struct server *server, struct client *client, struct job *job)
{
	job->task.run = job_run;
	job->server = server;
	job->client = client;
	job->next = server->jobs;
	if (job->next)
		job->next->previous = job;
	server->jobs = job;
	loop_later(server->loop, &job->task);
}

void job_wake(struct job *job)
{
	loop_later(job->server->loop, &job->task);
}

void job_leave(struct job *job)
{
	job->client = NULL;
	if (job->cancel)
		job->cancel(job);
	job_wake(job);
}

void job_free(struct job *job)
{
	loop_not_later(job->server->loop, &job->task);
	if (job->previous)
		job->previous->next = job->next;
	else
		job->server->jobs = job->next;
	if (job->next)
		job->next->previous = job->previous;
	json_decref(job->result);
	json_decref(job->data);
	job->end(job);
}

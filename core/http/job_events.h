/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a job: its output as events, from any offset on, and requests
 * that are answered when it has gone on (statespace-protocol(7), JOBS).
 */
#ifndef SS_HTTP_JOB_EVENTS_H
#define SS_HTTP_JOB_EVENTS_H

#include "http/exchange.h"
#include "site/jobs.h"

/*
 * Sends what the job's streams have from these offsets on, and its end; in
 * several turns, if the host lets requests wait.
 * Errors  SS_BAD_REQUEST: an offset behind the end; SS_OVERLOADED: too many
 *         wait; SS_GONE: the client left, or a later turn goes on.
 */
enum ss_err http_job_events(struct exchange *x, struct site_job *job,
	const uint64_t after[static 2]);

/*
 * Waits for so long until the job has ended or has more output than that;
 * job->status is new then.
 * Errors  SS_OVERLOADED; SS_GONE: a later turn answers; those of a look.
 */
enum ss_err http_job_wait(struct exchange *x, struct site_job *job,
	double seconds, const uint64_t after[static 2]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Jobs over HTTP (statespace-protocol(7), JOBS): the answer of a POST that
 * became one, and GET and DELETE of /__jobs/ID.
 */
#ifndef SS_HTTP_JOBS_H
#define SS_HTTP_JOBS_H

#include "http/exchange.h"

/* Is it a path of jobs, whatever it names? */
bool http_jobs_wanted(const struct exchange *x);
enum ss_err http_jobs_answer(struct exchange *x);

/* Of the call of a POST. */
struct call_job http_jobs_call(struct exchange *x);
/*
 * After the call that made it: waits as long as the page says, then answers
 * with its result or with 202.
 */
enum ss_err http_jobs_made(struct exchange *x, const struct call_job *made);

#endif

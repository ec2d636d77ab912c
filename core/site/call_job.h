/* SPDX-License-Identifier: MIT */
/*
 * What call.c knows of jobs: that a call may become one, and who makes it
 * (site/jobs.h).
 */
#ifndef SS_SITE_CALL_JOB_H
#define SS_SITE_CALL_JOB_H

#include "base/buf.h"
#include "page/spec.h"
#include "state/state.h"
#include "statespace.h"

/* What a job is made of, beside its call. */
struct call_job_of {
	const struct ss_document *doc;
	const struct spec *spec;
	size_t tool;
	const char *user, *request_id, *key; /* NULL: none */
	uint64_t number;                     /* of its page */
	bool claimed; /* the key's record is there, and will name the job */
};

/* Of a call that may become a job. */
struct call_job {
	bool asked; /* by the caller, who reads job ids */
	/* He did not ask for this one: `job: auto` waits all the same. */
	bool unhurried;
	/*
	 * Makes the job and has it started: id.
	 * Errors  SS_STATE, SS_OVERLOADED, SS_INTERNAL; left: a job may be
	 *         there all the same.
	 */
	enum ss_err (*make)(struct call_job *job, const struct call_job_of *of,
		struct ss_error *err);
	void *site;
	/* The call as the body of a POST; false: no memory. */
	bool (*write)(void *ctx, struct buf *out);
	void *ctx;
	/* The job that asked for what the call has now; NULL: a new one. */
	const char *asked_by;
	/* Out. */
	char id[STATE_ID_CAP]; /* "": it is no job, and ran */
	int64_t created_ms;
	bool left;
	bool kept;     /* it has a key, whose record names the job */
	bool replayed; /* the job was made before, for the same key */
	double wait_s; /* until its caller is told the id */
};

#endif

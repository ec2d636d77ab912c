/* SPDX-License-Identifier: MIT */
/*
 * The directory of all jobs: making one, within the caps, and removing those
 * that ended long ago.  Whoever comes by does that; no process is there for it.
 */
#ifndef SS_JOBS_JOBS_H
#define SS_JOBS_JOBS_H

#include "jobs/job.h"

struct jobs_caps {
	uint64_t most;      /* that have not ended, in all */
	uint64_t page_most; /* the same, of one page */
	uint64_t kept_most; /* directories */
	int64_t keep_ms;    /* after its end */
};

/*
 * The directory, below that of struct state: the caller's, or -1 and errno.
 */
int jobs_open(const struct state *state);
bool jobs_are_there(const struct state *state);

/*
 * Makes a job.  When this returns it is on disk, and id names it; nothing runs
 * yet.
 * Errors  SS_OVERLOADED for a cap; SS_STATE when it cannot be written.
 */
enum ss_err
jobs_make(int jobs, const struct jobs_caps *caps, const struct job_request *r,
	char id[static STATE_ID_CAP], struct ss_error *err);

/* What a person is asked before a job is queued, and the call that asks. */
struct job_question {
	struct job_status status; /* state, page, site, tool, times */
	struct ss_text call, question;
	uint64_t number; /* of the page */
};

/* The same for one that waits for a person. */
enum ss_err jobs_make_asking(int jobs, const struct jobs_caps *caps,
	const struct job_question *q, char id[static STATE_ID_CAP],
	struct ss_error *err);

/*
 * Removes jobs that ended more than keep_ms ago, and what was left half made or
 * half removed; looks at no more than `most` of them.  fn gets the id of each
 * queued one that it meets without a holder; NULL: nobody wants them.
 */
void jobs_collect(int jobs, int64_t keep_ms, size_t most,
	void (*fn)(void *ctx, const char *id), void *ctx);

/* At once for all who look for it. */
void jobs_remove(int jobs, const char *id);
/* No job counts for the caps any more once it has ended. */
void jobs_ended(int jobs, const char *id);

#endif

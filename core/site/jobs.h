/* SPDX-License-Identifier: MIT */
/*
 * Calls that go on without their caller (statespace-protocol(7), JOBS), for
 * POST and MCP alike: jobs/job.h is their directory, struct ss_jobs of the host
 * starts the process that runs one.
 */
#ifndef SS_SITE_JOBS_H
#define SS_SITE_JOBS_H

#include "jobs/jobs.h"
#include "site/site.h"

/* Of a call in that site; asked, write and ctx are the caller's to fill in. */
struct call_job site_call_job(struct ss_site *site);

/*
 * Makes a job that waits for a person, of the tool at that place of the page.
 * Errors  as of call_job.make.
 */
enum ss_err site_job_ask(struct ss_site *site, const struct call_job_of *of,
	struct ss_text call, struct ss_text question,
	char id[static STATE_ID_CAP], struct ss_error *err);

/* The directory of a job that the site has. */
struct site_job {
	int fd; /* -1: none is open */
	char id[STATE_ID_CAP];
	struct job_status status;
};

/*
 * Opens the job and reads how it is.  A queued one whose holder did not come is
 * started again.  site_job_close must follow also when this fails.
 * Errors  SS_NOT_FOUND, with the same words for every id; SS_STATE.
 */
enum ss_err site_job_open(struct ss_site *site, struct ss_text id,
	struct site_job *job, struct ss_error *err);
/*
 * The same for one that was made just now, or before for the same key: of one
 * that is not kept any more the status is as when it was made, and fd is -1.
 */
enum ss_err
site_job_open_made(struct ss_site *site, const struct call_job *made,
	struct site_job *job, struct ss_error *err);
void site_job_close(struct site_job *job);
/* How it is now, in job->status. */
enum ss_err site_job_look(struct site_job *job, struct ss_error *err);
/*
 * What stream 0 (stdout) or 1 has from offset on, up to out's ceiling; *size is
 * what it has in all.
 * Errors  SS_BAD_REQUEST: the offset lies behind its end; SS_INTERNAL.
 */
enum ss_err site_job_read(const struct site_job *job, size_t stream,
	uint64_t offset, struct buf *out, uint64_t *size, struct ss_error *err);
/*
 * Waits until the job has ended, its streams are longer than that, or the time
 * is over; looks at it now and then.  status is as of the last look.
 *
 * client_fd  a hang-up ends the waiting; -1: none.
 */
void site_job_wait(struct ss_site *site, struct site_job *job, double seconds,
	const uint64_t *sizes, int client_fd);
/*
 * The result of a job that has ended, as if it had run here, in the site's
 * arena; of one that runs, the output so far from these two offsets on.
 * Returns the code of its error.  SS_BAD_REQUEST: an offset behind the end.
 */
enum ss_err site_job_result(struct ss_site *site, const struct site_job *job,
	const uint64_t offsets[static 2], struct ss_result *result,
	struct ss_error *err);
enum ss_err site_job_cancel(
	struct ss_site *site, struct site_job *job, struct ss_error *err);
/* Removes one that nobody was told of. */
void site_job_forget(struct ss_site *site, struct site_job *job);

/* Digests the bytes of a page, in hexadecimal. */
enum ss_err site_page_digest(const struct ss_document *doc, char out[static 65],
	struct ss_error *err);
/* The directory of all jobs, which the caller closes. */
enum ss_err
site_jobs_open(struct ss_site *site, int *out, struct ss_error *err);

#endif

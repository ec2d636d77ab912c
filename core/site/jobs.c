/* SPDX-License-Identifier: MIT */
#include "site/jobs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "site/site.h"

#define BODY_MORE ((size_t)1 << 20) /* what escapes add to a call */
/* Between two looks at a job: an eighth of the time so far, within these. */
#define LOOK_MIN_MS 2
#define LOOK_MAX_MS 200
#define START_AGAIN_MS 3000

enum ss_err
site_jobs_open(struct ss_site *site, int *out, struct ss_error *err)
{
	const struct state *state;
	enum ss_err code = site_state(site, &state, err);

	*out = code == SS_OK ? jobs_open(state) : -1;
	if (code != SS_OK || *out >= 0)
		return code;
	error_set(err, SS_STATE, "the state directory cannot be used");
	error_detail(err, "jobs: open");
	if (err != NULL)
		err->sys_errno = errno;
	return SS_STATE;
}

enum ss_err
site_page_digest(const struct ss_document *doc, char out[static 65],
	struct ss_error *err)
{
	struct buf text = BUF_INIT(PAGE_BYTES_MAX);
	enum ss_err code = page_read(doc, &text, err);
	uint8_t digest[DIGEST_BYTES];

	if (code == SS_OK) {
		digest_of(text.data, text.len, digest);
		digest_hex(digest, DIGEST_BYTES, out);
	}
	buf_release(&text);
	return code;
}

/* ---------------------------------------------------------------- making -- */

static struct jobs_caps
caps_of(const struct ss_site *site, const struct spec *spec)
{
	const struct config *c = &site->config;
	uint64_t page = c->jobs.max_page;

	if (spec->max_running > 0 && spec->max_running < page)
		page = spec->max_running;
	return (struct jobs_caps){ .most = c->jobs.max,
		.page_most = page,
		.kept_most = c->jobs.max_kept,
		.keep_ms = (int64_t)(c->jobs.keep * 1000) };
}

/* A person has answered. */
static enum ss_err
queue_asking(int jobs, struct call_job *job, const struct job_request *r,
	struct ss_error *err)
{
	int dir = job_open(jobs, text_of(job->asked_by));
	int number = dir < 0 ? errno : job_queue(dir, r);

	fd_close(&dir);
	snprintf(job->id, sizeof(job->id), "%s", job->asked_by);
	if (number == 0)
		return SS_OK;
	error_set(err, SS_STATE, "the job cannot be kept; nothing ran");
	if (err != NULL)
		err->sys_errno = number;
	return SS_STATE;
}

static enum ss_err
make_job(struct call_job *job, const struct call_job_of *of, int jobs,
	struct ss_error *err)
{
	struct ss_site *site = job->site;
	struct buf body =
		BUF_INIT(site->config.limits.max_body_bytes * 6 + BODY_MORE);
	const struct jobs_caps caps = caps_of(site, of->spec);
	char digest[DIGEST_HEX + 1];
	struct job_request r = { .site = text_of(site->name),
		.page = text_of(of->doc->path),
		.digest = { digest, DIGEST_HEX },
		.user = text_of(of->user),
		.id = text_of(of->request_id),
		.key = text_of(of->key),
		.claimed = of->claimed,
		.number = of->number,
		.tool = (int64_t)of->tool,
		.confirmed = of->spec->confirm,
		.created_ms = job_now_ms() };
	enum ss_err code = site_page_digest(of->doc, digest, err);

	if (code == SS_OK && (!job->write(job->ctx, &body) || !buf_ok(&body)))
		code = error_memory(err);
	job->created_ms = r.created_ms;
	r.body = buf_view(&body);
	if (code == SS_OK)
		code = job->asked_by != NULL
			? queue_asking(jobs, job, &r, err)
			: jobs_make(jobs, &caps, &r, job->id, err);
	buf_release(&body);
	return code;
}

enum ss_err
site_job_ask(struct ss_site *site, const struct call_job_of *of,
	struct ss_text call, struct ss_text question,
	char id[static STATE_ID_CAP], struct ss_error *err)
{
	const struct jobs_caps caps = caps_of(site, of->spec);
	struct job_question q = { .status = { .state = JOB_ASKING,
					  .created_ms = job_now_ms(),
					  .tool = (int64_t)of->tool },
		.call = call,
		.question = question,
		.number = of->number };
	enum ss_err code;
	int jobs;

	q.status.changed_ms = q.status.created_ms;
	snprintf(q.status.page, sizeof(q.status.page), "%s", of->doc->path);
	snprintf(q.status.site, sizeof(q.status.site), "%s",
		site->name != NULL ? site->name : "");
	code = site_jobs_open(site, &jobs, err);
	if (code == SS_OK)
		code = jobs_make_asking(jobs, &caps, &q, id, err);
	fd_close(&jobs);
	return code;
}

/* A job that was not made whole: is it there all the same? */
static bool
may_run(int jobs, const char *id)
{
	struct job_status status;
	int dir = -1, number = 0;
	bool there;

	if (jobs < 0 || id[0] == '\0')
		return false;
	dir = job_open(jobs, text_of(id));
	there = dir >= 0 || errno != ENOENT;
	if (dir >= 0)
		number = job_look(dir, &status);
	if (dir >= 0 && number == 0 && status.state == JOB_ASKING)
		there = false;
	fd_close(&dir);
	return there;
}

static enum ss_err
make_and_start(struct call_job *job, const struct call_job_of *of,
	struct ss_error *err)
{
	struct ss_site *site = job->site;
	const struct ss_jobs *host = &site->jobs_host;
	enum ss_err code;
	int jobs;

	if (host->start == NULL)
		return error_set(err, SS_STATE, "this host starts no jobs");
	code = site_jobs_open(site, &jobs, err);
	if (code == SS_OK)
		code = make_job(job, of, jobs, err);
	job->left = code != SS_OK && may_run(jobs, job->id);
	fd_close(&jobs);
	if (code != SS_OK) {
		job->id[0] = '\0';
		return code;
	}
	/* It is on disk: one that is not started now is started later. */
	host->start(host->ctx, job->id);
	return SS_OK;
}

struct call_job
site_call_job(struct ss_site *site)
{
	return (struct call_job){ .make = make_and_start, .site = site };
}

/* --------------------------------------------------------------- reading -- */

static enum ss_err
refuse_unknown(struct ss_error *err)
{
	error_set(err, SS_NOT_FOUND, "there is no such job");
	error_hint(err,
		"a job is kept for some time after its end; its address is in "
		"the answer that made it");
	return SS_NOT_FOUND;
}

enum ss_err
site_job_look(struct site_job *job, struct ss_error *err)
{
	int number = job_look(job->fd, &job->status);

	if (number == 0)
		return SS_OK;
	if (number == ENOENT)
		return refuse_unknown(err);
	error_set(err, SS_STATE, "the job cannot be read");
	if (err != NULL)
		err->sys_errno = number;
	return SS_STATE;
}

static void
start_again(struct ss_site *site, const struct site_job *job)
{
	const struct ss_jobs *host = &site->jobs_host;

	if (job->status.state == JOB_QUEUED && host->start != NULL &&
		job_now_ms() - job->status.created_ms > START_AGAIN_MS &&
		!job_is_locked(job->fd))
		host->start(host->ctx, job->id);
}

/* A clock that was set back keeps it for longer, never shorter. */
static bool
is_over(const struct ss_site *site, const struct job_status *s)
{
	return job_state_is_final(s->state) &&
		job_now_ms() - s->changed_ms >
		(int64_t)(site->config.jobs.keep * 1000);
}

static bool
is_of(const struct ss_site *site, const struct job_status *s)
{
	return strcmp(s->site, site->name != NULL ? site->name : "") == 0;
}

enum ss_err
site_job_open(struct ss_site *site, struct ss_text id, struct site_job *job,
	struct ss_error *err)
{
	enum ss_err code;
	int jobs;

	job->fd = -1;
	job->id[0] = '\0';
	if (!state_is_id(id))
		return refuse_unknown(err);
	memcpy(job->id, id.data, STATE_ID_LEN);
	job->id[STATE_ID_LEN] = '\0';
	code = site_jobs_open(site, &jobs, err);
	if (code != SS_OK)
		return code;
	job->fd = job_open(jobs, id);
	fd_close(&jobs);
	if (job->fd < 0)
		return refuse_unknown(err);
	code = site_job_look(job, err);
	if (code == SS_OK &&
		(is_over(site, &job->status) || !is_of(site, &job->status)))
		return refuse_unknown(err);
	if (code == SS_OK)
		start_again(site, job);
	return code;
}

enum ss_err
site_job_open_made(struct ss_site *site, const struct call_job *made,
	struct site_job *job, struct ss_error *err)
{
	enum ss_err code = site_job_open(site, text_of(made->id), job, err);

	if (code != SS_NOT_FOUND || !made->replayed)
		return code;
	site_job_close(job);
	error_clear(err);
	job->status = (struct job_status){ .state = JOB_QUEUED,
		.created_ms = made->created_ms,
		.changed_ms = made->created_ms };
	return SS_OK;
}

void
site_job_close(struct site_job *job)
{
	fd_close(&job->fd);
}

static const char *const streams[] = { JOB_OUT, JOB_ERR };

static bool
has_grown(const struct site_job *job, const uint64_t *sizes)
{
	struct buf none = BUF_INIT(0);
	uint64_t size;
	bool grown = false;

	for (size_t i = 0; sizes != NULL && i < ARRAY_LEN(streams); i++)
		grown |= job_read_stream(
				 job->fd, streams[i], 0, &none, &size) == 0 &&
			size > sizes[i];
	buf_release(&none);
	return grown;
}

void
site_job_wait(struct ss_site *site, struct site_job *job, double seconds,
	const uint64_t *sizes, int client_fd)
{
	struct pollfd client = { .fd = client_fd, .events = POLLRDHUP };
	uint64_t began = clock_ms(), now;
	uint64_t end = began + (uint64_t)(seconds * 1000);
	struct ss_error err;
	int ms;

	while (!job_state_is_final(job->status.state) &&
		!has_grown(job, sizes) && (now = clock_ms()) < end) {
		ms = (now - began) / 8 < LOOK_MAX_MS ? (int)(now - began) / 8
						     : LOOK_MAX_MS;
		if (ms < LOOK_MIN_MS)
			ms = LOOK_MIN_MS;
		if ((uint64_t)ms > end - now)
			ms = (int)(end - now);
		if (poll(&client, client_fd >= 0, ms) > 0 ||
			site_job_look(job, &err) != SS_OK)
			return;
		start_again(site, job);
	}
}

/* In the arena; NULL: empty, or no memory. */
static const char *
keep_text(struct ss_site *site, const char *text)
{
	return text[0] != '\0' ? arena_copy(&site->arena, text, strlen(text))
			       : NULL;
}

enum ss_err
site_job_read(const struct site_job *job, size_t stream, uint64_t offset,
	struct buf *out, uint64_t *size, struct ss_error *err)
{
	int number =
		job_read_stream(job->fd, streams[stream], offset, out, size);

	if (number == EINVAL)
		return error_set(err, SS_BAD_REQUEST,
			"\"after\" lies behind the end of the output");
	return number != 0
		? error_internal(err, number, "read the job's output")
		: SS_OK;
}

/* One stream into the arena; bytes that begin a character wait for its end. */
static enum ss_err
read_stream(struct ss_site *site, const struct site_job *job, size_t stream,
	uint64_t offset, struct ss_text *out, struct ss_error *err)
{
	struct buf bytes = BUF_INIT(site->config.jobs.max_output_bytes);
	uint64_t size;
	enum ss_err code =
		site_job_read(job, stream, offset, &bytes, &size, err);
	size_t len = bytes.len;

	if (code == SS_OK && !job_state_is_final(job->status.state))
		len -= utf8_unfinished(bytes.data, len);
	*out = (struct ss_text){ arena_copy(&site->arena, bytes.data, len),
		len };
	buf_release(&bytes);
	if (code == SS_OK && out->data == NULL)
		code = error_memory(err);
	return code;
}

enum ss_err
site_job_result(struct ss_site *site, const struct site_job *job,
	const uint64_t offsets[static 2], struct ss_result *result,
	struct ss_error *err)
{
	const struct job_status *s = &job->status;
	struct ss_text text[2];
	enum ss_err code = read_stream(site, job, 0, offsets[0], &text[0], err);

	if (code == SS_OK)
		code = read_stream(site, job, 1, offsets[1], &text[1], err);
	if (code != SS_OK)
		return code;
	*result = (struct ss_result){ .size = sizeof(*result),
		.out = text[0],
		.err = text[1],
		.returncode = s->returncode,
		.replayed = result->replayed,
		.tool = s->tool,
		.limit = keep_text(site, s->limit),
		.sandbox = keep_text(site, s->sandbox),
		.memory = keep_text(site, s->memory),
		.type = keep_text(site, s->type),
		.parse = s->parse,
		.run_us = s->run_us,
		.cpu_us = s->cpu_us,
		.memory_bytes = s->memory_bytes };
	if (err != NULL)
		*err = s->err;
	return s->err.code;
}

enum ss_err
site_job_cancel(
	struct ss_site *site, struct site_job *job, struct ss_error *err)
{
	int number;

	(void)site;
	if (job_state_is_final(job->status.state))
		return SS_OK;
	number = job_cancel(job->fd);
	if (number == 0)
		return site_job_look(job, err);
	error_set(err, SS_STATE, "the job cannot be told to end");
	if (err != NULL)
		err->sys_errno = number;
	return SS_STATE;
}

void
site_job_forget(struct ss_site *site, struct site_job *job)
{
	struct ss_error err;
	int jobs;

	if (site_jobs_open(site, &jobs, &err) == SS_OK)
		jobs_remove(jobs, job->id);
	fd_close(&jobs);
}

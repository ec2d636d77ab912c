/* SPDX-License-Identifier: MIT */
/*
 * The holder of a job (jobs/job.h): runs its call once, as statespace exec
 * would, writes down what comes of it, and ends it when somebody wants that or
 * its time is over.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "site/call.h"
#include "site/jobs.h"
#include "site/site.h"
#include "site/sites.h"

#define LOOK_US 200000 /* between two looks for `cancel` */

/* Why the run was ended before its own end. */
enum stop { STOP_NONE, STOP_CANCEL, STOP_IDLE, STOP_AGE, STOP_DISK };

struct holder {
	struct ss_site *all, *site;
	int jobs, job, lock, end;
	int streams[2]; /* out, err */
	bool wrote[2];
	struct job_request request;
	struct buf text; /* that the request lies in */
	struct job_status status;
	int disk_errno;
};

/* What the handler of SIGALRM looks at. */
static struct {
	int job;
	int alive_fd; /* our end of the run's client: shut down, it hangs up */
	volatile sig_atomic_t stop;
	_Atomic uint64_t written_ms; /* when output came last */
	uint64_t idle_ms, age_ms;    /* 0: no limit */
	uint64_t begun_ms;
} watch;

/* Calls only what signal-safety(7) lists, and faccessat(2). */
static void
on_alarm(int number)
{
	uint64_t now = clock_ms();
	int kept = errno;

	(void)number;
	if (watch.stop != STOP_NONE)
		;
	else if (job_is_cancelled(watch.job))
		watch.stop = STOP_CANCEL;
	else if (watch.age_ms > 0 && now - watch.begun_ms > watch.age_ms)
		watch.stop = STOP_AGE;
	else if (watch.idle_ms > 0 && now - watch.written_ms > watch.idle_ms)
		watch.stop = STOP_IDLE;
	if (watch.stop != STOP_NONE)
		shutdown(watch.alive_fd, SHUT_RDWR);
	errno = kept;
}

static void
begin_watch(const struct holder *h, int alive_fd)
{
	const struct config *c = &h->site->config;
	const struct itimerval every = { { 0, LOOK_US }, { 0, LOOK_US } };
	struct sigaction act = { .sa_handler = on_alarm,
		.sa_flags = SA_RESTART };

	watch.job = h->job;
	watch.alive_fd = alive_fd;
	watch.stop = STOP_NONE;
	watch.begun_ms = clock_ms();
	watch.written_ms = watch.begun_ms;
	watch.idle_ms = (uint64_t)(c->jobs.idle * 1000);
	watch.age_ms = (uint64_t)(c->jobs.timeout * 1000) + 1000;
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void
end_watch(void)
{
	const struct itimerval never = { 0 };

	setitimer(ITIMER_REAL, &never, NULL);
}

static void
keep_output(void *ctx, int stream, const char *data, size_t len)
{
	struct holder *h = ctx;
	int number;

	if ((stream != 1 && stream != 2) || watch.stop == STOP_DISK)
		return;
	watch.written_ms = clock_ms();
	h->wrote[stream - 1] = true;
	number = fd_write_all(h->streams[stream - 1], data, len);
	if (number == 0)
		return;
	h->disk_errno = number;
	watch.stop = STOP_DISK;
	shutdown(watch.alive_fd, SHUT_RDWR);
}

/* A person agreed before the job was made. */
static bool
agreed(void *ctx, const char *const *argv, size_t argc)
{
	(void)ctx;
	(void)argv;
	(void)argc;
	return true;
}

/* Time and output are those of jobs; a processor may be used all the time. */
static void
use_own_limits(struct ss_site *site)
{
	struct config *c = &site->config;
	struct spawn_limits *most = &site->grant.limits;

	c->limits.timeout = c->jobs.timeout;
	c->limits.max_output_bytes = c->jobs.max_output_bytes;
	if (c->limits.cpu > 0 && (double)c->limits.cpu < c->jobs.timeout)
		c->limits.cpu = (uint64_t)c->jobs.timeout + 1;
	most->timeout_ms = (uint32_t)(c->limits.timeout * 1000);
	most->output_bytes = c->limits.max_output_bytes;
	most->cpu_s = (uint32_t)c->limits.cpu;
}

/* ------------------------------------------------------------------ the run */

static enum ss_err
check_page(const struct holder *h, const struct ss_document *doc,
	struct ss_error *err)
{
	char digest[65];
	enum ss_err code = site_page_digest(doc, digest, err);

	if (code != SS_OK || text_is(h->request.digest, digest))
		return code;
	error_set(err, SS_NOT_ALLOWED,
		"the page has changed since the job was made; its tool did "
		"not run");
	error_hint(err, "send the call again");
	return SS_NOT_ALLOWED;
}

static void
take_text(char *out, size_t cap, struct ss_text text)
{
	snprintf(out, cap, "%.*s", (int)text.len, text.data);
}

static enum ss_err
run_call(struct holder *h, int client_fd, struct ss_result *result,
	struct ss_error *err)
{
	struct ss_site *site = h->site;
	const struct job_request *r = &h->request;
	char path[4097], user[512], id[129], key[1024];
	struct proto_request request = { 0 };
	struct ss_document doc;
	const char *stage = "";
	enum ss_err code;

	take_text(path, sizeof(path), r->page);
	take_text(user, sizeof(user), r->user);
	take_text(id, sizeof(id), r->id);
	take_text(key, sizeof(key), r->key);
	code = proto_parse(
		&site->arena, r->body.data, r->body.len, &request, err);
	if (code == SS_OK)
		code = documents_open(&site->documents, path, &doc, err);
	if (code != SS_OK)
		return code;
	code = check_page(h, &doc, err);
	if (code == SS_OK)
		code = call_run(&site->calls,
			&(struct call){ .doc = &doc,
				.request = &request,
				.request_id = id,
				.stdin_fd = -1,
				.client_fd = client_fd,
				.output = keep_output,
				.output_ctx = h,
				.user = user[0] != '\0' ? user : NULL,
				.key = key[0] != '\0' ? key : NULL,
				.claimed = r->claimed,
				.ends = true,
				.confirm =
					h->request.confirmed ? agreed : NULL },
			&stage, result, err);
	documents_close(&site->documents, &doc);
	return code;
}

static void
set_stopped(struct holder *h, struct job_status *s)
{
	const struct config *c = &h->site->config;

	switch ((enum stop)watch.stop) {
	case STOP_NONE: break;
	case STOP_CANCEL: s->state = JOB_CANCELLED; break;
	case STOP_IDLE:
		s->state = JOB_COMPLETED;
		snprintf(s->limit, sizeof(s->limit), "idle");
		error_set(&s->err, SS_TIMEOUT,
			"the tool ran and was stopped: it wrote nothing for "
			"%g s",
			c->jobs.idle);
		break;
	case STOP_AGE:
		s->state = JOB_COMPLETED;
		snprintf(s->limit, sizeof(s->limit), "wall");
		error_set(&s->err, SS_TIMEOUT,
			"the tool ran and was stopped after %g s",
			c->jobs.timeout);
		break;
	case STOP_DISK:
		s->state = JOB_FAILED;
		error_set(&s->err, SS_STATE,
			"the tool ran and was stopped: its output could not be "
			"kept (%s)",
			strerror(h->disk_errno));
		break;
	}
}

static void
copy_text(char *out, size_t cap, const char *text)
{
	snprintf(out, cap, "%s", text != NULL ? text : "");
}

static void
set_end(struct holder *h, enum ss_err code, const struct ss_result *r,
	const struct ss_error *err)
{
	struct job_status *s = &h->status;

	s->returncode = r->returncode;
	s->run_us = r->run_us;
	s->cpu_us = r->cpu_us;
	s->memory_bytes = r->memory_bytes;
	copy_text(s->limit, sizeof(s->limit), r->limit);
	copy_text(s->sandbox, sizeof(s->sandbox), r->sandbox);
	copy_text(s->memory, sizeof(s->memory), r->memory);
	copy_text(s->type, sizeof(s->type), r->type);
	s->parse = r->parse;
	error_clear(&s->err);
	if (code != SS_OK)
		s->err = *err;
	s->state = code == SS_OK || call_was_ended(code) ? JOB_COMPLETED
							 : JOB_FAILED;
	if (watch.stop != STOP_NONE && code != SS_OK) {
		error_clear(&s->err);
		set_stopped(h, s);
	}
	if (s->err.code != SS_OK || s->state == JOB_CANCELLED)
		s->returncode = 1;
	s->changed_ms = job_now_ms();
}

static enum ss_err
run_watched(struct holder *h, struct ss_error *err)
{
	struct ss_result result = SS_INIT(ss_result);
	struct ss_error failed = { .code = SS_OK };
	enum ss_err code;
	int ends[2], number;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_internal(err, errno, "socketpair");
	begin_watch(h, ends[1]);
	code = run_call(h, ends[0], &result, &failed);
	end_watch();
	set_end(h, code, &result, &failed);
	fd_close(&ends[0]);
	fd_close(&ends[1]);
	for (size_t i = 0; i < ARRAY_LEN(h->streams); i++)
		if (h->wrote[i])
			fsync(h->streams[i]);
	number = job_write_end(h->job, &h->end, &h->status);
	ss_result_release(&result);
	return number == 0 ? SS_OK
			   : error_internal(err, number, "write the job's end");
}

/* ---------------------------------------------------------------- the start */

static enum ss_err
open_stream(int job, const char *name, int *fd, struct ss_error *err)
{
	*fd = openat(job, name,
		O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	return *fd >= 0 ? SS_OK : error_internal(err, errno, "open %s", name);
}

/* All that the end needs is there before the tool runs. */
static enum ss_err
open_job(struct holder *h, struct ss_error *err)
{
	enum ss_err code = open_stream(h->job, JOB_OUT, &h->streams[0], err);
	int number;

	if (code == SS_OK)
		code = open_stream(h->job, JOB_ERR, &h->streams[1], err);
	if (code != SS_OK)
		return code;
	h->end = job_reserve_end(h->job);
	if (h->end < 0)
		return error_internal(err, errno, "reserve the job's end");
	h->status.state = JOB_RUNNING;
	h->status.changed_ms = job_now_ms();
	number = job_write_status(h->job, &h->status);
	return number == 0 ? SS_OK
			   : error_internal(err, number, "write the status");
}

/* The site that the job was made in. */
static enum ss_err
find_site(struct holder *h, struct ss_error *err)
{
	size_t number = 0;

	if (h->status.site[0] != '\0') {
		number = ss_site_find(h->all, h->status.site);
		if (number == 0)
			return error_set(err, SS_NOT_FOUND,
				"the job's site is not there any more");
	}
	return ss_site_pick(h->all, number, &h->site, err);
}

/* Of a job that cannot run: nothing of it has. */
static enum ss_err
refuse_job(struct holder *h, const struct ss_error *why, struct ss_error *err)
{
	int number;

	h->status.state = JOB_FAILED;
	h->status.err = *why;
	h->status.returncode = 1;
	h->status.changed_ms = job_now_ms();
	number = job_write_status(h->job, &h->status);
	return number == 0 ? SS_OK
			   : error_internal(err, number, "write the status");
}

/* The lock is ours, so that nobody else runs it. */
static enum ss_err
hold(struct holder *h, struct ss_error *err)
{
	struct ss_error why = { .code = SS_OK };
	int number = job_look(h->job, &h->status);
	enum ss_err code;

	if (number == 0)
		number = job_read_request(h->job, &h->text, &h->request);
	if (number != 0)
		return error_internal(err, number, "read the job");
	if (h->status.state == JOB_RUNNING)
		return error_internal(err, 0, "the job has run before");
	if (h->status.state != JOB_QUEUED)
		return SS_OK;
	if (job_is_cancelled(h->job)) {
		h->status.state = JOB_CANCELLED;
		h->status.changed_ms = job_now_ms();
		job_write_status(h->job, &h->status);
		return SS_OK;
	}
	code = find_site(h, &why);
	if (code != SS_OK)
		return refuse_job(h, &why, err);
	use_own_limits(h->site);
	code = open_job(h, err);
	return code == SS_OK ? run_watched(h, err) : code;
}

enum ss_err
ss_site_run_job(struct ss_site *site, const char *id, struct ss_error *err)
{
	static struct holder h = { .jobs = -1,
		.job = -1,
		.lock = -1,
		.end = -1,
		.streams = { -1, -1 },
		.text = { .data = buf_empty } };
	enum ss_err code = site_jobs_open(site, &h.jobs, err);

	h.all = site;
	if (code != SS_OK)
		return code;
	h.job = job_open(h.jobs, text_of(id));
	if (h.job < 0)
		return error_set(err, SS_NOT_FOUND, "there is no such job");
	h.lock = job_lock(h.job);
	if (h.lock < 0)
		code = errno == EAGAIN ? SS_OK
				       : error_internal(err, errno, "lock");
	else
		code = hold(&h, err);
	if (h.lock >= 0 && job_state_is_final(h.status.state))
		jobs_ended(h.jobs, id);
	buf_release(&h.text);
	fd_close(&h.streams[0]);
	fd_close(&h.streams[1]);
	fd_close(&h.end);
	fd_close(&h.lock);
	fd_close(&h.job);
	fd_close(&h.jobs);
	return code;
}

bool
ss_site_has_jobs(const struct ss_site *site)
{
	return site->state->fd >= 0 && jobs_are_there(site->state);
}

enum ss_err
ss_site_tend_jobs(struct ss_site *site, void (*fn)(void *ctx, const char *id),
	void *ctx, struct ss_error *err)
{
	int jobs;
	enum ss_err code = site_jobs_open(site, &jobs, err);

	if (code != SS_OK)
		return code;
	jobs_collect(jobs, (int64_t)(site->config.jobs.keep * 1000), SIZE_MAX,
		fn, ctx);
	fd_close(&jobs);
	return SS_OK;
}

/* SPDX-License-Identifier: MIT */
#include "http/jobs.h"

#include <inttypes.h>
#include <strings.h>

#include "http/events.h"
#include "http/job_events.h"
#include "http/output.h"
#include "site/call.h"
#include "site/jobs.h"
#include "wire/escape.h"
#include "wire/json.h"
#include "wire/prefer.h"

#define PREFIX "/__jobs/"
#define WAIT_MAX_S 25.0 /* of a worker that waits for a job */
#define CANCEL_WAIT_S 2.0

/* ------------------------------------------------------------- the answers */

/* Below the site's prefix, as a client asks for it. */
static const char *
href_of(struct exchange *x, const char *id)
{
	const char *prefix = x->site->config.http.prefix;
	size_t len = strlen(prefix);
	struct buf path = BUF_INIT(PATH_BYTES_MAX * 3);
	const char *href;

	while (len > 0 && prefix[len - 1] == '/')
		len--;
	escape_path(&path, prefix, len);
	buf_text(&path, PREFIX);
	buf_text(&path, id);
	href = buf_ok(&path) ? arena_copy(&x->site->arena, path.data, path.len)
			     : NULL;
	x->body.failed |= href == NULL;
	buf_release(&path);
	return href != NULL ? href : "";
}

static void
add_time(struct buf *out, const char *name, int64_t ms)
{
	char stamp[JOB_STAMP];

	job_stamp(ms, stamp);
	buf_printf(out, ", \"%s\": \"%s\"", name, stamp);
}

/* {"job": ID, "state": STATE, "href": PATH ... without the last brace. */
static void
begin_body(struct exchange *x, const struct site_job *job)
{
	const char *href = href_of(x, job->id);

	buf_printf(&x->body,
		"{\"job\": \"%s\", \"state\": \"%s\", \"href\": ", job->id,
		job_state_name(job->status.state));
	json_string(&x->body, href, strlen(href));
	add_time(&x->body, "created", job->status.created_ms);
	add_time(&x->body, "changed", job->status.changed_ms);
}

static void
end_body(struct exchange *x, int status)
{
	exchange_header(x, "Cache-Control", "no-store");
	exchange_body(x, status, "application/json");
}

/* The members of an answer's object, behind those that are there. */
static void
add_members(struct exchange *x, const struct buf *object)
{
	buf_text(&x->body, ", ");
	buf_add(&x->body, object->data + 1, object->len - 1);
	x->body.failed |= object->failed;
	x->body.full |= object->full;
}

static void
add_running(struct buf *out, const struct ss_result *r)
{
	buf_text(out, "{\"stdout\": ");
	json_string(out, r->out.data, r->out.len);
	buf_text(out, ", \"stderr\": ");
	json_string(out, r->err.data, r->err.len);
	buf_char(out, '}');
}

static void
add_result(struct exchange *x, const struct site_job *job, enum ss_err code)
{
	struct buf object = BUF_INIT(x->body.max);
	const struct ss_result *r = &x->result;
	enum job_state state = job->status.state;

	if (!job_state_is_final(state) || state == JOB_CANCELLED)
		add_running(&object, r);
	else if (code == SS_OK)
		proto_result(&object, r);
	else
		proto_ended(&object, r,
			call_stderr(&x->site->arena, r->err,
				text_of(job->status.err.message)),
			&job->status.err);
	add_members(x, &object);
	buf_release(&object);
}

/* ------------------------------------------------------------ the request */

struct job_query {
	uint64_t after[2];
	double wait_s;
};

static bool
read_offset(const char **at, uint64_t *out)
{
	const char *from = *at;

	for (*out = 0; **at >= '0' && **at <= '9'; ++*at) {
		if (*at - from > 17)
			return false;
		*out = *out * 10 + (uint64_t)(**at - '0');
	}
	return *at > from;
}

/* OUT,ERR */
static bool
read_offsets(const char **at, struct job_query *q)
{
	if (!read_offset(at, &q->after[0]))
		return false;
	if (**at != ',' && strncasecmp(*at, "%2c", 3) != 0)
		return true;
	*at += **at == ',' ? 1 : 3;
	return read_offset(at, &q->after[1]);
}

/* after=OUT[,ERR], wait=SECONDS; a name that is not known is left alone. */
static bool
read_parameter(const char *at, struct job_query *q)
{
	uint64_t seconds;

	if (strncmp(at, "after=", 6) == 0) {
		at += 6;
		return read_offsets(&at, q) && (*at == '\0' || *at == '&');
	}
	if (strncmp(at, "wait=", 5) == 0) {
		at += 5;
		if (!read_offset(&at, &seconds) || (*at != '\0' && *at != '&'))
			return false;
		q->wait_s = seconds < (uint64_t)WAIT_MAX_S ? (double)seconds
							   : WAIT_MAX_S;
	}
	return true;
}

/* Where a client of events goes on, which came again. */
static bool
read_last_event(struct exchange *x, struct job_query *q)
{
	const char *at = x->req->last_event_id;

	if (at == NULL || !events_preferred(x) || *at == '\0' ||
		(read_offsets(&at, q) && *at == '\0'))
		return true;
	error_set(&x->err, SS_BAD_REQUEST,
		"Last-Event-ID is no id of this job's events");
	return false;
}

static enum ss_err
read_query(struct exchange *x, struct job_query *q)
{
	const char *uri = x->req->request_uri;
	const char *at = uri != NULL ? strchr(uri, '?') : NULL;

	*q = (struct job_query){ .wait_s = 0 };
	if (!read_last_event(x, q))
		return SS_BAD_REQUEST;
	while (at != NULL) {
		if (!read_parameter(at + 1, q)) {
			error_set(&x->err, SS_BAD_REQUEST,
				"\"after\" and \"wait\" are numbers");
			error_hint(&x->err,
				"write ?after=OUT,ERR&wait=SECONDS: the bytes "
				"of stdout and stderr that you have");
			return SS_BAD_REQUEST;
		}
		at = strchr(at + 1, '&');
	}
	return SS_OK;
}

/* ------------------------------------------------------------------ GET -- */

/* "after" of the next request. */
static void
add_after(struct exchange *x, const struct job_query *q)
{
	const struct ss_result *r = &x->result;

	buf_printf(&x->body, ", \"after\": \"%" PRIu64 ",%" PRIu64 "\"",
		q->after[0] + r->out.len, q->after[1] + r->err.len);
}

static enum ss_err
answer_get(struct exchange *x, struct site_job *job)
{
	struct job_query q;
	enum ss_err code = read_query(x, &q);

	if (code != SS_OK)
		return code;
	if (exchange_is(x, "GET") && events_preferred(x))
		return http_job_events(x, job, q.after);
	if (q.wait_s > 0 && exchange_is(x, "GET"))
		code = http_job_wait(x, job, q.wait_s, q.after);
	if (code != SS_OK)
		return code;
	code = site_job_result(x->site, job, q.after, &x->result, &x->err);
	if (code != SS_OK && code != job->status.err.code)
		return code;
	error_clear(&x->err);
	x->body.max =
		x->site->config.jobs.max_output_bytes * 6 + ((size_t)1 << 20);
	begin_body(x, job);
	add_after(x, &q);
	add_result(x, job, code);
	end_body(x, 200);
	return SS_OK;
}

static enum ss_err
answer_delete(struct exchange *x, struct site_job *job)
{
	enum ss_err code = site_job_cancel(x->site, job, &x->err);

	if (code != SS_OK)
		return code;
	site_job_wait(x->site, job, CANCEL_WAIT_S, NULL, x->req->client_fd);
	begin_body(x, job);
	buf_char(&x->body, '}');
	end_body(x, 200);
	return SS_OK;
}

bool
http_jobs_wanted(const struct exchange *x)
{
	return exchange_starts(x, PREFIX);
}

enum ss_err
http_jobs_answer(struct exchange *x)
{
	const char *id = exchange_path(x) + strlen(PREFIX);
	struct site_job job;
	enum ss_err code;

	x->json_errors = true;
	exchange_header(x, "Vary", "Origin");
	if (exchange_is(x, "OPTIONS")) {
		exchange_header(x, "Allow", "GET, HEAD, DELETE, OPTIONS");
		x->status = 204;
		return SS_OK;
	}
	if (!exchange_is(x, "GET") && !exchange_is(x, "HEAD") &&
		!exchange_is(x, "DELETE"))
		return error_set(
			&x->err, SS_METHOD, "a job takes GET and DELETE");
	code = site_job_open(x->site, text_of(id), &job, &x->err);
	if (code == SS_OK)
		code = exchange_is(x, "DELETE") ? answer_delete(x, &job)
						: answer_get(x, &job);
	site_job_close(&job);
	return code;
}

/* ----------------------------------------------------------------- POST -- */

static bool
write_body(void *ctx, struct buf *out)
{
	const struct exchange *x = ctx;

	return buf_add(out, x->req->body, x->req->body_len);
}

struct call_job
http_jobs_call(struct exchange *x)
{
	struct call_job job = site_call_job(x->site);
	const char *prefer = x->req->prefer;
	struct ss_text none;

	job.asked =
		prefer != NULL && prefer_find(prefer, "respond-async", &none);
	job.write = write_body;
	job.ctx = x;
	return job;
}

static enum ss_err
answer_accepted(struct exchange *x, const struct site_job *job, bool asked)
{
	begin_body(x, job);
	buf_char(&x->body, '}');
	exchange_header(x, "Location", href_of(x, job->id));
	exchange_header(x, "Retry-After", "1");
	if (asked)
		exchange_header(x, "Preference-Applied", "respond-async");
	end_body(x, 202);
	return SS_OK;
}

enum ss_err
http_jobs_made(struct exchange *x, const struct call_job *made)
{
	static const uint64_t none[2];
	struct site_job job;
	double wait_s = made->wait_s;
	uint32_t asked_ms = prefer_wait_ms(x->req->prefer);
	enum ss_err code = site_job_open_made(x->site, made, &job, &x->err);

	if (made->asked && asked_ms > 0)
		wait_s = asked_ms / 1000.0;
	if (job.fd < 0)
		wait_s = 0;
	if (code == SS_OK && wait_s > 0)
		site_job_wait(x->site, &job,
			wait_s < WAIT_MAX_S ? wait_s : WAIT_MAX_S, NULL,
			x->req->client_fd);
	if (code == SS_OK && wait_s > 0 &&
		job_state_is_final(job.status.state)) {
		code = site_job_result(
			x->site, &job, none, &x->result, &x->err);
		x->tool = x->result.tool;
		if (!made->kept)
			site_job_forget(x->site, &job);
		if (code == SS_OK)
			output_answer(x);
	} else if (code == SS_OK) {
		code = answer_accepted(x, &job, made->asked);
	}
	site_job_close(&job);
	return code;
}

/* SPDX-License-Identifier: MIT */
/* Calls with a key, their receipts, and calls that become jobs. */
#include "site/call_step.h"

#include "site/request_log.h"

#define JOB_MADE_MS 2000 /* another request with the key that makes a job */

/* ----------------------------------------------------- calls with a key -- */

/* The directory of the records; -1 when there is none. */
static enum ss_err
open_records(struct call_state *r)
{
	const struct call_parts *parts = r->parts;
	const struct state *state;
	enum ss_err code = parts->state(parts->state_ctx, &state, r->err);

	if (code != SS_OK)
		return code;
	r->keyed.store = (struct keyed_store){
		.dir = state_folder(state->fd, "once"),
		.keep_s = (uint64_t)parts->config->once.keep,
		.records = parts->config->once.records,
	};
	if (r->keyed.store.dir >= 0)
		return SS_OK;
	error_set(r->err, SS_STATE,
		"the key cannot be kept; the tool did not run");
	error_detail(r->err, "once: %s", strerror(errno));
	return SS_STATE;
}

static enum ss_err
refuse_without_key(struct call_state *r)
{
	error_set(r->err, SS_KEY_REQUIRED,
		"this tool runs only with a key; it did not run");
	error_hint(r->err,
		"send the header Idempotency-Key with a new random UUID (over "
		"MCP _meta[\"" KEYED_META "\"], at the shell --once), and the "
		"same one when the request is repeated");
	return SS_KEY_REQUIRED;
}

static bool
wants_job(const struct call_state *r)
{
	const struct call_job *job = r->call->job;

	switch (r->spec->job) {
	case SPEC_JOB_NEVER: return false;
	case SPEC_JOB_ASKED: return job != NULL && job->asked;
	case SPEC_JOB_LONG:
	case SPEC_JOB_REQUIRED: return job != NULL;
	}
	return false;
}

/* How long the caller waits for the end before it is told of the job. */
static double
job_wait_s(const struct call_state *r)
{
	const struct call_job *job = r->call->job;

	return r->spec->job == SPEC_JOB_LONG && (!job->asked || job->unhurried)
		? r->spec->job_after
		: 0;
}

/* Another request with the key may run: to wait for it takes a tool's place. */
static enum ss_err
wait_for_answer(struct call_state *r)
{
	const struct call *c = r->call;
	uint32_t ms = wants_job(r) && c->wait_ms < JOB_MADE_MS ? JOB_MADE_MS
							       : c->wait_ms;
	enum ss_err code;

	if (ms == 0)
		return SS_KEY_RUNNING;
	if (!limit_start(r->parts->limit))
		return limit_error(r->err);
	code = keyed_call_wait(
		&r->keyed, ms, c->client_fd, r->result, &r->answered, r->err);
	limit_end(r->parts->limit);
	return code;
}

/* The call became a job before, for the same key: the caller gets that one. */
enum ss_err
call_tell_job(struct call_state *r)
{
	struct call_job *job = r->call->job;
	const char *id = r->keyed.job;

	if (job == NULL ||
		(job->asked_by != NULL && strcmp(job->asked_by, id) != 0)) {
		r->result->replayed = false;
		error_set(r->err, SS_KEY_RUNNING,
			"the request with this Idempotency-Key became the job "
			"%s",
			id);
		error_hint(r->err, "GET /__jobs/%s has how it ended", id);
		return SS_KEY_RUNNING;
	}
	memcpy(job->id, id, STATE_ID_CAP);
	job->created_ms = r->keyed.job_created_ms;
	job->wait_s = job_wait_s(r);
	job->kept = job->replayed = true;
	return SS_OK;
}

static enum ss_err
look_for_answer(struct call_state *r)
{
	const struct call *c = r->call;
	const struct keyed_what what = { .root = r->parts->config->root,
		.doc = c->doc,
		.user = c->user,
		.key = c->key,
		.request = r->request,
		.words = r->command.words,
		.word_count = r->command.count };
	enum ss_err code;

	r->keyed.arena = r->parts->arena;
	r->keyed.output = c->output;
	r->keyed.output_ctx = c->output_ctx;
	code = keyed_call_init(&r->keyed, &what, r->err);
	if (code == SS_OK)
		code = open_records(r);
	if (code == SS_OK)
		code = keyed_call_look(
			&r->keyed, r->result, &r->answered, r->err);
	if (code == SS_KEY_RUNNING)
		code = wait_for_answer(r);
	return r->keyed.job[0] != '\0' ? call_tell_job(r) : code;
}

enum ss_err
call_step_once(struct call_state *r)
{
	if (r->call->dry_run || r->call->claimed)
		return SS_OK;
	if (r->call->key != NULL)
		return look_for_answer(r);
	return r->spec->once || r->page->front.once ? refuse_without_key(r)
						    : SS_OK;
}

/* -------------------------------------------------------------- receipts -- */

/* A run begins when the writer of receipts knows of it. */
enum ss_err
call_begin_receipt(struct call_state *r)
{
	const struct receipt_what what = { .request_id = r->call->request_id,
		.root = r->parts->config->root,
		.doc = r->call->doc,
		.user = r->call->user,
		.key = r->call->key,
		.tool = r->tool,
		.name = r->spec->name,
		.argv = r->argv };
	enum ss_err code;

	if (r->receipts == NULL)
		return SS_OK;
	code = receipt_announce(&what, &r->receipt.members, r->err);
	if (code == SS_OK)
		code = receipts_begin(r->receipts, &r->receipt, r->err);
	return code;
}

/* The answer leaves when its receipt is durable. */
enum ss_err
call_end_receipt(struct call_state *r, enum ss_err code)
{
	struct buf members = BUF_INIT(4096);
	bool copied, written;

	if (r->receipts == NULL || r->receipt.fd < 0)
		return code;
	copied = r->recorded.output != NULL;
	receipt_end(r->result, code,
		copied ? buf_view(&r->keyed.copy[0]) : r->result->out,
		copied ? buf_view(&r->keyed.copy[1]) : r->result->err,
		&members);
	written = receipts_end(r->receipts, &r->receipt, &members);
	buf_release(&members);
	return written ? code
		       : error_internal(r->err, 0,
				 "the tool ran; its receipt is not written");
}

static void
log_not_stored(const struct call_state *r, int number)
{
	request_log_fields(r->parts->log, "once",
		(const struct ss_field[]){ { "id", r->call->request_id, 0 },
			{ "page", r->call->doc->path, 0 },
			{ "not_stored", strerror(number), 0 } },
		3);
}

/* An answer that was not stored is told, and unknown when it is asked again. */
void
call_end_keyed(struct call_state *r, enum ss_err code)
{
	int number;

	if (!r->keyed.begun)
		return;
	if (code != SS_OK && r->err != NULL)
		r->err->code = code;
	number = keyed_call_end(
		&r->keyed, r->result, code == SS_OK ? NULL : r->err);
	if (number != 0)
		log_not_stored(r, number);
}

/* The record is ours, or another request made the job or makes it now. */
static enum ss_err
claim_for_job(struct call_state *r)
{
	struct keyed_call *k = &r->keyed;
	enum ss_err code = keyed_call_begin(k, r->result, &r->answered, r->err);

	if (code != SS_KEY_RUNNING)
		return code;
	code = wait_for_answer(r);
	if (code == SS_OK && !r->answered)
		code = keyed_call_begin(k, r->result, &r->answered, r->err);
	return code;
}

/* The record names the job before anybody is told of it. */
static enum ss_err
end_claim(struct call_state *r, enum ss_err code)
{
	struct call_job *job = r->call->job;
	struct ss_result none = { .unstarted = true };
	int number = 0;

	if (code == SS_OK)
		number =
			keyed_call_end_job(&r->keyed, job->id, job->created_ms);
	else if (job->left)
		keyed_call_leave(&r->keyed);
	else
		number = keyed_call_end(&r->keyed, &none, r->err);
	if (number != 0)
		log_not_stored(r, number);
	return code;
}

/* In place of the run here. */
static enum ss_err
make_job(struct call_state *r)
{
	const struct call *c = r->call;
	const struct ss_document *doc = c->doc;
	const struct call_job_of of = { .doc = doc,
		.spec = r->spec,
		.tool = r->tool,
		.user = c->user,
		.request_id = c->request_id,
		.key = c->key,
		.claimed = r->keyed.active,
		.number = limit_tool_number(r->parts->limit,
			doc->real[0] != '\0' ? doc->real : doc->path, 0) };
	enum ss_err code = SS_OK;

	if (r->keyed.active)
		code = claim_for_job(r);
	if (r->keyed.job[0] != '\0')
		return call_tell_job(r);
	if (code != SS_OK || r->answered)
		return code;
	r->answered = true;
	c->job->kept = r->keyed.active;
	c->job->wait_s = job_wait_s(r);
	code = c->job->make(c->job, &of, r->err);
	return r->keyed.begun ? end_claim(r, code) : code;
}

enum ss_err
call_step_job(struct call_state *r)
{
	return wants_job(r) ? make_job(r) : SS_OK;
}

/*
 * The run of a call with a key goes on when the connection ends, since its
 * answer can be had later; a copy of its output is for the record.
 */
void
call_begin_keyed(struct call_state *r)
{
	size_t ceiling = (size_t)r->parts->config->limits.max_output_bytes * 2;

	r->recorded = *r->call;
	if (r->keyed.active && !r->recorded.ends)
		r->recorded.client_fd = -1;
	if (r->recorded.output != NULL) {
		r->keyed.copy[0] = BUF_INIT(ceiling);
		r->keyed.copy[1] = BUF_INIT(ceiling);
		r->keyed.output = r->recorded.output;
		r->keyed.output_ctx = r->recorded.output_ctx;
		r->keyed.progress = r->recorded.progress;
		r->recorded.output = keyed_call_output;
		r->recorded.output_ctx = &r->keyed;
		if (r->recorded.progress != NULL)
			r->recorded.progress = keyed_call_progress;
	}
	r->call = &r->recorded;
}

/* SPDX-License-Identifier: MIT */
#include "mcp/tasks.h"

#include "mcp/content.h"
#include "page/toolcall.h"
#include "site/call.h"
#include "site/jobs.h"
#include "wire/json.h"
#include "wire/media.h"

#define POLL_MS 1000
#define WAIT_MAX_S 25.0

bool
mcp_tasks_possible(const struct mcp *m)
{
	return (m->revision->methods & MCP_METHODS_DISCOVER) != 0 &&
		m->site->jobs_host.start != NULL;
}

bool
mcp_tasks_offered(const struct mcp *m)
{
	const struct rpc_value *all = rpc_member(
		rpc_member(m->meta, MCP_NAMESPACE "clientCapabilities"),
		"extensions");

	return mcp_tasks_possible(m) &&
		rpc_is_object(rpc_member(all, MCP_TASKS));
}

enum rpc_code
mcp_tasks_refuse(struct mcp *m)
{
	buf_text(&m->error_data,
		"{\"requiredCapabilities\":{\"extensions\":{\"" MCP_TASKS
		"\":{}}}}");
	return mcp_refuse(m, RPC_NO_CAPABILITY,
		"the client did not declare the extension " MCP_TASKS);
}

/* -------------------------------------------------- the call, as a POST -- */

static void
write_text(struct buf *out, struct ss_text text)
{
	json_string(out, text.data, text.len);
}

static void
write_pairs(struct buf *out, const struct ss_pair *pairs, size_t count)
{
	buf_char(out, '{');
	for (size_t i = 0; i < count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		write_text(out, text_of(pairs[i].name));
		buf_text(out, ": ");
		write_text(out, text_of(pairs[i].value));
	}
	buf_char(out, '}');
}

static void
write_list(struct buf *out, const struct ss_text *items, size_t count)
{
	buf_char(out, '[');
	for (size_t i = 0; i < count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		write_text(out, items[i]);
	}
	buf_char(out, ']');
}

static void
write_argument(struct buf *out, const struct proto_argument *a)
{
	switch (a->kind) {
	case PROTO_TEXT: write_text(out, a->text); break;
	case PROTO_LIST: write_list(out, a->items, a->item_count); break;
	case PROTO_MAP: write_pairs(out, a->pairs, a->pair_count); break;
	case PROTO_NUMBER:
	case PROTO_BOOL: buf_add(out, a->text.data, a->text.len); break;
	case PROTO_OTHER: buf_text(out, "null"); break;
	}
}

/* By the name that no other tool of the page has. */
static bool
write_named(const struct mcp_task_call *c, struct buf *out)
{
	char name[TOOLCALL_NAME_MAX + 1];

	if (!toolcall_hashed_name(c->spec, c->path, name))
		return false;
	buf_text(out, "{\"tool_call\": {\"name\": ");
	write_text(out, text_of(name));
	buf_text(out, ", \"arguments\": {");
	for (size_t i = 0; i < c->count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		write_text(out, text_of(c->args[i].name));
		buf_text(out, ": ");
		write_argument(out, &c->args[i]);
	}
	buf_text(out, "}}}");
	return buf_ok(out);
}

bool
mcp_task_write(void *ctx, struct buf *out)
{
	const struct mcp_task_call *c = ctx;
	const struct proto_request *q = c->request;

	if (c->args != NULL)
		return write_named(c, out);
	buf_text(out, "{\"command\": ");
	write_list(out, q->words, q->word_count);
	if (q->env_count > 0) {
		buf_text(out, ", \"env\": ");
		write_pairs(out, q->env, q->env_count);
	}
	if (q->has_stdin) {
		buf_text(out, ", \"stdin\": ");
		write_text(out, q->stdin_text);
	}
	buf_char(out, '}');
	return buf_ok(out);
}

/* ---------------------------------------------------------------- answers -- */

static const char *
status_of(enum job_state state)
{
	switch (state) {
	case JOB_QUEUED:
	case JOB_RUNNING: return "working";
	case JOB_ASKING: return "input_required";
	case JOB_COMPLETED: return "completed";
	case JOB_FAILED:
	case JOB_LOST: return "failed";
	case JOB_CANCELLED: return "cancelled";
	}
	return "failed";
}

static void
write_time(struct mcp *m, const char *key, int64_t ms)
{
	char stamp[JOB_STAMP];

	job_stamp(ms, stamp);
	mcp_text(m, key, stamp);
}

/* The members of a task; it can be read for `keep` after its end, at least. */
static void
write_task(struct mcp *m, const struct site_job *job)
{
	double keep_ms = m->site->config.jobs.keep * 1000;

	mcp_text(m, "taskId", job->id);
	mcp_text(m, "status", status_of(job->status.state));
	if (job->status.state == JOB_LOST || job->status.state == JOB_FAILED)
		mcp_text(m, "statusMessage", job->status.err.message);
	write_time(m, "createdAt", job->status.created_ms);
	write_time(m, "lastUpdatedAt", job->status.changed_ms);
	mcp_key(m, "ttlMs");
	buf_number(m->out, keep_ms < 1 ? 1 : (int64_t)keep_ms);
	mcp_key(m, "pollIntervalMs");
	buf_number(m->out, POLL_MS);
}

static struct ss_text
type_of(const struct job_status *s)
{
	const char *type = s->type;

	if (type[0] == '\0' || strcmp(type, "text") == 0 ||
		(media_is_text(type) && !media_is_json(type)))
		return TEXT("");
	return (struct ss_text){ type, media_plain_len(type) };
}

/* What the call would have been answered with. */
static enum rpc_code
write_content(struct mcp *m, const struct site_job *job)
{
	static const uint64_t none[2];
	enum ss_err code =
		site_job_result(m->site, job, none, &m->record.result, &m->err);

	m->record.tool = m->record.result.tool;
	if (code == SS_INTERNAL)
		return RPC_INTERNAL;
	if (call_was_ended(code))
		return mcp_content_ended(m, type_of(&job->status));
	return code == SS_OK
		? mcp_content_ran(m, type_of(&job->status), job->status.page)
		: mcp_content_refused(m, type_of(&job->status));
}

static enum rpc_code
write_result(struct mcp *m, const struct site_job *job)
{
	enum rpc_code code;

	mcp_key(m, "result");
	buf_char(m->out, '{');
	code = write_content(m, job);
	error_clear(&m->err);
	mcp_text(m, "resultType", "complete");
	buf_char(m->out, '}');
	return code;
}

static void
write_error(struct mcp *m, const struct job_status *s)
{
	mcp_key(m, "error");
	buf_printf(m->out, "{\"code\":%d", (int)RPC_INTERNAL);
	mcp_text(m, "message",
		s->err.message[0] != '\0' ? s->err.message
					  : "the job did not run");
	if (s->err.hint[0] != '\0') {
		mcp_key(m, "data");
		buf_text(m->out, "{\"hint\":");
		mcp_string(m, s->err.hint);
		buf_char(m->out, '}');
	}
	buf_char(m->out, '}');
}

/* ---------------------------------------------- a task that asks a person -- */

bool
mcp_task_question(const struct site_job *job, struct rpc *out)
{
	struct buf text = BUF_INIT(MCP_TASK_FILE_MAX);
	bool read;

	*out = (struct rpc){ .root = NULL };
	buf_text(&text,
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"x\",\"params\":{");
	read = job_read_file(job->fd, JOB_QUESTION, &text) == 0;
	buf_text(&text, "}}");
	read = read && buf_ok(&text) &&
		rpc_parse(text.data, text.len, out, NULL) == RPC_OK;
	buf_release(&text);
	return read;
}

static void
write_question(struct mcp *m, const struct site_job *job)
{
	struct rpc question;

	if (mcp_task_question(job, &question)) {
		mcp_key(m, "inputRequests");
		rpc_write(m->out, rpc_member(question.params, "inputRequests"));
	} else {
		m->out->failed = true;
	}
	rpc_release(&question);
}

enum rpc_code
mcp_task_park(struct mcp *m, const struct call_job_of *of, size_t from)
{
	const struct rpc_value *arguments =
		rpc_member(m->rpc.params, "arguments");
	struct buf call = BUF_INIT(MCP_TASK_FILE_MAX);
	struct ss_text question = { m->out->data + from, m->out->len - from };
	struct site_job job = { .fd = -1 };
	char id[STATE_ID_CAP];
	enum ss_err code;

	buf_text(&call, "\"name\":");
	rpc_write(&call, rpc_member(m->rpc.params, "name"));
	buf_text(&call, ",\"arguments\":");
	if (arguments != NULL)
		rpc_write(&call, arguments);
	else
		buf_text(&call, "{}");
	code = buf_ok(&call) && buf_ok(m->out)
		? site_job_ask(
			  m->site, of, buf_view(&call), question, id, &m->err)
		: error_memory(&m->err);
	if (code == SS_OK)
		code = site_job_open(m->site, text_of(id), &job, &m->err);
	m->out->len = from;
	m->out->data[from] = '\0';
	m->result_type = "task";
	if (code == SS_OK)
		write_task(m, &job);
	site_job_close(&job);
	buf_release(&call);
	return code == SS_OK ? RPC_OK : mcp_failed(m);
}

enum rpc_code
mcp_task_made(struct mcp *m, const struct call_job *made)
{
	struct site_job job;
	enum ss_err err = site_job_open_made(m->site, made, &job, &m->err);
	double wait_s = m->task == NULL ? made->wait_s : 0;
	enum rpc_code code = RPC_OK;

	if (job.fd < 0)
		wait_s = 0;
	if (err == SS_OK && wait_s > 0)
		site_job_wait(m->site, &job,
			wait_s < WAIT_MAX_S ? wait_s : WAIT_MAX_S, NULL,
			m->client.fd);
	if (err != SS_OK) {
		code = mcp_failed(m);
	} else if (wait_s > 0 && job_state_is_final(job.status.state)) {
		code = write_content(m, &job);
		if (!made->kept)
			site_job_forget(m->site, &job);
	} else {
		m->result_type = "task";
		write_task(m, &job);
	}
	site_job_close(&job);
	return code;
}

/* ---------------------------------------------------------------- methods -- */

/* The job that the parameters name. */
enum rpc_code
mcp_task_open(struct mcp *m, struct site_job *job)
{
	const char *id = rpc_text(rpc_member(m->rpc.params, "taskId"));
	enum ss_err code;

	job->fd = -1;
	if (!mcp_tasks_offered(m))
		return mcp_tasks_refuse(m);
	if (id == NULL)
		return mcp_refuse(
			m, RPC_BAD_PARAMS, "\"taskId\" must be a string");
	code = site_job_open(m->site, text_of(id), job, &m->err);
	if (code == SS_NOT_FOUND)
		return mcp_refuse(m, RPC_BAD_PARAMS, "there is no such task");
	return code == SS_OK ? RPC_OK : mcp_failed(m);
}

enum rpc_code
mcp_tasks_get(struct mcp *m)
{
	struct site_job job;
	enum rpc_code code = mcp_task_open(m, &job);
	enum job_state state = code == RPC_OK ? job.status.state : JOB_QUEUED;

	if (code == RPC_OK)
		write_task(m, &job);
	if (state == JOB_COMPLETED)
		code = write_result(m, &job);
	else if (state == JOB_ASKING)
		write_question(m, &job);
	else if (state == JOB_FAILED || state == JOB_LOST)
		write_error(m, &job.status);
	site_job_close(&job);
	return code;
}

enum rpc_code
mcp_tasks_cancel(struct mcp *m)
{
	struct site_job job;
	enum rpc_code code = mcp_task_open(m, &job);

	if (code == RPC_OK && site_job_cancel(m->site, &job, &m->err) != SS_OK)
		code = mcp_failed(m);
	site_job_close(&job);
	return code;
}

/* SPDX-License-Identifier: MIT */
#include "mcp/task_update.h"

#include "base/fd.h"
#include "mcp/tasks.h"
#include "site/jobs.h"

/* The call of the task with the answers, as if its client had repeated it. */
static bool
write_call(const struct mcp *m, const struct site_job *job, struct buf *out)
{
	const struct rpc_value *answers =
		rpc_member(m->rpc.params, "inputResponses");
	struct rpc question;
	bool done = mcp_task_question(job, &question);

	buf_text(out,
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/call\","
		"\"params\":{");
	done = done && job_read_file(job->fd, JOB_CALL, out) == 0;
	buf_text(out, ",\"inputResponses\":");
	if (rpc_is_object(answers))
		rpc_write(out, answers);
	else
		buf_text(out, "{}");
	buf_text(out, ",\"requestState\":");
	if (done)
		rpc_write(out, rpc_member(question.params, "requestState"));
	buf_text(out, ",\"_meta\":");
	rpc_write(out, m->meta);
	buf_text(out, "}}");
	rpc_release(&question);
	return done && buf_ok(out);
}

/* The call did not run, and will not. */
static int
end_task(struct mcp *m, const struct site_job *job, enum rpc_code code)
{
	struct job_status s = job->status;

	s.state = code == RPC_OK ? JOB_COMPLETED : JOB_FAILED;
	s.changed_ms = job_now_ms();
	s.returncode = 1;
	s.err = m->err;
	if (s.err.code == SS_OK)
		error_set(&s.err, SS_NOT_ALLOWED, "the call did not run");
	return job_write_status(job->fd, &s);
}

/* What the call, made again, has come to; its result is in m->out. */
static int
note_outcome(struct mcp *m, const struct site_job *job, enum rpc_code code,
	size_t from)
{
	if (code == RPC_OK && strcmp(m->result_type, "task") == 0)
		return 0;
	if (code == RPC_OK && strcmp(m->result_type, "input_required") == 0)
		return state_put(job->fd, JOB_QUESTION, m->out->data + from,
			m->out->len - from);
	return end_task(m, job, code);
}

static int
call_again(struct mcp *m, const struct site_job *job,
	enum rpc_code (*call_tool)(struct mcp *m))
{
	struct buf text = BUF_INIT(MCP_TASK_FILE_MAX * 3);
	struct rpc update = m->rpc, call = { .root = NULL };
	const struct rpc_value *meta = m->meta;
	size_t from = m->out->len;
	int number;

	if (!write_call(m, job, &text) ||
		rpc_parse(text.data, text.len, &call, &m->err) != RPC_OK) {
		buf_release(&text);
		rpc_release(&call);
		return EBADMSG;
	}
	m->rpc = call;
	m->meta = rpc_member(call.params, "_meta");
	m->task = job->id;
	number = note_outcome(m, job, call_tool(m), from);
	m->task = NULL;
	m->rpc = update;
	m->meta = meta;
	m->result_type = "complete";
	m->out->len = from;
	m->out->data[from] = '\0';
	buf_clear(&m->error_data);
	buf_clear(&m->result_meta);
	error_clear(&m->err);
	rpc_release(&call);
	buf_release(&text);
	return number;
}

/* Two answers at a time would each ask for what the other one brings. */
static int
update_locked(struct mcp *m, struct site_job *job,
	enum rpc_code (*call)(struct mcp *m))
{
	int lock = job_lock(job->fd), number;

	if (lock < 0)
		return errno;
	number = job_look(job->fd, &job->status);
	if (number == 0 && job->status.state == JOB_ASKING)
		number = call_again(m, job, call);
	fd_close(&lock);
	return number;
}

enum rpc_code
mcp_task_update(struct mcp *m, enum rpc_code (*call)(struct mcp *m))
{
	struct site_job job;
	enum rpc_code code = mcp_task_open(m, &job);
	int number;

	if (code == RPC_OK && job.status.state == JOB_ASKING) {
		number = update_locked(m, &job, call);
		if (number != 0) {
			error_internal(
				&m->err, number, "update the task %s", job.id);
			code = RPC_INTERNAL;
		}
	}
	site_job_close(&job);
	return code;
}

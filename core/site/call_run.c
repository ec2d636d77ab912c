/* SPDX-License-Identifier: MIT */
/* The run of a call, its output in parts, within the limits of the pool. */
#include "site/call_step.h"

/* An executor that started no program leaves run_us as it was. */
static enum ss_err
run_told(struct call_state *r, const struct ss_command *cmd, uint64_t number)
{
	const struct ss_executor *executor = r->parts->executor;
	const struct ss_tool_limit *limit = &r->parts->limit->host;
	enum ss_err code;

	r->result->run_us = 0;
	if (r->keyed.active) {
		code = keyed_call_begin(
			&r->keyed, r->result, &r->answered, r->err);
		if (r->keyed.job[0] != '\0')
			return call_tell_job(r);
		if (!r->keyed.begun)
			return code;
	}
	code = call_begin_receipt(r);
	if (code != SS_OK) {
		r->result->unstarted = true;
		return code;
	}
	code = executor->run(executor->ctx, cmd, r->result, r->err);
	if (limit->ran != NULL && r->result->run_us > 0)
		limit->ran(limit->ctx, number, r->result);
	return code;
}

/* Runs it unless max_running of it are running already. */
static enum ss_err
run_counted(struct call_state *r, const struct ss_command *cmd)
{
	const struct ss_tool_limit *limit = &r->parts->limit->host;
	const struct ss_document *doc = r->call->doc;
	uint64_t most = r->spec->max_running;
	uint64_t number = limit_tool_number(r->parts->limit,
		doc->real[0] != '\0' ? doc->real : doc->path, r->tool);
	enum ss_err code;

	if (most == 0 || limit->enter == NULL)
		return run_told(r, cmd, number);
	if (!limit->enter(limit->ctx, number, most)) {
		error_set(r->err, SS_OVERLOADED,
			"this tool is running as often as its page allows (%llu); "
			"it did not run",
			(unsigned long long)most);
		error_hint(r->err, "try again when another one has ended");
		return SS_OVERLOADED;
	}
	code = run_told(r, cmd, number);
	limit->leave(limit->ctx, number);
	return code;
}

/* Standard output of a tool in parts, when the caller wants it as it comes. */
struct held_output {
	const struct call_state *r;
	struct buf out;
};

/* Standard error was told with the first part. */
static void
hold_output(void *ctx, int stream, const char *data, size_t len)
{
	struct held_output *h = ctx;
	const struct call *c = h->r->call;

	if (stream == 1)
		buf_add(&h->out, data, len);
	else if (stream == 0 || h->r->paging.from.offset == 0)
		c->output(c->output_ctx, stream, data, len);
}

static void
held_progress(void *ctx, const char *data, size_t len)
{
	const struct call *c = ((struct held_output *)ctx)->r->call;

	c->progress(c->output_ctx, data, len);
}

/* Runs it, and leaves one part of the output. */
static enum ss_err
run_part(struct call_state *r, const struct ss_command *asked)
{
	struct held_output held = { .r = r,
		.out = BUF_INIT((size_t)asked->max_output_bytes) };
	struct ss_command cmd = *asked;
	enum ss_err code, cut;

	if (cmd.output != NULL) {
		cmd.output = hold_output;
		cmd.output_ctx = &held;
		if (cmd.progress != NULL)
			cmd.progress = held_progress;
	}
	code = run_counted(r, &cmd);
	if (!r->answered && (code == SS_OK || call_was_ended(code))) {
		if (cmd.output != NULL)
			r->result->out = buf_view(&held.out);
		if (code != SS_OK)
			r->result->returncode = 1;
		cut = held.out.failed
			? error_memory(r->err)
			: paging_cut(&r->paging, r->result, r->err);
		code = cut != SS_OK ? cut : code;
		call_deliver_part(r);
	}
	buf_release(&held.out);
	return code;
}

enum ss_err
call_step_run(struct call_state *r)
{
	const struct call *c;
	const struct config *config = r->parts->config;
	struct right *right = &r->page->rights.tools[r->tool];
	struct ss_command cmd;
	enum ss_err code;

	code = r->parts->receipts(r->parts->state_ctx, &r->receipts, r->err);
	if (code != SS_OK)
		return code;
	if (r->keyed.active || r->receipts != NULL)
		call_begin_keyed(r);
	c = r->call;
	cmd = (struct ss_command){
		.size = sizeof(cmd),
		.page = c->doc->path,
		.tool = r->tool,
		.argv = r->argv,
		.envp = r->envp,
		.dir_fd = c->doc->dir_fd,
		.stdin_data = r->request->stdin_text.data,
		.stdin_len = r->request->stdin_text.len,
		.stdin_fd = r->spec->takes_stdin ? c->stdin_fd : -1,
		.max_output_bytes = config->limits.max_output_bytes,
		.client_fd = c->client_fd,
		.output = c->output,
		.output_ctx = c->output_ctx,
		.tick_ms = c->tick_ms,
		.explain = c->explain,
		.policy = right,
		.has_progress = r->spec->progress == SPEC_PROGRESS_FD,
		.progress = c->progress,
		.workspace =
			r->workspace.session != NULL ? &r->workspace : NULL,
		.stages = r->stages,
		.timeout_ms = (uint32_t)(1000 *
			powers_timeout(&right->powers, config->limits.timeout)),
	};

	code = call_keep_type(r);
	if (code != SS_OK)
		return code;
	r->own_timeout = right->powers.asked.timeout;
	r->own_line = right->powers.asked.timeout_at.line;
	r->line = r->spec->line;
	r->started = true;
	if (!limit_start(r->parts->limit))
		return limit_error(r->err);
	code = spec_has_parts(r->spec) ? run_part(r, &cmd)
				       : run_counted(r, &cmd);
	code = call_end_receipt(r, code);
	call_end_keyed(r, code);
	limit_end(r->parts->limit);
	return code;
}

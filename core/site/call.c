/* SPDX-License-Identifier: MIT */
#include "site/call.h"

#include <stdio.h>
#include <stdlib.h>

#include "page/env_fill.h"
#include "page/words.h"
#include "page/question.h"
#include "page/toolcall.h"
#include "page/toolname.h"
#include "site/confirm.h"
#include "site/executor.h"
#include "site/exists.h"
#include "site/keyed_call.h"
#include "site/paging.h"
#include "site/receipt_call.h"
#include "site/workspaces.h"
#include "site/refusal.h"
#include "site/request_log.h"
#include "state/state.h"
#include "wire/trace.h"
#include "wire/path.h"

#define JOB_MADE_MS 2000 /* another request with the key that makes a job */

/* What the steps of one call share. */
struct call_state {
	const struct call_parts *parts;
	const struct call *call;
	const struct proto_request *request; /* the call's, or filled */
	struct given given;
	struct command command;
	struct page *page;
	const struct spec *spec;
	size_t tool;
	struct env_scope scope;
	char **argv, **envp;
	struct confirm what;            /* from step_next on */
	struct workspace_use workspace; /* session NULL: none */
	struct paging paging;    /* of a tool whose output comes in parts */
	struct keyed_call keyed; /* active: the call has a key */
	const struct receipts *receipts; /* NULL: none are wanted */
	struct receipt_run receipt;
	double own_timeout; /* that the page or the tool asks for; 0: none */
	unsigned own_line, line; /* of that, and of the tool */
	bool started;            /* since then the page may be freed */
	bool answered;           /* from what was kept: nothing is left to do */
	char *const **stages;    /* of a pipe */
	struct ss_result *result;
	struct ss_error *err;
	/* From here on: assigned as a whole before they are read. */
	struct proto_request filled; /* of a call by name */
	struct call recorded;        /* the call, with its output copied */
};

/* The page must be one that grants tools. */
static enum ss_err
step_page(struct call_state *r)
{
	const struct ss_document *doc = r->call->doc;
	enum ss_err code;

	if (!path_is_page(doc->path))
		return error_set(r->err, SS_NOT_ALLOWED,
			"%s is no page: only Markdown files declare tools",
			doc->path);
	if (documents_writable(r->parts->documents, doc))
		return error_set(r->err, SS_NOT_ALLOWED,
			"%s lies where tools may write: it grants nothing",
			doc->path);
	r->page = r->call->page;
	code = r->page == NULL
		? page_get(r->parts->pages, doc, &r->page, r->err)
		: SS_OK;
	if (code != SS_OK)
		return code;
	if (r->page->error.code != SS_OK) {
		if (r->err != NULL)
			*r->err = r->page->error;
		if (r->err != NULL)
			r->err->line = r->page->place.line;
		return r->page->error.code;
	}
	if (r->page->front.format == FRONT_NONE)
		return error_set(r->err, SS_NO_FRONTMATTER,
			"%s has no frontmatter, so it declares no tools",
			doc->path);
	return SS_OK;
}

/* ---- a call by name and arguments ---- */

static enum ss_err
set_name_error(struct call_state *r, const char *what)
{
	const struct frontmatter *front = &r->page->front;
	struct toolcall_label *labels = toolcall_labels(
		front->specs, front->spec_count, r->call->doc->path);
	struct buf list = BUF_INIT(1024);
	bool failed;

	if (labels == NULL)
		return error_memory(r->err);
	error_set(r->err, SS_NOT_ALLOWED, "\"tool_call\": %s", what);
	for (size_t i = 0; i < front->spec_count && buf_ok(&list); i++)
		buf_printf(&list, "%s%s", list.len > 0 ? ", " : "",
			labels[i].text);
	free(labels);
	error_hint(r->err, "this page has: %s",
		list.len > 0 ? list.data : "no tools");
	if (list.failed)
		error_memory(r->err);
	failed = list.failed;
	buf_release(&list);
	return failed ? SS_INTERNAL : SS_NOT_ALLOWED;
}

static enum ss_err
find_named(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;

	if (!toolcall_find(front->specs, front->spec_count, r->call->doc->path,
		    r->request->call_name, &r->tool))
		return error_memory(r->err);
	if (r->tool == SIZE_MAX)
		return set_name_error(r, "no tool of this page has that name");
	return SS_OK;
}

static enum ss_err
match_named(struct call_state *r)
{
	const struct proto_request *q = r->request;
	enum ss_err code = find_named(r);
	struct toolcall named;

	if (code != SS_OK)
		return code;
	code = toolcall_read(r->parts->arena, &r->page->front.specs[r->tool],
		q->call_args, q->call_arg_count, &named, r->err);
	if (code != SS_OK)
		return code;
	r->filled = *q;
	if (named.env_count > 0) {
		r->filled.env = named.env;
		r->filled.env_count = named.env_count;
	}
	if (named.has_stdin) {
		r->filled.has_stdin = true;
		r->filled.stdin_text = named.stdin_text;
	}
	if (named.next != NULL)
		r->filled.next = named.next;
	r->request = &r->filled;
	r->given = named.given;
	return SS_OK;
}

/* The command must match the tool that the caller chose. */
static enum ss_err
match_chosen(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;
	const struct proto_request *q = r->call->request;
	const struct given *given = r->call->given;
	enum pattern_result found = PATTERN_NO;

	if (r->tool < front->spec_count && given != NULL) {
		r->given = *given;
		return SS_OK;
	}
	if (r->tool < front->spec_count)
		found = match_words(&front->specs[r->tool], q->words,
			q->word_count, r->parts->arena, &r->given);
	if (found == PATTERN_YES)
		return SS_OK;
	if (found == PATTERN_MEMORY)
		return error_memory(r->err);
	return error_set(r->err, SS_NOT_ALLOWED,
		"this tool does not allow this command");
}

static enum ss_err
step_match(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;
	const struct proto_request *q = r->request;

	enum ss_err code;

	r->tool = r->call->tool;
	if (q->call_name != NULL)
		code = match_named(r);
	else if (r->call->named)
		code = match_chosen(r);
	else
		code = match_choose(front->specs, front->spec_count, q->words,
			q->word_count, r->parts->arena, &r->tool, &r->given,
			r->err);
	if (code != SS_OK)
		return code;
	r->spec = &front->specs[r->tool];
	r->result->tool = (ssize_t)r->tool;
	return command_build(
		r->parts->arena, r->spec, &r->given, &r->command, r->err);
}

static enum ss_err
step_words(struct call_state *r)
{
	const struct proto_request *q = r->request;
	enum ss_err code;

	if (q->has_stdin && !r->spec->takes_stdin)
		return error_set(r->err, SS_BAD_REQUEST,
			"this tool does not take \"stdin\"");
	code = words_check(&r->command, r->err);
	return code == SS_OK ? exists_check(&r->command, r->parts->documents,
				       r->call->doc, r->err)
			     : code;
}

/* Adds the trace to the request's variables, if one of that name is open. */
static enum ss_err
add_trace(struct call_state *r)
{
	struct env_scope *s = &r->scope;
	const char *trace = r->call->trace;
	struct ss_pair *all;

	if (trace == NULL || !env_is_open(s, TRACE_VARIABLE) ||
		env_sent_value(s, TEXT(TRACE_VARIABLE)) != NULL)
		return SS_OK;
	all = arena_array(r->parts->arena, s->request_count + 1, sizeof(*all));
	if (all == NULL)
		return error_memory(r->err);
	if (s->request_count > 0)
		memcpy(all, s->request, s->request_count * sizeof(*all));
	all[s->request_count++] =
		(struct ss_pair){ .name = TRACE_VARIABLE, .value = trace };
	s->request = all;
	return SS_OK;
}

static enum ss_err
step_env(struct call_state *r)
{
	const struct proto_request *q = r->request;
	struct arena *arena = r->parts->arena;
	struct env_command command = { NULL, NULL };
	enum ss_err code;

	r->scope = (struct env_scope){
		.server = r->parts->config->env,
		.server_count = r->parts->config->env_count,
		.page = &r->page->front.env,
		.tool = &r->spec->env,
		.request = q->env,
		.request_count = q->env_count,
		.request_id = r->call->request_id,
		.progress_fd = r->spec->progress == SPEC_PROGRESS_FD
			? SPAWN_PROGRESS_FD_TEXT
			: NULL,
	};
	code = add_trace(r);
	if (code == SS_OK)
		code = env_check_request(&r->scope, r->err);
	if (code == SS_OK)
		code = env_fill(
			arena, &r->scope, &r->command, &command, r->err);
	if (code == SS_OK)
		code = env_build(
			arena, &r->scope, EXECUTOR_TMPDIR, &r->envp, r->err);
	r->argv = command.argv;
	r->result->argv = command.shown;
	r->result->argc = command.shown != NULL ? r->command.count : 0;
	return code;
}

/* The words of one stage, with the values of the whole command. */
static enum ss_err
fill_stage(
	struct call_state *r, const struct spec *stage, struct env_command *out)
{
	struct arena *arena = r->parts->arena;
	struct command command;
	struct given given;
	enum ss_err code;

	if (!given_init(&given, stage, arena))
		return error_memory(r->err);
	for (size_t i = 0; i < given.count; i++)
		given.values[i] = r->command.values[i];
	code = command_build(arena, stage, &given, &command, r->err);
	if (code == SS_OK)
		code = words_check(&command, r->err);
	if (code == SS_OK)
		code = env_fill(arena, &r->scope, &command, out, r->err);
	return code;
}

static enum ss_err
fill_pipe(struct call_state *r)
{
	struct arena *arena = r->parts->arena;
	size_t count = r->spec->stage_count;
	const char *const **shown =
		arena_array(arena, count + 1, sizeof(*shown));
	struct env_command filled;
	enum ss_err code = SS_OK;

	r->stages = arena_array(arena, count + 1, sizeof(*r->stages));
	if (shown == NULL || r->stages == NULL)
		return error_memory(r->err);
	for (size_t i = 0; i < count && code == SS_OK; i++) {
		code = fill_stage(r, &r->spec->stages[i], &filled);
		r->stages[i] = filled.argv;
		shown[i] = filled.shown;
	}
	r->result->stages = shown;
	return code;
}

/* The script as it is now: its interpreter runs it. */
static enum ss_err
fill_script(struct call_state *r)
{
	struct right *right = &r->page->rights.tools[r->tool];
	const struct ss_document *doc = r->call->doc;
	struct arena *arena = r->parts->arena;
	const char *const **shown = arena_array(arena, 2, sizeof(*shown));
	struct env_command filled;
	struct script script;
	enum ss_err code = script_read(r->parts->documents, right->ask.page_dir,
		doc->dir_fd, r->spec->script, &script, r->err);

	if (code == SS_OK)
		code = fill_stage(r, &r->spec->stages[0], &filled);
	if (code != SS_OK)
		return code;
	rights_set_script(right, &script);
	if (shown == NULL ||
		!script_put(arena, &script, r->spec->script, &filled))
		return error_memory(r->err);
	r->argv = filled.argv;
	shown[0] = filled.shown;
	r->result->stages = shown;
	return SS_OK;
}

/* Callers of these send other words than those that run. */
static enum ss_err
step_stages(struct call_state *r)
{
	if (r->spec->script != NULL)
		return fill_script(r);
	return r->spec->stage_count > 0 ? fill_pipe(r) : SS_OK;
}

/* What is told of the output.  The run may free the page. */
static enum ss_err
keep_type(struct call_state *r)
{
	const char *type = r->spec->output;

	r->result->parse = r->call->request->parse;
	if (type == NULL || strcmp(type, "text") == 0)
		return SS_OK;
	r->result->type = arena_copy(r->parts->arena, type, strlen(type));
	return r->result->type != NULL ? SS_OK : error_memory(r->err);
}

/* A host's output function gets the output, which then is not in the result. */
static void
deliver_part(struct call_state *r)
{
	struct ss_result *result = r->result;

	if (r->call->output == NULL)
		return;
	if (result->out.len > 0)
		r->call->output(r->call->output_ctx, 1, result->out.data,
			result->out.len);
	result->out = TEXT("");
}

/*
 * The next part of what an earlier call kept.  A tool that asks a person, or
 * that does more than read, never runs again for it.
 */
static enum ss_err
step_next(struct call_state *r)
{
	const struct powers *powers = &r->page->rights.tools[r->tool].powers;
	const char *next = r->request->next;
	enum ss_err code;

	r->what = (struct confirm){ .arena = r->parts->arena,
		.seal = r->parts->seal,
		.doc = r->call->doc,
		.tool = r->tool,
		.user = r->call->user,
		.request = r->request,
		.argv = r->argv };
	if (!spec_has_parts(r->spec))
		return next == NULL
			? SS_OK
			: error_set(r->err, SS_BAD_REQUEST,
				  "this tool's output comes whole: it takes "
				  "no \"next\"");
	r->paging = (struct paging){ .lines = r->spec->part_lines,
		.bytes = r->spec->part_bytes,
		.what = &r->what,
		.seal = r->call->shell ? &paging_shell : r->parts->seal,
		.store = r->parts->store,
		.again = !r->spec->confirm && powers_only_read(powers) };
	if (next == NULL)
		return SS_OK;
	code = paging_open(&r->paging, next, r->err);
	if (code != SS_OK || r->call->dry_run)
		return code;
	code = paging_take(&r->paging, r->result, r->err);
	if (code == SS_NEXT_GONE)
		return r->paging.again ? SS_OK : paging_gone(r->err);
	if (code != SS_OK)
		return code;
	r->answered = true;
	deliver_part(r);
	return keep_type(r);
}

/* A built-in tool checks its words before a process is started. */
static enum ss_err
step_tool(struct call_state *r)
{
	const struct right *right = &r->page->rights.tools[r->tool];
	const struct policy_ask *ask = &right->ask;
	struct tool_bounds bounds;
	enum ss_err code = SS_OK;

	if (right->builtin == NULL && r->stages == NULL)
		return SS_OK;
	bounds = rights_bounds(right, r->parts->config);
	if (r->stages == NULL)
		return tool_check(right->builtin, r->argv, &bounds, r->err);
	for (size_t i = 0; code == SS_OK && r->stages[i] != NULL; i++)
		if (ask->more[i].helper != NULL)
			code = tool_check(tool_find(ask->more[i].name),
				r->stages[i], &bounds, r->err);
	return code;
}

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
static enum ss_err
tell_job(struct call_state *r)
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
	return r->keyed.job[0] != '\0' ? tell_job(r) : code;
}

static enum ss_err
step_once(struct call_state *r)
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
static enum ss_err
begin_receipt(struct call_state *r)
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
static enum ss_err
end_receipt(struct call_state *r, enum ss_err code)
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
static void
end_keyed(struct call_state *r, enum ss_err code)
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

/* Filled for a tool of a page with `workspace`. */
static enum ss_err
step_workspace(struct call_state *r)
{
	const struct right *right = &r->page->rights.tools[r->tool];
	const struct proto_request *q = r->request;

	if (!(right->powers.keeps & KEEP_WORKSPACE)) {
		if (!q->has_workspace)
			return SS_OK;
		error_set(r->err, SS_BAD_REQUEST,
			"this tool runs on the site itself: it takes no "
			"\"workspace\"");
		error_hint(
			r->err, "the page's author writes workspace: overlay");
		return SS_BAD_REQUEST;
	}
	workspaces_fill(&r->workspace, r->parts->config,
		&right->powers.asked.workspace, r->call->doc->path,
		r->call->shell ? NULL : r->call->user);
	r->workspace.anybody = r->call->shell;
	r->workspace.session = q->session != NULL ? q->session : "";
	r->workspace.commit = q->commit;
	return SS_OK;
}

static enum ss_err
set_unconfirmed(struct call_state *r, const char *why)
{
	error_set(r->err, SS_CONFIRM_REQUIRED, "%s; it did not run", why);
	if (r->call->token != NULL)
		error_hint(r->err,
			"show the command to a person; if they agree, send "
			"the same request again with \"confirm\": the text "
			"of error.confirm");
	return SS_CONFIRM_REQUIRED;
}

/* What the author wants a person to be asked, with the values of this call. */
static enum ss_err
fill_question(struct call_state *r)
{
	struct buf text = BUF_INIT((size_t)1 << 16);

	if (r->spec->question == NULL)
		return SS_OK;
	question_fill(r->spec, r->command.values, &r->scope, &text);
	if (!text.failed)
		r->result->question =
			arena_copy(r->parts->arena, text.data, text.len);
	buf_release(&text);
	return r->result->question != NULL ? SS_OK : error_memory(r->err);
}

/* A tool with `confirm` runs when a person has agreed to the command. */
static enum ss_err
step_confirm(struct call_state *r)
{
	const struct call *c = r->call;
	const char *given = c->request->confirm;

	if (!r->spec->confirm || c->confirmed)
		return SS_OK;
	if (fill_question(r) != SS_OK)
		return SS_INTERNAL;
	if (c->confirm != NULL)
		return c->confirm(
			       c->confirm_ctx, r->result->argv, r->result->argc)
			? SS_OK
			: set_unconfirmed(r,
				  "nobody agreed to this tool, which asks a "
				  "person first");
	if (given != NULL && confirm_accept(&r->what, given))
		return SS_OK;
	if (c->token != NULL && !confirm_offer(&r->what, c->token))
		return error_memory(r->err);
	return set_unconfirmed(r,
		given != NULL ? "this confirmation is of another request, too "
				"old, or used"
			      : "this tool asks a person first");
}

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
			return tell_job(r);
		if (!r->keyed.begun)
			return code;
	}
	code = begin_receipt(r);
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
		deliver_part(r);
	}
	buf_release(&held.out);
	return code;
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
		return tell_job(r);
	if (code != SS_OK || r->answered)
		return code;
	r->answered = true;
	c->job->kept = r->keyed.active;
	c->job->wait_s = job_wait_s(r);
	code = c->job->make(c->job, &of, r->err);
	return r->keyed.begun ? end_claim(r, code) : code;
}

static enum ss_err
step_job(struct call_state *r)
{
	return wants_job(r) ? make_job(r) : SS_OK;
}

/*
 * The run of a call with a key goes on when the connection ends, since its
 * answer can be had later; a copy of its output is for the record.
 */
static void
begin_keyed(struct call_state *r)
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

static enum ss_err
step_run(struct call_state *r)
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
		begin_keyed(r);
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

	code = keep_type(r);
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
	code = end_receipt(r, code);
	end_keyed(r, code);
	limit_end(r->parts->limit);
	return code;
}

/* The large members are not filled with zeros. */
static void
begin_state(struct call_state *r, const struct call_parts *parts,
	const struct call *call, struct ss_result *result, struct ss_error *err)
{
	memset(r, 0, offsetof(struct call_state, filled));
	r->parts = parts;
	r->call = call;
	r->result = result;
	r->err = err;
	r->request = call->request;
	r->keyed.store.dir = -1;
	r->receipt = RECEIPT_RUN_INIT;
}

static enum ss_err
run_steps(struct call_state *r, const char **stage)
{
	static const struct {
		const char *name;
		enum ss_err (*step)(struct call_state *r);
	} steps[] = {
		{ "page", step_page },
		{ "match", step_match },
		{ "words", step_words },
		{ "env", step_env },
		{ "stages", step_stages },
		{ "next", step_next },
		{ "tool", step_tool },
		{ "workspace", step_workspace },
		{ "once", step_once },
		{ "confirm", step_confirm },
		{ "job", step_job },
		{ "run", step_run },
	};
	enum ss_err code = SS_OK;

	r->result->tool = -1;
	for (size_t i = 0;
		code == SS_OK && !r->answered && i < ARRAY_LEN(steps); i++) {
		if (steps[i].step == step_confirm && r->call->dry_run) {
			*stage = "run";
			break;
		}
		*stage = steps[i].name;
		code = steps[i].step(r);
	}
	if (r->keyed.active || r->receipts != NULL)
		keyed_call_release(&r->keyed);
	if (r->receipts != NULL)
		receipts_release(&r->receipt);
	return code;
}

enum ss_err
call_try(const struct call_parts *parts, const struct call *call,
	const char **stage, struct ss_result *result, struct ss_error *err)
{
	struct call_state r;

	begin_state(&r, parts, call, result, err);
	return run_steps(&r, stage);
}

/* Names the line of a run that failed; a timeout of the page's own is its. */
static void
note_rule(const struct call_state *r, struct ss_error *err)
{
	char value[sizeof(err->value)];

	if (!r->started)
		return;
	if (err->code == SS_TIMEOUT && r->own_timeout > 0) {
		error_rule(err, r->own_line, "timeout: %g", r->own_timeout);
		snprintf(value, sizeof(value), "%g", 2 * r->own_timeout);
		error_setting(err, "", "%s", value);
	} else if (err->line == 0 && err->code != SS_INTERNAL) {
		err->line = r->line;
	}
}

enum ss_err
call_run(const struct call_parts *parts, const struct call *call,
	const char **stage, struct ss_result *result, struct ss_error *err)
{
	struct call_state r;
	enum ss_err code;

	begin_state(&r, parts, call, result, err);
	code = run_steps(&r, stage);
	if (code == SS_OK || err == NULL)
		return code;
	note_rule(&r, err);
	refusal_step(&(struct refusal){ .parts = parts,
			     .doc = call->doc,
			     .page = r.started ? NULL : r.page,
			     .request = call->request,
			     .token = call->token },
		err, result);
	return code;
}

bool
call_was_ended(enum ss_err code)
{
	return code == SS_TIMEOUT || code == SS_OUTPUT_TOO_LARGE;
}

struct ss_text
call_stderr(struct arena *arena, struct ss_text err, struct ss_text reason)
{
	bool breaks = err.len > 0 && err.data[err.len - 1] != '\n';
	size_t len = err.len + breaks + reason.len;
	char *all = arena_alloc(arena, len + 1);

	if (all == NULL)
		return reason;
	if (err.len > 0)
		memcpy(all, err.data, err.len);
	if (breaks)
		all[err.len] = '\n';
	memcpy(all + err.len + breaks, reason.data, reason.len + 1);
	return (struct ss_text){ all, len };
}

/* SPDX-License-Identifier: MIT */
#include "site/call.h"

#include "page/env.h"
#include "page/toolcall.h"
#include "site/confirm.h"
#include "site/executor.h"
#include "wire/path.h"

/* What the steps of one call share. */
struct call_state {
	const struct call_parts *parts;
	const struct call *call;
	const struct proto_request *request; /* the call's, or filled below */
	struct proto_request filled;
	struct page *page;
	const struct spec *spec;
	size_t tool;
	struct env_scope scope;
	char **argv, **envp;
	struct ss_result *result;
	struct ss_error *err;
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
	code = page_get(r->parts->pages, doc, &r->page, r->err);
	if (code != SS_OK)
		return code;
	if (r->page->error.code != SS_OK) {
		if (r->err != NULL)
			*r->err = r->page->error;
		return r->page->error.code;
	}
	if (r->page->front.format == FRONT_NONE)
		return error_set(r->err, SS_NO_FRONTMATTER,
			"%s has no frontmatter, so it declares no tools",
			doc->path);
	return SS_OK;
}

/* ---- a call by name and arguments ---- */

/* The short name, unless another tool of the page has it too. */
static void
call_name(const struct frontmatter *front, size_t i, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1])
{
	char other[TOOLCALL_NAME_MAX + 1];

	size_t k = 0;

	toolcall_name(&front->specs[i], page, out);
	for (; k < front->spec_count; k++) {
		toolcall_name(&front->specs[k], page, other);
		if (k != i && strcmp(out, other) == 0)
			break;
	}
	if (k < front->spec_count)
		toolcall_hashed_name(&front->specs[i], page, out);
}

static enum ss_err
set_name_error(struct call_state *r, const char *what)
{
	const struct frontmatter *front = &r->page->front;
	char name[TOOLCALL_NAME_MAX + 1];
	struct buf list = BUF_INIT(1024);

	error_set(r->err, SS_NOT_ALLOWED, "\"tool_call\": %s", what);
	for (size_t i = 0; i < front->spec_count && buf_ok(&list); i++) {
		call_name(front, i, r->call->doc->path, name);
		buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", name);
	}
	error_hint(r->err, "this page has: %s",
		list.len > 0 ? list.data : "no tools");
	buf_release(&list);
	return SS_NOT_ALLOWED;
}

/* By its short name, or by the hashed name that no other tool has. */
static enum ss_err
find_named(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;
	const char *page = r->call->doc->path;
	char name[TOOLCALL_NAME_MAX + 1];
	size_t found = 0;

	for (size_t i = 0; i < front->spec_count; i++) {
		toolcall_hashed_name(&front->specs[i], page, name);
		if (strcmp(name, r->request->call_name) == 0) {
			r->tool = i;
			found = 1;
			break;
		}
		toolcall_name(&front->specs[i], page, name);
		if (strcmp(name, r->request->call_name) == 0 && found++ == 0)
			r->tool = i;
	}
	if (found == 0)
		return set_name_error(r, "no tool of this page has that name");
	if (found > 1)
		return set_name_error(r,
			"several tools have that name: call it by the longer one");
	return SS_OK;
}

static enum ss_err
step_named(struct call_state *r)
{
	const struct proto_request *q = r->request;
	enum ss_err code = find_named(r);

	if (code != SS_OK)
		return code;
	r->spec = &r->page->front.specs[r->tool];
	r->result->tool = (ssize_t)r->tool;
	code = toolcall_words(r->parts->arena, r->spec, q->call_args,
		q->call_arg_count, &r->filled, r->err);
	if (code != SS_OK)
		return code;
	if (r->filled.env_count == 0) {
		r->filled.env = q->env;
		r->filled.env_count = q->env_count;
	}
	if (q->has_stdin && !r->filled.has_stdin) {
		r->filled.has_stdin = true;
		r->filled.stdin_text = q->stdin_text;
	}
	r->request = &r->filled;
	if (spec_match(r->spec, r->filled.words, r->filled.word_count) !=
		PATTERN_YES)
		return error_set(r->err, SS_NOT_ALLOWED,
			"these arguments make no command of that tool");
	return SS_OK;
}

/* The command must match the tool that the caller chose. */
static enum ss_err
match_chosen(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;
	const struct proto_request *q = r->call->request;

	if (r->tool < front->spec_count &&
		spec_match(&front->specs[r->tool], q->words, q->word_count) ==
			PATTERN_YES)
		return SS_OK;
	return error_set(r->err, SS_NOT_ALLOWED,
		"this tool does not allow this command");
}

static enum ss_err
step_match(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;
	const struct proto_request *q = r->request;

	enum ss_err code;

	if (q->call_name != NULL)
		return step_named(r);
	r->tool = r->call->tool;
	if (r->call->named)
		code = match_chosen(r);
	else
		code = spec_choose(front->specs, front->spec_count, q->words,
			q->word_count, &r->tool, r->err);
	if (code != SS_OK)
		return code;
	r->spec = &front->specs[r->tool];
	r->result->tool = (ssize_t)r->tool;
	return SS_OK;
}

static enum ss_err
step_words(struct call_state *r)
{
	const struct proto_request *q = r->request;

	if (q->has_stdin && !r->spec->takes_stdin)
		return error_set(r->err, SS_BAD_REQUEST,
			"this tool does not take \"stdin\"");
	return env_check_words(r->spec, q->words, q->word_count, r->err);
}

static enum ss_err
step_env(struct call_state *r)
{
	const struct proto_request *q = r->request;
	struct arena *arena = r->parts->arena;
	struct env_command command = { q->words, q->word_count, NULL, NULL };
	enum ss_err code;

	r->scope = (struct env_scope){
		.server = r->parts->config->env,
		.server_count = r->parts->config->env_count,
		.page = &r->page->front.env,
		.tool = &r->spec->env,
		.request = q->env,
		.request_count = q->env_count,
		.request_id = r->call->request_id,
	};
	code = env_check_request(&r->scope, r->err);
	if (code == SS_OK)
		code = env_fill(arena, r->spec, &r->scope, &command, r->err);
	if (code == SS_OK)
		code = env_build(
			arena, &r->scope, EXECUTOR_TMPDIR, &r->envp, r->err);
	r->argv = command.argv;
	r->result->argv = command.shown;
	r->result->argc = command.shown != NULL ? q->word_count : 0;
	return code;
}

/* A built-in tool checks its words before a process is started. */
static enum ss_err
step_tool(struct call_state *r)
{
	const struct right *right = &r->page->rights.tools[r->tool];
	struct tool_bounds bounds;

	if (right->builtin == NULL)
		return SS_OK;
	bounds = rights_bounds(right, r->parts->config);
	return tool_check(right->builtin, r->argv, &bounds, r->err);
}

static enum ss_err
set_unconfirmed(struct call_state *r, const char *why)
{
	error_set(r->err, SS_CONFIRM_REQUIRED, "%s; it did not run", why);
	if (r->call->token != NULL)
		error_hint(r->err,
			"show the command to a person; who agrees sends the "
			"same request again with \"confirm\": the text of "
			"error.confirm");
	return SS_CONFIRM_REQUIRED;
}

/* A tool with `confirm: true` runs when a person has agreed to the command. */
static enum ss_err
step_confirm(struct call_state *r)
{
	const struct call *c = r->call;
	struct confirm what = { .arena = r->parts->arena,
		.seal = r->parts->seal,
		.doc = c->doc,
		.tool = r->tool,
		.user = c->user,
		.request = r->request,
		.argv = r->argv };
	const char *given = c->request->confirm;

	if (!r->spec->confirm || c->confirmed)
		return SS_OK;
	if (c->confirm != NULL)
		return c->confirm(
			       c->confirm_ctx, r->result->argv, r->result->argc)
			? SS_OK
			: set_unconfirmed(r,
				  "nobody agreed to this tool, which asks a "
				  "person first");
	if (given != NULL && confirm_accept(&what, given))
		return SS_OK;
	if (c->token != NULL && !confirm_offer(&what, c->token))
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
	uint64_t number = limit_tool_number(
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

static enum ss_err
step_run(struct call_state *r)
{
	const struct call *c = r->call;
	const struct config *config = r->parts->config;
	struct right *right = &r->page->rights.tools[r->tool];
	enum ss_err code;
	struct ss_command cmd = {
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
		.timeout_ms = (uint32_t)(1000 *
			powers_timeout(&right->powers, config->limits.timeout)),
	};

	if (!limit_start(r->parts->limit))
		return limit_error(r->err);
	code = run_counted(r, &cmd);
	limit_end(r->parts->limit);
	return code;
}

enum ss_err
call_run(const struct call_parts *parts, const struct call *call,
	const char **stage, struct ss_result *result, struct ss_error *err)
{
	static const struct {
		const char *name;
		enum ss_err (*step)(struct call_state *r);
	} steps[] = {
		{ "page", step_page },
		{ "match", step_match },
		{ "words", step_words },
		{ "env", step_env },
		{ "tool", step_tool },
		{ "confirm", step_confirm },
		{ "run", step_run },
	};
	struct call_state r = { .parts = parts,
		.call = call,
		.request = call->request,
		.result = result,
		.err = err };
	enum ss_err code = SS_OK;

	result->tool = -1;
	for (size_t i = 0; code == SS_OK && i < ARRAY_LEN(steps); i++) {
		if (steps[i].step == step_confirm && call->dry_run) {
			*stage = "run";
			break;
		}
		*stage = steps[i].name;
		code = steps[i].step(&r);
	}
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

/* SPDX-License-Identifier: MIT */
#include "site/call_step.h"

#include "page/question.h"

/* A host's output function gets the output, which then is not in the result. */
void
call_deliver_part(struct call_state *r)
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
	call_deliver_part(r);
	return call_keep_type(r);
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

/* The large members are not filled with zeros. */
void
call_begin(struct call_state *r, const struct call_parts *parts,
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

enum ss_err
call_run_steps(struct call_state *r, const char **stage)
{
	static const struct {
		const char *name;
		enum ss_err (*step)(struct call_state *r);
	} steps[] = {
		{ "page", call_step_page },
		{ "match", call_step_match },
		{ "words", call_step_words },
		{ "env", call_step_env },
		{ "stages", call_step_stages },
		{ "next", step_next },
		{ "tool", step_tool },
		{ "workspace", step_workspace },
		{ "once", call_step_once },
		{ "confirm", step_confirm },
		{ "job", call_step_job },
		{ "run", call_step_run },
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

	call_begin(&r, parts, call, result, err);
	return call_run_steps(&r, stage);
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

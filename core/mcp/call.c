/* SPDX-License-Identifier: MIT */
#include "mcp/call.h"
#include "mcp/ask.h"
#include "mcp/confirm.h"
#include "mcp/content.h"
#include "mcp/document.h"
#include "mcp/message.h"
#include "mcp/large.h"
#include "mcp/progress.h"
#include "mcp/schema.h"
#include "mcp/tasks.h"
#include "mcp/workspace.h"
#include "page/toolcall.h"
#include "page/toolname.h"
#include "site/call.h"
#include "site/jobs.h"
#include "site/keyed_call.h"
#include "site/listing.h"
#include "site/refusal.h"
#include "site/workspaces.h"
#include "wire/path.h"

/* Reads them, with room for `more` of them. */
static enum ss_err
read_arguments(struct mcp *m, const struct rpc_value *given, size_t more,
	struct proto_argument **out, size_t *count)
{
	return rpc_arguments(&m->site->arena, given, more, out, count)
		? SS_OK
		: error_memory(&m->err);
}

/* One call, as far as it is known. */
struct calling {
	const char *name; /* that the client called; NULL: of the page's own */
	struct ss_document *doc;
	struct page *page;
	const struct spec *spec;
	struct proto_argument *args;
	size_t count;
	bool by_name;               /* args are of the tool, not of `run` */
	struct proto_argument *env; /* NULL: no form asks for a variable */
	bool *skipped;              /* of each argument: a person left it out */
	struct mcp_round round;
	struct proto_request request;
	struct given given;
	const struct ss_text *values; /* the same with defaults */
};

static struct proto_argument *
find_argument(const struct calling *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->args[i].name, name) == 0)
			return &c->args[i];
	return NULL;
}

static enum rpc_code
begin_round(struct mcp *m, struct calling *c)
{
	struct buf declared = BUF_INIT((size_t)1 << 20);
	enum rpc_code code;

	spec_print(c->spec, &declared);
	code = mcp_round_begin(m, &c->round, c->doc->path, buf_view(&declared),
		mcp_ask_count(c->spec->asks, c->spec->ask_count));
	buf_release(&declared);
	return code;
}

/* ---------------------------------------------------- arguments, asked for */

/* The argument `env`, with room for what forms ask for. */
static struct proto_argument *
grow_env(struct mcp *m, struct calling *c, size_t more)
{
	struct proto_argument *env = find_argument(c, TOOLCALL_ENV);
	struct ss_pair *pairs;

	if (env == NULL) {
		env = &c->args[c->count++];
		*env = (struct proto_argument){ .name = TOOLCALL_ENV,
			.kind = PROTO_MAP };
	}
	pairs = arena_array(
		&m->site->arena, env->pair_count + more + 1, sizeof(*pairs));
	if (pairs == NULL || env->kind != PROTO_MAP)
		return NULL;
	if (env->pair_count > 0)
		memcpy(pairs, env->pairs, env->pair_count * sizeof(*pairs));
	env->pairs = pairs;
	return env;
}

/* True also for no argument of the tool, which toolcall_read refuses. */
static bool
has_argument(void *ctx, const char *name)
{
	const struct calling *c = ctx;

	const struct argument *a = toolcall_argument(c->spec, name);

	if (a != NULL)
		return find_argument(c, name) != NULL || c->skipped[a->index];
	if (c->env == NULL || !name_list_has(&c->spec->env, text_of(name)))
		return true;
	for (size_t i = 0; i < c->env->pair_count; i++)
		if (strcmp(c->env->pairs[i].name, name) == 0)
			return true;
	return false;
}

static bool
take_argument(void *ctx, const char *name, const char *value)
{
	struct calling *c = ctx;
	const struct argument *a = toolcall_argument(c->spec, name);

	if (a == NULL) {
		c->env->pairs[c->env->pair_count++] =
			(struct ss_pair){ .name = name, .value = value };
		return true;
	}
	if (argument_takes(a, text_of(value)) != PATTERN_YES)
		return false;
	c->args[c->count++] = (struct proto_argument){
		.name = name, .kind = PROTO_TEXT, .text = text_of(value)
	};
	return true;
}

static void
describe_argument(void *ctx, struct mcp *m, const char *name)
{
	const struct calling *c = ctx;
	const struct argument *a = toolcall_argument(c->spec, name);

	if (a != NULL)
		mcp_schema_field(m, c->spec, a);
	else
		mcp_text(m, "type", "string");
}

static bool
may_omit_argument(void *ctx, const char *name)
{
	const struct calling *c = ctx;
	const struct argument *a = toolcall_argument(c->spec, name);

	return a != NULL && spec_may_omit(c->spec, a);
}

static void
skip_argument(void *ctx, const char *name)
{
	const struct calling *c = ctx;
	const struct argument *a = toolcall_argument(c->spec, name);

	if (a != NULL)
		c->skipped[a->index] = true;
}

static const char *
argument_value(void *ctx, const char *name)
{
	const struct calling *c = ctx;
	const struct proto_argument *a = find_argument(c, name);

	return a != NULL &&
			(a->kind == PROTO_TEXT || a->kind == PROTO_NUMBER ||
				a->kind == PROTO_BOOL)
		? a->text.data
		: NULL;
}

static enum mcp_answered
ask_arguments(struct mcp *m, struct calling *c)
{
	const struct mcp_ask a = { .forms = c->spec->asks,
		.form_count = c->spec->ask_count,
		.has = has_argument,
		.take = take_argument,
		.may_omit = may_omit_argument,
		.skip = skip_argument,
		.value = argument_value,
		.describe = describe_argument,
		.ctx = c };

	c->skipped = arena_array(&m->site->arena, c->spec->argument_count + 1,
		sizeof(*c->skipped));
	if (c->skipped == NULL) {
		error_memory(&m->err);
		return MCP_DECLINED;
	}
	return mcp_ask(m, &c->round, &a);
}

/* -------------------------------------------------------------- the answer */

/* Copies what is needed after the run, which may free the page. */
static bool
keep_for_answer(struct mcp *m, const struct calling *c, const char **path,
	struct ss_text *type)
{
	struct ss_text t = mcp_content_type(c->spec);

	*path = arena_copy(&m->site->arena, c->doc->path, strlen(c->doc->path));
	type->data = arena_copy(&m->site->arena, t.data, t.len);
	type->len = t.len;
	return *path != NULL && type->data != NULL;
}

static enum rpc_code
answer_not_run(
	struct mcp *m, const struct calling *c, enum mcp_answered answered)
{
	switch (answered) {
	case MCP_AGREED:
	case MCP_ASKED: return RPC_OK;
	case MCP_DECLINED:
		return m->err.code == SS_GONE
			? RPC_INTERNAL
			: mcp_content_refused(m, mcp_content_type(c->spec));
	case MCP_CANNOT_ASK: return RPC_NO_CAPABILITY;
	case MCP_USED: return RPC_BAD_PARAMS;
	}
	return RPC_INTERNAL;
}

static struct env_scope
scope_of(const struct mcp *m, const struct calling *c)
{
	return (struct env_scope){ .server = m->site->config.env,
		.server_count = m->site->config.env_count,
		.page = &c->page->front.env,
		.tool = &c->spec->env,
		.request = c->request.env,
		.request_count = c->request.env_count };
}

/* The step of a refusal, in the form in which it was asked. */
static void
find_step_of(
	struct mcp *m, struct calling *c, const struct proto_request *asked)
{
	m->record.result.step = m->record.result.step_line = NULL;
	refusal_step(&(const struct refusal){ .parts = &m->site->calls,
			     .doc = c->doc,
			     .page = c->page,
			     .request = asked,
			     .name = c->name },
		&m->err, &m->record.result);
}

/* Of a call by name. */
static void
find_step(struct mcp *m, struct calling *c)
{
	char own[TOOLCALL_NAME_MAX + 1];
	const struct proto_request asked = { .call_name = own,
		.call_args = c->args,
		.call_arg_count = c->count };

	if (toolcall_hashed_name(c->spec, c->doc->path, own))
		find_step_of(m, c, &asked);
}

/* As "workspace" of POST; mcp_call has checked it. */
static void
take_workspace(const struct mcp *m, struct proto_request *request)
{
	const struct rpc_value *v = rpc_member(m->meta, WORKSPACE_META);

	if (v == NULL)
		return;
	request->has_workspace = true;
	request->session = rpc_text(rpc_member(v, "session"));
	request->commit = rpc_is_true(rpc_member(v, "commit"));
}

static enum rpc_code
check_workspace(struct mcp *m)
{
	const struct rpc_value *v = rpc_member(m->meta, WORKSPACE_META);
	const struct rpc_value *session = rpc_member(v, "session");

	if (v == NULL ||
		(rpc_is_object(v) &&
			(session == NULL || rpc_text(session) != NULL)))
		return RPC_OK;
	return mcp_refuse(m, RPC_BAD_PARAMS,
		"_meta[\"%s\"] must be an object with \"session\", a string, "
		"and \"commit\"",
		WORKSPACE_META);
}

static enum rpc_code
run_tool(struct mcp *m, struct calling *c)
{
	struct call job = { .doc = c->doc,
		.request = &c->request,
		.request_id = m->request_id,
		.named = true,
		.tool = (size_t)(c->spec - c->page->front.specs),
		.given = c->given.values != NULL ? &c->given : NULL,
		.stdin_fd = -1,
		.client_fd = m->client.fd,
		.user = m->client.user,
		.trace = m->record.trace,
		.key = mcp_message_key(m),
		.wait_ms = m->client.wait_ms,
		.ends = m->client.ends };
	const struct mcp_command command = { c->doc, c->spec, &c->request,
		c->values, scope_of(m, c) };
	struct mcp_task_call task = { c->doc->path, c->spec,
		c->by_name ? c->args : NULL, c->count, &c->request };
	struct call_job job_of_it = site_call_job(m->site);
	enum mcp_answered answered = MCP_AGREED;
	struct ss_text type;
	const char *path;
	enum ss_err code;

	take_workspace(m, &c->request);
	if (!keep_for_answer(m, c, &path, &type))
		return mcp_no_memory(m);
	m->record.page = path;
	if (c->spec->job == SPEC_JOB_REQUIRED && mcp_tasks_possible(m) &&
		!mcp_tasks_offered(m))
		return mcp_tasks_refuse(m);
	job_of_it.asked = job_of_it.unhurried = true;
	job_of_it.asked_by = m->task;
	job_of_it.write = mcp_task_write;
	job_of_it.ctx = &task;
	if (mcp_tasks_offered(m))
		job.job = &job_of_it;
	/* With "next" such a tool does not run, only what it wrote is read. */
	if (c->spec->confirm && c->request.next == NULL)
		answered = mcp_confirm(m, &c->round, &command);
	if (answered != MCP_AGREED)
		return answer_not_run(m, c, answered);
	job.confirmed = c->spec->confirm && c->request.next == NULL;
	code = mcp_progress_run(m, &job, c->spec->progress);
	m->record.tool = m->record.result.tool;
	if (job_of_it.id[0] != '\0')
		return mcp_task_made(m, &job_of_it);
	if (code == SS_GONE || code == SS_INTERNAL)
		return RPC_INTERNAL;
	if (call_was_ended(code))
		return mcp_content_ended(m, type);
	/* Decided before the run, which may free the page. */
	if (c->name != NULL &&
		(code == SS_PATH_REFUSED || code == SS_BAD_REQUEST ||
			code == SS_BAD_ENV))
		find_step(m, c);
	return code == SS_OK ? mcp_content_ran(m, type, path)
			     : mcp_content_refused(m, type);
}

/* Does the page still have this tool at this place? */
static bool
is_same_tool(struct mcp *m, const struct catalog_page *listed,
	const struct catalog_tool *tool, const struct page *page)
{
	char hashed[TOOLCALL_NAME_MAX + 1];

	if (tool->index >= page->front.spec_count)
		return false;
	if (!toolcall_hashed_name(
		    &page->front.specs[tool->index], listed->path, hashed)) {
		error_memory(&m->err);
		return false;
	}
	return strcmp(hashed, tool->hashed) == 0;
}

static bool
try_open(struct mcp *m, const char *name, struct ss_document *doc,
	struct calling *c)
{
	const struct catalog_page *listed;
	const struct catalog_tool *tool =
		catalog_tool_find(m->site->catalog.last, name, &listed);

	if (tool == NULL ||
		mcp_document_open(m, listed->path, doc, &c->page) != SS_OK)
		return false;
	if (!is_same_tool(m, listed, tool, c->page)) {
		mcp_document_close(m, doc);
		return false;
	}
	c->spec = &c->page->front.specs[tool->index];
	return true;
}

/* The catalog may be old: without the tool in it a new one is made. */
static enum rpc_code
open_named(struct mcp *m, const char *name, struct ss_document *doc,
	struct calling *c)
{
	struct catalog *fresh;

	if (try_open(m, name, doc, c))
		return RPC_OK;
	error_clear(&m->err);
	if (catalog_refresh(&m->site->catalog, &fresh, &m->err) != SS_OK)
		return RPC_INTERNAL;
	if (try_open(m, name, doc, c))
		return RPC_OK;
	if (m->err.code == SS_INTERNAL)
		return RPC_INTERNAL;
	return mcp_refuse(
		m, RPC_BAD_PARAMS, "there is no tool \"%.100s\"", name);
}

/* The words are what a person is shown who has to agree. */
static enum ss_err
read_call(struct mcp *m, struct calling *c)
{
	struct arena *arena = &m->site->arena;
	struct toolcall call;
	struct command command;
	enum ss_err code = toolcall_read(
		arena, c->spec, c->args, c->count, &call, &m->err);

	if (code == SS_OK)
		code = command_build(
			arena, c->spec, &call.given, &command, &m->err);
	if (code != SS_OK)
		return code;
	c->by_name = true;
	c->given = call.given;
	c->values = command.values;
	c->request = (struct proto_request){ .words = command.words,
		.word_count = command.count,
		.env = call.env,
		.env_count = call.env_count,
		.has_stdin = call.has_stdin,
		.stdin_text = call.stdin_text,
		.next = call.next };
	/* Only checks the limits: there is nothing to fill. */
	return proto_fill(
		arena, command.words, command.count, NULL, 0, &m->err);
}

/* beside: arguments that the message has elsewhere. */
static enum rpc_code
call_opened(struct mcp *m, struct calling *c, const struct rpc_value *given,
	const struct proto_argument *beside, size_t beside_count)
{
	size_t asked = mcp_ask_count(c->spec->asks, c->spec->ask_count);
	enum mcp_answered answered;
	enum rpc_code code;

	if (read_arguments(m, given, asked + 1 + beside_count, &c->args,
		    &c->count) != SS_OK)
		return RPC_INTERNAL;
	for (size_t i = 0; i < beside_count; i++)
		if (find_argument(c, beside[i].name) == NULL)
			c->args[c->count++] = beside[i];
	code = begin_round(m, c);
	if (code != RPC_OK)
		return code;
	if (asked > 0 && c->spec->env.count > 0)
		c->env = grow_env(m, c, asked);
	answered = ask_arguments(m, c);
	if (answered != MCP_AGREED)
		return answer_not_run(m, c, answered);
	if (read_call(m, c) == SS_OK)
		return run_tool(m, c);
	if (m->err.code == SS_INTERNAL)
		return RPC_INTERNAL;
	find_step(m, c);
	return mcp_content_refused(m, mcp_content_type(c->spec));
}

/*
 * Where a client takes tasks a tool with `job` asks within one; with
 * `job: required` the task begins when all has been answered.
 */
static bool
parks(const struct mcp *m, const struct spec *spec)
{
	return (spec->job == SPEC_JOB_ASKED || spec->job == SPEC_JOB_LONG) &&
		m->revision->asking == MCP_ASKS_BY_RESULT &&
		mcp_tasks_offered(m);
}

static enum rpc_code
park(struct mcp *m, const struct calling *c, size_t from)
{
	const struct call_job_of of = { .doc = c->doc,
		.spec = c->spec,
		.tool = (size_t)(c->spec - c->page->front.specs),
		.number = limit_tool_number(&m->site->exec_state.limit,
			c->doc->real[0] != '\0' ? c->doc->real : c->doc->path,
			0) };

	return mcp_task_park(m, &of, from);
}

static enum rpc_code
call_named(struct mcp *m, const char *name)
{
	struct ss_document doc;
	struct calling c = { .name = name, .doc = &doc };
	enum rpc_code code = open_named(m, name, &doc, &c);
	size_t from = m->out->len;

	if (code != RPC_OK)
		return code;
	m->parks = parks(m, c.spec);
	code = call_opened(
		m, &c, rpc_member(m->rpc.params, "arguments"), NULL, 0);
	if (code == RPC_OK && m->parks && m->task == NULL &&
		strcmp(m->result_type, "input_required") == 0)
		code = park(m, &c, from);
	mcp_document_close(m, &doc);
	return code;
}

/* ------------------------------------------------------- the tool `run` -- */

static enum ss_err
refuse_run(struct mcp *m, const char *what)
{
	error_set(&m->err, SS_BAD_REQUEST, "%s", what);
	error_hint(&m->err,
		"send {\"page\": \"docs/a.md\", \"command\": [\"ls\"]}, or "
		"\"tool_call\" with \"name\" and \"arguments\"; " MCP_LARGE_SEARCH
		" finds them");
	return SS_BAD_REQUEST;
}

/* These arguments and no other, as in its schema. */
static enum ss_err
check_run_names(struct mcp *m, const struct calling *c)
{
	static const char *const names[] = { "page", "command", "tool_call",
		"env", "stdin", TOOLCALL_NEXT };

	for (size_t i = 0, k; i < c->count; i++) {
		for (k = 0; k < ARRAY_LEN(names); k++)
			if (strcmp(c->args[i].name, names[k]) == 0)
				break;
		if (k == ARRAY_LEN(names))
			return refuse_run(m,
				"it takes \"page\", \"command\", "
				"\"tool_call\", \"env\", \"stdin\", \"next\" "
				"and no other argument");
	}
	return SS_OK;
}

static enum ss_err
read_run_request(struct mcp *m, struct calling *c)
{
	const struct proto_argument *command = find_argument(c, "command");
	const struct proto_argument *env = find_argument(c, "env");
	const struct proto_argument *in = find_argument(c, "stdin");
	const struct proto_argument *next = find_argument(c, TOOLCALL_NEXT);
	struct proto_request *out = &c->request;

	if (command == NULL || command->kind != PROTO_LIST ||
		command->item_count == 0)
		return refuse_run(m, "\"command\" must be a list of words");
	if ((env != NULL && env->kind != PROTO_MAP) ||
		(in != NULL && in->kind != PROTO_TEXT) ||
		(next != NULL && next->kind != PROTO_TEXT))
		return refuse_run(m,
			"\"env\" is an object of strings, \"stdin\" and "
			"\"next\" are strings");
	out->word_count = command->item_count;
	out->words = arena_array(
		&m->site->arena, out->word_count, sizeof(*out->words));
	if (out->words == NULL)
		return error_memory(&m->err);
	memcpy(out->words, command->items,
		out->word_count * sizeof(*out->words));
	if (env != NULL) {
		out->env = env->pairs;
		out->env_count = env->pair_count;
	}
	if (next != NULL)
		out->next = next->text.data;
	out->has_stdin = in != NULL;
	if (in != NULL)
		out->stdin_text = in->text;
	return proto_fill(
		&m->site->arena, out->words, out->word_count, NULL, 0, &m->err);
}

static enum ss_err
open_listed(struct mcp *m, const struct proto_argument *named,
	struct ss_document *doc, struct page **page)
{
	char path[PATH_BYTES_MAX + 1];
	enum ss_err code;

	if (named == NULL || named->kind != PROTO_TEXT)
		return refuse_run(m, "\"page\" must be a path");
	code = ss_path_clean(
		named->text.data, named->text.len, path, sizeof(path), &m->err);
	if (code == SS_OK)
		code = mcp_document_open(m, path, doc, page);
	if (code != SS_OK)
		return code;
	if (path_is_page(doc->path) &&
		listing_has(&m->site->catalog.source, doc->path))
		return SS_OK;
	mcp_document_close(m, doc);
	return error_set(&m->err, SS_NOT_FOUND, "no such page");
}

static void
hint_pages(struct mcp *m)
{
	struct buf names = BUF_INIT(2048);

	mcp_large_pages(m->site->catalog.last, &names, 1000);
	error_hint(&m->err, "pages with tools: %s",
		names.len > 0 ? names.data : "none");
	buf_release(&names);
}

/* The page is open. */
static enum rpc_code
run_in_page(struct mcp *m, struct calling *c)
{
	const struct frontmatter *front = &c->page->front;
	struct arena *arena = &m->site->arena;
	struct command command;
	enum rpc_code code;
	size_t tool;

	if (match_choose(front->specs, front->spec_count, c->request.words,
		    c->request.word_count, arena, &tool, &c->given,
		    &m->err) != SS_OK) {
		find_step_of(m, c, &c->request);
		return mcp_content_refused(m, TEXT(""));
	}
	c->spec = &front->specs[tool];
	if (command_build(arena, c->spec, &c->given, &command, &m->err) !=
		SS_OK)
		return mcp_content_refused(m, mcp_content_type(c->spec));
	c->request.words = command.words;
	c->request.word_count = command.count;
	c->values = command.values;
	code = begin_round(m, c);
	return code == RPC_OK ? run_tool(m, c) : code;
}

/* The same for a tool_call. */
static enum rpc_code
call_in_page(struct mcp *m, struct calling *c, const struct rpc_value *named)
{
	const struct frontmatter *front = &c->page->front;
	const char *name = rpc_text(rpc_member(named, "name"));
	const struct rpc_value *arguments = rpc_member(named, "arguments");
	struct proto_argument beside[3];
	size_t count = 0, tool;

	if (name == NULL || find_argument(c, "command") != NULL ||
		(arguments != NULL && !rpc_is_object(arguments))) {
		refuse_run(m,
			"\"tool_call\" must be an object with \"name\" "
			"and \"arguments\", without a \"command\"");
		return mcp_content_refused(m, TEXT(""));
	}
	if (!toolcall_find(
		    front->specs, front->spec_count, c->doc->path, name, &tool))
		return mcp_no_memory(m);
	if (tool == SIZE_MAX) {
		error_set(&m->err, SS_NOT_ALLOWED,
			"no tool of /%s has the name \"%.100s\"", c->doc->path,
			name);
		error_hint(&m->err,
			MCP_LARGE_SEARCH " finds the names, " MCP_LARGE_READ
					 " shows the page");
		find_step_of(m, c,
			&(const struct proto_request){ .call_name = name });
		return mcp_content_refused(m, TEXT(""));
	}
	c->spec = &front->specs[tool];
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->args[i].name, "page") != 0 &&
			strcmp(c->args[i].name, "tool_call") != 0)
			beside[count++] = c->args[i];
	return call_opened(m, c, arguments, beside, count);
}

static enum rpc_code
call_run_tool(struct mcp *m)
{
	struct ss_document doc;
	struct calling c = { .doc = &doc };
	enum ss_err code;
	enum rpc_code done;

	const struct rpc_value *given = rpc_member(m->rpc.params, "arguments");
	const struct rpc_value *named = rpc_member(given, "tool_call");

	if (read_arguments(m, given, 0, &c.args, &c.count) != SS_OK)
		return RPC_INTERNAL;
	code = check_run_names(m, &c);
	if (code == SS_OK && named == NULL)
		code = read_run_request(m, &c);
	if (code == SS_OK)
		code = open_listed(m, find_argument(&c, "page"), &doc, &c.page);
	if (code == SS_NOT_FOUND)
		hint_pages(m);
	if (code != SS_OK)
		return code == SS_INTERNAL ? RPC_INTERNAL
					   : mcp_content_refused(m, TEXT(""));
	done = named != NULL ? call_in_page(m, &c, named) : run_in_page(m, &c);
	mcp_document_close(m, &doc);
	return done;
}

/* The tools of large.h, which may have names that tools of pages have. */
static const struct {
	const char *name;
	enum rpc_code (*call)(struct mcp *m);
} large[] = { { MCP_LARGE_RUN, call_run_tool },
	{ MCP_LARGE_SEARCH, mcp_large_search },
	{ MCP_LARGE_READ, mcp_large_read } };

enum rpc_code
mcp_call(struct mcp *m)
{
	const char *name = mcp_param(m, "name");
	const struct rpc_value *arguments, *key;
	struct catalog *c;
	enum rpc_code code;

	if (name == NULL)
		return RPC_BAD_PARAMS;
	key = rpc_member(m->meta, KEYED_META);
	if (key != NULL && rpc_text(key) == NULL)
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"_meta[\"%s\"] must be a string", KEYED_META);
	code = check_workspace(m);
	if (code == RPC_OK)
		code = mcp_arguments(m, &arguments);
	if (code != RPC_OK)
		return code;
	for (size_t i = 0; i < ARRAY_LEN(large); i++) {
		if (strcmp(name, large[i].name) != 0)
			continue;
		if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK)
			return RPC_INTERNAL;
		if (mcp_large(m, c))
			return large[i].call(m);
	}
	if (mcp_workspace_is_name(name)) {
		if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK)
			return RPC_INTERNAL;
		if (mcp_workspace_has(c, name))
			return mcp_workspace_call(m, name);
	}
	return call_named(m, name);
}

/* SPDX-License-Identifier: MIT */
/* What a matched call runs with: its words, variables, pipe and script. */
#include "site/call_step.h"

#include "page/words.h"
#include "site/executor.h"
#include "site/exists.h"
#include "wire/trace.h"

enum ss_err
call_step_words(struct call_state *r)
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

enum ss_err
call_step_env(struct call_state *r)
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
enum ss_err
call_step_stages(struct call_state *r)
{
	if (r->spec->script != NULL)
		return fill_script(r);
	return r->spec->stage_count > 0 ? fill_pipe(r) : SS_OK;
}

/* What is told of the output.  The run may free the page. */
enum ss_err
call_keep_type(struct call_state *r)
{
	const char *type = r->spec->output;

	r->result->parse = r->call->request->parse;
	if (type == NULL || strcmp(type, "text") == 0)
		return SS_OK;
	r->result->type = arena_copy(r->parts->arena, type, strlen(type));
	return r->result->type != NULL ? SS_OK : error_memory(r->err);
}

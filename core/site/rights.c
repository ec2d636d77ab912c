/* SPDX-License-Identifier: MIT */
#include "site/rights.h"

#include "page/env_fill.h"
#include "tools/stages.h"
#include "wire/path.h"

static struct path_list
paths_of(const struct config_list *list)
{
	return (struct path_list){ .items = list->items, .count = list->count };
}

static enum network_kind
network_of(enum config_choice choice)
{
	switch (choice) {
	case CHOICE_NONE: return NETWORK_OFF;
	case CHOICE_ANY: return NETWORK_ALL;
	case CHOICE_LIST: return NETWORK_LISTED;
	}
	return NETWORK_OFF;
}

struct grant
rights_grant(const struct config *c)
{
	return (struct grant){
		.root = c->root,
		.read = paths_of(&c->grant.read),
		.write = paths_of(&c->grant.write),
		.unix_sockets = paths_of(&c->grant.unix_sockets),
		.exec_any = c->grant.exec_choice == CHOICE_ANY,
		.exec = paths_of(&c->grant.exec),
		.network = network_of(c->grant.network_choice),
		.network_targets = paths_of(&c->grant.network),
		.http = c->grant.http,
		.proc = c->grant.proc,
		.workspace = paths_of(&c->grant.workspace),
		.workspace_bytes = c->workspace.max_bytes,
		.workspace_files = c->workspace.max_files,
		.workspace_idle_s = (uint32_t)c->workspace.idle,
		.limits = {
			.timeout_ms = (uint32_t)(c->limits.timeout * 1000),
			.output_bytes = c->limits.max_output_bytes,
			.cpu_s = (uint32_t)c->limits.cpu,
			.memory_bytes = c->limits.memory_bytes,
			.processes = c->limits.processes,
			.open_files = c->limits.open_files,
			.file_bytes = c->limits.file_bytes,
		},
		.timeout_ms = (uint32_t)(c->grant.timeout * 1000),
		.memory_bytes = c->grant.memory_bytes,
		.processes = c->grant.processes,
	};
}

static void
component_init(struct right *out, const struct rights_source *from,
	const char *page_dir)
{
	arena_init(&out->arena, 0);
	out->ruleset = RULESET_INIT;
	out->ask = (struct policy_ask){ .page = &from->front->sandbox,
		.toml = from->front->format == FRONT_TOML,
		.page_dir = page_dir,
		.program = "sh",
		.word = "sh",
		.component = true };
	out->powers = powers_of(&out->ask);
}

/* What tool_init makes the rights of one tool from. */
struct making {
	struct arena *arena;
	const struct rights_source *from;
	const char *page_dir;
	struct env_scope scope;
	struct node_place *place;
	struct ss_error *err;
};

/* The program that a first part names; NULL: a placeholder, or a variable. */
static enum ss_err
program_of(const struct making *m, const struct part *first,
	struct policy_program *out, const struct tool **builtin)
{
	enum ss_err code = SS_OK;

	*out = (struct policy_program){ .word = first->text.data,
		.at = { first->line, first->column } };
	if (first->kind == PART_TEXT)
		code = env_program(
			m->arena, first->text, &m->scope, &out->name, m->err);
	*builtin = tool_find(out->name);
	out->helper = *builtin != NULL ? (*builtin)->helper : NULL;
	return code;
}

static void
take_program(struct right *out, const struct policy_program *p)
{
	out->ask.program = p->name;
	out->ask.word = p->word;
	out->ask.program_at = p->at;
	out->ask.helper = p->helper;
	out->ask.http = out->builtin != NULL && out->builtin->http;
}

static enum ss_err
refuse_stage(const struct making *m, const struct policy_program *stage,
	const char *found, const char *hint)
{
	error_set(m->err, SS_BAD_FRONTMATTER,
		"line %u, column %u: found %s, expected a program for this "
		"stage",
		stage->at.line, stage->at.column, found);
	error_hint(m->err, "%s", hint);
	*m->place = stage->at;
	return SS_BAD_FRONTMATTER;
}

/* The HTTP tool's ruleset is that of its whole process tree: no file is. */
static enum ss_err
pipe_init(const struct making *m, const struct spec *spec, struct right *out)
{
	struct policy_program *stages =
		arena_array(m->arena, spec->stage_count, sizeof(*stages));
	const struct tool *builtin;
	enum ss_err code = SS_OK;

	if (stages == NULL)
		return error_memory(m->err);
	for (size_t i = 0; i < spec->stage_count; i++) {
		code = program_of(
			m, &spec->stages[i].parts[0], &stages[i], &builtin);
		if (code != SS_OK)
			return code;
		if (stages[i].name == NULL)
			return refuse_stage(m, &stages[i],
				"a variable that a request sets",
				"name the program, or have the server set it");
		if (builtin != NULL && builtin->http)
			return refuse_stage(m, &stages[i], "the built-in curl",
				"it runs alone; or name a program by its path "
				"and ask for network");
	}
	take_program(out,
		&(struct policy_program){ .name = STAGES_HELPER,
			.word = STAGES_HELPER,
			.at = stages[0].at,
			.helper = STAGES_HELPER });
	out->ask.more = stages;
	out->ask.more_count = spec->stage_count;
	return SS_OK;
}

/* A script that cannot be read is no error of the page: its call has one. */
static enum ss_err
script_init(const struct making *m, const struct spec *spec, struct right *out)
{
	const struct rights_source *from = m->from;
	struct script found;

	out->script = arena_alloc(m->arena, sizeof(*out->script));
	if (out->script == NULL)
		return error_memory(m->err);
	out->ask.program_at = (struct node_place){ spec->stages[0].line,
		spec->stages[0].column };
	if (script_read(from->documents, m->page_dir, from->dir_fd,
		    spec->script, &found, NULL) != SS_OK)
		found = (struct script){ .program = "sh" };
	rights_set_script(out, &found);
	return SS_OK;
}

static enum ss_err
tool_init(const struct making *m, const struct spec *spec, struct right *out)
{
	const struct frontmatter *front = m->from->front;
	struct policy_program program;
	enum ss_err code = SS_OK;

	out->ask = (struct policy_ask){ .page = &front->sandbox,
		.tool = &spec->wants,
		.page_dir = m->page_dir,
		.toml = front->format == FRONT_TOML };
	if (spec->script != NULL) {
		code = script_init(m, spec, out);
	} else if (spec->stage_count > 0) {
		code = pipe_init(m, spec, out);
	} else {
		code = program_of(m, &spec->parts[0], &program, &out->builtin);
		take_program(out, &program);
	}
	out->powers = powers_of(&out->ask);
	return code;
}

enum ss_err
rights_init(struct rights *out, struct arena *arena,
	const struct rights_source *from, struct node_place *place,
	struct ss_error *err)
{
	const struct frontmatter *front = from->front;
	const char *dir = arena_copy(
		arena, from->page_path, path_dir_len(from->page_path));
	const struct making m = { arena, from, dir,
		{ .server = from->config->env,
			.server_count = from->config->env_count,
			.page = &front->env },
		place, err };
	enum ss_err code = SS_OK;

	component_init(&out->component, from, dir);
	out->tools =
		arena_array(arena, front->spec_count + 1, sizeof(*out->tools));
	if (dir == NULL || out->tools == NULL)
		return error_memory(err);
	out->count = front->spec_count;
	for (size_t i = 0; i < out->count; i++) {
		arena_init(&out->tools[i].arena, 0);
		out->tools[i].ruleset = RULESET_INIT;
	}
	for (size_t i = 0; code == SS_OK && i < out->count; i++)
		code = tool_init(&m, &front->specs[i], &out->tools[i]);
	for (size_t i = 0; code == SS_OK && i < out->count; i++)
		code = policy_check(
			&out->tools[i].ask, from->ceiling, place, err);
	return code;
}

static void
right_release(struct right *r)
{
	ruleset_release(&r->ruleset);
	arena_release(&r->arena);
	r->ruleset = RULESET_INIT;
	r->ready = false;
}

void
rights_release(struct rights *r)
{
	for (size_t i = 0; i < r->count; i++)
		right_release(&r->tools[i]);
	right_release(&r->component);
	r->count = 0;
}

void
rights_set_script(struct right *r, const struct script *script)
{
	struct policy_ask *ask = &r->ask;

	if (strcmp(r->script->program, script->program) == 0 &&
		strcmp(r->script->option, script->option) == 0)
		return;
	right_release(r);
	*r->script = *script;
	r->starts = (struct policy_program){ .name = r->script->starts,
		.word = r->script->starts,
		.at = ask->program_at };
	ask->program = ask->word = r->script->program;
	ask->more = &r->starts;
	ask->more_count = script->starts[0] != '\0';
	r->powers = powers_of(ask);
}

enum ss_err
rights_prepare(
	struct right *r, const struct grant *ceiling, struct ss_error *err)
{
	enum ss_err code;

	if (r->ready && ruleset_is_fresh(&r->ruleset))
		return SS_OK;
	right_release(r);
	code = policy_resolve(&r->arena, &r->ask, ceiling, &r->policy, err);
	if (code == SS_OK)
		code = ruleset_make(&r->arena, &r->policy, &r->ruleset, err);
	if (code == SS_OK)
		r->ready = true;
	else
		right_release(r);
	return code;
}

struct tool_bounds
rights_bounds(const struct right *r, const struct config *config)
{
	static const char *const any[] = { TOOL_TARGET_ANY };
	const struct wants *w = &r->powers.asked;
	struct tool_bounds bounds = {
		.items = (size_t)config->limits.max_list_items,
	};

	switch (w->network) {
	case NETWORK_ALL:
		bounds.targets = any;
		bounds.target_count = ARRAY_LEN(any);
		break;
	case NETWORK_LISTED:
		bounds.targets = w->network_targets.names;
		bounds.target_count = w->network_targets.count;
		break;
	case NETWORK_OFF:
	case NETWORK_UNSET: break;
	}
	return bounds;
}

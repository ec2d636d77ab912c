/* SPDX-License-Identifier: MIT */
#include "site/rights.h"

#include "page/env.h"
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

static enum ss_err
tool_init(struct right *out, struct arena *arena,
	const struct rights_source *from, const struct spec *spec,
	const char *page_dir, struct ss_error *err)
{
	const struct frontmatter *front = from->front;
	const struct env_scope scope = { .server = from->config->env,
		.server_count = from->config->env_count,
		.page = &front->env };
	const struct part *first = &spec->parts[0];
	const char *program = NULL;
	enum ss_err code = SS_OK;

	if (first->kind == PART_TEXT)
		code = env_program(arena, first->text, &scope, &program, err);
	out->builtin = tool_find(program);
	out->ask = (struct policy_ask){
		.page = &front->sandbox,
		.tool = &spec->wants,
		.page_dir = page_dir,
		.toml = front->format == FRONT_TOML,
		.program = program,
		.word = first->text.data,
		.program_at = { first->line, first->column },
		.helper = out->builtin != NULL ? out->builtin->helper : NULL,
		.http = out->builtin != NULL && out->builtin->http,
	};
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
		code = tool_init(&out->tools[i], arena, from, &front->specs[i],
			dir, err);
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

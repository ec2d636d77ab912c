/* SPDX-License-Identifier: MIT */
#include "mcp/schema.h"
#include "mcp/ask.h"
#include "page/env.h"
#include "page/toolcall.h"
#include "sandbox/sandbox_fork.h"

static void
begin_property(struct mcp *m, const char *name, const char *type)
{
	mcp_key(m, name);
	buf_text(m->out, "{\"type\":");
	mcp_string(m, type);
}

/* The variables that a request may set. */
static void
write_env(struct mcp *m, const struct page *page, const struct spec *spec)
{
	const struct name_list *all = &page->front.env;
	const struct env_scope scope = { .server = m->site->config.env,
		.server_count = m->site->config.env_count,
		.page = all,
		.tool = &spec->env };
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		const char *name = all->names[i];

		if (!env_is_open(&scope, name))
			continue;
		if (count++ == 0) {
			begin_property(m, TOOLCALL_ENV, "object");
			mcp_text(m, "description", "Environment variables");
			mcp_key(m, "properties");
			buf_char(m->out, '{');
		}
		begin_property(m, name, "string");
		buf_char(m->out, '}');
	}
	if (count > 0)
		buf_text(m->out, "},\"additionalProperties\":false}");
}

void
mcp_schema_next(struct mcp *m)
{
	begin_property(m, TOOLCALL_NEXT, "string");
	mcp_text(m, "description",
		"For the next part of a long output: the same arguments "
		"again, with the \"next\" of the last result");
	buf_char(m->out, '}');
}

static void
write_required(struct mcp *m, const struct spec *spec)
{
	char name[TOOLCALL_PROPERTY_MAX + 1];

	mcp_key(m, "required");
	buf_char(m->out, '[');
	for (size_t i = 0; i < spec->argument_count; i++) {
		const struct argument *a = spec->arguments[i];

		toolcall_property(spec, a, name);
		if (spec_may_omit(spec, a) ||
			mcp_ask_may_omit(m, spec->asks, spec->ask_count, name))
			continue;
		mcp_comma(m);
		mcp_string(m, name);
	}
	buf_char(m->out, ']');
}

void
mcp_schema_input(
	struct mcp *m, const struct page *page, const struct spec *spec)
{
	mcp_key(m, "inputSchema");
	mcp_schema_arguments(m, page, spec);
}

void
mcp_schema_arguments(
	struct mcp *m, const struct page *page, const struct spec *spec)
{
	char name[TOOLCALL_PROPERTY_MAX + 1];

	buf_text(m->out, "{\"type\":\"object\",\"properties\":{");
	for (size_t i = 0; i < spec->argument_count; i++) {
		toolcall_property(spec, spec->arguments[i], name);
		mcp_key(m, name);
		buf_char(m->out, '{');
		mcp_schema_argument(m, spec, spec->arguments[i]);
		buf_char(m->out, '}');
	}
	if (!spec->locked) {
		begin_property(m, TOOLCALL_ARGS, "array");
		mcp_text(
			m, "description", "More words, put behind the command");
		buf_printf(m->out,
			",\"items\":{\"type\":\"string\"},\"maxItems\":%d}",
			PROTO_WORDS_MAX - (int)spec->part_count);
	}
	write_env(m, page, spec);
	if (spec_has_parts(spec))
		mcp_schema_next(m);
	if (spec->takes_stdin) {
		begin_property(m, TOOLCALL_STDIN, "string");
		mcp_text(m, "description", "Standard input of the command");
		buf_char(m->out, '}');
	}
	buf_char(m->out, '}');
	write_required(m, spec);
	buf_text(m->out, ",\"additionalProperties\":false}");
}

static enum sandbox_level
level_of_tools(const struct mcp *m)
{
	struct sandbox_plan *plan = &m->site->plan;

	if (m->site->exec_state.is_worker)
		return sandbox_self()->level;
	return plan->decided ? plan->level : sandbox_decide(plan);
}

void
mcp_schema_hints(struct mcp *m, bool writes, bool reaches)
{
	enum sandbox_level held = level_of_tools(m);

	/* Landlock has no right for chmod(2), utimensat(2) and the like. */
	writes |= reaches || held != SANDBOX_STRICT;
	reaches |= held < SANDBOX_LANDLOCK;
	mcp_key(m, "annotations");
	buf_printf(m->out,
		"{\"readOnlyHint\":%s,\"destructiveHint\":%s,"
		"\"openWorldHint\":%s}",
		writes ? "false" : "true", writes ? "true" : "false",
		reaches ? "true" : "false");
}

/*
 * What the sandbox lets a tool do.  A tool that a person has to agree to is
 * never read-only: clients run read-only tools without asking.
 */
void
mcp_schema_hints_of(
	struct mcp *m, const struct page *page, const struct spec *spec)
{
	const struct powers *p =
		&page->rights.tools[spec - page->front.specs].powers;
	const struct wants *asked = &p->asked;

	mcp_schema_hints(m,
		asked->write.count > 0 || spec->confirm ||
			workspace_is_wanted(&asked->workspace),
		asked->network != NETWORK_OFF || p->http ||
			asked->unix_sockets.count > 0);
}

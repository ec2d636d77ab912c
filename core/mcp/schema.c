/* SPDX-License-Identifier: MIT */
#include "mcp/schema.h"
#include "mcp/ask.h"
#include "page/env.h"
#include "sandbox/sandbox_fork.h"
#include "wire/ecma.h"
#include "wire/json.h"

/* A longer pattern is only described: clients compile it. */
#define PATTERN_MAX 1000

static void
begin_property(struct mcp *m, const char *name, const char *type)
{
	mcp_key(m, name);
	buf_text(m->out, "{\"type\":");
	mcp_string(m, type);
}

static void
describe_part(struct mcp *m, const struct part *p, bool checked)
{
	struct buf text = BUF_INIT(2000 + 2 * PATTERN_MAX);

	if (p->description != NULL)
		buf_text(&text, p->description);
	if (p->kind == PART_REGEX && !checked)
		buf_printf(&text, "%sMust match the regular expression %.*s",
			text.len > 0 ? " " : "",
			(int)utf8_cut(p->text.data, p->text.len, PATTERN_MAX),
			p->text.data);
	if (text.len > 0) {
		mcp_key(m, "description");
		json_string(m->out, text.data, text.len);
	}
	buf_release(&text);
}

static void
write_placeholder(struct mcp *m, const struct part *p, const char *name)
{
	struct buf pattern = BUF_INIT(PATTERN_MAX);
	bool checked = p->kind == PART_REGEX &&
		ecma_write(&pattern, p->text.data, p->text.len);

	begin_property(m, name, "string");
	if (checked) {
		mcp_key(m, "pattern");
		json_string(m->out, pattern.data, pattern.len);
	}
	describe_part(m, p, checked);
	buf_char(m->out, '}');
	buf_release(&pattern);
}

/* A form has no pattern, but it has lists to choose from. */
void
mcp_schema_field(struct mcp *m, const struct part *p)
{
	struct buf words = BUF_INIT(PATTERN_MAX);
	bool chosen = p->kind == PART_REGEX &&
		ecma_choices(&words, p->text.data, p->text.len);

	if (chosen) {
		mcp_key(m, "enum");
		buf_char(m->out, '[');
		for (const char *at = words.data, *end = at + words.len;
			at < end; at += strlen(at) + 1) {
			mcp_comma(m);
			mcp_string(m, at);
		}
		buf_char(m->out, ']');
	}
	describe_part(m, p, chosen);
	buf_release(&words);
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

static void
write_required(struct mcp *m, const struct spec *spec)
{
	char name[TOOLCALL_PROPERTY_MAX + 1];

	mcp_key(m, "required");
	buf_char(m->out, '[');
	for (size_t i = 0; i < spec->part_count; i++)
		if (toolcall_property(spec, i, name) &&
			!mcp_ask_may_omit(
				m, spec->asks, spec->ask_count, name)) {
			mcp_comma(m);
			mcp_string(m, name);
		}
	buf_char(m->out, ']');
}

void
mcp_schema_input(
	struct mcp *m, const struct page *page, const struct spec *spec)
{
	char name[TOOLCALL_PROPERTY_MAX + 1];

	mcp_key(m, "inputSchema");
	buf_text(m->out, "{\"type\":\"object\",\"properties\":{");
	for (size_t i = 0; i < spec->part_count; i++)
		if (toolcall_property(spec, i, name))
			write_placeholder(m, &spec->parts[i], name);
	if (!spec->locked) {
		begin_property(m, TOOLCALL_ARGS, "array");
		mcp_text(
			m, "description", "More words, put behind the command");
		buf_printf(m->out,
			",\"items\":{\"type\":\"string\"},\"maxItems\":%d}",
			PROTO_WORDS_MAX - (int)spec->part_count);
	}
	write_env(m, page, spec);
	if (spec->takes_stdin) {
		begin_property(m, TOOLCALL_STDIN, "string");
		mcp_text(m, "description", "Standard input of the command");
		buf_char(m->out, '}');
	}
	buf_char(m->out, '}');
	write_required(m, spec);
	buf_text(m->out, ",\"additionalProperties\":false}");
}

void
mcp_schema_output(struct mcp *m)
{
	mcp_key(m, "outputSchema");
	buf_text(m->out,
		"{\"type\":\"object\",\"properties\":{"
		"\"stdout\":{\"type\":\"string\"},"
		"\"stderr\":{\"type\":\"string\"},"
		"\"returncode\":{\"type\":\"integer\"},"
		"\"truncated\":{\"type\":\"boolean\",\"description\":"
		"\"The output was longer\"}},"
		"\"required\":[\"stdout\",\"stderr\",\"returncode\"]}");
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

	mcp_schema_hints(m, asked->write.count > 0 || spec->confirm,
		asked->network != NETWORK_OFF || p->http ||
			asked->unix_sockets.count > 0);
}

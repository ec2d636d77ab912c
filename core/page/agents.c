/* SPDX-License-Identifier: MIT */
#include "page/agents.h"

#include "page/env.h"
#include "wire/escape.h"
#include "wire/json.h"

/*
 * A code span: one backtick more than the longest run in it (CommonMark 6.1).
 */
static void
add_code(struct buf *out, const char *text, size_t len)
{
	size_t longest = 0, run = 0;
	bool pad;

	for (size_t i = 0; i < len; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	pad = len > 0 && (text[0] == '`' || text[len - 1] == '`');
	for (size_t i = 0; i <= longest; i++)
		buf_char(out, '`');
	buf_text(out, pad ? " " : "");
	escape_line(out, text, len);
	buf_text(out, pad ? " " : "");
	for (size_t i = 0; i <= longest; i++)
		buf_char(out, '`');
}

static void
add_description(struct buf *out, const struct frontmatter *front)
{
	if (front->description == NULL)
		return;
	buf_text(out, ": ");
	escape_line(out, front->description, strlen(front->description));
}

/* --------------------------------------------------------------- AGENTS.md */

static void
add_template(struct buf *out, const struct spec *spec)
{
	buf_char(out, '[');
	for (size_t i = 0; i < spec->part_count; i++) {
		const struct part *p = &spec->parts[i];

		buf_text(out, i > 0 ? ", " : "");
		if (p->kind == PART_TEXT)
			json_string(out, p->text.data, p->text.len);
		else
			buf_printf(out, "\"{%s}\"", p->name ? p->name : "");
	}
	buf_char(out, ']');
}

static void
add_part(const struct part *p, struct buf *out)
{
	if (p->kind == PART_TEXT ||
		(p->description == NULL && p->kind != PART_REGEX))
		return;
	buf_text(out, "  - ");
	if (p->name != NULL)
		buf_printf(out, "`{%s}`", p->name);
	else
		buf_text(out, "`{}`");
	if (p->description != NULL) {
		buf_text(out, ": ");
		escape_line(out, p->description, strlen(p->description));
	}
	if (p->kind == PART_REGEX) {
		buf_text(out,
			p->description != NULL ? "; matches " : ": matches ");
		add_code(out, p->text.data, p->text.len);
	}
	buf_char(out, '\n');
}

/* The variables that a request may set. */
static void
add_variables(const struct agents_page *page, const struct spec *spec,
	struct buf *out)
{
	const struct name_list *list = &page->front->env;
	const struct env_scope scope = { .server = page->server,
		.server_count = page->server_count,
		.page = list,
		.tool = &spec->env };
	size_t count = 0;

	for (size_t i = 0; i < list->count && buf_ok(out); i++)
		if (env_is_open(&scope, list->names[i]))
			buf_printf(out, "%s`%s`",
				count++ > 0 ? ", " : ", `env`: ",
				list->names[i]);
}

static void
add_tool(const struct agents_page *page, const struct spec *spec,
	struct buf *out)
{
	struct buf line = BUF_INIT(out->max);

	buf_text(out, "- ");
	add_template(&line, spec);
	add_code(out, line.data, line.len);
	if (!spec->locked)
		buf_text(out, ", more words may follow");
	if (spec->takes_stdin)
		buf_text(out, ", reads `stdin`");
	add_variables(page, spec, out);
	if (spec->description != NULL) {
		buf_text(out, ": ");
		escape_line(out, spec->description, strlen(spec->description));
	}
	buf_char(out, '\n');
	for (size_t i = 0; i < spec->part_count; i++)
		add_part(&spec->parts[i], out);
	if (!buf_ok(&line))
		out->failed = true;
	buf_release(&line);
}

void
agents_block(const struct agents_page *page, struct buf *out)
{
	const struct frontmatter *front = page->front;

	buf_text(out, "\n### ");
	buf_text(out, page->title);
	buf_text(out, "\n\n");
	add_code(out, page->path, strlen(page->path));
	add_description(out, front);
	buf_char(out, '\n');
	if (!page->grants || front->spec_count == 0)
		return;
	buf_char(out, '\n');
	for (size_t i = 0; i < front->spec_count && buf_ok(out); i++)
		add_tool(page, &front->specs[i], out);
}

/* ---------------------------------------------------------------- llms.txt */

void
agents_link(const struct agents_page *page, struct buf *out)
{
	buf_text(out, "- [");
	for (const char *p = page->title; *p != '\0'; p++) {
		buf_text(out, *p == '[' || *p == ']' || *p == '\\' ? "\\" : "");
		buf_char(out, *p);
	}
	buf_text(out, "](");
	escape_path(out, page->path, strlen(page->path));
	buf_char(out, ')');
	add_description(out, page->front);
	buf_char(out, '\n');
}

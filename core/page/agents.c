/* SPDX-License-Identifier: MIT */
#include "page/agents.h"

#include <stdlib.h>

#include "page/env.h"
#include "page/example.h"
#include "page/toolcall.h"
#include "page/toolname.h"
#include "wire/escape.h"

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

/* A code span loses blanks at its ends and cannot be empty. */
static void
add_default(struct buf *out, const char *value)
{
	size_t len = strlen(value);
	struct buf quoted = BUF_INIT(1 << 16);

	if (len > 0 && value[0] > ' ' && value[len - 1] > ' ') {
		add_code(out, value, len);
		return;
	}
	argument_print_value(value, &quoted);
	add_code(out, quoted.data, quoted.len);
	buf_release(&quoted);
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

/* A longer list of choices is cut. */
#define PHRASE_MAX 300

/* What the argument takes; its regex as code. */
static void
add_phrase(const struct argument *a, struct buf *out)
{
	struct argument plain = *a;
	struct buf phrase = BUF_INIT(1 << 16);

	plain.regex = (struct ss_text){ NULL, 0 };
	argument_expects(&plain, &phrase);
	escape_line(out, phrase.data,
		utf8_cut(phrase.data, phrase.len, PHRASE_MAX));
	buf_text(out, phrase.len > PHRASE_MAX ? "…" : "");
	if (a->regex.data != NULL) {
		buf_text(out, " that matches ");
		add_code(out, a->regex.data, a->regex.len);
	}
	out->failed |= phrase.failed;
	buf_release(&phrase);
}

/* Nothing of one that is any word, and has only a name. */
static void
add_argument(const struct spec *spec, const struct argument *a, struct buf *out)
{
	const char *words = spec_describe(spec, a);
	bool may_omit = spec_may_omit(spec, a);
	char name[TOOLCALL_PROPERTY_MAX + 1];

	if (words == NULL && !may_omit && a->regex.data == NULL &&
		a->type == ARGUMENT_WORD)
		return;
	toolcall_property(spec, a, name);
	buf_printf(out, "  - `%s`", name);
	if (a->initial != NULL) {
		buf_text(out, ", default ");
		add_default(out, a->initial);
	} else if (may_omit) {
		buf_text(out, ", optional");
	}
	buf_text(out, ": ");
	if (words != NULL) {
		escape_line(out, words, strlen(words));
		buf_text(out, "; ");
	}
	add_phrase(a, out);
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

/* Its words, or the whole request where they are fixed. */
static void
add_words(const struct spec *spec, bool whole, struct buf *out)
{
	struct buf line = BUF_INIT(out->max);

	if (whole)
		example_command(spec, &line);
	else
		spec_outline(spec, &line);
	add_code(out, line.data, line.len);
	out->failed |= !buf_ok(&line);
	buf_release(&line);
}

/* A request that works as it is written. */
static void
add_example(const struct spec *spec, bool command, const char *name,
	struct buf *out)
{
	struct buf line = BUF_INIT(out->max);

	if (command)
		example_command(spec, &line);
	else
		example_call(spec, name, &line);
	buf_text(out, "  - ");
	add_code(out, line.data, line.len);
	buf_char(out, '\n');
	out->failed |= !buf_ok(&line);
	buf_release(&line);
}

static void
add_tool(const struct agents_page *page, const struct spec *spec,
	const char *name, struct buf *out)
{
	bool command = example_is_command(page->front->specs,
		(size_t)(spec - page->front->specs), &out->failed);
	bool whole = spec->argument_count == 0 && command;

	buf_printf(out, "- **%s** ", name);
	add_words(spec, whole, out);
	if (!spec->locked)
		buf_text(out, ", more words may follow");
	if (spec->takes_stdin)
		buf_text(out, ", reads `stdin`");
	if (spec->confirm)
		buf_text(out, ", a person is asked first");
	if (spec->once || page->front->once)
		buf_text(out, ", needs an `Idempotency-Key`");
	if (spec->job == SPEC_JOB_REQUIRED)
		buf_text(out, ", answers 202: GET its `href` for the result");
	else if (spec->job != SPEC_JOB_NEVER)
		buf_text(out,
			", with `Prefer: respond-async` answers 202: GET its "
			"`href` for the result");
	add_variables(page, spec, out);
	if (spec->output != NULL && strcmp(spec->output, "text") != 0) {
		buf_text(out, ", prints ");
		add_code(out, spec->output, strlen(spec->output));
	}
	if (spec->description != NULL) {
		buf_text(out, ": ");
		escape_line(out, spec->description, strlen(spec->description));
	}
	buf_char(out, '\n');
	for (size_t i = 0; i < spec->argument_count; i++)
		add_argument(spec, spec->arguments[i], out);
	if (!whole)
		add_example(spec, command, name, out);
}

void
agents_block(const struct agents_page *page, struct buf *out)
{
	const struct frontmatter *front = page->front;
	struct toolcall_label *names;

	buf_text(out, "\n### ");
	buf_text(out, page->title);
	buf_text(out, "\n\n");
	add_code(out, page->path, strlen(page->path));
	add_description(out, front);
	buf_char(out, '\n');
	if (!page->grants || front->spec_count == 0)
		return;
	if (workspace_is_wanted(&front->sandbox.workspace))
		buf_text(out,
			"\nTools of this page change a copy of the site, and "
			"`workspace` of an answer tells what. "
			"`\"workspace\": {\"commit\": true}` in a request "
			"keeps it.\n");
	buf_char(out, '\n');
	names = toolcall_labels(front->specs, front->spec_count, page->path);
	out->failed |= names == NULL;
	for (size_t i = 0; i < front->spec_count && buf_ok(out); i++)
		add_tool(page, &front->specs[i], names[i].text, out);
	free(names);
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

/* SPDX-License-Identifier: MIT */
#include "page/lint.h"

#include <stdarg.h>
#include <stdio.h>

#include "page/lint_own.h"

void
lint_warn(const struct lint *l, enum warning w, struct node_place at,
	const char *hint, const char *message, ...)
{
	char text[256];
	va_list args;
	int n;

	va_start(args, message);
	n = vsnprintf(text, sizeof(text), message, args);
	va_end(args);
	if (n >= (int)sizeof(text))
		text[utf8_cut(text, sizeof(text) - 1, sizeof(text) - 2)] = '\0';
	l->fn(l->ctx,
		&(const struct ss_problem){ .line = at.line,
			.column = at.column,
			.level = SS_LEVEL_WARNING,
			.message = text,
			.hint = hint,
			.name = warning_name(w) });
}

/*
 * The words of one program; those of a script are arguments alone.  Only the
 * first stage of a pipe has the tool's standard input.
 */
static void
lint_command(
	const struct lint *l, const struct spec *s, const struct spec *words)
{
	bool fed = s->takes_stdin || (words != s && words != s->stages);

	if (s->script == NULL)
		lint_programs(l, words, fed);
	lint_shell(l, words);
	lint_variables(l, words);
	lint_words(l, words, s->script != NULL);
	lint_regexes(l, words);
	lint_templates(l, words);
}

static void
lint_spec(const struct lint *l, const struct spec *s)
{
	size_t count;
	const struct spec *commands = spec_commands(s, &count);

	for (size_t i = 0; i < count; i++)
		lint_command(l, s, &commands[i]);
	lint_lists(l, s);
	lint_variable_list(l, &s->env);
	lint_arguments(l, s);
}

/* ----------------------------------------------------------------- prompts */

static void
report_mistake(void *ctx, const struct node_place *at, const char *message,
	const char *hint)
{
	lint_warn(ctx, WARN_PROMPT, *at, hint, "%s", message);
}

/*
 * Parse the prompts again, now with a listener: the page's parser skipped what
 * is wrong in them.
 */
static void
lint_prompts(struct lint *l, const struct node *list)
{
	const struct prompt_listener listener = { report_mistake, l };
	struct ss_error err = { 0 };
	struct arena arena;
	const struct reading r = { .arena = &arena, .err = &err };
	struct prompt *prompts;
	size_t count;

	if (list == NULL)
		return;
	arena_init(&arena, 0);
	prompt_parse(&r, list, &listener, &prompts, &count);
	arena_release(&arena);
}

void
lint_frontmatter(const struct frontmatter *f, const struct lint_page *page,
	lint_fn fn, void *ctx)
{
	struct lint l = { .front = f,
		.path = page->path != NULL ? page->path : "",
		.text = page->text,
		.scope = { .server = page->server,
			.server_count = page->server_count,
			.page = &f->env },
		.fn = fn,
		.ctx = ctx };

	lint_page_text(&l);
	lint_keys(&l);
	lint_networks(&l);
	for (size_t i = 0; i < f->spec_count; i++)
		lint_spec(&l, &f->specs[i]);
	lint_shadows(&l);
	lint_prompts(&l, node_member(f->root, "prompts"));
}

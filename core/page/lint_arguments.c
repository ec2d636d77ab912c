/* SPDX-License-Identifier: MIT */
/* Names of tools and arguments, and tools that no command reaches. */
#include <stdio.h>

#include "page/lint_own.h"
#include "page/toolcall.h"
#include "page/toolname.h"

/* Each tool is compared with all others: up to so many. */
#define TOOLS_MAX 500

/* --------------------------------------------------------------- arguments */

static bool
is_repeated(const struct spec *s, const struct argument *a)
{
	for (size_t i = 0; i < a->index; i++)
		if (s->arguments[i]->name != NULL &&
			strcmp(s->arguments[i]->name, a->name) == 0)
			return true;
	return false;
}

/* A name that calls do not get: args, env, stdin, or one that is taken. */
static void
lint_argument_name(
	const struct lint *l, const struct spec *s, const struct argument *a)
{
	char property[TOOLCALL_PROPERTY_MAX + 1];

	toolcall_property(s, a, property);
	if (strcmp(property, a->name) != 0)
		lint_warn(l, WARN_ARGUMENT,
			(struct node_place){ a->line, a->column },
			"give it another name",
			"the argument %.64s %s: calls use %s", a->name,
			is_repeated(s, a) ? "is named twice"
					  : "has a name that calls use",
			property);
}

static void
lint_unnamed(const struct lint *l, const struct spec *s)
{
	const struct argument *second = NULL;
	size_t count = 0;

	for (size_t i = 0; i < s->argument_count; i++)
		if (s->arguments[i]->name == NULL && ++count == 2)
			second = s->arguments[i];
	if (second != NULL)
		lint_warn(l, WARN_ARGUMENT,
			(struct node_place){ second->line, second->column },
			"name them: {from}, {to}, or { regex: ..., name: to }",
			"%zu arguments of this tool have no name: calls use "
			"arg1, arg2",
			count);
}

/* -------------------------------------------------------------- tool names */

static bool
is_plain_name(const char *name)
{
	return name[strspn(name,
		       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		       "0123456789_-")] == '\0';
}

static void
lint_tool_name(const struct lint *l, const struct spec *s)
{
	char listed[TOOLCALL_NAME_MAX + 1];
	size_t len = s->name != NULL ? strlen(s->name) : 0;

	if (len == 0 || (is_plain_name(s->name) && len <= TOOLCALL_NAME_MAX))
		return;
	if (!toolcall_name(s, l->path, listed))
		return;
	lint_warn(l, WARN_NAME, place_of_spec(s),
		"a name holds letters, digits, _ and -, at most 57",
		"calls use the name %s", listed);
}

void
lint_arguments(const struct lint *l, const struct spec *s)
{
	lint_tool_name(l, s);
	for (size_t i = 0; i < s->argument_count; i++)
		if (s->arguments[i]->name != NULL)
			lint_argument_name(l, s, s->arguments[i]);
	lint_unnamed(l, s);
}

/* ----------------------------------------------------------------- shadows */

/* Does the argument take every word of the part, as far as can be told? */
static bool
takes_all(const struct argument *a, const struct part *p)
{
	const struct argument *b = part_argument(p);

	if (a->type == ARGUMENT_WORD && a->regex.data == NULL)
		return true;
	if (p->kind == PART_TEXT)
		return argument_takes(a, p->text) == PATTERN_YES;
	if (b == NULL)
		return false;
	if (b->type == ARGUMENT_ENUM) {
		for (size_t i = 0; i < b->choices.count; i++)
			if (argument_takes(a, text_of(b->choices.names[i])) !=
				PATTERN_YES)
				return false;
		return true;
	}
	return a->type == ARGUMENT_WORD && b->regex.data != NULL &&
		text_equal(a->regex, b->regex);
}

static bool
part_shadows(const struct part *first, const struct part *later)
{
	switch (first->kind) {
	case PART_ARGUMENT: return takes_all(first->pieces->argument, later);
	case PART_TEXT:
		return later->kind == PART_TEXT &&
			text_equal(first->text, later->text);
	case PART_TEMPLATE: return false;
	}
	return false;
}

static bool
shadows(const struct spec *first, const struct spec *later)
{
	if (first->optional_count > 0 || later->optional_count > 0 ||
		first->part_count > later->part_count ||
		(first->locked &&
			(!later->locked ||
				first->part_count != later->part_count)))
		return false;
	for (size_t i = 0; i < first->part_count; i++)
		if (!part_shadows(&first->parts[i], &later->parts[i]))
			return false;
	return true;
}

void
lint_shadows(const struct lint *l)
{
	const struct frontmatter *f = l->front;
	size_t count = f->spec_count < TOOLS_MAX ? f->spec_count : TOOLS_MAX;

	for (size_t i = 1; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (shadows(&f->specs[k], &f->specs[i])) {
				lint_warn(l, WARN_SHADOW,
					place_of_spec(&f->specs[i]),
					"put this tool before that one, or "
					"end that one with ;",
					"the tool of line %u takes every "
					"command of this one",
					f->specs[k].line);
				break;
			}
}

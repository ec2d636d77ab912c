/* SPDX-License-Identifier: MIT */
#include "page/stages.h"

#include <ctype.h>
#include <stdio.h>

#define STAGES_MIN 2
#define NAME_MAX_LEN 57 /* as TOOLCALL_NAME_MAX */

/* ------------------------------------------------------------- arguments */

/* It says no more than a name and a regex. */
static bool
is_brief(const struct argument *a)
{
	return a->type == ARGUMENT_WORD && a->description == NULL &&
		a->initial == NULL && !a->optional && !a->dash &&
		a->escape == ESCAPE_NONE;
}

/*
 * {name}, or what a template has to say: the regex that the argument has
 * elsewhere.
 */
static bool
is_reference(const struct argument *a, const struct argument *to)
{
	return is_brief(a) &&
		(a->regex.data == NULL ||
			(to->regex.data != NULL &&
				text_equal(a->regex, to->regex)));
}

/* Every place of one argument gets another one of the same name. */
static void
replace(struct spec *s, const struct argument *old, struct argument *with)
{
	for (size_t i = 0; i < s->stage_count; i++)
		for (size_t k = 0; k < s->stages[i].part_count; k++) {
			struct part *p = &s->stages[i].parts[k];

			for (size_t n = 0; n < p->piece_count; n++)
				if (p->pieces[n].argument == old)
					p->pieces[n].argument = with;
		}
}

static enum ss_err
refuse_argument(const struct reading *r, const struct argument *a,
	const char *found, const char *expected, const char *hint)
{
	const struct node at = { .line = a->line, .column = a->column };

	return value_refuse_found(r, &at, found, expected, "%s", hint);
}

/* Adds an argument to out->arguments unless its name is there. */
static enum ss_err
take_argument(const struct reading *r, struct argument *a, struct spec *out)
{
	struct argument **known = NULL;

	if (a->name == NULL)
		return refuse_argument(r, a, "an argument without a name",
			"a name for each argument of pipe and script",
			"write {name}, or add name: to the part");
	for (size_t i = 0; i < out->argument_count; i++)
		if (strcmp(out->arguments[i]->name, a->name) == 0)
			known = &out->arguments[i];
	if (known == NULL) {
		out->arguments[out->argument_count++] = a;
		return SS_OK;
	}
	if (*known == a)
		return SS_OK;
	if (is_reference(a, *known)) {
		argument_release(a);
		replace(out, a, *known);
		return SS_OK;
	}
	if (!is_reference(*known, a))
		return refuse_argument(r, a,
			"an argument that is declared twice",
			"its keys in one place",
			"where it is used again write {name} alone");
	argument_release(*known);
	replace(out, *known, a);
	*known = a;
	return SS_OK;
}

/* Collects the arguments of all stages, each once. */
static enum ss_err
share_arguments(const struct reading *r, struct spec *out)
{
	enum ss_err e = SS_OK;
	size_t most = 0;

	for (size_t i = 0; i < out->stage_count; i++)
		for (size_t k = 0; k < out->stages[i].part_count; k++)
			most += out->stages[i].parts[k].piece_count;
	out->arguments =
		arena_array(r->arena, most + 1, sizeof(struct argument *));
	if (out->arguments == NULL)
		return error_memory(r->err);
	for (size_t i = 0; i < out->stage_count; i++)
		for (size_t k = 0; k < out->stages[i].part_count; k++) {
			struct part *p = &out->stages[i].parts[k];

			for (size_t n = 0; e == SS_OK && n < p->piece_count;
				n++)
				if (p->pieces[n].argument != NULL)
					e = take_argument(
						r, p->pieces[n].argument, out);
		}
	return e;
}

/* A part {name} is as optional as the argument that it names. */
static void
spread_optional(struct spec *out)
{
	for (size_t i = 0; i < out->stage_count; i++)
		for (size_t k = 0; k < out->stages[i].part_count; k++) {
			struct part *p = &out->stages[i].parts[k];
			const struct argument *a = part_argument(p);

			if (a != NULL)
				p->optional = a->optional || a->initial != NULL;
		}
}

/* May every word that has the argument be absent? */
static bool
is_optional(const struct spec *s, const struct argument *a)
{
	for (size_t i = 0; i < s->stage_count; i++)
		for (size_t k = 0; k < s->stages[i].part_count; k++) {
			const struct part *p = &s->stages[i].parts[k];

			for (size_t n = 0; n < p->piece_count; n++)
				if (p->pieces[n].argument == a && !p->optional)
					return a->initial != NULL;
		}
	return true;
}

/* The description of the first part with the argument that has one. */
static const char *
description_of(const struct spec *s, const struct argument *a)
{
	for (size_t i = 0; i < s->stage_count; i++)
		for (size_t k = 0; k < s->stages[i].part_count; k++) {
			const struct part *p = &s->stages[i].parts[k];

			for (size_t n = 0; n < p->piece_count; n++)
				if (p->pieces[n].argument == a &&
					p->description != NULL)
					return p->description;
		}
	return NULL;
}

/* What callers send: the name, and a word for each argument. */
static enum ss_err
make_parts(const struct reading *r, struct spec *out)
{
	size_t count = out->argument_count;
	struct piece *pieces =
		arena_array(r->arena, count + 1, sizeof(*pieces));

	out->parts = arena_array(r->arena, count + 1, sizeof(*out->parts));
	if (pieces == NULL || out->parts == NULL)
		return error_memory(r->err);
	out->parts[0] = (struct part){ .kind = PART_TEXT,
		.text = text_of(out->name),
		.line = out->line,
		.column = out->column };
	for (size_t i = 0; i < count; i++) {
		struct argument *a = out->arguments[i];

		pieces[i].argument = a;
		out->parts[i + 1] = (struct part){ .kind = PART_ARGUMENT,
			.text = a->regex,
			.pieces = &pieces[i],
			.piece_count = 1,
			.optional = is_optional(out, a),
			.description = description_of(out, a),
			.line = a->line,
			.column = a->column };
	}
	out->part_count = count + 1;
	out->argument_count = 0;
	out->locked = true;
	return SS_OK;
}

/* ---------------------------------------------------------------- stages */

static enum ss_err
parse_stage(const struct reading *r, const struct node *list, struct spec *out)
{
	enum ss_err e;

	*out = (struct spec){ .line = list->line, .column = list->column };
	if (list->kind != NODE_LIST)
		return value_refuse(r, list, "a stage: a list of parts",
			"a pipe is a list of lists: [[grep, x, a.txt], "
			"[head]]");
	if ((e = spec_parse_parts(r, list, out)) != SS_OK)
		return e;
	if (out->parts[0].kind != PART_TEXT)
		return value_refuse_found(r, list->first, "a placeholder",
			"the program of the stage",
			"the page names every program of a pipe");
	out->locked = true;
	return SS_OK;
}

static enum ss_err
parse_pipe(const struct reading *r, const struct node *pipe, struct spec *out)
{
	enum ss_err e = value_untagged(r, pipe);

	if (e != SS_OK)
		return e;
	if (pipe->kind != NODE_LIST)
		return value_refuse(r, pipe, "a list of stages",
			"write pipe: [[grep, x, a.txt], [head]]");
	if (pipe->first != NULL && pipe->first->kind != NODE_LIST)
		return parse_stage(r, pipe->first, &(struct spec){ 0 });
	if (pipe->count < STAGES_MIN || pipe->count > STAGES_MAX)
		return value_refuse_found(r, pipe,
			pipe->count == 0           ? "no stage"
				: pipe->count == 1 ? "one stage"
						   : "more than 16 stages",
			"2 to 16 stages",
			pipe->count == 1 ? "one program alone is written "
					   "command: [...]"
					 : NULL);
	out->stages = arena_array(r->arena, pipe->count, sizeof(*out->stages));
	if (out->stages == NULL)
		return error_memory(r->err);
	for (const struct node *n = pipe->first; e == SS_OK && n != NULL;
		n = n->next)
		e = parse_stage(r, n, &out->stages[out->stage_count++]);
	return e;
}

/* ---------------------------------------------------------------- script */

/* Relative; ".." only before the first name; no empty component, no ".". */
static bool
is_script_path(const char *path)
{
	bool named = false;
	size_t n;

	if (path[0] == '-')
		return false;
	if (strncmp(path, "./", 2) == 0)
		path += 2;
	for (;; path += n + 1) {
		n = strcspn(path, "/");
		if (n == 2 && strncmp(path, "..", 2) == 0) {
			if (named)
				return false;
		} else {
			named = true;
			if (n == 0 || (n == 1 && path[0] == '.'))
				return false;
		}
		if (path[n] == '\0')
			return named && strcmp(path, "..") != 0;
	}
}

static enum ss_err
parse_script(const struct reading *r, const struct node *map,
	const struct node *script, struct spec *out)
{
	const struct node *list = node_member(map, "arguments");
	enum ss_err e;

	if (script->kind == NODE_LIST)
		return value_refuse(r, script, "the path of a script",
			"write script: tools/find.sh, and its words under "
			"arguments: [{q}]");
	e = value_text(r, script, &out->script);
	if (e != SS_OK)
		return e;
	if (!is_script_path(out->script))
		return value_refuse(r, script,
			"the path of a script, relative to the page",
			"write script: tools/find.sh; .. comes first in it, and "
			"no - does");
	out->stages = arena_alloc(r->arena, sizeof(*out->stages));
	if (out->stages == NULL)
		return error_memory(r->err);
	out->stages[0] = (struct spec){
		.line = script->line, .column = script->column, .locked = true
	};
	out->stage_count = 1;
	if (list == NULL)
		return SS_OK;
	if ((e = value_untagged(r, list)) != SS_OK)
		return e;
	if (list->kind != NODE_LIST)
		return value_refuse(r, list, "a list of parts",
			"write arguments: [{ name: q, kind: text }]");
	if (list->count == 0)
		return SS_OK;
	e = spec_parse_parts(r, list, &out->stages[0]);
	out->stages[0].locked = true;
	return e;
}

/* ----------------------------------------------------------------- whole */

/* Callers send the name as a word, and MCP has it as the tool's name. */
static bool
is_name(const char *name)
{
	size_t n = 0;

	while (isalnum((unsigned char)name[n]) || name[n] == '_' ||
		(name[n] == '-' && n > 0))
		n++;
	return n > 0 && n <= NAME_MAX_LEN && name[n] == '\0';
}

static enum ss_err
check_name(const struct reading *r, const struct node *map,
	const struct node *key, const struct spec *s)
{
	if (s->name == NULL)
		return value_refuse_found(r, key, "no name",
			"name: for a tool with pipe or script",
			"callers send it, with a word for each argument: "
			"name: find");
	if (is_name(s->name))
		return SS_OK;
	return value_refuse(r, node_member(map, "name"),
		"a name of letters, digits, _ and -, at most 57",
		"callers send it as the first word");
}

enum ss_err
stages_parse(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *pipe = node_member(map, "pipe");
	const struct node *script = node_member(map, "script");
	const struct node *arguments = node_member(map, "arguments");
	enum ss_err e;

	if (pipe != NULL && script != NULL)
		return value_refuse_found(r, script, "pipe and script",
			"one of command, pipe and script", NULL);
	if (pipe != NULL && arguments != NULL)
		return value_refuse_found(r, arguments, "arguments beside pipe",
			"arguments only beside script",
			"write the placeholders in the stages");
	e = pipe != NULL ? parse_pipe(r, pipe, out)
			 : parse_script(r, map, script, out);
	if (e == SS_OK)
		e = check_name(r, map, pipe != NULL ? pipe : script, out);
	if (e == SS_OK)
		e = share_arguments(r, out);
	if (e != SS_OK)
		return e;
	spread_optional(out);
	return make_parts(r, out);
}

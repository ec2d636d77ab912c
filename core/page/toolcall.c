/* SPDX-License-Identifier: MIT */
#include "page/toolcall.h"

#include <stdio.h>

/* -------------------------------------------------------------- arguments -- */

static bool
is_taken(const struct spec *spec, const struct argument *a)
{
	if (strcmp(a->name, TOOLCALL_ARGS) == 0 ||
		strcmp(a->name, TOOLCALL_ENV) == 0 ||
		strcmp(a->name, TOOLCALL_STDIN) == 0 ||
		(spec_has_parts(spec) && strcmp(a->name, TOOLCALL_NEXT) == 0) ||
		strlen(a->name) > TOOLCALL_PROPERTY_MAX)
		return true;
	for (size_t k = 0; k < a->index; k++)
		if (spec->arguments[k]->name != NULL &&
			strcmp(spec->arguments[k]->name, a->name) == 0)
			return true;
	return false;
}

/* Does the author give this name to an argument? */
static bool
is_given(const struct spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->argument_count; i++)
		if (spec->arguments[i]->name != NULL &&
			strcmp(spec->arguments[i]->name, name) == 0)
			return true;
	return false;
}

void
toolcall_property(const struct spec *spec, const struct argument *a,
	char out[static TOOLCALL_PROPERTY_MAX + 1])
{
	if (a->name != NULL && !is_taken(spec, a)) {
		strcpy(out, a->name);
		return;
	}
	snprintf(out, TOOLCALL_PROPERTY_MAX, "arg%zu", a->index + 1);
	/* The author may have named another argument "arg2". */
	while (is_given(spec, out) && strlen(out) < TOOLCALL_PROPERTY_MAX)
		strcat(out, "_");
}

const struct argument *
toolcall_argument(const struct spec *spec, const char *name)
{
	char own[TOOLCALL_PROPERTY_MAX + 1];

	for (size_t i = 0; i < spec->argument_count; i++) {
		toolcall_property(spec, spec->arguments[i], own);
		if (strcmp(own, name) == 0)
			return spec->arguments[i];
	}
	return NULL;
}

enum ss_err
toolcall_hint(const struct spec *spec, struct ss_error *err)
{
	char name[TOOLCALL_PROPERTY_MAX + 1];
	struct buf b = BUF_INIT(1024);

	if (err == NULL)
		return SS_BAD_REQUEST;
	spec_rule(spec, NULL, err);
	for (size_t i = 0; i < spec->argument_count; i++) {
		toolcall_property(spec, spec->arguments[i], name);
		buf_printf(&b, "%s%s", b.len > 0 ? ", " : "", name);
	}
	if (!spec->locked)
		buf_printf(&b, "%s" TOOLCALL_ARGS " (a list of words)",
			b.len > 0 ? ", " : "");
	if (spec->takes_stdin)
		buf_printf(&b, "%s" TOOLCALL_STDIN, b.len > 0 ? ", " : "");
	if (spec_has_parts(spec))
		buf_printf(&b, "%s" TOOLCALL_NEXT, b.len > 0 ? ", " : "");
	if (b.len > 0)
		error_hint(err, "this tool takes %.*s", (int)b.len, b.data);
	else
		error_hint(err, "this tool takes no arguments");
	if (b.failed)
		error_memory(err);
	buf_release(&b);
	return err->code;
}

static const struct proto_argument *
find_argument(const struct proto_argument *args, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(args[i].name, name) == 0)
			return &args[i];
	return NULL;
}

static const char *
kind_found(const struct proto_argument *a)
{
	switch (a->kind) {
	case PROTO_TEXT: return "a string";
	case PROTO_LIST: return "an array";
	case PROTO_MAP: return "an object";
	case PROTO_NUMBER:
	case PROTO_BOOL:
	case PROTO_OTHER: return a->found;
	}
	return "something else";
}

static enum ss_err
wrong_kind(const struct spec *spec, const struct proto_argument *a,
	const char *wanted, struct ss_error *err)
{
	error_set(err, SS_BAD_REQUEST,
		"the argument \"%.64s\" must be %s: it is %s", a->name, wanted,
		kind_found(a));
	return toolcall_hint(spec, err);
}

/* Refuses an argument that the tool does not have. */
static enum ss_err
check_known(const struct spec *spec, const struct proto_argument *args,
	size_t count, struct ss_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *given = args[i].name;
		bool known = strcmp(given, TOOLCALL_ENV) == 0 ||
			(!spec->locked && strcmp(given, TOOLCALL_ARGS) == 0) ||
			(spec->takes_stdin &&
				strcmp(given, TOOLCALL_STDIN) == 0) ||
			(spec_has_parts(spec) &&
				strcmp(given, TOOLCALL_NEXT) == 0);

		if (known || toolcall_argument(spec, given) != NULL)
			continue;
		error_set(err, SS_BAD_REQUEST, "there is no argument \"%.*s\"",
			(int)utf8_cut(given, strlen(given), 64), given);
		return toolcall_hint(spec, err);
	}
	return SS_OK;
}

/* Numbers and booleans of JSON are taken where the argument has such a type. */
static bool
takes_kind(const struct argument *a, enum proto_kind kind)
{
	bool number = a->type == ARGUMENT_INTEGER || a->type == ARGUMENT_NUMBER;

	switch (kind) {
	case PROTO_TEXT: return true;
	case PROTO_NUMBER: return number || a->type == ARGUMENT_ENUM;
	case PROTO_BOOL:
		return a->type == ARGUMENT_BOOLEAN || a->type == ARGUMENT_ENUM;
	case PROTO_LIST:
	case PROTO_MAP:
	case PROTO_OTHER: return false;
	}
	return false;
}

static const char *
kind_wanted(const struct argument *a)
{
	if (a->type == ARGUMENT_INTEGER || a->type == ARGUMENT_NUMBER)
		return "a number";
	return a->type == ARGUMENT_BOOLEAN ? "a boolean" : "a string";
}

static enum ss_err
read_values(const struct spec *spec, const struct proto_argument *args,
	size_t count, struct given *out, struct ss_error *err)
{
	for (size_t i = 0; i < spec->argument_count; i++) {
		const struct argument *a = spec->arguments[i];
		char name[TOOLCALL_PROPERTY_MAX + 1];
		const struct proto_argument *given;

		toolcall_property(spec, a, name);
		given = find_argument(args, count, name);
		if (given == NULL)
			continue;
		if (!takes_kind(a, given->kind))
			return wrong_kind(spec, given, kind_wanted(a), err);
		out->values[i] = given->text;
	}
	return SS_OK;
}

static enum ss_err
read_extra(const struct spec *spec, const struct proto_argument *a,
	struct given *out, struct ss_error *err)
{
	if (a == NULL)
		return SS_OK;
	if (a->kind != PROTO_LIST)
		return wrong_kind(spec, a, "an array of strings", err);
	out->extra = a->items;
	out->extra_count = a->item_count;
	return SS_OK;
}

static enum ss_err
read_stdin(const struct spec *spec, const struct proto_argument *a,
	struct toolcall *out, struct ss_error *err)
{
	if (a == NULL || !spec->takes_stdin)
		return SS_OK;
	if (a->kind != PROTO_TEXT)
		return wrong_kind(spec, a, "a string", err);
	out->has_stdin = true;
	out->stdin_text = a->text;
	return SS_OK;
}

static enum ss_err
read_next(const struct spec *spec, const struct proto_argument *a,
	struct toolcall *out, struct ss_error *err)
{
	if (a == NULL || !spec_has_parts(spec))
		return SS_OK;
	if (a->kind != PROTO_TEXT)
		return wrong_kind(spec, a, "a string", err);
	out->next = a->text.data;
	return SS_OK;
}

static enum ss_err
read_env(const struct spec *spec, const struct proto_argument *a,
	struct toolcall *out, struct ss_error *err)
{
	if (a == NULL)
		return SS_OK;
	if (a->kind != PROTO_MAP)
		return wrong_kind(spec, a, "an object of strings", err);
	out->env = a->pairs;
	out->env_count = a->pair_count;
	return SS_OK;
}

enum ss_err
toolcall_read(struct arena *arena, const struct spec *spec,
	const struct proto_argument *args, size_t count, struct toolcall *out,
	struct ss_error *err)
{
	enum ss_err code = check_known(spec, args, count, err);

	*out = (struct toolcall){ 0 };
	if (code == SS_OK && !given_init(&out->given, spec, arena))
		code = error_memory(err);
	if (code == SS_OK)
		code = read_values(spec, args, count, &out->given, err);
	if (code == SS_OK)
		code = read_extra(spec,
			find_argument(args, count, TOOLCALL_ARGS), &out->given,
			err);
	if (code == SS_OK)
		code = read_env(spec, find_argument(args, count, TOOLCALL_ENV),
			out, err);
	if (code == SS_OK)
		code = read_stdin(spec,
			find_argument(args, count, TOOLCALL_STDIN), out, err);
	if (code == SS_OK)
		code = read_next(spec,
			find_argument(args, count, TOOLCALL_NEXT), out, err);
	return code;
}

/* SPDX-License-Identifier: MIT */
#include "page/env_check.h"

#include "page/interpreter.h"

enum ss_err
env_check_list(const struct name_list *list, struct node_place *place,
	struct ss_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->names[i];
		size_t len = strlen(name);
		bool named = env_is_name(name, len);

		if (named && env_is_allowed(name))
			continue;
		error_set(err, SS_BAD_FRONTMATTER,
			"line %u, column %u: found \"%.*s\" in env, expected "
			"%s",
			list->line, list->column, (int)utf8_cut(name, len, 64),
			name,
			named ? "a variable that a page may pass on"
			      : "the name of a variable");
		error_hint(err, "%s",
			named ? "this name belongs to the server or to the "
				"system's loader; use one of your own"
			      : "names are made of A-Z, a-z, 0-9 and _, and "
				"do not begin with a digit; no $");
		*place = (struct node_place){ list->line, list->column };
		return SS_BAD_FRONTMATTER;
	}
	return SS_OK;
}

/* Finds a name in word that rule 2 would fill in. */
static bool
finds_filled(struct ss_text word, const struct env_scope *scope,
	struct ss_text *name)
{
	for (size_t i = 0, n; i<word.len; i += n> 0 ? n : 1) {
		n = env_variable_at(word.data + i, word.len - i, name);
		if (n > 0 && !env_is_listed(scope, *name) &&
			env_server_value(scope, *name) != NULL)
			return true;
	}
	return false;
}

static enum ss_err
refuse_filled(
	const struct part *part, struct ss_text name, struct ss_error *err)
{
	int len = (int)(name.len < 64 ? name.len : 64);

	error_set(err, SS_BAD_FRONTMATTER,
		"line %u, column %u: found $%.*s inside a script, expected a "
		"name that env: lists",
		part->line, part->column, len, name.data);
	error_hint(err,
		"add %.*s to env:, so that the script reads it from its "
		"environment instead of holding its value",
		len, name.data);
	return SS_BAD_FRONTMATTER;
}

/* Values of these types cannot end the text around them. */
static bool
is_harmless(const struct part *part)
{
	for (size_t i = 0; i < part->piece_count; i++) {
		const struct argument *a = part->pieces[i].argument;

		if (a != NULL &&
			(a->type == ARGUMENT_WORD || a->type == ARGUMENT_TEXT ||
				a->type == ARGUMENT_PATH))
			return false;
	}
	return true;
}

static enum ss_err
refuse_inside(
	const struct part *part, struct node_place *place, struct ss_error *err)
{
	error_set(err, SS_BAD_FRONTMATTER,
		"line %u, column %u: found an argument inside a script, "
		"expected it as a word after the script",
		part->line, part->column);
	error_hint(err,
		"an interpreter would read the value as its own text; in sh "
		"write: [sh, -c, 'grep -e \"$1\" app.log', sh, {q}, ;]");
	*place = (struct node_place){ part->line, part->column };
	return SS_BAD_FRONTMATTER;
}

/*
 * After an interpreter, neither a variable nor an argument may be filled into
 * an option that takes a script, or into the word after it.  An interpreter
 * after a wrapper (env, timeout) and one that the agent names count too.  An
 * option -e of the script's own is refused as well: listing the name gives the
 * same word.
 */
enum ss_err
env_check_spec(const struct spec *spec, const struct env_scope *scope,
	struct node_place *place, struct ss_error *err)
{
	struct env_scope narrowed = *scope;
	struct interpreter_scan scan = { 0 };
	struct ss_text name;

	narrowed.tool = &spec->env;
	for (size_t i = 0; i < spec->part_count; i++) {
		const struct part *part = &spec->parts[i];

		if (interpreter_next(&scan, part) == INTERPRETER_NONE)
			continue;
		if (!is_harmless(part))
			return refuse_inside(part, place, err);
		if (!finds_filled(part->text, &narrowed, &name))
			continue;
		*place = (struct node_place){ part->line, part->column };
		return refuse_filled(part, name, err);
	}
	return SS_OK;
}

static bool
is_granted(const struct env_grant *grant, struct ss_text name)
{
	for (size_t i = 0; !grant->any && i < grant->count; i++)
		if (text_is(name, grant->names[i]))
			return true;
	return grant->any;
}

static enum ss_err
refuse_grant(struct ss_text name, const struct node_place *place,
	struct ss_error *err)
{
	error_set(err, SS_CAPABILITY_REFUSED,
		"line %u, column %u: env: %.*s is more than this server grants",
		place->line, place->column,
		(int)utf8_cut(name.data, name.len, 64), name.data);
	error_hint(
		err, "take it out, or have the operator add it to [grant] env");
	error_rule(err, place->line, "env: %.*s", (int)name.len, name.data);
	error_setting(err, "grant.env", "+%.*s", (int)name.len, name.data);
	return SS_CAPABILITY_REFUSED;
}

enum ss_err
env_check_grant(const struct env_scope *scope, const struct env_grant *grant,
	struct node_place *place, struct ss_error *err)
{
	for (size_t i = 0; i < scope->page->count; i++) {
		struct ss_text name = text_of(scope->page->names[i]);

		if (is_granted(grant, name))
			continue;
		*place = (struct node_place){ scope->page->line,
			scope->page->column };
		return refuse_grant(name, place, err);
	}
	return SS_OK;
}

enum ss_err
env_check_spec_grant(const struct spec *spec, const struct env_scope *scope,
	const struct env_grant *grant, struct node_place *place,
	struct ss_error *err)
{
	struct env_scope narrowed = *scope;
	struct ss_text word, name;

	narrowed.tool = &spec->env;
	for (size_t i = 0; i < spec->part_count && !grant->any; i++) {
		const struct part *part = &spec->parts[i];

		if (part->kind != PART_TEXT)
			continue;
		for (word = part->text; finds_filled(word, &narrowed, &name);
			word.len -= (size_t)(name.data - word.data),
		    word.data = name.data) {
			if (is_granted(grant, name))
				continue;
			*place =
				(struct node_place){ part->line, part->column };
			return refuse_grant(name, place, err);
		}
	}
	return SS_OK;
}

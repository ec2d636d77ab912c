/* SPDX-License-Identifier: MIT */
#include "page/ask.h"

#define NAME_MAX_BYTES 64

static bool
is_name(const char *s)
{
	size_t n = strspn(s,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_-");

	return n <= NAME_MAX_BYTES && s[n] == '\0' &&
		strcmp(s, ASK_CONFIRM) != 0;
}

static enum ss_err
need_key(const struct reading *r, const struct node *map, const char *key,
	const struct node **out)
{
	*out = node_member(map, key);
	return *out != NULL ? SS_OK
			    : value_refuse_found(r, map, "a form without a key",
				      "name, message and arguments",
				      "add %s: to this form", key);
}

/* Refuses a second form of one name, and an argument that two forms ask for. */
static enum ss_err
check_once(const struct reading *r, const struct node *map,
	const struct ask *asks, const struct ask *form)
{
	for (const struct ask *a = asks; a < form; a++)
		if (strcmp(a->name, form->name) == 0)
			return value_refuse(r, node_member(map, "name"),
				"another name for each form",
				"an earlier form has this name");
	for (size_t i = 0; i < form->arguments.count; i++) {
		const char *name = form->arguments.names[i];
		const struct name_list before = {
			.names = form->arguments.names, .count = i
		};
		bool twice = name_list_has(&before, text_of(name));

		for (const struct ask *a = asks; a < form; a++)
			twice |= name_list_has(&a->arguments, text_of(name));
		if (twice)
			return value_refuse(r, node_member(map, "arguments"),
				"each argument once",
				"\"%.*s\" is asked for twice",
				(int)utf8_cut(name, strlen(name), 100), name);
	}
	return SS_OK;
}

/* Whom it asks; the message may lack only where nobody reads it. */
static enum ss_err
parse_from(const struct reading *r, const struct node *map, struct ask *out)
{
	static const char *const names[] = { [ASK_PERSON] = "person",
		[ASK_MODEL] = "model",
		[ASK_ROOTS] = "roots" };
	const struct node *from = node_member(map, "from");
	const char *text = names[ASK_PERSON];
	enum ss_err e = from != NULL ? value_text(r, from, &text) : SS_OK;

	if (e != SS_OK)
		return e;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(text, names[i]) == 0) {
			out->from = (enum ask_from)i;
			return SS_OK;
		}
	return value_refuse(r, from, "person, model or roots",
		"person is asked by a form, model answers a message, roots "
		"are the client's directories");
}

static enum ss_err
check_arguments(
	const struct reading *r, const struct node *list, const struct ask *ask)
{
	if (ask->arguments.count == 0)
		return value_refuse(r, list, "at least one argument",
			"name the arguments that the form asks for");
	if (ask->from != ASK_PERSON && ask->arguments.count > 1)
		return value_refuse(r, list, "one argument",
			"an answer of a model, and roots, are one text");
	return SS_OK;
}

static enum ss_err
parse_form(const struct reading *r, const struct node *map,
	const struct ask *asks, struct ask *out)
{
	static const char *const keys[] = { "name", "from", "message",
		"arguments" };
	const struct node *name, *message = NULL, *arguments;
	enum ss_err e = value_untagged(r, map);

	*out = (struct ask){
		.message = "", .line = map->line, .column = map->column
	};
	if (e == SS_OK && map->kind != NODE_MAP)
		return value_refuse(r, map, "a form: a mapping",
			"write - { name: who, message: Who is it?, "
			"arguments: [who] }");
	if (e != SS_OK ||
		(e = value_keys(r, map, keys, ARRAY_LEN(keys),
			 "a key of a form (name, from, message, arguments)")) !=
			SS_OK ||
		(e = need_key(r, map, "name", &name)) != SS_OK ||
		(e = parse_from(r, map, out)) != SS_OK ||
		(out->from != ASK_ROOTS &&
			(e = need_key(r, map, "message", &message)) != SS_OK) ||
		(e = need_key(r, map, "arguments", &arguments)) != SS_OK ||
		(e = value_text(r, name, &out->name)) != SS_OK ||
		(out->from != ASK_ROOTS &&
			(e = value_text(r, message, &out->message)) != SS_OK) ||
		(e = value_names(r, arguments, &out->arguments)) != SS_OK)
		return e;
	if (!is_name(out->name))
		return value_refuse(r, name,
			"a form's name: up to 64 letters, digits, _ and -, "
			"and not " ASK_CONFIRM,
			"the name is not shown to people: the message is");
	e = check_arguments(r, arguments, out);
	return e == SS_OK ? check_once(r, map, asks, out) : e;
}

enum ss_err
ask_parse(const struct reading *r, const struct node *list,
	const struct ask **out, size_t *count)
{
	struct ask *asks;
	enum ss_err e = value_untagged(r, list);

	*out = NULL;
	*count = 0;
	if (e != SS_OK)
		return e;
	if (list->kind != NODE_LIST)
		return value_refuse(r, list, "a list of forms",
			"write - { name: who, message: Who is it?, "
			"arguments: [who] }");
	asks = arena_array(r->arena, list->count + 1, sizeof(*asks));
	if (asks == NULL)
		return error_memory(r->err);
	for (const struct node *n = list->first; n != NULL; n = n->next)
		if ((e = parse_form(r, n, asks, &asks[(*count)++])) != SS_OK) {
			*count = 0;
			return e;
		}
	*out = asks;
	return SS_OK;
}

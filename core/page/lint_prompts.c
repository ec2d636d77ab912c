/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with the prompts of a page: they are read leniently, when a
 * client of MCP asks for them, so that a slip in one takes no tool away.
 */
#include "page/ask.h"
#include "page/lint_parts.h"

static void
warn(const struct lint *l, const struct node *n, const char *hint,
	const char *message, const char *about)
{
	lint_warn(l, n->line, n->column, hint, message, about);
}

static bool
is_text(const struct node *n)
{
	return n != NULL && n->kind == NODE_STRING && n->len > 0;
}

static bool
is(const struct node *n, const char *text)
{
	return is_text(n) && strcmp(n->text, text) == 0;
}

/* The keys of a mapping, each once, and those of them that are texts. */
static void
lint_keys(const struct lint *l, const struct node *map, const char *const *keys,
	size_t count, size_t texts, const char *hint)
{
	for (const struct node *n = map->first; n != NULL; n = n->next) {
		size_t i = 0;

		while (i < count && !is(n->key, keys[i]))
			i++;
		if (i == count)
			warn(l, n->key, hint, "%s is no key here",
				is_text(n->key) ? n->key->text : "this");
		else if (node_member(map, keys[i]) != n)
			warn(l, n->key, "make one of the two",
				"%s stands twice: the first counts", keys[i]);
		else if (i < texts && !is_text(n))
			warn(l, n, "put the text in quotes",
				"%s is no text, and is passed over", keys[i]);
	}
}

/* ------------------------------------------------------------- arguments -- */

static const struct node *
argument_name(const struct node *n)
{
	if (n->kind == NODE_MAP)
		n = node_member(n, "name");
	return is_text(n) ? n : NULL;
}

/* The argument of that name; before: none from this one on. */
static const struct node *
argument(const struct node *prompt, struct ss_text name,
	const struct node *before)
{
	const struct node *list = node_member(prompt, "arguments");
	const struct node *n =
		list != NULL && list->kind == NODE_LIST ? list->first : NULL;

	for (; n != NULL && n != before; n = n->next)
		if (argument_name(n) != NULL &&
			text_is(name, argument_name(n)->text))
			return n;
	return NULL;
}

static void
lint_argument(
	const struct lint *l, const struct node *prompt, const struct node *n)
{
	static const char *const keys[] = { "name", "description", "required" };
	const struct node *name = argument_name(n);
	const struct node *required = node_member(n, "required");

	if (n->kind == NODE_MAP)
		lint_keys(l, n, keys, ARRAY_LEN(keys), 2,
			"an argument has name, description and required");
	if (name == NULL)
		warn(l, n, "write a name, or { name: N, required: true }",
			"%s without a name is passed over", "an argument");
	else if (argument(prompt, text_of(name->text), n) != NULL)
		warn(l, n, "give it another name",
			"the argument %s stands twice", name->text);
	if (required != NULL && required->kind != NODE_BOOL &&
		!(required->plain &&
			(is(required, "true") || is(required, "false"))))
		warn(l, required, "write required: true",
			"%s is neither true nor false: the argument is "
			"optional",
			"required");
}

static void
lint_arguments(const struct lint *l, const struct node *prompt)
{
	const struct node *list = node_member(prompt, "arguments");

	if (list == NULL)
		return;
	if (list->kind != NODE_LIST)
		warn(l, list, "write arguments: [one, two]",
			"arguments is %s: the prompt has none",
			node_kind_name(list));
	else
		for (const struct node *n = list->first; n != NULL; n = n->next)
			lint_argument(l, prompt, n);
}

/* ----------------------------------------------------------------- texts -- */

/* An identifier in braces at t; its length with them, or 0. */
static size_t
placeholder(struct ss_text t)
{
	static const char name[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz_0123456789";
	size_t n = 1;

	while (n < t.len && t.data[n] != '\0' && strchr(name, t.data[n]))
		n++;
	return n > 1 && n < t.len && t.data[n] == '}' &&
			(t.data[1] < '0' || t.data[1] > '9')
		? n + 1
		: 0;
}

/* Every {word} that is no argument. */
static void
lint_text(const struct lint *l, const struct node *prompt, const struct node *n)
{
	char shown[64];

	for (size_t i = 0, used; is_text(n) && i < n->len; i += used) {
		struct ss_text rest = { n->text + i, n->len - i }, name;

		used = rest.data[0] == '{' ? placeholder(rest) : 0;
		if (used == 0) {
			used = 1;
			continue;
		}
		name = (struct ss_text){ rest.data + 1, used - 2 };
		if (argument(prompt, name, NULL) != NULL ||
			used >= sizeof(shown))
			continue;
		memcpy(shown, rest.data, used);
		shown[used] = '\0';
		warn(l, n, "list it under arguments:",
			"%s is no argument of this prompt, and stays text",
			shown);
	}
}

static void
lint_message(
	const struct lint *l, const struct node *prompt, const struct node *n)
{
	static const char *const keys[] = { "role", "text", "file" };
	const struct node *role = node_member(n, "role");
	const struct node *text = node_member(n, "text");
	const struct node *file = node_member(n, "file");

	if (n->kind != NODE_MAP || (!is_text(text) && !is_text(file))) {
		warn(l, n, "write - { role: user, text: ... }",
			"%s without text and file is passed over", "a message");
		return;
	}
	lint_keys(l, n, keys, ARRAY_LEN(keys), ARRAY_LEN(keys),
		"a message has role, and text or file");
	if (is_text(role) && !is(role, "user") && !is(role, "assistant"))
		warn(l, role, "a role is user or assistant",
			"the role %s is not known: it becomes user",
			role->text);
	if (is_text(text) && is_text(file))
		warn(l, file, "make two messages of it",
			"%s is not used beside text", "file");
	lint_text(l, prompt, text);
	lint_text(l, prompt, file);
}

static void
lint_messages(const struct lint *l, const struct node *prompt)
{
	const struct node *list = node_member(prompt, "messages");
	const struct node *text = node_member(prompt, "text");

	if (list == NULL || list->kind != NODE_LIST)
		lint_text(l, prompt, text);
	if (list == NULL)
		return;
	if (list->kind != NODE_LIST) {
		warn(l, list, "write - { role: user, text: ... }",
			"messages is %s, and is passed over",
			node_kind_name(list));
		return;
	}
	if (text != NULL)
		warn(l, text, "make it the first of the messages",
			"%s is not used beside messages", "text");
	for (const struct node *n = list->first; n != NULL; n = n->next)
		lint_message(l, prompt, n);
}

/* ----------------------------------------------------------------- forms -- */

static void
lint_asks(const struct lint *l, const struct node *prompt)
{
	const struct node *list = node_member(prompt, "ask");
	struct node_place place = { 0 };
	struct ss_error err = { 0 };
	struct arena arena;
	const struct reading r = { &arena, &place, &err };
	const struct ask *asks = NULL;
	size_t count = 0;

	if (list == NULL)
		return;
	arena_init(&arena, 0);
	if (ask_parse(&r, list, &asks, &count) != SS_OK)
		lint_warn(l, place.line, place.column, err.hint, "%s",
			err.message);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < asks[i].arguments.count; k++) {
			const char *name = asks[i].arguments.names[k];

			if (argument(prompt, text_of(name), NULL) == NULL)
				lint_warn(l, asks[i].arguments.line,
					asks[i].arguments.column,
					"list it under arguments:",
					"%s is no argument of this prompt, and "
					"is not asked for",
					name);
		}
	arena_release(&arena);
}

/* --------------------------------------------------------------- prompts -- */

static bool
is_named_before(const struct node *list, const struct node *prompt)
{
	const char *name = node_member(prompt, "name")->text;

	for (const struct node *n = list->first; n != prompt; n = n->next)
		if (is(node_member(n, "name"), name))
			return true;
	return false;
}

static void
lint_prompt(const struct lint *l, const struct node *list, const struct node *n)
{
	static const char *const keys[] = { "name", "title", "description",
		"text", "arguments", "messages", "ask" };

	if (!is_text(node_member(n, "name"))) {
		warn(l, n, "write - { name: N, text: ... }",
			"%s without a name is not offered", "a prompt");
		return;
	}
	if (is_named_before(list, n))
		warn(l, n, "give it another name",
			"the prompt %s stands twice: the first is offered",
			node_member(n, "name")->text);
	lint_keys(l, n, keys, ARRAY_LEN(keys), 4,
		"a prompt has name, title, description, arguments, ask, and "
		"text or messages");
	lint_arguments(l, n);
	lint_messages(l, n);
	lint_asks(l, n);
}

void
lint_prompts(const struct lint *l)
{
	const struct node *list = l->front->prompts;

	if (list == NULL)
		return;
	if (list->kind != NODE_LIST) {
		warn(l, list, "write - { name: N, text: ... }",
			"prompts is %s: none is offered", node_kind_name(list));
		return;
	}
	for (const struct node *n = list->first; n != NULL; n = n->next)
		lint_prompt(l, list, n);
}

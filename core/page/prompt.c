/* SPDX-License-Identifier: MIT */
#include "page/prompt.h"

#include <stdarg.h>
#include <stdio.h>

#include "page/near.h"

#define LIST_HINT "write - { name: N, text: ... }"
#define MESSAGE_HINT "write - { role: user, text: ... }"

struct parse {
	const struct reading *r;
	const struct prompt_listener *listener; /* NULL: not reported */
};

static void report(const struct parse *p, const struct node *at,
	const char *hint, const char *message, ...) PRINTF_LIKE(4, 5);

static void
report(const struct parse *p, const struct node *at, const char *hint,
	const char *message, ...)
{
	const struct node_place place = { at->line, at->column };
	char text[256];
	va_list args;
	int n;

	if (p->listener == NULL)
		return;
	va_start(args, message);
	n = vsnprintf(text, sizeof(text), message, args);
	va_end(args);
	if (n >= (int)sizeof(text))
		text[utf8_cut(text, sizeof(text) - 1, sizeof(text) - 2)] = '\0';
	p->listener->report(p->listener->ctx, &place, text, hint);
}

static bool
is_text(const struct node *n)
{
	return n != NULL && n->kind == NODE_STRING && n->len > 0;
}

static bool
text_equals(const struct node *n, const char *text)
{
	return is_text(n) && strcmp(n->text, text) == 0;
}

static const char *
text_at(const struct node *map, const char *key)
{
	const struct node *n = node_member(map, key);

	return is_text(n) ? n->text : NULL;
}

static void
report_unknown_key(const struct parse *p, const struct node *key,
	const char *const *keys, const char *hint)
{
	const char *meant;
	size_t count = 0;
	char text[64];

	while (keys[count] != NULL)
		count++;
	meant = near_key((struct ss_text){ key->text, key->len }, keys, count);
	snprintf(text, sizeof(text), "did you mean %s?", meant ? meant : "");
	report(p, key, meant != NULL ? text : hint, "%s is no key here",
		is_text(key) ? key->text : "this");
}

/* The keys of a mapping, each once; the first `texts` of them are texts. */
static void
check_keys(const struct parse *p, const struct node *map,
	const char *const *keys, size_t texts, const char *hint)
{
	for (const struct node *n = map->first; n != NULL; n = n->next) {
		size_t i = 0;

		while (keys[i] != NULL && !text_equals(n->key, keys[i]))
			i++;
		if (keys[i] == NULL)
			report_unknown_key(p, n->key, keys, hint);
		else if (node_member(map, keys[i]) != n)
			report(p, n->key, "make one of the two",
				"%s is given twice: the first counts", keys[i]);
		else if (i < texts && !is_text(n))
			report(p, n, "put the text in quotes",
				"%s is no text, and is passed over", keys[i]);
	}
}

/* ------------------------------------------------------------- arguments -- */

const struct prompt_argument *
prompt_argument_find(const struct prompt *p, struct ss_text name)
{
	for (size_t i = 0; i < p->argument_count; i++)
		if (text_is(name, p->arguments[i].name))
			return &p->arguments[i];
	return NULL;
}

static void
parse_argument(const struct parse *p, const struct node *n, struct prompt *out)
{
	static const char *const keys[] = { "name", "description", "required",
		NULL };
	const struct node *required = node_member(n, "required");
	struct prompt_argument *a = &out->arguments[out->argument_count];
	bool is_map = n->kind == NODE_MAP;

	if (is_map)
		check_keys(p, n, keys, 2,
			"an argument has name, description and required");
	*a = (struct prompt_argument){ .name = is_map ? text_at(n, "name")
			: is_text(n)                  ? n->text
						      : NULL,
		.description = text_at(n, "description") };
	if (required != NULL && !value_is_bool(required, &a->required))
		report(p, required, "write required: true",
			"required is neither true nor false: the argument is "
			"optional");
	if (a->name == NULL)
		report(p, n, "write a name, or { name: N, required: true }",
			"an argument without a name is passed over");
	else if (prompt_argument_find(out, text_of(a->name)) != NULL)
		report(p, n, "give it another name",
			"the argument %s is listed twice", a->name);
	else
		out->argument_count++;
}

static enum ss_err
parse_arguments(
	const struct parse *p, const struct node *list, struct prompt *out)
{
	if (list == NULL)
		return SS_OK;
	if (list->kind != NODE_LIST) {
		report(p, list, "write arguments: [one, two]",
			"arguments is %s: the prompt has none",
			node_kind_name(list));
		return SS_OK;
	}
	out->arguments = arena_array(
		p->r->arena, list->count + 1, sizeof(*out->arguments));
	if (out->arguments == NULL)
		return error_memory(p->r->err);
	for (const struct node *n = list->first; n != NULL; n = n->next)
		parse_argument(p, n, out);
	return SS_OK;
}

/* -------------------------------------------------------------- messages -- */

/* An identifier in braces at the start of t; its length with them, or 0. */
static size_t
placeholder_len(struct ss_text t)
{
	static const char name[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz_0123456789";
	size_t n = 1;

	if (t.data[0] != '{')
		return 0;
	while (n < t.len && t.data[n] != '\0' && strchr(name, t.data[n]))
		n++;
	return n > 1 && n < t.len && t.data[n] == '}' &&
			(t.data[1] < '0' || t.data[1] > '9')
		? n + 1
		: 0;
}

/* Reports every {word} that is no argument. */
static void
check_placeholders(const struct parse *p, const struct prompt *prompt,
	const struct node *n)
{
	char shown[64];

	for (size_t i = 0, used; is_text(n) && i < n->len; i += used) {
		struct ss_text rest = { n->text + i, n->len - i }, name;

		used = placeholder_len(rest);
		if (used == 0) {
			used = 1;
			continue;
		}
		name = (struct ss_text){ rest.data + 1, used - 2 };
		if (prompt_argument_find(prompt, name) != NULL ||
			used >= sizeof(shown))
			continue;
		memcpy(shown, rest.data, used);
		shown[used] = '\0';
		report(p, n, "list it under arguments:",
			"%s is no argument of this prompt, and stays text",
			shown);
	}
}

static void
parse_message(const struct parse *p, const struct node *n, struct prompt *out)
{
	static const char *const keys[] = { "role", "text", "file", NULL };
	const struct node *role = node_member(n, "role");
	const struct node *text = node_member(n, "text");
	const struct node *file = node_member(n, "file");

	if (!is_text(text) && !is_text(file)) {
		report(p, n, MESSAGE_HINT,
			"a message without text and file is passed over");
		return;
	}
	check_keys(p, n, keys, 3, "a message has role, and text or file");
	if (is_text(role) && !text_equals(role, "user") &&
		!text_equals(role, "assistant"))
		report(p, role, "a role is user or assistant",
			"the role %s is not known: it becomes user",
			role->text);
	if (is_text(text) && is_text(file))
		report(p, file, "make two messages of it",
			"file is not used with text");
	check_placeholders(p, out, text);
	check_placeholders(p, out, file);
	out->messages[out->message_count++] = (struct prompt_message){
		.role = text_equals(role, "assistant") ? "assistant" : "user",
		.text = is_text(text) ? text->text : NULL,
		.file = is_text(text) ? NULL : file->text
	};
}

/* One message of the user's: `text`, or else the page. */
static enum ss_err
parse_text(const struct parse *p, const struct node *text, struct prompt *out)
{
	out->is_page = !is_text(text);
	if (out->is_page)
		return SS_OK;
	check_placeholders(p, out, text);
	out->messages = arena_alloc(p->r->arena, sizeof(*out->messages));
	if (out->messages == NULL)
		return error_memory(p->r->err);
	out->messages[out->message_count++] =
		(struct prompt_message){ .role = "user", .text = text->text };
	return SS_OK;
}

static enum ss_err
parse_messages(
	const struct parse *p, const struct node *map, struct prompt *out)
{
	const struct node *list = node_member(map, "messages");
	const struct node *text = node_member(map, "text");

	if (list != NULL && list->kind != NODE_LIST)
		report(p, list, MESSAGE_HINT,
			"messages is %s, and is passed over",
			node_kind_name(list));
	if (list == NULL || list->kind != NODE_LIST)
		return parse_text(p, text, out);
	if (text != NULL)
		report(p, text, "make it the first of the messages",
			"text is not used with messages");
	out->messages = arena_array(
		p->r->arena, list->count + 1, sizeof(*out->messages));
	if (out->messages == NULL)
		return error_memory(p->r->err);
	for (const struct node *n = list->first; n != NULL; n = n->next)
		parse_message(p, n, out);
	return SS_OK;
}

static bool
is_used(const struct prompt_argument *a, const char *text)
{
	struct ss_text rest = text_of(text);
	size_t n;

	for (; rest.len > 0; rest.data++, rest.len--) {
		n = placeholder_len(rest);
		if (n > 0 &&
			text_is((struct ss_text){ rest.data + 1, n - 2 },
				a->name))
			return true;
	}
	return false;
}

/* Reports the arguments that no message of the prompt has. */
static void
check_uses(const struct parse *p, const struct node *map,
	const struct prompt *prompt)
{
	for (size_t i = 0; i < prompt->argument_count; i++) {
		const struct prompt_argument *a = &prompt->arguments[i];
		bool used = prompt->message_count == 0;

		for (size_t k = 0; !used && k < prompt->message_count; k++)
			used = is_used(a, prompt->messages[k].text) ||
				is_used(a, prompt->messages[k].file);
		if (!used)
			report(p, node_member(map, "arguments"),
				"write {name} where its value belongs",
				"the argument %s is used nowhere", a->name);
	}
}

/* ----------------------------------------------------------------- forms -- */

/* Keeps the error of the forms: a call of the prompt answers with it. */
static enum ss_err
keep_ask_error(const struct parse *p, const struct ss_error *err,
	const struct node_place *at, struct prompt *out)
{
	struct ss_error *kept = arena_alloc(p->r->arena, sizeof(*kept));

	if (kept == NULL || err->code == SS_INTERNAL)
		return error_memory(p->r->err);
	*kept = *err;
	out->ask_error = kept;
	if (p->listener != NULL)
		p->listener->report(
			p->listener->ctx, at, err->message, err->hint);
	return SS_OK;
}

static enum ss_err
parse_asks(const struct parse *p, const struct node *list, struct prompt *out)
{
	struct node_place place = { 0 };
	struct ss_error err = { 0 };
	const struct reading r = {
		.arena = p->r->arena, .place = &place, .err = &err
	};

	if (list == NULL)
		return SS_OK;
	if (ask_parse(&r, list, &out->asks, &out->ask_count) != SS_OK)
		return keep_ask_error(p, &err, &place, out);
	for (size_t i = 0; i < out->ask_count; i++) {
		const struct name_list *asked = &out->asks[i].arguments;
		const struct node at = { .line = asked->line,
			.column = asked->column };

		for (size_t k = 0; k < asked->count; k++)
			if (prompt_argument_find(
				    out, text_of(asked->names[k])) == NULL)
				report(p, &at, "list it under arguments:",
					"%s is no argument of this prompt, and "
					"is not asked for",
					asked->names[k]);
	}
	return SS_OK;
}

/* --------------------------------------------------------------- prompts -- */

const struct prompt *
prompt_find(const struct prompt *prompts, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(prompts[i].name, name) == 0)
			return &prompts[i];
	return NULL;
}

/* out->name stays NULL when there is none. */
static enum ss_err
parse_prompt(const struct parse *p, const struct node *n, struct prompt *out)
{
	static const char *const keys[] = { "name", "title", "description",
		"text", "arguments", "messages", "ask", NULL };
	enum ss_err code;

	*out = (struct prompt){ .name = text_at(n, "name"),
		.title = text_at(n, "title"),
		.description = text_at(n, "description") };
	if (out->name == NULL) {
		report(p, n, LIST_HINT,
			"a prompt without a name is not offered");
		return SS_OK;
	}
	check_keys(p, n, keys, 4,
		"a prompt has name, title, description, arguments, ask, and "
		"text or messages");
	code = parse_arguments(p, node_member(n, "arguments"), out);
	if (code == SS_OK)
		code = parse_messages(p, n, out);
	if (code == SS_OK && p->listener != NULL)
		check_uses(p, n, out);
	return code == SS_OK ? parse_asks(p, node_member(n, "ask"), out) : code;
}

enum ss_err
prompt_parse(const struct reading *r, const struct node *list,
	const struct prompt_listener *listener, struct prompt **out,
	size_t *count)
{
	const struct parse p = { r, listener };
	struct prompt *all;
	enum ss_err code = SS_OK;

	*out = NULL;
	*count = 0;
	if (list->kind != NODE_LIST) {
		report(&p, list, LIST_HINT, "prompts is %s: none is offered",
			node_kind_name(list));
		return SS_OK;
	}
	*out = all = arena_array(r->arena, list->count + 1, sizeof(*all));
	if (all == NULL)
		return error_memory(r->err);
	for (const struct node *n = list->first; code == SS_OK && n != NULL;
		n = n->next) {
		struct prompt *now = &all[*count];

		code = parse_prompt(&p, n, now);
		if (code != SS_OK || now->name == NULL)
			continue;
		if (prompt_find(all, *count, now->name) != NULL)
			report(&p, n, "give it another name",
				"the prompt %s is listed twice: the first is "
				"offered",
				now->name);
		else
			++*count;
	}
	return code;
}

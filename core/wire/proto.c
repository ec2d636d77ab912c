/* SPDX-License-Identifier: MIT */
/*
 * Requests in (statespace-protocol(7), RUNNING).  json.c checks the text before
 * json_tree.c builds its tree.
 */
#include "wire/proto.h"

#include <math.h>
#include <stdio.h>

#include "wire/json_tree.h"

#define EXAMPLE "{\"command\": [\"grep\", \"-r\", \"{word}\", \".\"], "
#define EXAMPLE_ARGS "\"args\": {\"word\": \"needle\"}}"

/* --------------------------------------------------------------- request -- */

static bool
is_boolean(const struct json_value *item)
{
	return json_is(item, JSON_TRUE) || json_is(item, JSON_FALSE);
}

static const char *
kind_name(const struct json_value *item)
{
	if (json_is(item, JSON_NULL))
		return "null";
	if (is_boolean(item))
		return "a boolean";
	if (json_is(item, JSON_NUMBER))
		return "a number";
	if (json_is(item, JSON_STRING))
		return "a string";
	return json_is(item, JSON_LIST) ? "an array" : "an object";
}

/* The member of that name; NULL also when it is null. */
static const struct json_value *
find_member(const struct json_value *object, const char *name)
{
	const struct json_value *m = json_member(object, name);

	return m == NULL || json_is(m, JSON_NULL) ? NULL : m;
}

static enum ss_err
bad_command(struct ss_error *err, const char *what)
{
	error_set(err, SS_BAD_REQUEST,
		"\"command\" must be an array of strings: %s", what);
	error_hint(err, "send " EXAMPLE EXAMPLE_ARGS);
	return SS_BAD_REQUEST;
}

static bool
copy_text(struct arena *arena, const char *text, struct ss_text *out)
{
	out->len = strlen(text);
	out->data = arena_copy(arena, text, out->len);
	return out->data != NULL;
}

/* Room for so many words. */
static enum ss_err
begin_words(struct arena *arena, size_t count, struct proto_request *out,
	struct ss_error *err)
{
	if (count == 0)
		return bad_command(err, "it is empty");
	if (count > PROTO_WORDS_MAX)
		return error_set(err, SS_COMMAND_TOO_LARGE,
			"the command has %zu words, at most %d are taken",
			count, PROTO_WORDS_MAX);
	out->words = arena_array(arena, count, sizeof(*out->words));
	return out->words != NULL ? SS_OK : error_memory(err);
}

static enum ss_err
read_words(struct arena *arena, const struct json_value *list,
	struct proto_request *out, struct ss_error *err)
{
	const struct json_value *item;
	char what[64];
	enum ss_err code;

	if (list == NULL)
		return bad_command(err, "it is missing");
	if (!json_is(list, JSON_LIST)) {
		snprintf(what, sizeof(what), "it is %s", kind_name(list));
		return bad_command(err, what);
	}
	code = begin_words(arena, list->count, out, err);
	if (code != SS_OK)
		return code;
	JSON_EACH(item, list)
	{
		size_t i = out->word_count++;

		if (!json_is(item, JSON_STRING)) {
			snprintf(what, sizeof(what), "item %zu is %s", i + 1,
				kind_name(item));
			return bad_command(err, what);
		}
		if (!copy_text(arena, item->text, &out->words[i]))
			return error_memory(err);
	}
	return SS_OK;
}

/* An optional object of strings: "args" or "env". */
static enum ss_err
read_pairs(struct arena *arena, const struct json_value *object,
	const char *name, struct ss_pair **out, size_t *count,
	struct ss_error *err)
{
	const struct json_value *item;

	if (object == NULL)
		return SS_OK;
	if (!json_is(object, JSON_OBJECT))
		return error_set(err, SS_BAD_REQUEST,
			"\"%s\" must be an object of strings: it is %s", name,
			kind_name(object));
	*out = arena_array(
		arena, (object != NULL ? object->count : 0), sizeof(**out));
	if (*out == NULL)
		return error_memory(err);
	JSON_EACH(item, object)
	{
		struct ss_pair *pair = &(*out)[(*count)++];
		size_t len = strlen(item->name);

		if (!json_is(item, JSON_STRING))
			return error_set(err, SS_BAD_REQUEST,
				"\"%s\" must be an object of strings: "
				"\"%.*s\" is %s",
				name, (int)utf8_cut(item->name, len, 64),
				item->name, kind_name(item));
		pair->name = arena_copy(arena, item->name, len);
		pair->value = arena_copy(arena, item->text, strlen(item->text));
		if (pair->name == NULL || pair->value == NULL)
			return error_memory(err);
	}
	return SS_OK;
}

/* ------------------------------------------------------------- tool_call -- */

#define EXAMPLE_CALL                                                           \
	"{\"tool_call\": {\"name\": \"grep\", \"arguments\": "                 \
	"{\"word\": \"needle\"}}}"

static enum ss_err
bad_call(struct ss_error *err, const char *what)
{
	error_set(err, SS_BAD_REQUEST, "\"tool_call\": %s", what);
	error_hint(err, "send " EXAMPLE_CALL);
	return SS_BAD_REQUEST;
}

/* Reads a list of texts; with any other item it is PROTO_OTHER. */
static bool
read_items(struct arena *arena, const struct json_value *list,
	struct proto_argument *out)
{
	size_t count = list->count;
	struct ss_text *items = arena_array(arena, count + 1, sizeof(*items));
	const struct json_value *item;

	out->kind = PROTO_LIST;
	out->items = items;
	if (items == NULL)
		return false;
	JSON_EACH(item, list)
	{
		if (!json_is(item, JSON_STRING)) {
			out->kind = PROTO_OTHER;
			out->found = "a list that holds more than strings";
			return true;
		}
		if (!copy_text(arena, item->text, &items[out->item_count++]))
			return false;
	}
	return true;
}

static bool
read_map(struct arena *arena, const struct json_value *map,
	struct proto_argument *out)
{
	size_t count = map->count;
	const struct json_value *item;

	out->kind = PROTO_MAP;
	out->pairs = arena_array(arena, count + 1, sizeof(*out->pairs));
	if (out->pairs == NULL)
		return false;
	JSON_EACH(item, map)
	{
		struct ss_pair *pair = &out->pairs[out->pair_count++];

		if (!json_is(item, JSON_STRING)) {
			out->kind = PROTO_OTHER;
			out->found = "an object that holds more than strings";
			return true;
		}
		pair->name = arena_copy(arena, item->name, strlen(item->name));
		pair->value = arena_copy(arena, item->text, strlen(item->text));
		if (pair->name == NULL || pair->value == NULL)
			return false;
	}
	return true;
}

/* A number or boolean as JSON writes it; anything else is PROTO_OTHER. */
static bool
read_scalar(struct arena *arena, const struct json_value *item,
	struct proto_argument *out)
{
	struct buf text = BUF_INIT(64);
	bool done;

	if (item->kind == JSON_NUMBER && isinf(item->number)) {
		out->kind = PROTO_OTHER;
		out->found = "a number that is too large";
		return true;
	}
	out->kind = item->kind == JSON_NUMBER ? PROTO_NUMBER
		: is_boolean(item)            ? PROTO_BOOL
					      : PROTO_OTHER;
	if (out->kind == PROTO_OTHER)
		return true;
	done = json_write(&text, item) &&
		copy_text(arena, text.data, &out->text);
	buf_release(&text);
	return done;
}

static bool
read_argument(struct arena *arena, const struct json_value *item,
	struct proto_argument *out)
{
	out->name = arena_copy(arena, item->name, strlen(item->name));
	if (out->name == NULL)
		return false;
	if (json_is(item, JSON_LIST))
		return read_items(arena, item, out);
	if (json_is(item, JSON_OBJECT))
		return read_map(arena, item, out);
	out->found = kind_name(item);
	if (json_is(item, JSON_STRING)) {
		out->kind = PROTO_TEXT;
		return copy_text(arena, item->text, &out->text);
	}
	return read_scalar(arena, item, out);
}

bool
proto_arguments(struct arena *arena, const struct json_value *object,
	size_t more, struct proto_argument **out, size_t *count)
{
	size_t most = (object != NULL ? object->count : 0) + more;
	const struct json_value *item;

	*count = 0;
	*out = arena_array(arena, most + 1, sizeof(**out));
	if (*out == NULL)
		return false;
	JSON_EACH(item, object)
	{
		if (!json_is(item, JSON_NULL) &&
			!read_argument(arena, item, &(*out)[(*count)++]))
			return false;
	}
	return true;
}

static enum ss_err
read_call(struct arena *arena, const struct json_value *call,
	struct proto_request *out, struct ss_error *err)
{
	const struct json_value *name = find_member(call, "name");
	const struct json_value *arguments = find_member(call, "arguments");

	if (!json_is(call, JSON_OBJECT))
		return bad_call(err, "it must be an object");
	if (!json_is(name, JSON_STRING) || name->text[0] == '\0')
		return bad_call(err, "\"name\" must be the tool's name");
	if (arguments != NULL && !json_is(arguments, JSON_OBJECT))
		return bad_call(err, "\"arguments\" must be an object");
	out->call_name = arena_copy(arena, name->text, strlen(name->text));
	if (out->call_name == NULL ||
		!proto_arguments(arena, arguments, 0, &out->call_args,
			&out->call_arg_count))
		return error_memory(err);
	return SS_OK;
}

static enum ss_err
read_what(struct arena *arena, const struct json_value *root,
	struct proto_request *out, struct ss_error *err)
{
	const struct json_value *call = find_member(root, "tool_call");

	if (call == NULL)
		return read_words(
			arena, find_member(root, "command"), out, err);
	if (find_member(root, "command") != NULL ||
		find_member(root, "args") != NULL)
		return bad_call(err,
			"send it alone: without \"command\" and "
			"\"args\"");
	return read_call(arena, call, out, err);
}

static enum ss_err
check_args(const struct ss_pair *args, size_t count, struct ss_error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (args[i].name[0] != '\0' &&
			strpbrk(args[i].name, "{}") == NULL)
			continue;
		error_set(err, SS_BAD_REQUEST,
			"a name in \"args\" is empty or holds a brace");
		error_hint(err,
			"names have no braces: send " EXAMPLE EXAMPLE_ARGS);
		return SS_BAD_REQUEST;
	}
	return SS_OK;
}

static enum ss_err
read_stdin(struct arena *arena, const struct json_value *item,
	struct proto_request *out, struct ss_error *err)
{
	if (item == NULL)
		return SS_OK;
	if (!json_is(item, JSON_STRING))
		return error_set(err, SS_BAD_REQUEST,
			"\"stdin\" must be a string: it is %s",
			kind_name(item));
	out->has_stdin = true;
	if (!copy_text(arena, item->text, &out->stdin_text))
		return error_memory(err);
	return SS_OK;
}

/* What we gave out and get back: "confirm" or "next". */
static enum ss_err
read_token(struct arena *arena, const struct json_value *root, const char *name,
	const char **out, struct ss_error *err)
{
	const struct json_value *item = find_member(root, name);
	struct ss_text token;

	if (item == NULL)
		return SS_OK;
	if (!json_is(item, JSON_STRING))
		return error_set(err, SS_BAD_REQUEST,
			"\"%s\" must be a string: it is %s", name,
			kind_name(item));
	if (!copy_text(arena, item->text, &token))
		return error_memory(err);
	*out = token.data;
	return SS_OK;
}

static enum ss_err
read_parse(const struct json_value *item, struct proto_request *out,
	struct ss_error *err)
{
	if (item != NULL && !is_boolean(item))
		return error_set(err, SS_BAD_REQUEST,
			"\"parse\" must be true or false: it is %s",
			kind_name(item));
	out->parse = item != NULL && json_is(item, JSON_TRUE);
	return SS_OK;
}

/* Other members are refused: a misspelt "commit" must not be a dry run. */
static enum ss_err
read_workspace(struct arena *arena, const struct json_value *item,
	struct proto_request *out, struct ss_error *err)
{
	const struct json_value *m;

	if (item == NULL)
		return SS_OK;
	if (!json_is(item, JSON_OBJECT))
		return error_set(err, SS_BAD_REQUEST,
			"\"workspace\" must be an object: it is %s",
			kind_name(item));
	JSON_EACH(m, item)
	{
		if (strcmp(m->name, "session") == 0 ||
			(is_boolean(m) && strcmp(m->name, "commit") == 0))
			continue;
		error_set(err, SS_BAD_REQUEST,
			"\"workspace\" has \"session\", a string, and "
			"\"commit\", true or false");
		error_hint(err, "send {\"workspace\": {\"commit\": true}}");
		return SS_BAD_REQUEST;
	}
	out->has_workspace = true;
	out->commit = json_is(json_member(item, "commit"), JSON_TRUE);
	return read_token(arena, item, "session", &out->session, err);
}

static enum ss_err
read_request(struct arena *arena, const struct json_value *root,
	struct proto_request *out, struct ss_error *err)
{
	struct ss_pair *args = NULL;
	size_t count = 0;
	enum ss_err code;

	if (!json_is(root, JSON_OBJECT)) {
		error_set(err, SS_BAD_REQUEST,
			"the body must be a JSON object: it is %s",
			kind_name(root));
		error_hint(err, "send " EXAMPLE EXAMPLE_ARGS);
		return SS_BAD_REQUEST;
	}
	code = read_what(arena, root, out, err);
	if (code == SS_OK)
		code = read_pairs(arena, find_member(root, "args"), "args",
			&args, &count, err);
	if (code == SS_OK)
		code = read_pairs(arena, find_member(root, "env"), "env",
			&out->env, &out->env_count, err);
	if (code == SS_OK)
		code = read_stdin(arena, find_member(root, "stdin"), out, err);
	if (code == SS_OK)
		code = read_token(arena, root, "confirm", &out->confirm, err);
	if (code == SS_OK)
		code = read_token(arena, root, "next", &out->next, err);
	if (code == SS_OK)
		code = read_parse(find_member(root, "parse"), out, err);
	if (code == SS_OK)
		code = read_workspace(
			arena, find_member(root, "workspace"), out, err);
	if (code == SS_OK)
		code = check_args(args, count, err);
	if (code == SS_OK)
		code = proto_fill(
			arena, out->words, out->word_count, args, count, err);
	return code;
}

enum ss_err
proto_parse(struct arena *arena, const char *text, size_t len,
	struct proto_request *out, struct ss_error *err)
{
	enum ss_err code = json_check(text, len, err);
	struct json_value *root;

	*out = (struct proto_request){ 0 };
	if (code != SS_OK) {
		if (code == SS_BAD_REQUEST)
			error_hint(err, "send " EXAMPLE EXAMPLE_ARGS);
		return code;
	}
	root = json_tree(text, len);
	if (root == NULL)
		return error_memory(err);
	code = read_request(arena, root, out, err);
	json_tree_free(root);
	return code;
}

/* ------------------------------------------------------------- no JSON -- */

static enum ss_err
copy_utf8(struct arena *arena, const char *text, struct ss_text *out,
	struct ss_error *err)
{
	*out = (struct ss_text){ 0 };
	if (!utf8_valid(text, strlen(text)))
		return error_set(err, SS_BAD_REQUEST, "a word is not UTF-8");
	return copy_text(arena, text, out) ? SS_OK : error_memory(err);
}

static enum ss_err
copy_words(struct arena *arena, const struct ss_call *call, struct ss_text *out,
	struct ss_error *err)
{
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < call->word_count; i++)
		code = copy_utf8(arena, call->words[i], &out[i], err);
	return code;
}

/* Like an object of JSON: each name once. */
static enum ss_err
copy_pairs(struct arena *arena, const struct ss_pair *pairs, size_t count,
	struct ss_pair *out, struct ss_error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct ss_text name, value;
		enum ss_err code = copy_utf8(arena, pairs[i].name, &name, err);

		for (size_t k = 0; code == SS_OK && k < i; k++)
			if (strcmp(pairs[k].name, pairs[i].name) == 0)
				return error_set(err, SS_BAD_REQUEST,
					"\"%.64s\" is given twice",
					pairs[i].name);
		if (code == SS_OK)
			code = copy_utf8(arena, pairs[i].value, &value, err);
		if (code != SS_OK)
			return code;
		out[i] = (struct ss_pair){ name.data, value.data };
	}
	return SS_OK;
}

/* The tool's arguments, and the call's words as the last one, "args". */
static enum ss_err
copy_arguments(struct arena *arena, const struct ss_call *call,
	struct proto_request *out, struct ss_error *err)
{
	size_t count = call->argument_count;
	struct ss_pair *pairs = arena_array(arena, count + 1, sizeof(*pairs));
	struct ss_text *words =
		arena_array(arena, call->word_count + 1, sizeof(*words));
	struct proto_argument *args =
		arena_array(arena, count + 1, sizeof(*args));
	enum ss_err code;

	if (pairs == NULL || words == NULL || args == NULL)
		return error_memory(err);
	code = copy_pairs(arena, call->arguments, count, pairs, err);
	if (code == SS_OK)
		code = copy_words(arena, call, words, err);
	for (size_t i = 0; code == SS_OK && i < count; i++)
		args[i] = (struct proto_argument){ .name = pairs[i].name,
			.kind = PROTO_TEXT,
			.text = text_of(pairs[i].value) };
	args[count] = (struct proto_argument){ .name = "args",
		.kind = PROTO_LIST,
		.items = words,
		.item_count = call->word_count };
	out->call_args = args;
	out->call_arg_count = count + (call->word_count > 0);
	return code;
}

/* What to run: a tool by its name, or the words of a command. */
static enum ss_err
copy_what(struct arena *arena, const struct ss_call *call,
	struct proto_request *out, struct ss_error *err)
{
	struct ss_text name;
	enum ss_err code;

	if (call->tool != NULL) {
		code = copy_utf8(arena, call->tool, &name, err);
		if (code == SS_OK && name.len == 0)
			code = bad_call(
				err, "\"name\" must be the tool's name");
		if (code == SS_OK)
			code = copy_arguments(arena, call, out, err);
		out->call_name = code == SS_OK ? name.data : NULL;
		return code;
	}
	code = begin_words(arena, call->word_count, out, err);
	if (code == SS_OK)
		code = copy_words(arena, call, out->words, err);
	out->word_count = call->word_count;
	return code;
}

enum ss_err
proto_from_words(struct arena *arena, const struct ss_call *call,
	struct proto_request *out, struct ss_error *err)
{
	enum ss_err code;

	*out = (struct proto_request){ 0 };
	code = copy_what(arena, call, out, err);
	if (code != SS_OK)
		return code;
	out->env = arena_array(arena, call->env_count + 1, sizeof(*out->env));
	if (out->env == NULL)
		return error_memory(err);
	out->env_count = call->env_count;
	code = copy_pairs(arena, call->env, call->env_count, out->env, err);
	return code == SS_OK
		? proto_fill(arena, out->words, out->word_count, NULL, 0, err)
		: code;
}

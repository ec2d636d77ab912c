/* SPDX-License-Identifier: MIT */
/*
 * Requests in, answers out (statespace-protocol(7), RUNNING and
 * statespace-protocol(7), REFUSALS).  json.c checks the text before cJSON,
 * which is lenient, builds its tree.
 */
#include "wire/proto.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/json.h"

#define EXAMPLE "{\"command\": [\"grep\", \"-r\", \"{word}\", \".\"], "
#define EXAMPLE_ARGS "\"args\": {\"word\": \"needle\"}}"

/* --------------------------------------------------------------- request -- */

static const char *
kind_name(const cJSON *item)
{
	if (cJSON_IsNull(item))
		return "null";
	if (cJSON_IsBool(item))
		return "a boolean";
	if (cJSON_IsNumber(item))
		return "a number";
	if (cJSON_IsString(item))
		return "a string";
	return cJSON_IsArray(item) ? "an array" : "an object";
}

/* The member of that name; NULL also when it is null. */
static const cJSON *
find_member(const cJSON *object, const char *name)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(object, name);

	return m == NULL || cJSON_IsNull(m) ? NULL : m;
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

static enum ss_err
read_words(struct arena *arena, const cJSON *list, struct proto_request *out,
	struct ss_error *err)
{
	const cJSON *item;
	char what[64];
	size_t count;

	if (list == NULL)
		return bad_command(err, "it is missing");
	if (!cJSON_IsArray(list)) {
		snprintf(what, sizeof(what), "it is %s", kind_name(list));
		return bad_command(err, what);
	}
	count = (size_t)cJSON_GetArraySize(list);
	if (count == 0)
		return bad_command(err, "it is empty");
	if (count > PROTO_WORDS_MAX)
		return error_set(err, SS_COMMAND_TOO_LARGE,
			"the command has %zu words, at most %d are taken",
			count, PROTO_WORDS_MAX);
	out->words = arena_array(arena, count, sizeof(*out->words));
	if (out->words == NULL)
		return error_memory(err);
	cJSON_ArrayForEach(item, list)
	{
		size_t i = out->word_count++;

		if (!cJSON_IsString(item)) {
			snprintf(what, sizeof(what), "item %zu is %s", i + 1,
				kind_name(item));
			return bad_command(err, what);
		}
		if (!copy_text(arena, item->valuestring, &out->words[i]))
			return error_memory(err);
	}
	return SS_OK;
}

/* An optional object of strings: "args" or "env". */
static enum ss_err
read_pairs(struct arena *arena, const cJSON *object, const char *name,
	struct ss_pair **out, size_t *count, struct ss_error *err)
{
	const cJSON *item;

	if (object == NULL)
		return SS_OK;
	if (!cJSON_IsObject(object))
		return error_set(err, SS_BAD_REQUEST,
			"\"%s\" must be an object of strings: it is %s", name,
			kind_name(object));
	*out = arena_array(
		arena, (size_t)cJSON_GetArraySize(object), sizeof(**out));
	if (*out == NULL)
		return error_memory(err);
	cJSON_ArrayForEach(item, object)
	{
		struct ss_pair *pair = &(*out)[(*count)++];
		size_t len = strlen(item->string);

		if (!cJSON_IsString(item))
			return error_set(err, SS_BAD_REQUEST,
				"\"%s\" must be an object of strings: "
				"\"%.*s\" is %s",
				name, (int)utf8_cut(item->string, len, 64),
				item->string, kind_name(item));
		pair->name = arena_copy(arena, item->string, len);
		pair->value = arena_copy(
			arena, item->valuestring, strlen(item->valuestring));
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
read_items(struct arena *arena, const cJSON *list, struct proto_argument *out)
{
	size_t count = (size_t)cJSON_GetArraySize(list);
	struct ss_text *items = arena_array(arena, count + 1, sizeof(*items));
	const cJSON *item;

	out->kind = PROTO_LIST;
	out->items = items;
	if (items == NULL)
		return false;
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item)) {
			out->kind = PROTO_OTHER;
			out->found = "a list that holds more than strings";
			return true;
		}
		if (!copy_text(arena, item->valuestring,
			    &items[out->item_count++]))
			return false;
	}
	return true;
}

static bool
read_map(struct arena *arena, const cJSON *map, struct proto_argument *out)
{
	size_t count = (size_t)cJSON_GetArraySize(map);
	const cJSON *item;

	out->kind = PROTO_MAP;
	out->pairs = arena_array(arena, count + 1, sizeof(*out->pairs));
	if (out->pairs == NULL)
		return false;
	cJSON_ArrayForEach(item, map)
	{
		struct ss_pair *pair = &out->pairs[out->pair_count++];

		if (!cJSON_IsString(item)) {
			out->kind = PROTO_OTHER;
			out->found = "an object that holds more than strings";
			return true;
		}
		pair->name =
			arena_copy(arena, item->string, strlen(item->string));
		pair->value = arena_copy(
			arena, item->valuestring, strlen(item->valuestring));
		if (pair->name == NULL || pair->value == NULL)
			return false;
	}
	return true;
}

static bool
read_argument(
	struct arena *arena, const cJSON *item, struct proto_argument *out)
{
	out->name = arena_copy(arena, item->string, strlen(item->string));
	if (out->name == NULL)
		return false;
	if (cJSON_IsArray(item))
		return read_items(arena, item, out);
	if (cJSON_IsObject(item))
		return read_map(arena, item, out);
	out->kind = cJSON_IsString(item) ? PROTO_TEXT : PROTO_OTHER;
	out->found = kind_name(item);
	return out->kind == PROTO_OTHER ||
		copy_text(arena, item->valuestring, &out->text);
}

bool
proto_arguments(struct arena *arena, const cJSON *object, size_t more,
	struct proto_argument **out, size_t *count)
{
	size_t most = (size_t)cJSON_GetArraySize(object) + more;
	const cJSON *item;

	*count = 0;
	*out = arena_array(arena, most + 1, sizeof(**out));
	if (*out == NULL)
		return false;
	cJSON_ArrayForEach(item, object)
	{
		if (!cJSON_IsNull(item) &&
			!read_argument(arena, item, &(*out)[(*count)++]))
			return false;
	}
	return true;
}

static enum ss_err
read_call(struct arena *arena, const cJSON *call, struct proto_request *out,
	struct ss_error *err)
{
	const cJSON *name = find_member(call, "name");
	const cJSON *arguments = find_member(call, "arguments");

	if (!cJSON_IsObject(call))
		return bad_call(err, "it must be an object");
	if (!cJSON_IsString(name) || name->valuestring[0] == '\0')
		return bad_call(err, "\"name\" must be the tool's name");
	if (arguments != NULL && !cJSON_IsObject(arguments))
		return bad_call(err, "\"arguments\" must be an object");
	out->call_name =
		arena_copy(arena, name->valuestring, strlen(name->valuestring));
	if (out->call_name == NULL ||
		!proto_arguments(arena, arguments, 0, &out->call_args,
			&out->call_arg_count))
		return error_memory(err);
	return SS_OK;
}

static enum ss_err
read_what(struct arena *arena, const cJSON *root, struct proto_request *out,
	struct ss_error *err)
{
	const cJSON *call = find_member(root, "tool_call");

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
read_stdin(struct arena *arena, const cJSON *item, struct proto_request *out,
	struct ss_error *err)
{
	if (item == NULL)
		return SS_OK;
	if (!cJSON_IsString(item))
		return error_set(err, SS_BAD_REQUEST,
			"\"stdin\" must be a string: it is %s",
			kind_name(item));
	out->has_stdin = true;
	if (!copy_text(arena, item->valuestring, &out->stdin_text))
		return error_memory(err);
	return SS_OK;
}

static enum ss_err
read_confirm(struct arena *arena, const cJSON *item, struct proto_request *out,
	struct ss_error *err)
{
	struct ss_text token;

	if (item == NULL)
		return SS_OK;
	if (!cJSON_IsString(item))
		return error_set(err, SS_BAD_REQUEST,
			"\"confirm\" must be a string: it is %s",
			kind_name(item));
	if (!copy_text(arena, item->valuestring, &token))
		return error_memory(err);
	out->confirm = token.data;
	return SS_OK;
}

static enum ss_err
read_request(struct arena *arena, const cJSON *root, struct proto_request *out,
	struct ss_error *err)
{
	struct ss_pair *args = NULL;
	size_t count = 0;
	enum ss_err code;

	if (!cJSON_IsObject(root)) {
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
		code = read_confirm(
			arena, find_member(root, "confirm"), out, err);
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
	cJSON *root;

	*out = (struct proto_request){ 0 };
	if (code != SS_OK) {
		if (code == SS_BAD_REQUEST)
			error_hint(err, "send " EXAMPLE EXAMPLE_ARGS);
		return code;
	}
	root = cJSON_ParseWithLength(text, len);
	if (root == NULL)
		return error_memory(err);
	code = read_request(arena, root, out, err);
	cJSON_Delete(root);
	return code;
}

/* ------------------------------------------------------------------ args -- */

/* Sorted by name: a command may have many {key}s. */
struct args {
	const struct ss_pair *sorted;
	size_t count;
};

static int
pair_compare(const void *left, const void *right)
{
	const struct ss_pair *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int
name_compare(const void *wanted, const void *candidate)
{
	const struct ss_text *name = wanted;
	const struct ss_pair *pair = candidate;
	int order = strncmp(name->data, pair->name, name->len);

	return order != 0 ? order : -(pair->name[name->len] != '\0');
}

/* The value of the {key} that rest begins with, NULL when it is none. */
static const char *
find_value(const struct args *args, struct ss_text rest, size_t *used)
{
	struct ss_text name = { rest.data + 1, 0 };
	const struct ss_pair *pair;

	if (args->count == 0 || rest.data[0] != '{')
		return NULL;
	name.len = strcspn(name.data, "{}");
	if (name.data[name.len] != '}')
		return NULL;
	*used = name.len + 2;
	pair = bsearch(
		&name, args->sorted, args->count, sizeof(*pair), name_compare);
	return pair != NULL ? pair->value : NULL;
}

/*
 * The next piece of rest: the value of a {key}, else the text up to the next
 * brace that may open one.  *used is its length in rest.
 */
static struct ss_text
next_piece(const struct args *args, struct ss_text rest, size_t *used)
{
	const char *value = find_value(args, rest, used), *open;

	if (value != NULL)
		return text_of(value);
	open = memchr(rest.data + 1, '{', rest.len - 1);
	*used = open != NULL ? (size_t)(open - rest.data) : rest.len;
	return (struct ss_text){ rest.data, *used };
}

/*
 * Writes the filled word to out unless that is NULL; returns its length.  Stops
 * at the first piece that exceeds the limit.
 */
static size_t
fill_word(const struct args *args, struct ss_text word, char *out)
{
	size_t len = 0, used;

	for (size_t i = 0; i < word.len && len <= PROTO_WORD_MAX; i += used) {
		struct ss_text rest = { word.data + i, word.len - i };
		struct ss_text piece = next_piece(args, rest, &used);

		if (out != NULL)
			memcpy(out + len, piece.data, piece.len);
		len += piece.len;
	}
	return len;
}

static enum ss_err
fill_words(struct arena *arena, struct ss_text *words, size_t count,
	const struct args *args, struct ss_error *err)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++) {
		size_t len = fill_word(args, words[i], NULL);
		char *filled;

		if (len > PROTO_WORD_MAX)
			return error_set(err, SS_COMMAND_TOO_LARGE,
				"word %zu of the command is longer than %d "
				"bytes",
				i + 1, PROTO_WORD_MAX);
		total += len + 1;
		if (total > PROTO_COMMAND_MAX)
			return error_set(err, SS_COMMAND_TOO_LARGE,
				"the command is larger than %d bytes",
				PROTO_COMMAND_MAX);
		if (args->count == 0 || words[i].len == 0 ||
			memchr(words[i].data, '{', words[i].len) == NULL)
			continue;
		filled = arena_alloc(arena, len + 1);
		if (filled == NULL)
			return error_memory(err);
		fill_word(args, words[i], filled);
		words[i] = (struct ss_text){ filled, len };
	}
	return SS_OK;
}

enum ss_err
proto_fill(struct arena *arena, struct ss_text *words, size_t count,
	const struct ss_pair *args, size_t args_count, struct ss_error *err)
{
	struct ss_pair *sorted;

	if (args_count == 0)
		return fill_words(
			arena, words, count, &(struct args){ 0 }, err);
	sorted = arena_array(arena, args_count, sizeof(*sorted));
	if (sorted == NULL)
		return error_memory(err);
	memcpy(sorted, args, args_count * sizeof(*sorted));
	qsort(sorted, args_count, sizeof(*sorted), pair_compare);
	return fill_words(
		arena, words, count, &(struct args){ sorted, args_count }, err);
}

/* ---------------------------------------------------------------- answer -- */

static void
add_member(struct buf *out, const char *name, const char *text)
{
	buf_char(out, '"');
	buf_text(out, name);
	buf_text(out, "\": ");
	json_string(out, text, strlen(text));
}

static void
begin_answer(struct buf *out, struct ss_text stdout_text,
	struct ss_text stderr_text, int returncode)
{
	buf_text(out, "{\"stdout\": ");
	json_string(out, stdout_text.data, stdout_text.len);
	buf_text(out, ", \"stderr\": ");
	json_string(out, stderr_text.data, stderr_text.len);
	buf_text(out, ", \"returncode\": ");
	buf_number(out, returncode);
}

bool
proto_result(struct buf *out, const struct ss_result *r)
{
	begin_answer(out, r->out, r->err, r->returncode);
	if (r->sandbox != NULL || r->limit != NULL)
		buf_text(out, ", \"sandbox\": {");
	if (r->sandbox != NULL)
		add_member(out, "level", r->sandbox);
	if (r->sandbox != NULL && r->memory != NULL) {
		buf_text(out, ", ");
		add_member(out, "memory", r->memory);
	}
	if (r->sandbox != NULL && r->limit != NULL)
		buf_text(out, ", ");
	if (r->limit != NULL)
		add_member(out, "limit", r->limit);
	if (r->sandbox != NULL || r->limit != NULL)
		buf_char(out, '}');
	return buf_char(out, '}') && buf_ok(out);
}

/* Writes an error's answer up to the hint; the caller closes it. */
static void
begin_error(struct buf *out, struct ss_text stdout_text,
	struct ss_text stderr_text, const struct ss_error *err)
{
	begin_answer(out, stdout_text, stderr_text, 1);
	buf_text(out, ", \"error\": {");
	add_member(out, "code", ss_err_code(err->code));
	buf_text(out, ", ");
	add_member(out, "message", err->message);
	buf_text(out, ", ");
	add_member(out, "hint", err->hint);
}

bool
proto_ended(struct buf *out, struct ss_text stdout_text,
	struct ss_text stderr_text, const struct ss_error *err)
{
	begin_error(out, stdout_text, stderr_text, err);
	buf_text(out, "}}");
	return buf_ok(out);
}

bool
proto_unconfirmed(struct buf *out, const struct ss_error *err,
	const char *token, const char *const *argv, size_t argc)
{
	begin_error(out, TEXT(""), text_of(err->message), err);
	buf_text(out, ", ");
	add_member(out, "confirm", token);
	buf_text(out, ", \"command\": [");
	for (size_t i = 0; i < argc; i++) {
		buf_text(out, i > 0 ? ", " : "");
		json_string(out, argv[i], strlen(argv[i]));
	}
	buf_text(out, "]}}");
	return buf_ok(out);
}

bool
proto_error(struct buf *out, const struct ss_error *err)
{
	return proto_ended(out, TEXT(""), text_of(err->message), err);
}

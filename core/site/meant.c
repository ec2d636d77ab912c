/* SPDX-License-Identifier: MIT */
#include "site/meant.h"

#include "wire/json_tree.h"

#define BODY_MAX 65536 /* of a body that is looked at */
#define WORDS_MAX 64

static bool
copy_text(struct arena *arena, const char *text, struct ss_text *out)
{
	out->data = arena_copy(arena, text, strlen(text));
	out->len = strlen(text);
	return out->data != NULL;
}

/* A string is one word: form.c divides it. */
static bool
read_words(struct arena *arena, const struct json_value *v, struct meant *out)
{
	const struct json_value *item;

	out->words = arena_array(arena, WORDS_MAX, sizeof(*out->words));
	if (out->words == NULL)
		return false;
	if (json_is(v, JSON_STRING)) {
		out->word_count = 1;
		return v->text[0] != '\0' &&
			copy_text(arena, v->text, &out->words[0]);
	}
	if (!json_is(v, JSON_LIST))
		return false;
	JSON_EACH(item, v)
	{
		struct buf word = BUF_INIT(BODY_MAX);
		bool good = out->word_count < WORDS_MAX;

		if (json_is(item, JSON_STRING))
			buf_text(&word, item->text);
		else
			good = json_write(&word, item) && good;
		good = good &&
			copy_text(arena, word.data,
				&out->words[out->word_count++]);
		buf_release(&word);
		if (!good)
			return false;
	}
	return out->word_count > 0;
}

/* The first of these members; NULL: none. */
static const struct json_value *
first_member(const struct json_value *root, const char *const *names)
{
	const struct json_value *found = NULL;

	for (; found == NULL && *names != NULL; names++)
		found = json_member(root, *names);
	return found;
}

static bool
read_call(struct arena *arena, const struct json_value *call, struct meant *out)
{
	static const char *const names[] = { "name", "tool", "tool_name",
		"function", NULL };
	static const char *const arguments[] = { "arguments", "input", "args",
		"params", "parameters", NULL };
	const struct json_value *name = first_member(call, names);
	const struct json_value *args = first_member(call, arguments);
	struct ss_text text;

	if (json_is(name, JSON_OBJECT)) /* OpenAI's "function" */
		return read_call(arena, name, out);
	if (!json_is(name, JSON_STRING) || !copy_text(arena, name->text, &text))
		return false;
	out->name = text.data;
	if (!json_is(args, JSON_OBJECT))
		args = NULL;
	return proto_arguments(arena, args, 0, &out->args, &out->arg_count);
}

static bool
read_value(
	struct arena *arena, const struct json_value *root, struct meant *out)
{
	static const char *const commands[] = { "command", "cmd", "argv",
		"words", "run", "commands", NULL };
	static const char *const calls[] = { "tool_call", "toolCall", "call",
		"params", NULL };
	const struct json_value *command = first_member(root, commands);
	const struct json_value *call = first_member(root, calls);

	if (!json_is(root, JSON_OBJECT))
		return read_words(arena, root, out);
	if (command != NULL && read_words(arena, command, out))
		return true;
	out->word_count = 0;
	if (json_is(call, JSON_OBJECT) && read_call(arena, call, out))
		return true;
	return read_call(arena, root, out);
}

/* Text that is no JSON: its first line, as a command. */
static bool
read_line(struct arena *arena, const char *body, size_t len, struct meant *out)
{
	const char *end = memchr(body, '\n', len);
	size_t n = end != NULL ? (size_t)(end - body) : len;

	if (n == 0 || n > 4096 || !utf8_valid(body, n) || body[0] == '{' ||
		memchr(body, '\0', n) != NULL)
		return false;
	out->words = arena_array(arena, 1, sizeof(*out->words));
	if (out->words == NULL)
		return false;
	out->words[0].data = arena_copy(arena, body, n);
	out->words[0].len = n;
	out->word_count = 1;
	return out->words[0].data != NULL;
}

bool
meant_read(struct arena *arena, const char *body, size_t len, struct meant *out)
{
	struct json_value *root = NULL;
	bool found;

	*out = (struct meant){ .name = NULL };
	if (body == NULL || len > BODY_MAX)
		return false;
	if (json_check(body, len, NULL) != SS_OK)
		return read_line(arena, body, len, out);
	root = json_tree(body, len);
	found = root != NULL && read_value(arena, root, out);
	json_tree_free(root);
	if (!found)
		*out = (struct meant){ .name = NULL };
	return found;
}

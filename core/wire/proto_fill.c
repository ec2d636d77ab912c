/* SPDX-License-Identifier: MIT */
/* {key} in the words of a request, from its "args". */
#include "wire/proto.h"

#include <stdlib.h>

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

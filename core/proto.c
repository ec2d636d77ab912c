/* SPDX-License-Identifier: MIT */
/*
 * JSON in and out (PROTOCOL sections 5 and 6, RFC 8259).  A strict scanner of
 * our own reads the text first, without recursion and without building
 * anything; cJSON, which is lenient, then builds the tree of a text that left
 * no room for leniency.
 */
#include "proto.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "toolcall.h"

#define EXAMPLE "{\"command\": [\"grep\", \"-r\", \"{word}\", \".\"], "
#define EXAMPLE_ARGS "\"args\": {\"word\": \"needle\"}}"

/* --------------------------------------------------------------- scanner -- */

/* A member's name as it stands between its quotes. */
struct key {
	const char *at, *end;
};

struct scan {
	const char *start, *at, *end;
	struct ss_error *err;
	bool whole; /* a value, or all of a container, ends at `at` */
	size_t depth;
	char closer[PROTO_DEPTH_MAX];
	size_t first_key[PROTO_DEPTH_MAX]; /* of the open objects, in keys */
	struct key *keys;
	size_t key_count, key_cap;
};

static enum ss_err
refuse(const struct scan *s, const char *what)
{
	return error_set(s->err, SS_BAD_REQUEST, "invalid JSON: %s at byte %zu",
		what, (size_t)(s->at - s->start) + 1);
}

static int
peek(const struct scan *s)
{
	return s->at < s->end ? (unsigned char)*s->at : -1;
}

static void
skip_space(struct scan *s)
{
	while (s->at < s->end &&
		(*s->at == ' ' || *s->at == '\n' || *s->at == '\r' ||
			*s->at == '\t'))
		s->at++;
}

/* Four hexadecimal digits, -1 when they are not. */
static long
read_hex4(const char *p, const char *end)
{
	long unit = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i], lower = (char)(c | 0x20);

		if (c >= '0' && c <= '9')
			unit = unit << 4 | (c - '0');
		else if (lower >= 'a' && lower <= 'f')
			unit = unit << 4 | (lower - 'a' + 10);
		else
			return -1;
	}
	return unit;
}

/* A \u escape at *p: NULL and its code point, or what is wrong with it. */
static const char *
read_unicode(const char **p, const char *end, uint32_t *out)
{
	long high = read_hex4(*p + 2, end), low;

	if (high < 0)
		return "\\u without four hexadecimal digits";
	if (high == 0)
		return "\\u0000, which no string may hold,";
	*out = (uint32_t)high;
	*p += 6;
	if (high < 0xd800 || high > 0xdfff)
		return NULL;
	if (high > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
		return "a lone surrogate";
	low = read_hex4(*p + 2, end);
	if (low < 0xdc00 || low > 0xdfff)
		return "a lone surrogate";
	*out = 0x10000 + (((uint32_t)high & 0x3ff) << 10) +
		((uint32_t)low & 0x3ff);
	*p += 6;
	return NULL;
}

static const char *
read_escape(const char **p, const char *end, uint32_t *out)
{
	static const char written[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (end - *p < 2)
		return "an escape that is cut";
	if ((*p)[1] == 'u')
		return read_unicode(p, end, out);
	found = memchr(written, (*p)[1], sizeof(written) - 1);
	if (found == NULL)
		return "an unknown escape";
	*out = (unsigned char)meant[found - written];
	*p += 2;
	return NULL;
}

/* From the opening quote to behind the closing one. */
static enum ss_err
scan_string(struct scan *s)
{
	for (s->at++; peek(s) != '"';) {
		int c = peek(s);
		const char *wrong;
		uint32_t unused;
		size_t n;

		if (c < 0)
			return refuse(s, "a string that does not end");
		if (c < 0x20)
			return refuse(s, "a control byte in a string");
		if (c == '\\') {
			wrong = read_escape(&s->at, s->end, &unused);
			if (wrong != NULL)
				return refuse(s, wrong);
			continue;
		}
		n = utf8_sequence(s->at, (size_t)(s->end - s->at));
		if (n == 0)
			return refuse(s, "a byte that is not UTF-8");
		s->at += n;
	}
	s->at++;
	return SS_OK;
}

static size_t
scan_digits(struct scan *s)
{
	const char *first = s->at;

	while (peek(s) >= '0' && peek(s) <= '9')
		s->at++;
	return (size_t)(s->at - first);
}

static enum ss_err
scan_number(struct scan *s)
{
	if (peek(s) == '-')
		s->at++;
	if (peek(s) == '0')
		s->at++;
	else if (scan_digits(s) == 0)
		return refuse(s, "a number without digits");
	if (peek(s) == '.') {
		s->at++;
		if (scan_digits(s) == 0)
			return refuse(s, "a fraction without digits");
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		if (scan_digits(s) == 0)
			return refuse(s, "an exponent without digits");
	}
	return SS_OK;
}

static enum ss_err
scan_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
		return refuse(s, "an unknown word");
	s->at += n;
	return SS_OK;
}

static enum ss_err
scan_scalar(struct scan *s)
{
	s->whole = true;
	switch (peek(s)) {
	case '"': return scan_string(s);
	case 't': return scan_word(s, "true");
	case 'f': return scan_word(s, "false");
	case 'n': return scan_word(s, "null");
	case -1: return refuse(s, "the end where a value is expected");
	default: break;
	}
	if (peek(s) == '-' || (peek(s) >= '0' && peek(s) <= '9'))
		return scan_number(s);
	return refuse(s, "something that is no value");
}

/* The next code point of a name that was scanned before. */
static uint32_t
key_next(const char **p, const char *end)
{
	unsigned char lead = (unsigned char)**p;
	uint32_t c = lead;

	if (lead == '\\') {
		read_escape(p, end, &c);
		return c;
	}
	++*p;
	if (lead < 0x80)
		return c;
	c &= lead < 0xe0 ? 0x1f : lead < 0xf0 ? 0x0f : 0x07;
	for (; *p < end && ((unsigned char)**p & 0xc0) == 0x80; ++*p)
		c = c << 6 | ((unsigned char)**p & 0x3f);
	return c;
}

/* As decoded: "\u0061" is "a". */
static int
key_compare(const void *left, const void *right)
{
	struct key a = *(const struct key *)left;
	struct key b = *(const struct key *)right;

	while (a.at < a.end && b.at < b.end) {
		uint32_t x = key_next(&a.at, a.end), y = key_next(&b.at, b.end);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a.at < a.end) - (b.at < b.end);
}

static enum ss_err
remember_key(struct scan *s, const char *at, const char *end)
{
	if (s->key_count == s->key_cap) {
		size_t cap = s->key_cap ? s->key_cap * 2 : 32;
		struct key *keys = reallocarray(s->keys, cap, sizeof(*keys));

		if (keys == NULL)
			return error_memory(s->err);
		s->keys = keys;
		s->key_cap = cap;
	}
	s->keys[s->key_count++] = (struct key){ at, end };
	return SS_OK;
}

/* A member's name and its colon. */
static enum ss_err
scan_name(struct scan *s)
{
	const char *name;
	enum ss_err code;

	skip_space(s);
	if (peek(s) != '"')
		return refuse(s, "no name where a member is expected");
	name = s->at + 1;
	code = scan_string(s);
	if (code == SS_OK)
		code = remember_key(s, name, s->at - 1);
	if (code != SS_OK)
		return code;
	skip_space(s);
	if (peek(s) != ':')
		return refuse(s, "no colon behind a member's name");
	s->at++;
	return SS_OK;
}

/*
 * Closes the innermost container.  The names of an object are sorted and each
 * compared with its neighbour, so that many members cost n log n.
 */
static enum ss_err
scan_close(struct scan *s)
{
	size_t first = s->first_key[--s->depth];
	size_t count = s->key_count - first;
	struct key *keys;

	s->at++;
	s->whole = true;
	s->key_count = first;
	if (count < 2)
		return SS_OK;
	keys = s->keys + first;
	qsort(keys, count, sizeof(*keys), key_compare);
	for (size_t i = 1; i < count; i++) {
		if (key_compare(&keys[i - 1], &keys[i]) != 0)
			continue;
		s->at = keys[i - 1].at > keys[i].at ? keys[i - 1].at
						    : keys[i].at;
		return refuse(s, "a member that is there twice,");
	}
	return SS_OK;
}

static bool
in_object(const struct scan *s)
{
	return s->closer[s->depth - 1] == '}';
}

static enum ss_err
scan_open(struct scan *s)
{
	if (s->depth == PROTO_DEPTH_MAX)
		return refuse(s, "too many levels");
	s->closer[s->depth] = *s->at == '{' ? '}' : ']';
	s->first_key[s->depth++] = s->key_count;
	s->at++;
	s->whole = false;
	skip_space(s);
	if (peek(s) == s->closer[s->depth - 1])
		return scan_close(s);
	return in_object(s) ? scan_name(s) : SS_OK;
}

/* Behind a value inside a container: a comma, or its end. */
static enum ss_err
scan_behind(struct scan *s)
{
	skip_space(s);
	if (peek(s) == s->closer[s->depth - 1])
		return scan_close(s);
	if (peek(s) != ',')
		return refuse(s, "neither a comma nor the end of what is open");
	s->at++;
	s->whole = false;
	return in_object(s) ? scan_name(s) : SS_OK;
}

static enum ss_err
scan_value(struct scan *s)
{
	enum ss_err code;

	do {
		skip_space(s);
		if (peek(s) == '{' || peek(s) == '[')
			code = scan_open(s);
		else
			code = scan_scalar(s);
		while (code == SS_OK && s->whole && s->depth > 0)
			code = scan_behind(s);
	} while (code == SS_OK && !s->whole);
	return code;
}

enum ss_err
proto_is_json(const char *text, size_t len, struct ss_error *err)
{
	struct scan s = {
		.start = text, .at = text, .end = text + len, .err = err
	};
	enum ss_err code = scan_value(&s);

	if (code == SS_OK) {
		skip_space(&s);
		if (s.at < s.end)
			code = refuse(&s, "something behind the value");
	}
	free(s.keys);
	return code;
}

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
member(const cJSON *object, const char *name)
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

/* A list whose items are all texts; what else it is goes to found. */
static bool
read_items(
	struct arena *arena, const cJSON *list, struct toolcall_argument *out)
{
	size_t count = (size_t)cJSON_GetArraySize(list);
	struct ss_text *items = arena_array(arena, count + 1, sizeof(*items));
	const cJSON *item;

	out->kind = TOOLCALL_LIST;
	out->items = items;
	if (items == NULL)
		return false;
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item)) {
			out->kind = TOOLCALL_OTHER;
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
read_map(struct arena *arena, const cJSON *map, struct toolcall_argument *out)
{
	size_t count = (size_t)cJSON_GetArraySize(map);
	const cJSON *item;

	out->kind = TOOLCALL_MAP;
	out->pairs = arena_array(arena, count + 1, sizeof(*out->pairs));
	if (out->pairs == NULL)
		return false;
	cJSON_ArrayForEach(item, map)
	{
		struct ss_pair *pair = &out->pairs[out->pair_count++];

		if (!cJSON_IsString(item)) {
			out->kind = TOOLCALL_OTHER;
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
	struct arena *arena, const cJSON *item, struct toolcall_argument *out)
{
	out->name = arena_copy(arena, item->string, strlen(item->string));
	if (out->name == NULL)
		return false;
	if (cJSON_IsArray(item))
		return read_items(arena, item, out);
	if (cJSON_IsObject(item))
		return read_map(arena, item, out);
	out->kind = cJSON_IsString(item) ? TOOLCALL_TEXT : TOOLCALL_OTHER;
	out->found = kind_name(item);
	return out->kind == TOOLCALL_OTHER ||
		copy_text(arena, item->valuestring, &out->text);
}

static enum ss_err
read_call(struct arena *arena, const cJSON *call, struct proto_request *out,
	struct ss_error *err)
{
	const cJSON *name = member(call, "name"), *item;
	const cJSON *arguments = member(call, "arguments");
	struct toolcall_argument *args;

	if (!cJSON_IsObject(call))
		return bad_call(err, "it must be an object");
	if (!cJSON_IsString(name) || name->valuestring[0] == '\0')
		return bad_call(err, "\"name\" must be the tool's name");
	if (arguments != NULL && !cJSON_IsObject(arguments))
		return bad_call(err, "\"arguments\" must be an object");
	args = arena_array(arena, (size_t)cJSON_GetArraySize(arguments) + 1,
		sizeof(*args));
	out->call_name =
		arena_copy(arena, name->valuestring, strlen(name->valuestring));
	out->call_args = args;
	if (args == NULL || out->call_name == NULL)
		return error_memory(err);
	cJSON_ArrayForEach(item, arguments)
	{
		if (cJSON_IsNull(item))
			continue;
		if (!read_argument(arena, item, &args[out->call_arg_count++]))
			return error_memory(err);
	}
	return SS_OK;
}

static enum ss_err
read_what(struct arena *arena, const cJSON *root, struct proto_request *out,
	struct ss_error *err)
{
	const cJSON *call = member(root, "tool_call");

	if (call == NULL)
		return read_words(arena, member(root, "command"), out, err);
	if (member(root, "command") != NULL || member(root, "args") != NULL)
		return bad_call(err,
			"it stands alone: without \"command\" and "
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
			"names stand without braces: send " EXAMPLE
				EXAMPLE_ARGS);
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
		code = read_pairs(arena, member(root, "args"), "args", &args,
			&count, err);
	if (code == SS_OK)
		code = read_pairs(arena, member(root, "env"), "env", &out->env,
			&out->env_count, err);
	if (code == SS_OK)
		code = read_stdin(arena, member(root, "stdin"), out, err);
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
	enum ss_err code = proto_is_json(text, len, err);
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

/* Sorted by name, so that many keys times many places stay cheap. */
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
 * What the first bytes of rest become: a {key} its value, else the text up to
 * the next brace that may open one.  *used bytes of rest are done with.
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
 * The filled word's length, its bytes to out unless that is NULL.  Stops at
 * the first piece that passes the limit.
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

/*
 * How many bytes at the start stand as they are in a JSON string and are
 * ASCII.  Eight at a time: a byte is special when it is above 0x7f, below
 * 0x20, a quote or a backslash ("has a byte less than n", Bit Twiddling Hacks).
 */
static size_t
plain_run(const char *data, size_t len)
{
	const uint64_t ones = 0x0101010101010101, tops = ones << 7;
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		uint64_t w, quote, slash;

		memcpy(&w, data + i, sizeof(w));
		quote = w ^ ones * '"';
		slash = w ^ ones * '\\';
		if (((w | (w - ones * 0x20) | (quote - ones) | (slash - ones)) &
			    tops) != 0)
			break;
	}
	for (; i < len; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c < 0x20 || c > 0x7f || c == '"' || c == '\\')
			break;
	}
	return i;
}

/* Writes the first byte, or ill-formed bytes, of data; how many they were. */
static size_t
add_special(struct buf *out, const char *data, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	static const char written[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
	unsigned char c = (unsigned char)*data;
	const char *found = memchr(meant, c, sizeof(meant) - 1);
	char escape[] = "\\u0000";

	if (found != NULL) {
		escape[1] = written[found - meant];
		buf_add(out, escape, 2);
		return 1;
	}
	if (c < 0x20) {
		escape[4] = hex[c >> 4];
		escape[5] = hex[c & 15];
		buf_add(out, escape, 6);
		return 1;
	}
	buf_add(out, "\xef\xbf\xbd", 3);
	return utf8_ill_formed(data, len);
}

bool
proto_string(struct buf *out, const char *data, size_t len)
{
	size_t done = 0, n;

	buf_char(out, '"');
	for (size_t i = 0; i < len;) {
		n = plain_run(data + i, len - i);
		if (n == 0 && (unsigned char)data[i] >= 0x80)
			n = utf8_sequence(data + i, len - i);
		i += n;
		if (n > 0 && i < len)
			continue;
		buf_add(out, data + done, i - done);
		if (i < len)
			i += add_special(out, data + i, len - i);
		done = i;
	}
	return buf_char(out, '"');
}

static void
add_member(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, "\"%s\": ", name);
	proto_string(out, text, strlen(text));
}

bool
proto_result(struct buf *out, struct ss_text stdout_text,
	struct ss_text stderr_text, int returncode, const char *sandbox,
	const char *limit)
{
	buf_text(out, "{\"stdout\": ");
	proto_string(out, stdout_text.data, stdout_text.len);
	buf_text(out, ", \"stderr\": ");
	proto_string(out, stderr_text.data, stderr_text.len);
	buf_printf(out, ", \"returncode\": %d", returncode);
	if (sandbox != NULL || limit != NULL)
		buf_text(out, ", \"sandbox\": {");
	if (sandbox != NULL)
		add_member(out, "level", sandbox);
	if (sandbox != NULL && limit != NULL)
		buf_text(out, ", ");
	if (limit != NULL)
		add_member(out, "limit", limit);
	if (sandbox != NULL || limit != NULL)
		buf_char(out, '}');
	return buf_char(out, '}') && buf_ok(out);
}

bool
proto_error(struct buf *out, const struct ss_error *err)
{
	buf_text(out, "{\"stdout\": \"\", ");
	add_member(out, "stderr", err->message);
	buf_text(out, ", \"returncode\": 1, \"error\": {");
	add_member(out, "code", ss_err_code(err->code));
	buf_text(out, ", ");
	add_member(out, "message", err->message);
	buf_text(out, ", ");
	add_member(out, "hint", err->hint);
	buf_text(out, "}}");
	return buf_ok(out);
}

/* SPDX-License-Identifier: MIT */
#include "wire/frame.h"

#include "wire/json_tree.h"
#include "wire/proto.h"

size_t
frame_length(const unsigned char head[static 4])
{
	return (size_t)head[0] << 24 | (size_t)head[1] << 16 |
		(size_t)head[2] << 8 | head[3];
}

void
frame_head(size_t len, unsigned char head[static 4])
{
	for (int i = 0; i < 4; i++)
		head[i] = (unsigned char)(len >> (24 - 8 * i));
}

/* --------------------------------------------------------------- reading -- */

struct frame_reader {
	struct arena *arena;
	const struct json_value *root;
	struct ss_error *err;
};

static enum ss_err
refuse_member(
	const struct frame_reader *r, const char *name, const char *wanted)
{
	return error_set(r->err, SS_BAD_REQUEST,
		"malformed JSON payload: \"%s\" must be %s", name, wanted);
}

static const struct json_value *
find_member(const struct frame_reader *r, const char *name)
{
	const struct json_value *m = json_member(r->root, name);

	return m == NULL || json_is(m, JSON_NULL) ? NULL : m;
}

static enum ss_err
take_text(const struct frame_reader *r, const char *name, struct ss_text *out)
{
	const struct json_value *m = find_member(r, name);

	if (!json_is(m, JSON_STRING))
		return refuse_member(r, name, "a string");
	out->len = strlen(m->text);
	out->data = arena_copy(r->arena, m->text, out->len);
	return out->data != NULL ? SS_OK : error_memory(r->err);
}

static enum ss_err
take_word(const struct frame_reader *r, const char *name, const char **out)
{
	struct ss_text text = { NULL, 0 };
	enum ss_err code = take_text(r, name, &text);

	*out = text.data;
	return code;
}

static bool
is_whole(const struct json_value *m, double most)
{
	return json_is(m, JSON_NUMBER) && m->number >= 0 && m->number <= most &&
		m->number == (double)(uint64_t)m->number;
}

static enum ss_err
take_bytes(const struct frame_reader *r, const char *name, struct ss_text *out)
{
	const struct json_value *list = find_member(r, name), *item;
	char *bytes;

	if (!json_is(list, JSON_LIST))
		return refuse_member(r, name, "a list of bytes");
	bytes = arena_alloc(r->arena, list->count + 1);
	if (bytes == NULL)
		return error_memory(r->err);
	out->data = bytes;
	JSON_EACH(item, list)
	{
		if (!is_whole(item, 255))
			return refuse_member(r, name, "a list of bytes");
		bytes[out->len++] = (char)(unsigned char)item->number;
	}
	return SS_OK;
}

static enum ss_err
take_names(const struct frame_reader *r, struct frame_request *out)
{
	const struct json_value *list = find_member(r, "names"), *item;

	if (!json_is(list, JSON_LIST))
		return refuse_member(r, "names", "a list of strings");
	out->names =
		arena_array(r->arena, list->count + 1, sizeof(*out->names));
	if (out->names == NULL)
		return error_memory(r->err);
	JSON_EACH(item, list)
	{
		if (!json_is(item, JSON_STRING))
			return refuse_member(r, "names", "a list of strings");
		out->names[out->name_count] =
			arena_copy(r->arena, item->text, strlen(item->text));
		if (out->names[out->name_count++] == NULL)
			return error_memory(r->err);
	}
	return SS_OK;
}

static enum ss_err
take_read(const struct frame_reader *r, struct frame_request *out)
{
	const struct json_value *most = find_member(r, "max_bytes");

	if (most != NULL && !is_whole(most, 9007199254740991.0))
		return refuse_member(r, "max_bytes", "a whole number");
	out->has_max_bytes = most != NULL;
	out->max_bytes = most != NULL ? (uint64_t)most->number : 0;
	return take_word(r, "path", &out->path);
}

static enum ss_err
take_write(const struct frame_reader *r, struct frame_request *out)
{
	enum ss_err code = take_word(r, "path", &out->path);

	return code == SS_OK ? take_bytes(r, "content", &out->content) : code;
}

static enum ss_err
take_edit(const struct frame_reader *r, struct frame_request *out)
{
	enum ss_err code = take_word(r, "path", &out->path);

	if (code == SS_OK)
		code = take_text(r, "old_string", &out->old_string);
	if (code == SS_OK)
		code = take_text(r, "new_string", &out->new_string);
	return code;
}

static enum ss_err
take_search(const struct frame_reader *r, struct frame_request *out)
{
	enum ss_err code = take_word(r, "pattern", &out->pattern);

	if (code == SS_OK)
		code = take_word(r, "root", &out->root);
	if (code == SS_OK && find_member(r, "include") != NULL)
		code = take_word(r, "include", &out->include);
	return code;
}

static enum ss_err
take_path(const struct frame_reader *r, struct frame_request *out)
{
	return take_word(r, "path", &out->path);
}

static enum ss_err
take_nothing(const struct frame_reader *r, struct frame_request *out)
{
	(void)r;
	(void)out;
	return SS_OK;
}

static const struct {
	const char *name;
	enum frame_kind kind;
	enum ss_err (*take)(
		const struct frame_reader *r, struct frame_request *out);
} kinds[] = { { "ping", FRAME_PING, take_nothing },
	{ "shutdown", FRAME_SHUTDOWN, take_nothing },
	{ "read", FRAME_READ, take_read }, { "write", FRAME_WRITE, take_write },
	{ "edit", FRAME_EDIT, take_edit }, { "glob", FRAME_GLOB, take_search },
	{ "grep", FRAME_GREP, take_search }, { "stat", FRAME_STAT, take_path },
	{ "get_env", FRAME_GET_ENV, take_names } };

static enum ss_err
read_root(const struct frame_reader *r, struct frame_request *out)
{
	const struct json_value *kind;

	if (!json_is(r->root, JSON_OBJECT))
		return error_set(r->err, SS_BAD_REQUEST,
			"malformed JSON payload: a message is an object");
	kind = find_member(r, "kind");
	if (!json_is(kind, JSON_STRING))
		return refuse_member(r, "kind", "a string");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kind->text, kinds[i].name) != 0)
			continue;
		out->kind = kinds[i].kind;
		return kinds[i].take(r, out);
	}
	return error_set(r->err, SS_METHOD, "there is no such kind of request");
}

enum ss_err
frame_parse(struct arena *arena, const char *text, size_t len,
	struct frame_request *out, struct ss_error *err)
{
	struct frame_reader r = { .arena = arena, .err = err };
	struct ss_error own = { .code = SS_OK };
	enum ss_err code = json_check(text, len, &own);
	struct json_value *root;

	*out = (struct frame_request){ .kind = FRAME_PING };
	if (code == SS_BAD_REQUEST)
		return error_set(err, SS_BAD_REQUEST,
			"malformed JSON payload: %s", own.message);
	if (code != SS_OK)
		return error_memory(err);
	root = json_tree(text, len);
	if (root == NULL)
		return error_memory(err);
	r.root = root;
	code = read_root(&r, out);
	json_tree_free(root);
	return code;
}

/* --------------------------------------------------------------- writing -- */

const char *
frame_code(enum ss_err code)
{
	switch (code) {
	case SS_METHOD: return "unimplemented";
	case SS_PATH_REFUSED:
	case SS_CAPABILITY_REFUSED:
	case SS_NOT_ALLOWED: return "policy_denied";
	case SS_BAD_REQUEST: return "protocol";
	case SS_NOT_FOUND: return "io";
	default: return "internal";
	}
}

bool
frame_error(struct buf *out, const char *code, const char *message)
{
	buf_printf(
		out, "{\"kind\":\"error\",\"code\":\"%s\",\"message\":", code);
	json_string(out, message, strlen(message));
	return buf_char(out, '}');
}

bool
frame_bytes(struct buf *out, struct ss_text bytes)
{
	buf_char(out, '[');
	for (size_t i = 0; i < bytes.len && buf_ok(out); i++)
		buf_printf(out, "%s%u", i > 0 ? "," : "",
			(unsigned char)bytes.data[i]);
	return buf_char(out, ']') && buf_ok(out);
}

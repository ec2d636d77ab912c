/* SPDX-License-Identifier: MIT */
/*
 * Lines "NAME LENGTH", each followed by so many bytes and a line break.  A name
 * that is not known is passed over: a newer version may write more.
 */
#include "site/keyed_answer.h"

#include <inttypes.h>
#include <stdlib.h>

#define FIRST_LINE "result 1\n"
#define FIRST_LINE_JOB "job 1\n"

static void
put_text(struct buf *out, const char *name, struct ss_text text)
{
	buf_printf(out, "%s %zu\n", name, text.len);
	buf_add(out, text.data, text.len);
	buf_char(out, '\n');
}

static void
put_string(struct buf *out, const char *name, const char *text)
{
	if (text != NULL && *text != '\0')
		put_text(out, name, text_of(text));
}

static void
put_number(struct buf *out, const char *name, uint64_t value)
{
	char digits[NUMBER_MAX + 1];
	size_t n = text_number(digits, (int64_t)value);

	if (value != 0)
		put_text(out, name, (struct ss_text){ digits, n });
}

bool
keyed_answer_write(
	struct buf *out, const struct ss_result *r, const struct ss_error *err)
{
	enum ss_err code = err != NULL ? err->code : SS_OK;

	buf_text(out, FIRST_LINE);
	put_string(out, "code", ss_err_code(code));
	if (code != SS_OK) {
		put_string(out, "message", err->message);
		put_string(out, "hint", err->hint);
	}
	put_text(out, "out", r->out);
	put_text(out, "err", r->err);
	put_number(out, "returncode", (uint64_t)r->returncode);
	put_string(out, "limit", r->limit);
	put_string(out, "sandbox", r->sandbox);
	put_string(out, "memory", r->memory);
	put_string(out, "remedy", r->remedy);
	put_string(out, "type", r->type);
	put_number(out, "part_first", r->part.first);
	put_number(out, "part_last", r->part.last);
	put_number(out, "part_lines", r->part.lines);
	put_number(out, "part_bytes", r->part.bytes);
	put_number(out, "part_more", r->part.more);
	put_string(out, "part_next", r->part.next);
	return buf_ok(out);
}

/* One line and its bytes, taken off *rest.  False: *rest is malformed. */
static bool
take_member(struct ss_text *rest, struct ss_text *name, struct ss_text *value)
{
	const char *end = memchr(rest->data, '\n', rest->len);
	const char *space = end != NULL
		? memchr(rest->data, ' ', (size_t)(end - rest->data))
		: NULL;
	size_t left, len = 0;

	if (space == NULL || space + 1 == end || end - space > 11)
		return false;
	for (const char *c = space + 1; c < end; c++) {
		if (*c < '0' || *c > '9')
			return false;
		len = len * 10 + (size_t)(*c - '0');
	}
	left = rest->len - (size_t)(end + 1 - rest->data);
	if (len >= left || end[1 + len] != '\n')
		return false;
	*name = (struct ss_text){ rest->data, (size_t)(space - rest->data) };
	*value = (struct ss_text){ end + 1, len };
	*rest = (struct ss_text){ end + 2 + len, left - len - 1 };
	return true;
}

/* The code of that name; SS_INTERNAL for one that this version has not. */
static enum ss_err
code_of(const char *name)
{
	for (int i = SS_OK; i <= SS_GONE; i++)
		if (strcmp(ss_err_code((enum ss_err)i), name) == 0)
			return (enum ss_err)i;
	return SS_INTERNAL;
}

struct reader {
	struct ss_result *result;
	struct ss_error *err;
	const char *code, *message, *hint;
};

/* Where a text of that name goes; NULL: it is not one. */
static const char **
text_at(struct reader *r, struct ss_text name)
{
	struct {
		const char *name;
		const char **at;
	} texts[] = { { "code", &r->code }, { "message", &r->message },
		{ "hint", &r->hint }, { "limit", &r->result->limit },
		{ "sandbox", &r->result->sandbox },
		{ "memory", &r->result->memory },
		{ "remedy", &r->result->remedy }, { "type", &r->result->type },
		{ "part_next", &r->result->part.next } };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (text_is(name, texts[i].name))
			return texts[i].at;
	return NULL;
}

static void
take_number(struct ss_result *result, struct ss_text name, const char *text)
{
	uint64_t value = strtoull(text, NULL, 10);
	struct {
		const char *name;
		uint64_t *at;
	} numbers[] = { { "part_first", &result->part.first },
		{ "part_last", &result->part.last },
		{ "part_lines", &result->part.lines },
		{ "part_bytes", &result->part.bytes } };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (text_is(name, numbers[i].name))
			*numbers[i].at = value;
	if (text_is(name, "returncode"))
		result->returncode = (int)value;
	if (text_is(name, "part_more"))
		result->part.more = value != 0;
}

bool
keyed_answer_read(struct arena *arena, struct ss_text bytes,
	struct ss_result *result, struct ss_error *err)
{
	struct reader r = { .result = result, .err = err };
	struct ss_text name, value;
	const char **at, *copy;

	if (!text_starts(bytes, FIRST_LINE))
		return false;
	bytes.data += strlen(FIRST_LINE);
	bytes.len -= strlen(FIRST_LINE);
	while (bytes.len > 0) {
		if (!take_member(&bytes, &name, &value))
			return false;
		copy = arena_copy(arena, value.data, value.len);
		if (copy == NULL)
			return false;
		at = text_at(&r, name);
		if (at != NULL)
			*at = copy;
		else if (text_is(name, "out"))
			result->out = (struct ss_text){ copy, value.len };
		else if (text_is(name, "err"))
			result->err = (struct ss_text){ copy, value.len };
		else
			take_number(result, name, copy);
	}
	if (r.code == NULL)
		return false;
	if (code_of(r.code) != SS_OK) {
		error_set(err, code_of(r.code), "%s",
			r.message != NULL ? r.message : "");
		if (r.hint != NULL)
			error_hint(err, "%s", r.hint);
	}
	return true;
}

bool
keyed_answer_write_job(struct buf *out, const char *id, int64_t created_ms)
{
	buf_text(out, FIRST_LINE_JOB);
	put_string(out, "id", id);
	put_number(out, "created", (uint64_t)created_ms);
	return buf_ok(out);
}

bool
keyed_answer_read_job(
	struct ss_text bytes, char id[static STATE_ID_CAP], int64_t *created_ms)
{
	struct ss_text name, value;
	char digits[NUMBER_MAX + 1];

	id[0] = '\0';
	*created_ms = 0;
	if (!text_starts(bytes, FIRST_LINE_JOB))
		return false;
	bytes.data += strlen(FIRST_LINE_JOB);
	bytes.len -= strlen(FIRST_LINE_JOB);
	while (bytes.len > 0) {
		if (!take_member(&bytes, &name, &value))
			return false;
		if (text_is(name, "id") && state_is_id(value)) {
			memcpy(id, value.data, STATE_ID_LEN);
			id[STATE_ID_LEN] = '\0';
		} else if (text_is(name, "created") && value.len < NUMBER_MAX) {
			memcpy(digits, value.data, value.len);
			digits[value.len] = '\0';
			*created_ms = strtoll(digits, NULL, 10);
		}
	}
	return id[0] != '\0';
}

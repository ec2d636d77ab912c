/* SPDX-License-Identifier: MIT */
/* A result or an error as the JSON of an answer. */
#include "wire/proto.h"

#include <inttypes.h>

#include "base/base64.h"
#include "wire/json.h"
#include "wire/media.h"
#include "wire/step.h"

static void
add_member(struct buf *out, const char *name, const char *text)
{
	buf_char(out, '"');
	buf_text(out, name);
	buf_text(out, "\": ");
	json_string(out, text, strlen(text));
}

/*
 * The output as text, or in base64 where the declared type is no text; then
 * that type.
 */
static void
add_stdout(struct buf *out, const struct ss_result *r)
{
	if (media_is_text(r->type)) {
		buf_text(out, "\"stdout\": ");
		json_string(out, r->out.data, r->out.len);
	} else {
		buf_text(out, "\"stdout_base64\": \"");
		base64_write(out, r->out.data, r->out.len);
		buf_char(out, '"');
	}
	if (r->type != NULL) {
		buf_text(out, ", ");
		add_member(out, "type", r->type);
	}
}

/* What is wrong with the output as JSON: true, and err says it. */
static bool
is_unparsable(const struct ss_result *r, struct ss_error *err)
{
	if (media_is_text(r->type))
		return json_check(r->out.data, r->out.len, err) != SS_OK;
	error_set(err, SS_BAD_REQUEST, "the output is declared as %.100s",
		r->type);
	return true;
}

/* The same for a request with "parse". */
static void
add_parsed(struct buf *out, const struct ss_result *r)
{
	struct ss_error err = { .code = SS_OK };

	if (is_unparsable(r, &err)) {
		add_stdout(out, r);
		buf_text(out, ", ");
		add_member(out, "parse_error", err.message);
		return;
	}
	buf_text(out, "\"stdout_json\": ");
	json_compact(out, r->out.data, r->out.len);
	if (r->type != NULL) {
		buf_text(out, ", ");
		add_member(out, "type", r->type);
	}
}

static void
add_end(struct buf *out, struct ss_text stderr_text, int returncode)
{
	buf_text(out, ", \"stderr\": ");
	json_string(out, stderr_text.data, stderr_text.len);
	buf_text(out, ", \"returncode\": ");
	buf_number(out, returncode);
}

/* Of a tool with `lines` or `bytes`, when its output was cut. */
static void
add_part(struct buf *out, const struct ss_part *p)
{
	if (p->lines == 0)
		return;
	buf_printf(out,
		", \"part\": {\"first_line\": %" PRIu64
		", \"last_line\": %" PRIu64 ", \"lines\": %" PRIu64
		", \"bytes\": %" PRIu64 "}",
		p->first, p->last, p->lines, p->bytes);
	if (p->more)
		buf_text(out, ", \"truncated\": true");
	if (p->next != NULL) {
		buf_text(out, ", ");
		add_member(out, "next", p->next);
	}
}

bool
proto_may_be_denied(const struct ss_result *r)
{
	static const char *const words[] = { "Permission denied",
		"Operation not permitted", "Read-only file system" };

	if (r->returncode == 0 || r->err.len == 0 || r->refused.data != NULL ||
		r->sandbox == NULL || strcmp(r->sandbox, "off") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (memmem(r->err.data, r->err.len, words[i],
			    strlen(words[i])) != NULL)
			return true;
	return false;
}

static void
add_sandbox(struct buf *out, const struct ss_result *r)
{
	if (r->sandbox != NULL || r->limit != NULL)
		buf_text(out, ", \"sandbox\": {");
	if (r->sandbox != NULL)
		add_member(out, "level", r->sandbox);
	if (r->sandbox != NULL && r->memory != NULL) {
		buf_text(out, ", ");
		add_member(out, "memory", r->memory);
	}
	if (r->sandbox != NULL && r->remedy != NULL) {
		buf_text(out, ", ");
		add_member(out, "remedy", r->remedy);
	}
	if (r->sandbox != NULL && r->limit != NULL)
		buf_text(out, ", ");
	if (r->limit != NULL)
		add_member(out, "limit", r->limit);
	if (r->sandbox != NULL && r->denied.len > 0) {
		buf_text(out, ", \"denied\": [");
		buf_add(out, r->denied.data, r->denied.len);
		buf_char(out, ']');
	} else if (r->sandbox != NULL && proto_may_be_denied(r)) {
		buf_text(out, ", ");
		add_member(out, "hint", PROTO_DENIED_HINT);
	}
	if (r->sandbox != NULL || r->limit != NULL)
		buf_char(out, '}');
	if (r->workspace.len > 0) {
		buf_text(out, ", \"workspace\": ");
		buf_add(out, r->workspace.data, r->workspace.len);
	}
}

bool
proto_result(struct buf *out, const struct ss_result *r)
{
	buf_char(out, '{');
	if (r->parse)
		add_parsed(out, r);
	else
		add_stdout(out, r);
	add_end(out, r->err, r->returncode);
	add_part(out, &r->part);
	add_sandbox(out, r);
	return buf_char(out, '}') && buf_ok(out);
}

/* Of a command that did not run. */
static const struct ss_result nothing = { .out = { "", 0 } };

/* Up to the hint; the caller closes it. */
static void
add_error(
	struct buf *out, const struct ss_result *r, const struct ss_error *err)
{
	buf_text(out, ", \"error\": {");
	add_member(out, "code", ss_err_code(err->code));
	buf_text(out, ", ");
	add_member(out, "message", err->message);
	buf_text(out, ", ");
	add_member(out, "hint", err->hint);
	if (err->code == SS_KEY_UNKNOWN)
		buf_text(out, ", \"outcome\": \"unknown\"");
	step_members(err, r->page, r->step, out);
}

/* Writes an error's answer up to the hint; the caller closes it. */
static void
begin_error(struct buf *out, const struct ss_result *r,
	struct ss_text stderr_text, const struct ss_error *err)
{
	buf_char(out, '{');
	add_stdout(out, r);
	add_end(out, stderr_text, 1);
	add_part(out, &r->part);
	add_error(out, r, err);
}

bool
proto_ended(struct buf *out, const struct ss_result *r,
	struct ss_text stderr_text, const struct ss_error *err)
{
	begin_error(out, r, stderr_text, err);
	buf_text(out, "}}");
	return buf_ok(out);
}

bool
proto_end(
	struct buf *out, const struct ss_result *r, const struct ss_error *err)
{
	buf_text(out, "{\"returncode\": ");
	buf_number(out, err != NULL ? 1 : r->returncode);
	buf_printf(out, ", \"run_ms\": %" PRIu64 ".%03" PRIu64,
		r->run_us / 1000, r->run_us % 1000);
	if (r->type != NULL) {
		buf_text(out, ", ");
		add_member(out, "type", r->type);
		if (!media_is_text(r->type))
			buf_text(out, ", \"binary\": true");
	}
	add_part(out, &r->part);
	if (err == NULL) {
		add_sandbox(out, r);
	} else {
		add_error(out, r, err);
		buf_char(out, '}');
	}
	return buf_char(out, '}') && buf_ok(out);
}

/* Of a command that did not run: without output. */
static void
begin_refusal(
	struct buf *out, const struct ss_result *r, const struct ss_error *err)
{
	struct ss_result none = nothing;

	if (r != NULL) {
		none.page = r->page;
		none.step = r->step;
	}
	begin_error(out, &none, text_of(err->message), err);
}

bool
proto_unconfirmed(struct buf *out, const struct ss_result *result,
	const struct ss_error *err, const char *token)
{
	const char *question = result->question;

	begin_refusal(out, result, err);
	buf_text(out, ", ");
	add_member(out, "confirm", token);
	if (question != NULL) {
		buf_text(out, ", ");
		add_member(out, "question", question);
	}
	buf_text(out, ", \"command\": [");
	for (size_t i = 0; i < result->argc; i++) {
		buf_text(out, i > 0 ? ", " : "");
		json_string(out, result->argv[i], strlen(result->argv[i]));
	}
	buf_text(out, "]}}");
	return buf_ok(out);
}

bool
proto_error(struct buf *out, const struct ss_result *result,
	const struct ss_error *err)
{
	begin_refusal(out, result, err);
	buf_text(out, "}}");
	return buf_ok(out);
}

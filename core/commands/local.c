/* SPDX-License-Identifier: MIT */
/*
 * Calls without HTTP (ss_site_call), for the local command.  The words become
 * the JSON that a POST has, so that one parser reads both.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "site/call.h"
#include "site/site.h"
#include "wire/json.h"
#include "wire/path.h"

/* The largest command with every byte escaped. */
#define JSON_MAX ((size_t)16 << 20)

/* What a result borrows; the site keeps it from call to call. */
struct local_call {
	struct ss_document doc;
	struct buf answer;
	char path[PATH_BYTES_MAX + 1];
	char id[33];
	bool dry_run;
};

static bool
add_words(struct buf *json, const struct ss_call *call)
{
	buf_text(json, "{\"command\": [");
	for (size_t i = 0; i < call->word_count; i++) {
		if (i > 0)
			buf_char(json, ',');
		json_string(json, call->words[i], strlen(call->words[i]));
	}
	return buf_char(json, ']');
}

static bool
add_env(struct buf *json, const struct ss_call *call)
{
	buf_text(json, ", \"env\": {");
	for (size_t i = 0; i < call->env_count; i++) {
		const struct ss_pair *p = &call->env[i];

		if (i > 0)
			buf_char(json, ',');
		json_string(json, p->name, strlen(p->name));
		buf_char(json, ':');
		json_string(json, p->value, strlen(p->value));
	}
	return buf_text(json, "}}");
}

static bool
is_text(const struct ss_call *call)
{
	for (size_t i = 0; i < call->word_count; i++)
		if (!utf8_valid(call->words[i], strlen(call->words[i])))
			return false;
	for (size_t i = 0; i < call->env_count; i++)
		if (!utf8_valid(call->env[i].value, strlen(call->env[i].value)))
			return false;
	return true;
}

static enum ss_err
parse_call(struct ss_site *site, const struct ss_call *call,
	struct proto_request *out, struct ss_error *err)
{
	struct buf json = BUF_INIT(JSON_MAX);
	enum ss_err code;

	if (call->json != NULL) {
		if (call->json_len > site->config.limits.max_body_bytes)
			return error_set(err, SS_BODY_TOO_LARGE,
				"the request is larger than %llu bytes",
				(unsigned long long)
					site->config.limits.max_body_bytes);
		return proto_parse(
			&site->arena, call->json, call->json_len, out, err);
	}
	if (!is_text(call))
		return error_set(err, SS_BAD_REQUEST, "a word is not UTF-8");
	add_words(&json, call);
	add_env(&json, call);
	if (json.failed)
		code = error_memory(err);
	else if (json.full)
		code = error_set(err, SS_COMMAND_TOO_LARGE,
			"the command is larger than %d bytes",
			PROTO_COMMAND_MAX);
	else
		code = proto_parse(&site->arena, json.data, json.len, out, err);
	buf_release(&json);
	return code;
}

static struct local_call *
begin_call(struct ss_site *site, bool dry_run)
{
	struct local_call *l = site->local;

	if (l == NULL)
		l = site->local = calloc(1, sizeof(*l));
	if (l == NULL)
		return NULL;
	l->answer = BUF_INIT((size_t)site->config.limits.max_output_bytes * 6 +
		((size_t)1 << 20));
	l->dry_run = dry_run;
	site_make_id(site, l->id);
	return l;
}

enum ss_err
ss_site_call(struct ss_site *site, const struct ss_call *call,
	struct ss_result *result, struct ss_error *err)
{
	const struct documents *documents = &site->documents;
	struct proto_request request = { 0 };
	enum ss_err code = site_needs_open(site, err);
	const char *stage = "local";
	struct local_call *l;

	*result = SS_INIT(ss_result);
	result->tool = -1;
	if (code != SS_OK)
		return code;
	l = begin_call(site, call->dry_run);
	if (l == NULL)
		return error_memory(err);
	result->owner = site;
	code = ss_path_clean(
		call->page, strlen(call->page), l->path, sizeof(l->path), err);
	if (code == SS_OK)
		code = parse_call(site, call, &request, err);
	if (code != SS_OK)
		return code;
	code = documents_open(documents, l->path, &l->doc, err);
	if (code != SS_OK)
		return code;
	code = call_run(&site->calls,
		&(struct call){ .doc = &l->doc,
			.request = &request,
			.request_id = l->id,
			.stdin_fd = call->stdin_fd,
			.client_fd = call->client_fd,
			.dry_run = call->dry_run,
			.explain = call->explain,
			.output = call->output,
			.output_ctx = call->output_ctx,
			.confirm = call->confirm,
			.confirm_ctx = call->confirm_ctx },
		&stage, result, err);
	documents_close(documents, &l->doc);
	return code;
}

/* {"tool": N | null, "argv": [...] | null, "refused": null | {...}} */
static void
print_dry_run(struct buf *b, const struct ss_result *result,
	const struct ss_error *err)
{
	if (result->tool >= 0)
		buf_printf(b, "{\"tool\": %zd, \"argv\": ", result->tool);
	else
		buf_text(b, "{\"tool\": null, \"argv\": ");
	if (result->argv == NULL)
		buf_text(b, "null");
	for (size_t i = 0; result->argv != NULL && i < result->argc; i++) {
		buf_text(b, i == 0 ? "[" : ", ");
		json_string(b, result->argv[i], strlen(result->argv[i]));
	}
	buf_text(b,
		result->argv != NULL ? "], \"refused\": " : ", \"refused\": ");
	if (err != NULL && err->code != SS_OK) {
		buf_printf(b, "{\"code\": \"%s\", \"message\": ",
			ss_err_code(err->code));
		json_string(b, err->message, strlen(err->message));
		buf_text(b, ", \"hint\": ");
		json_string(b, err->hint, strlen(err->hint));
		buf_text(b, "}}");
	} else {
		buf_text(b, "null}");
	}
}

const char *
ss_result_json(struct ss_result *result, const struct ss_error *err)
{
	struct ss_site *site = result->owner;
	struct buf *b;

	if (site == NULL || site->local == NULL)
		return NULL;
	b = &site->local->answer;
	buf_clear(b);
	if (site->local->dry_run)
		print_dry_run(b, result, err);
	else if (err != NULL && call_was_ended(err->code))
		proto_ended(b, result->out,
			call_stderr(&site->arena, result->err,
				text_of(err->message)),
			err);
	else if (err != NULL && err->code != SS_OK)
		proto_error(b, err);
	else
		proto_result(b, result);
	return buf_ok(b) ? b->data : NULL;
}

void
ss_result_release(struct ss_result *result)
{
	struct ss_site *site = result->owner;

	if (site != NULL) {
		if (site->local != NULL)
			buf_release(&site->local->answer);
		arena_clear(&site->arena);
	}
	*result = SS_INIT(ss_result);
}

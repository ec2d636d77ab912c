/* SPDX-License-Identifier: MIT */
/*
 * Calls without HTTP (ss_site_call), for the local command.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "site/call.h"
#include "site/refusal.h"
#include "site/site.h"
#include "wire/escape.h"
#include "wire/json.h"
#include "wire/path.h"
#include "wire/step.h"

/* What a result borrows; the site keeps it from call to call. */
struct local_call {
	struct ss_document doc;
	struct buf answer;
	char path[PATH_BYTES_MAX + 1];
	char id[33];
	bool dry_run;
};

static enum ss_err
parse_call(struct ss_site *site, const struct ss_call *call,
	struct proto_request *out, struct ss_error *err)
{
	if (call->json != NULL) {
		if (call->json_len > site->config.limits.max_body_bytes)
			return error_set(err, SS_BODY_TOO_LARGE,
				"the request is larger than %llu bytes",
				(unsigned long long)
					site->config.limits.max_body_bytes);
		return proto_parse(
			&site->arena, call->json, call->json_len, out, err);
	}
	return proto_from_words(&site->arena, call, out, err);
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

/* Of a body that is no request: what the page takes instead. */
static void
find_step(struct ss_site *site, const struct ss_call *call,
	struct ss_result *result, const struct ss_error *err)
{
	const struct documents *documents = &site->documents;
	static const struct proto_request nothing;
	struct ss_document *doc = &site->local->doc;

	if (documents_open_any(documents, site->local->path, doc, NULL) !=
		SS_OK)
		return;
	refusal_step(&(const struct refusal){ .parts = &site->calls,
			     .doc = doc,
			     .request = &nothing,
			     .body = call->json,
			     .body_len = call->json_len },
		err, result);
	documents_close(documents, doc);
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
	if (call->next != NULL)
		request.next = call->next;
	if (call->session != NULL || call->commit) {
		request.has_workspace = true;
		request.session = call->session;
		request.commit = call->commit;
	}
	if (code == SS_BAD_REQUEST && call->json != NULL)
		find_step(site, call, result, err);
	if (code != SS_OK)
		return code;
	code = documents_open_any(documents, l->path, &l->doc, err);
	if (code != SS_OK)
		return code;
	site->exec_state.last_run = call->last;
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
			.shell = true,
			.key = call->key,
			.ends = true,
			.confirm = call->confirm,
			.confirm_ctx = call->confirm_ctx },
		&stage, result, err);
	documents_close(documents, &l->doc);
	return code;
}

/* , "stages": [[...], ...] */
static void
print_stages(struct buf *b, const struct ss_result *result)
{
	const char *const *const *stages = result->stages;

	if (stages == NULL)
		return;
	buf_text(b, ", \"stages\": [");
	for (size_t i = 0; stages[i] != NULL; i++) {
		buf_text(b, i > 0 ? ", [" : "[");
		for (size_t k = 0; stages[i][k] != NULL; k++) {
			buf_text(b, k > 0 ? ", " : "");
			json_string(b, stages[i][k], strlen(stages[i][k]));
		}
		buf_char(b, ']');
	}
	buf_char(b, ']');
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
	buf_text(b, result->argv != NULL ? "]" : "");
	print_stages(b, result);
	buf_text(b, ", \"refused\": ");
	if (err != NULL && err->code != SS_OK) {
		buf_printf(b, "{\"code\": \"%s\", \"message\": ",
			ss_err_code(err->code));
		json_string(b, err->message, strlen(err->message));
		buf_text(b, ", \"hint\": ");
		json_string(b, err->hint, strlen(err->hint));
		step_members(err, result->page, result->step, b);
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
		proto_ended(b, result,
			call_stderr(&site->arena, result->err,
				text_of(err->message)),
			err);
	else if (err != NULL && err->code != SS_OK)
		proto_error(b, result, err);
	else
		proto_result(b, result);
	return buf_ok(b) ? b->data : NULL;
}

const char *
ss_result_next(struct ss_result *result, const struct ss_error *err)
{
	struct ss_site *site = result->owner;
	struct buf *b;

	if (site == NULL || site->local == NULL)
		return NULL;
	b = &site->local->answer;
	buf_clear(b);
	refusal_print(err, result, b);
	return buf_ok(b) ? b->data : NULL;
}

/* As a shell reads them; up to count, or to NULL. */
static void
print_words(struct buf *b, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count && words[i] != NULL; i++) {
		buf_text(b, i > 0 ? " " : "");
		escape_shell(b, words[i], strlen(words[i]));
	}
}

const char *
ss_result_command(struct ss_result *result)
{
	struct ss_site *site = result->owner;
	struct buf *b;

	if (site == NULL || site->local == NULL)
		return NULL;
	b = &site->local->answer;
	buf_clear(b);
	if (result->stages == NULL)
		print_words(b, result->argv, result->argc);
	for (size_t i = 0; result->stages != NULL && result->stages[i] != NULL;
		i++) {
		buf_text(b, i > 0 ? " | " : "");
		print_words(b, result->stages[i], SIZE_MAX);
	}
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

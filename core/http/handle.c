/* SPDX-License-Identifier: MIT */
/*
 * One request through its stages, stopping at the first that does not
 * succeed; then the way back: hooks in reverse, one log line, the answer.
 */
#include "base/clock.h"
#include "http/browser.h"
#include "http/content.h"
#include "http/exchange.h"
#include "http/mcp.h"
#include "http/origin.h"
#include "http/virtual.h"
#include "site/call.h"
#include "site/site.h"
#include "wire/media.h"

enum stage_result { STAGE_NEXT, STAGE_ANSWERED };

struct stage {
	const char *name;
	/* x->err.code is set when it fails; *result otherwise. */
	enum ss_err (*run)(struct exchange *x, enum stage_result *result);
};

static enum ss_err
stage_hooks(struct exchange *x, enum stage_result *result)
{
	struct ss_site *site = x->site;
	enum ss_err code = SS_OK;

	(void)result;
	for (size_t i = 0; code == SS_OK && i < site->hook_count; i++) {
		const struct ss_hook *hook = &site->hooks[i];

		x->hooks_run = i + 1;
		if (hook->before != NULL)
			code = hook->before(hook->ctx, x->req, &x->err);
	}
	return code;
}

/*
 * A balancer asks by address, with any Host or none; the answer is no secret.
 */
static bool
is_health(const struct exchange *x)
{
	const char *path = exchange_path(x);

	return path != NULL && strcmp(path, "/healthz") == 0 &&
		(exchange_is(x, "GET") || exchange_is(x, "HEAD"));
}

static enum ss_err
stage_guard(struct exchange *x, enum stage_result *result)
{
	const struct ss_request *req = x->req;
	enum ss_err code = SS_OK;

	(void)result;
	if (!is_health(x))
		code = origin_check_host(&x->site->config, req->host, &x->err);
	if (code == SS_OK && exchange_is(x, "POST"))
		code = origin_check(
			&x->site->config, req->origin, req->host, &x->err);
	return code;
}

static enum ss_err
stage_mcp(struct exchange *x, enum stage_result *result)
{
	if (!http_mcp_wanted(x))
		return SS_OK;
	*result = STAGE_ANSWERED;
	return http_mcp_answer(x);
}

static enum ss_err
stage_method(struct exchange *x, enum stage_result *result)
{
	if (exchange_is(x, "OPTIONS")) {
		exchange_header(x, "Allow", "GET, HEAD, POST, OPTIONS");
		x->status = 204;
		*result = STAGE_ANSWERED;
		return SS_OK;
	}
	if (exchange_is(x, "GET") || exchange_is(x, "HEAD") ||
		exchange_is(x, "POST"))
		return SS_OK;
	return error_set(&x->err, SS_METHOD,
		"only GET, HEAD, POST and OPTIONS are answered here");
}

static enum ss_err
stage_path(struct exchange *x, enum stage_result *result)
{
	const char *path = exchange_path(x);
	enum ss_err code = SS_OK;

	(void)result;
	if (x->req->request_uri != NULL)
		code = path_check_uri(x->req->request_uri, &x->err);
	if (code != SS_OK)
		return code;
	if (path == NULL)
		return error_set(&x->err, SS_NOT_FOUND, "no such file");
	return ss_path_clean(
		path, strlen(path), x->path, sizeof(x->path), &x->err);
}

static void
json_body(struct exchange *x, const char *json)
{
	buf_text(&x->body, json);
	exchange_header(x, "Cache-Control", "no-store");
	exchange_body(x, 200, "application/json");
}

/*
 * Paths that are ours whatever the site holds (statespace-protocol(7),
 * READING).
 */
static bool
is_reserved(const char *path)
{
	return strcmp(path, "healthz") == 0 || strcmp(path, "readyz") == 0 ||
		strcmp(path, "mcp") == 0 || strcmp(path, "__meta") == 0 ||
		strncmp(path, "__meta/", 7) == 0;
}

/* A pool puts its figures into the answer; without one this is all there is. */
static bool
is_status(const struct exchange *x)
{
	return strcmp(x->path, "__meta/status") == 0 && x->req->status_allowed;
}

static enum ss_err
stage_reserved(struct exchange *x, enum stage_result *result)
{
	if (!is_reserved(x->path))
		return SS_OK;
	if (exchange_is(x, "POST"))
		return error_set(
			&x->err, SS_METHOD, "/%s takes no POST", x->path);
	*result = STAGE_ANSWERED;
	if (strcmp(x->path, "healthz") == 0 || strcmp(x->path, "readyz") == 0)
		json_body(x, "{\"status\": \"ok\"}\n");
	else if (strcmp(x->path, "__meta/version") == 0 || is_status(x))
		json_body(x,
			"{\"name\": \"statespace\", \"version\": \"" SS_VERSION
			"\"}\n");
	else
		return virtual_meta(x);
	return SS_OK;
}

static enum ss_err
stage_resolve(struct exchange *x, enum stage_result *result)
{
	const struct ss_resolver *resolver = &x->site->resolver;
	enum ss_err code =
		resolver->open(resolver->ctx, x->path, &x->doc, &x->err);

	x->doc_open = code == SS_OK;
	if (code != SS_NOT_FOUND || !virtual_is(x->path))
		return code;
	*result = STAGE_ANSWERED;
	return virtual_answer(x);
}

static enum ss_err
stage_get(struct exchange *x, enum stage_result *result)
{
	if (exchange_is(x, "POST"))
		return SS_OK;
	*result = STAGE_ANSWERED;
	if (browser_wanted(x, x->doc.path))
		return browser_answer(x);
	return content_answer(x);
}

static enum ss_err
stage_body(struct exchange *x, enum stage_result *result)
{
	(void)result;
	if (!media_is_json(x->req->content_type)) {
		error_set(&x->err, SS_CONTENT_TYPE,
			"a POST carries Content-Type: application/json");
		error_hint(&x->err, "with curl: --json '{\"command\": [...]}'");
		return SS_CONTENT_TYPE;
	}
	if (x->req->body_too_large)
		return error_set(&x->err, SS_BODY_TOO_LARGE,
			"the body is larger than %llu bytes",
			(unsigned long long)
				x->site->config.limits.max_body_bytes);
	return SS_OK;
}

/*
 * Queue, validation and run in milliseconds (statespace-protocol(7), RUNNING).
 */
static void
server_timing(struct exchange *x, uint64_t begun_us, uint64_t ended_us)
{
	uint64_t run = x->result.run_us, all = ended_us - begun_us;
	const struct {
		const char *name;
		uint64_t us;
	} parts[] = {
		{ "queue;dur=",
			begun_us > x->started_us ? begun_us - x->started_us
						 : 0 },
		{ ", validate;dur=", all > run ? all - run : 0 },
		{ ", run;dur=", run },
	};
	char text[128];
	size_t n = 0, len;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		len = strlen(parts[i].name);
		memcpy(text + n, parts[i].name, len);
		n += len;
		n += text_ms(text + n, parts[i].us);
	}
	exchange_header(
		x, "Server-Timing", arena_copy(&x->site->arena, text, n));
}

static enum ss_err
stage_run(struct exchange *x, enum stage_result *result)
{
	struct proto_request request = { 0 };
	struct call call = { .doc = &x->doc,
		.request = &request,
		.request_id = x->id,
		.stdin_fd = -1,
		.client_fd = x->req->client_fd,
		.user = x->req->remote_user,
		.token = x->confirm };
	uint64_t begun_us = clock_us();
	enum ss_err code;

	*result = STAGE_ANSWERED;
	x->stage = "parse";
	code = proto_parse(&x->site->arena,
		x->req->body != NULL ? x->req->body : "", x->req->body_len,
		&request, &x->err);
	if (code != SS_OK)
		return code;
	code = call_run(x->site, &call, &x->stage, &x->result, &x->err);
	x->tool = x->result.tool;
	if (code != SS_OK)
		return code;
	proto_result(&x->body, &x->result);
	if (!buf_ok(&x->body))
		return error_memory(&x->err);
	server_timing(x, begun_us, clock_us());
	exchange_header(x, "Cache-Control", "no-store");
	exchange_body(x, 200, "application/json");
	return SS_OK;
}

static const struct stage stages[] = {
	{ "hooks", stage_hooks },
	{ "guard", stage_guard },
	{ "mcp", stage_mcp },
	{ "method", stage_method },
	{ "path", stage_path },
	{ "reserved", stage_reserved },
	{ "resolve", stage_resolve },
	{ "get", stage_get },
	{ "body", stage_body },
	{ "run", stage_run },
};

/* An answer that needs no memory. */
static void
answer_without_memory(struct ss_response *res)
{
	static const char body[] =
		"{\"stdout\": \"\", \"stderr\": \"an internal error; the "
		"operator's log has it\", \"returncode\": 1, \"error\": "
		"{\"code\": \"internal\", \"message\": \"an internal error; "
		"the operator's log has it\", \"hint\": \"\"}}";
	static const struct ss_header headers[] = {
		{ "Content-Type", "application/json" },
		{ "Cache-Control", "no-store" },
	};

	res->status = 500;
	res->headers = headers;
	res->header_count = ARRAY_LEN(headers);
	res->body = body;
	res->body_len = res->length = sizeof(body) - 1;
	res->outcome = SS_INTERNAL;
}

static void
way_back(struct exchange *x, struct ss_response *res)
{
	exchange_answer(x, res);
	while (x->hooks_run > 0) {
		const struct ss_hook *hook = &x->site->hooks[--x->hooks_run];

		if (hook->after != NULL)
			hook->after(hook->ctx, x->req, res);
	}
	exchange_log(x);
}

enum ss_err
ss_site_handle(struct ss_site *site, const struct ss_request *req,
	struct ss_response *res)
{
	enum stage_result result = STAGE_NEXT;
	enum ss_err code = SS_OK;
	struct exchange *x;

	*res = SS_INIT(ss_response);
	res->fd = -1;
	x = site->opened ? exchange_begin(site, req) : NULL;
	if (x == NULL) {
		answer_without_memory(res);
		return SS_INTERNAL;
	}
	for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
		exchange_step(x, stages[i].name);
		code = stages[i].run(x, &result);
		if (code != SS_OK || result == STAGE_ANSWERED)
			break;
	}
	x->err.code = code;
	if (code != SS_OK) {
		exchange_error(x);
		if (browser_wants_error(x))
			browser_error(x);
	}
	if (!buf_ok(&x->body)) {
		error_memory(&x->err);
		exchange_error(x);
	}
	way_back(x, res);
	return code;
}

void
ss_response_release(struct ss_response *res)
{
	if (res->owner != NULL)
		exchange_end(res->owner);
	*res = SS_INIT(ss_response);
	res->fd = -1;
}

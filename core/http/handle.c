/* SPDX-License-Identifier: MIT */
/*
 * One request through its stages up to the first that answers or fails; then
 * the hooks in reverse order, one log line, the answer.
 */
#include "base/clock.h"
#include "http/browser.h"
#include "http/content.h"
#include "http/discovery.h"
#include "http/events.h"
#include "http/exchange.h"
#include "http/follow.h"
#include "http/jobs.h"
#include "http/mcp.h"
#include "http/origin.h"
#include "http/output.h"
#include "http/refusal.h"
#include "http/virtual.h"
#include "http/workspaces.h"
#include "site/call.h"
#include "site/sites.h"
#include "wire/media.h"
#include "wire/prefer.h"

/* How a stage ended; STAGE_FAILED: x->err says why. */
enum stage_end { STAGE_NEXT, STAGE_ANSWERED, STAGE_FAILED };

static enum stage_end
stage_end(struct exchange *x, enum ss_err code, enum stage_end when_ok)
{
	x->err.code = code;
	return code == SS_OK ? when_ok : STAGE_FAILED;
}

static enum stage_end
stage_hooks(struct exchange *x)
{
	struct ss_site *site = x->site;
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < site->hook_count; i++) {
		const struct ss_hook *hook = &site->hooks[i];

		x->hooks_run = i + 1;
		if (hook->before != NULL)
			code = hook->before(hook->ctx, x->req, &x->err);
	}
	return stage_end(x, code, STAGE_NEXT);
}

static bool
is_read(const struct exchange *x, const char *wanted)
{
	const char *path = exchange_path(x);

	return path != NULL && strcmp(path, wanted) == 0 &&
		(exchange_is(x, "GET") || exchange_is(x, "HEAD"));
}

/* Load balancers ask by address, with any Host or none. */
static bool
is_health(const struct exchange *x)
{
	return is_read(x, "/healthz");
}

/* Of the process, also where no site has the root of all paths. */
static bool
is_of_process(const struct exchange *x)
{
	return is_health(x) || is_read(x, "/readyz") ||
		is_read(x, "/__meta/version") || is_read(x, "/__meta/status");
}

/*
 * One of several sites was found by the front server's name for it when there
 * is no Host (HTTP/1.0).
 */
static const char *
guarded_host(const struct exchange *x)
{
	const struct ss_request *req = x->req;

	bool named = x->site->name != NULL && req->site_host != NULL;

	return named && req->host != NULL && req->host[0] == '\0'
		? req->site_host
		: req->host;
}

static enum stage_end
stage_guard(struct exchange *x)
{
	const struct ss_request *req = x->req;
	bool elsewhere =
		x->site->sites != NULL && x->site->config.root[0] == '\0';
	enum ss_err code = SS_OK;

	if (elsewhere && sites_has_host(x->site, req))
		return stage_end(x,
			error_set(
				&x->err, SS_NOT_FOUND, "no site has this path"),
			STAGE_NEXT);
	if (!is_health(x))
		code = origin_check_host(
			&x->site->config, guarded_host(x), &x->err);
	if (code == SS_OK && elsewhere && !is_of_process(x)) {
		code = error_set(&x->err, SS_HOST_REFUSED,
			"no site is served under this name");
		error_hint(&x->err, "use the name that the site has");
	}
	if (code == SS_OK &&
		(exchange_is(x, "POST") || exchange_is(x, "DELETE")))
		code = origin_check(
			&x->site->config, req->origin, req->host, &x->err);
	return stage_end(x, code, STAGE_NEXT);
}

static enum stage_end
stage_mcp(struct exchange *x)
{
	if (http_mcp_wanted(x))
		return stage_end(x, http_mcp_answer(x), STAGE_ANSWERED);
	if (discovery_wanted(x))
		return stage_end(x, discovery_answer(x), STAGE_ANSWERED);
	return STAGE_NEXT;
}

static enum stage_end
stage_jobs(struct exchange *x)
{
	if (!http_jobs_wanted(x))
		return STAGE_NEXT;
	return stage_end(x, http_jobs_answer(x), STAGE_ANSWERED);
}

static enum stage_end
stage_workspaces(struct exchange *x)
{
	if (!http_workspaces_is_path(x))
		return STAGE_NEXT;
	return stage_end(x, http_workspaces_answer(x), STAGE_ANSWERED);
}

static enum stage_end
stage_method(struct exchange *x)
{
	if (exchange_is(x, "OPTIONS")) {
		exchange_header(x, "Allow", "GET, HEAD, POST, OPTIONS");
		x->status = 204;
		return STAGE_ANSWERED;
	}
	if (exchange_is(x, "GET") || exchange_is(x, "HEAD") ||
		exchange_is(x, "POST"))
		return STAGE_NEXT;
	error_set(&x->err, SS_METHOD,
		"only GET, HEAD, POST and OPTIONS are answered here");
	return STAGE_FAILED;
}

static enum stage_end
stage_path(struct exchange *x)
{
	const char *path = exchange_path(x);
	enum ss_err code = SS_OK;

	if (x->req->request_uri != NULL)
		code = path_check_uri(x->req->request_uri, &x->err);
	if (code == SS_OK)
		code = path == NULL
			? error_set(&x->err, SS_NOT_FOUND, "no such file")
			: ss_path_clean(path, strlen(path), x->path,
				  sizeof(x->path), &x->err);
	return stage_end(x, code, STAGE_NEXT);
}

static void
json_body(struct exchange *x, const char *json)
{
	buf_text(&x->body, json);
	exchange_header(x, "Cache-Control", "no-store");
	exchange_body(x, 200, "application/json");
}

/* Paths that no file of the site can have (statespace-protocol(7), READING). */
static bool
is_reserved(const char *path)
{
	switch (path[0]) {
	case 'h': return strcmp(path, "healthz") == 0;
	case 'r': return strcmp(path, "readyz") == 0;
	case 'm': return strcmp(path, "mcp") == 0;
	case '_':
		return strcmp(path, "__meta") == 0 ||
			strcmp(path, "__jobs") == 0 ||
			strncmp(path, "__meta/", 7) == 0;
	default: return false;
	}
}

/*
 * fcgi adds the figures of the pool; without one the version is all there is.
 */
static bool
is_status(const struct exchange *x)
{
	return strcmp(x->path, "__meta/status") == 0 && x->req->status_allowed;
}

static enum stage_end
stage_reserved(struct exchange *x)
{
	enum ss_err code = SS_OK;

	if (!is_reserved(x->path))
		return STAGE_NEXT;
	if (exchange_is(x, "POST"))
		code = error_set(
			&x->err, SS_METHOD, "/%s takes no POST", x->path);
	else if (strcmp(x->path, "healthz") == 0 ||
		strcmp(x->path, "readyz") == 0)
		json_body(x, "{\"status\": \"ok\"}\n");
	else if (strcmp(x->path, "__meta/version") == 0 || is_status(x))
		json_body(x,
			"{\"name\": \"statespace\", \"version\": \"" SS_VERSION
			"\"}\n");
	else
		code = virtual_meta(x);
	return stage_end(x, code, STAGE_ANSWERED);
}

static enum stage_end
stage_resolve(struct exchange *x)
{
	struct ss_site *site = x->site;
	enum ss_err code = page_open(&site->pages, &site->documents, x->path,
		&x->doc, &x->parsed, &x->err);

	x->doc_open = code == SS_OK;
	if (code != SS_NOT_FOUND || !virtual_is(x->path) ||
		hidden_has(&site->documents.hidden, x->path))
		return stage_end(x, code, STAGE_NEXT);
	return stage_end(x, virtual_answer(x), STAGE_ANSWERED);
}

static enum stage_end
stage_get(struct exchange *x)
{
	if (exchange_is(x, "POST"))
		return STAGE_NEXT;
	return stage_end(x,
		browser_wanted(x, x->doc.path) ? browser_answer(x)
					       : content_answer(x),
		STAGE_ANSWERED);
}

static enum stage_end
stage_body(struct exchange *x)
{
	if (!media_is_json(x->req->content_type)) {
		error_set(&x->err, SS_CONTENT_TYPE,
			"a POST carries Content-Type: application/json");
		error_hint(&x->err, "with curl: --json '{\"command\": [...]}'");
		return STAGE_FAILED;
	}
	if (x->req->body_too_large) {
		error_set(&x->err, SS_BODY_TOO_LARGE,
			"the body is larger than %llu bytes",
			(unsigned long long)
				x->site->config.limits.max_body_bytes);
		error_setting(&x->err, "limits.max_body_bytes", "%llu",
			4 *
				(unsigned long long)
					x->site->config.limits.max_body_bytes);
		return STAGE_FAILED;
	}
	return STAGE_NEXT;
}

static enum stage_end
stage_parse(struct exchange *x)
{
	enum ss_err code;

	x->posted_us = clock_us();
	x->request = (struct proto_request){ 0 };
	code = proto_parse(&x->site->arena,
		x->req->body != NULL ? x->req->body : "", x->req->body_len,
		&x->request, &x->err);
	return stage_end(x, code, STAGE_NEXT);
}

/*
 * Queue, validation and run in milliseconds (statespace-protocol(7), RUNNING).
 */
static void
server_timing(struct exchange *x)
{
	uint64_t run = x->result.run_us, all = clock_us() - x->posted_us;
	const struct {
		const char *name;
		uint64_t us;
	} parts[] = {
		{ "queue;dur=",
			x->posted_us > x->started_us
				? x->posted_us - x->started_us
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

/* x->stage is the step of call_run that decided. */
static enum stage_end
stage_run(struct exchange *x)
{
	const char *prefer = x->req->prefer;
	struct call_job job = http_jobs_call(x);
	struct call call = { .doc = &x->doc,
		.page = x->parsed,
		.job = &job,
		.request = &x->request,
		.request_id = x->id,
		.stdin_fd = -1,
		.client_fd = x->req->client_fd,
		.user = x->req->remote_user,
		.trace = x->trace,
		.key = x->req->idempotency_key,
		.wait_ms = prefer != NULL ? prefer_wait_ms(prefer) : 0,
		.token = x->confirm };
	enum ss_err code = events_preferred(x)
		? follow_run(x, &call)
		: call_run(&x->site->calls, &call, &x->stage, &x->result,
			  &x->err);

	x->tool = x->result.tool;
	if (code != SS_OK)
		return stage_end(x, code, STAGE_FAILED);
	if (job.id[0] != '\0')
		return stage_end(x, http_jobs_made(x, &job), STAGE_ANSWERED);
	if (x->streamed)
		return STAGE_ANSWERED;
	server_timing(x);
	output_answer(x);
	return STAGE_ANSWERED;
}

static const struct {
	const char *name;
	enum stage_end (*run)(struct exchange *x);
} stages[] = {
	{ "hooks", stage_hooks },
	{ "guard", stage_guard },
	{ "mcp", stage_mcp },
	{ "workspaces", stage_workspaces },
	{ "jobs", stage_jobs },
	{ "method", stage_method },
	{ "path", stage_path },
	{ "reserved", stage_reserved },
	{ "resolve", stage_resolve },
	{ "get", stage_get },
	{ "body", stage_body },
	{ "parse", stage_parse },
	{ "run", stage_run },
};

/* Answers without an exchange: there is no memory, or the site is not open. */
static void
answer_without_memory(struct ss_site *site, const struct ss_request *req,
	struct ss_response *res)
{
	static const char body[] =
		"{\"stdout\": \"\", \"stderr\": \"an internal error; the "
		"operator's log has it\", \"returncode\": 1, \"error\": "
		"{\"code\": \"internal\", \"message\": \"an internal error; "
		"the operator's log has it\", \"hint\": \"\"}}";
	static char id[EXCHANGE_ID_MAX + 1];
	static const struct ss_header headers[] = {
		{ "Content-Type", "application/json" },
		{ "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Request-Id", id },
	};

	exchange_id(site, req, id);
	res->status = 500;
	res->headers = headers;
	res->header_count = ARRAY_LEN(headers);
	res->body = body;
	res->body_len = res->length = sizeof(body) - 1;
	res->outcome = SS_INTERNAL;
}

static void
finish_request(struct exchange *x, struct ss_response *res)
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
	enum stage_end end = STAGE_NEXT;
	struct exchange *x;
	enum ss_err code;

	struct ss_site *all = site;
	struct ss_error err; /* large: not filled with zeros */

	error_clear(&err);
	*res = SS_INIT(ss_response);
	res->fd = -1;
	code = all->opened ? sites_choose(all, req, &site, &err) : SS_INTERNAL;
	x = all->opened ? exchange_begin(site, req) : NULL;
	if (x == NULL) {
		answer_without_memory(site, req, res);
		return SS_INTERNAL;
	}
	if (code != SS_OK) {
		exchange_step(x, "site");
		x->err = err;
		end = STAGE_FAILED;
	}
	for (size_t i = 0; end == STAGE_NEXT && i < ARRAY_LEN(stages); i++) {
		exchange_step(x, stages[i].name);
		end = stages[i].run(x);
	}
	if (end == STAGE_FAILED) {
		http_refusal(x);
		exchange_error(x);
		if (browser_wants_error(x))
			browser_error(x);
	}
	if (!buf_ok(&x->body)) {
		error_memory(&x->err);
		exchange_error(x);
	}
	code = x->err.code;
	finish_request(x, res);
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

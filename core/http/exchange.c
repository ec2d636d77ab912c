/* SPDX-License-Identifier: MIT */
#include "http/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "http/mcp_refusal.h"
#include "http/origin.h"
#include "site/call.h"
#include "site/refusal.h"
#include "site/request_log.h"
#include "wire/trace.h"
#include "wire/escape.h"
#include "wire/media.h"
#include "wire/path.h"
#include "wire/proto.h"

#define ALLOWED_METHODS "GET, HEAD, POST, OPTIONS"
/* A path where nothing can run: the answer to its POST. */
#define ALLOWED_WITHOUT_POST "GET, HEAD, OPTIONS"

/* Two full outputs with each byte escaped six-fold, and 1 MiB for the rest. */
static size_t
body_ceiling(const struct ss_site *site)
{
	return (size_t)site->config.limits.max_output_bytes * 6 +
		((size_t)1 << 20);
}

void
exchange_id(struct ss_site *site, const struct ss_request *req,
	char out[static EXCHANGE_ID_MAX + 1])
{
	const char *id = req->request_id;
	size_t n = id != NULL ? strlen(id) : 0;

	if (n > 0 && n <= EXCHANGE_ID_MAX &&
		strspn(id,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			"0123456789._-") == n)
		memcpy(out, id, n + 1);
	else
		site_make_id(site, out);
}

static size_t
prefix_len(const char *prefix)
{
	size_t n = strlen(prefix);

	while (n > 0 && prefix[n - 1] == '/')
		n--;
	return n;
}

/* The prefix must be followed by the end or a slash. */
static const char *
path_below(const char *prefix, const char *path)
{
	size_t n;

	if (prefix[0] == '\0')
		return path;
	n = prefix_len(prefix);
	if (n == 0)
		return path;
	if (strncmp(path, prefix, n) != 0 ||
		(path[n] != '/' && path[n] != '\0'))
		return NULL;
	return path + n;
}

/*
 * Allocated once and reset member by member: zeroing its paths for each request
 * would cost more than the rest.
 */
struct exchange *
exchange_begin(struct ss_site *site, const struct ss_request *req)
{
	struct exchange *x = site->exchange;

	if (x == NULL)
		x = site->exchange = calloc(1, sizeof(*x));
	if (x == NULL)
		return NULL;
	x->site = site;
	x->req = req;
	x->below = path_below(
		site->config.http.prefix, req->path != NULL ? req->path : "/");
	site->exec_state.limit.refused = false;
	error_clear(&x->err);
	x->stage = "request";
	x->step_count = 0;
	x->path[0] = '\0';
	x->confirm[0] = '\0';
	x->doc.size = sizeof(x->doc);
	x->doc.fd = x->doc.dir_fd = -1;
	x->doc_open = false;
	x->parsed = NULL;
	x->started_us = req->received_us != 0 ? req->received_us : clock_us();
	x->hooks_run = 0;
	x->status = 0;
	x->streamed = false;
	x->waits = false;
	x->header_count = 0;
	x->body = BUF_INIT(body_ceiling(site));
	x->fd = -1;
	x->offset = x->length = 0;
	x->json_errors = exchange_is(x, "POST");
	x->page = NULL;
	x->trace = trace_parent(req->traceparent);
	x->tool = -1;
	x->result = SS_INIT(ss_result);
	exchange_id(site, req, x->id);
	return x;
}

void
exchange_end(struct exchange *x)
{
	struct ss_site *site = x->site;

	if (x->doc_open)
		documents_close(&site->documents, &x->doc);
	x->doc_open = false;
	buf_release(&x->body);
	arena_clear(&site->arena);
}

void
exchange_header(struct exchange *x, const char *name, const char *value)
{
	if (value == NULL || x->header_count == EXCHANGE_HEADERS_MAX)
		return;
	x->headers[x->header_count++] =
		(struct ss_header){ .name = name, .value = value };
}

#define GUIDE(prefix)                                                          \
	"<" prefix "/AGENTS.md>; rel=\"service-doc\", <" prefix                \
	"/openapi.json>; rel=\"service-desc\", <" prefix                       \
	"/llms.txt>; rel=\"index\""

void
exchange_guide(struct exchange *x)
{
	const char *prefix = x->site->config.http.prefix;
	size_t n = prefix_len(prefix);
	struct buf path = BUF_INIT(PATH_BYTES_MAX);

	if (n == 0) {
		exchange_header(x, "Link", GUIDE(""));
		return;
	}
	escape_path(&path, prefix, n);
	if (buf_ok(&path))
		exchange_header(x, "Link",
			arena_printf(&x->site->arena, GUIDE("%s"), path.data,
				path.data, path.data));
	buf_release(&path);
}

void
exchange_body(struct exchange *x, int status, const char *type)
{
	x->status = status;
	exchange_header(x, "Content-Type", type);
	x->length = x->body.len;
}

static bool
prefers_json(const struct exchange *x)
{
	static const char *const offers[] = { "text/plain",
		"application/json" };

	return x->json_errors ||
		media_prefer(x->req->accept, offers, ARRAY_LEN(offers)) == 1;
}

void
exchange_error(struct exchange *x)
{
	bool json = prefers_json(x);

	buf_clear(&x->body);
	x->header_count = 0;
	x->fd = -1;
	if (x->json_errors && http_mcp_is_path(x)) {
		http_mcp_refusal(x);
	} else if (json && call_was_ended(x->err.code)) {
		proto_ended(&x->body, &x->result,
			call_stderr(&x->site->arena, x->result.err,
				text_of(x->err.message)),
			&x->err);
	} else if (json && x->err.code == SS_CONFIRM_REQUIRED &&
		x->confirm[0] != '\0') {
		proto_unconfirmed(&x->body, &x->result, &x->err, x->confirm);
	} else if (json) {
		proto_error(&x->body, &x->result, &x->err);
	} else {
		buf_printf(&x->body, "%s\n", x->err.message);
		if (x->err.hint[0] != '\0')
			buf_printf(&x->body, "%s\n", x->err.hint);
		buf_text(&x->body, "next: ");
		refusal_print(&x->err, &x->result, &x->body);
		buf_char(&x->body, '\n');
	}
	exchange_body(x, ss_err_status(x->err.code),
		json ? "application/json" : "text/plain; charset=utf-8");
	if (x->err.code == SS_METHOD)
		exchange_header(x, "Allow",
			exchange_is(x, "POST") ? ALLOWED_WITHOUT_POST
					       : ALLOWED_METHODS);
	if (x->err.code == SS_OVERLOADED || x->err.code == SS_KEY_RUNNING)
		exchange_header(x, "Retry-After", "1");
	exchange_header(x, "Cache-Control", "no-store");
}

/* One header, not two: some caches read only the last. */
static void
vary_by_origin(struct exchange *x)
{
	for (size_t i = 0; i < x->header_count; i++)
		if (strcmp(x->headers[i].name, "Vary") == 0) {
			x->headers[i].value = "Accept, Origin";
			return;
		}
	exchange_header(x, "Vary", "Origin");
}

/*
 * CORS (Fetch, section 3.3): lets pages of [http] origins read the answers and
 * send other requests than forms.  Cookies are not allowed: the page sends its
 * own Authorization.
 */
static void
add_cors(struct exchange *x)
{
	const struct config *config = &x->site->config;
	const char *origin = x->req->origin;

	if (!config->http.cors)
		return;
	vary_by_origin(x);
	if (!origin_lists(config, origin))
		return;
	exchange_header(x, "Access-Control-Allow-Origin",
		arena_copy(&x->site->arena, origin, strlen(origin)));
	exchange_header(x, "Access-Control-Expose-Headers",
		"Content-Range, ETag, Idempotency-Replayed, Link, Mcp-Session-Id, Retry-After, "
		"Server-Timing, Statespace-Returncode, X-Request-Id");
	if (!exchange_is(x, "OPTIONS"))
		return;
	exchange_header(x, "Access-Control-Allow-Methods", ALLOWED_METHODS);
	exchange_header(x, "Access-Control-Allow-Headers",
		"Authorization, Content-Type, Idempotency-Key, If-None-Match, "
		"Last-Event-ID, Prefer, Range, "
		"MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id");
	exchange_header(x, "Access-Control-Max-Age", "600");
}

void
exchange_common(struct exchange *x)
{
	add_cors(x);
	if (x->result.replayed)
		exchange_header(x, "Idempotency-Replayed", "true");
	exchange_header(x, "X-Content-Type-Options", "nosniff");
	exchange_header(x, "X-Request-Id", x->id);
}

void
exchange_answer(struct exchange *x, struct ss_response *res)
{
	exchange_common(x);
	res->status = x->status;
	res->headers = x->headers;
	res->header_count = x->header_count;
	res->body = x->body.data;
	res->body_len = x->body.len;
	res->streamed = x->streamed;
	res->fd = x->fd;
	res->offset = x->offset;
	res->length = x->length;
	res->head_only = exchange_is(x, "HEAD");
	res->outcome = x->err.code;
	res->owner = x;
}

void
exchange_step(struct exchange *x, const char *name)
{
	x->stage = name;
	if (x->site->config.log.slow <= 0 ||
		x->step_count == EXCHANGE_STEPS_MAX)
		return;
	x->steps[x->step_count].name = name;
	x->steps[x->step_count++].begun_us = clock_us();
}

/*
 * A stage ends when the next one begins; "queue" is the time before the first.
 */
static void
log_slow(const struct exchange *x, uint64_t ended_us)
{
	const struct request_log *log = &x->site->log;
	const char *page = x->page;
	struct log_line l;

	if (page == NULL)
		page = x->doc_open ? x->doc.path : x->path;
	if (!request_log_slow(
		    log, &l, x->id, page, x->tool, ended_us - x->started_us))
		return;
	for (size_t i = 0; i < x->step_count; i++) {
		uint64_t begun = x->steps[i].begun_us;
		uint64_t next = i + 1 < x->step_count ? x->steps[i + 1].begun_us
						      : ended_us;
		char key[32];

		if (i == 0)
			log_ms(&l, "queue_ms",
				begun > x->started_us ? begun - x->started_us
						      : 0);
		snprintf(key, sizeof(key), "stage_%s_ms", x->steps[i].name);
		log_ms(&l, key, next - begun);
	}
	request_log_usage(&l, x->tool, &x->result);
	request_log_end(log, &l);
}

void
exchange_log(const struct exchange *x)
{
	const struct ss_site *site = x->site;
	const struct ss_request *req = x->req;
	uint64_t total_us = clock_us() - x->started_us;
	struct log_line l;

	if (x->waits)
		return;
	if (!site->exec_state.limit.refused)
		log_slow(x, x->started_us + total_us);
	if (site->exec_state.limit.refused ||
		!request_log_begin(&site->log, &l, "request"))
		return;
	log_text(&l, "id", x->id);
	log_text(&l, "remote", req->remote_addr);
	log_text(&l, "user", req->remote_user);
	if (x->trace != NULL)
		log_text(&l, "trace", x->trace);
	log_text(&l, "method", req->method);
	log_text(&l, "path", req->path);
	log_number(&l, "status", x->status);
	log_text(&l, "stage", x->stage);
	if (x->err.code != SS_OK)
		log_text(&l, "code", ss_err_code(x->err.code));
	log_text(&l, "page", x->page);
	request_log_run(&l, x->tool, &x->result);
	log_ms(&l, "total_ms", total_us);
	if (x->length != SS_LENGTH_UNKNOWN)
		log_number(&l, "bytes", (int64_t)x->length);
	if (x->err.detail[0] != '\0')
		log_text(&l, "detail", x->err.detail);
	if (x->err.sys_errno != 0)
		log_text(&l, "errno", strerror(x->err.sys_errno));
	request_log_end(&site->log, &l);
}

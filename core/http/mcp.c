/* SPDX-License-Identifier: MIT */
/*
 * MCP over HTTP ("Streamable HTTP" of the specification): one POST, one
 * message, with the headers it needs and the status of its answer.
 */
#include "base/base64.h"
#include "http/events.h"
#include "http/mcp.h"
#include "http/mcp_refusal.h"
#include "mcp/cancel.h"
#include "mcp/message.h"
#include "mcp/progress.h"
#include "mcp/session.h"
#include "mcp/wait.h"
#include "wire/media.h"
#include "wire/prefer.h"

#define ALLOWED "POST, OPTIONS"
#define HEADER_MAX 8192
/* The Python SDK refuses an event of over 1 MiB. */
#define EVENT_MAX ((size_t)1000 << 10)

bool
http_mcp_is_on(const struct ss_site *site)
{
	return strcmp(site->config.mcp.enabled, "true") == 0;
}

bool
http_mcp_wanted(const struct exchange *x)
{
	return http_mcp_is_path(x) && http_mcp_is_on(x->site);
}

/* --------------------------------------------------------------- headers -- */

/* The header's value is plain, or "=?base64?...?=". */
static bool
header_is(const char *header, const char *wanted)
{
	static const char open[] = "=?base64?", close[] = "?=";
	struct ss_text h = text_of(header);
	struct buf plain = BUF_INIT(HEADER_MAX);
	bool same;

	if (header == NULL)
		return false;
	if (!text_starts(h, open) || !text_ends(h, close) ||
		h.len < sizeof(open) + sizeof(close) - 2)
		return strcmp(header, wanted) == 0;
	same = base64_read(&plain, h.data + sizeof(open) - 1,
		       h.len - (sizeof(open) - 1) - (sizeof(close) - 1)) &&
		text_is(buf_view(&plain), wanted);
	buf_release(&plain);
	return same;
}

static enum rpc_code
refuse_header(struct mcp *m, const char *name)
{
	return mcp_refuse(m, RPC_HEADER_MISMATCH,
		"the header %s is missing or differs from the body", name);
}

/* The headers repeat what the body has, so that fronts can route by them. */
static enum rpc_code
check_headers(struct mcp *m, const struct ss_request *req)
{
	const char *version = mcp_message_version(m);
	const char *name = mcp_message_header_name(m);
	const struct mcp_revision *r;

	if (version != NULL && !header_is(req->mcp_version, version))
		return refuse_header(m, "MCP-Protocol-Version");
	r = version != NULL ? mcp_revision_find(version) : NULL;
	if (r == NULL || !r->in_message)
		return RPC_OK; /* mcp_message_check refuses it */
	if (!header_is(req->mcp_method, m->rpc.method))
		return refuse_header(m, "Mcp-Method");
	if (name != NULL && !header_is(req->mcp_name, name))
		return refuse_header(m, "Mcp-Name");
	return RPC_OK;
}

/* The revision of a message is that of its _meta, or of the header. */
static enum rpc_code
check_revision(struct mcp *m, const struct ss_request *req)
{
	const char *header = req->mcp_version;
	const struct mcp_revision *named =
		header != NULL ? mcp_revision_find(header) : NULL;
	enum rpc_code code;

	if (!m->revision->in_message && header != NULL) {
		if (named == NULL)
			return mcp_message_no_version(m, header);
		m->revision = named;
	}
	if (!m->revision->in_message)
		return RPC_OK;
	code = check_headers(m, req);
	return code == RPC_OK ? mcp_message_check(m) : code;
}

/* ---------------------------------------------------------------- answer -- */

static int
status_of(enum rpc_code code, const struct mcp_revision *r)
{
	switch (code) {
	case RPC_PARSE:
	case RPC_INVALID:
	case RPC_HEADER_MISMATCH:
	case RPC_NO_CAPABILITY:
	case RPC_NO_VERSION: return 400;
	case RPC_NO_METHOD: return r->status_by_error ? 404 : 200;
	case RPC_INTERNAL: return r->status_by_error ? 500 : 200;
	case RPC_OK:
	case RPC_BAD_PARAMS:
	case RPC_NOT_FOUND: return 200;
	}
	return 200;
}

static enum ss_err
answer_json(struct exchange *x, int status)
{
	exchange_header(x, "Cache-Control", "no-store");
	exchange_body(x, status, "application/json");
	return SS_OK;
}

static enum ss_err
answer_error(struct exchange *x, struct mcp *m, enum rpc_code code, int status)
{
	mcp_message_error(m, code);
	return answer_json(x, status);
}

static enum ss_err
answer_accepted(struct exchange *x)
{
	x->status = 202;
	exchange_header(x, "Cache-Control", "no-store");
	return SS_OK;
}

/* ---------------------------------------------------------------- stream -- */

/*
 * Server-sent events, one for each message: for a request with a progressToken
 * or a question, if the client accepts them and the front can send them.
 */
static bool
send_event(void *ctx, const char *message, size_t len)
{
	return events_send(ctx, "message", NULL, message, len);
}

static bool
send_beat(void *ctx)
{
	return events_beat(ctx);
}

/* A question to a person goes into the stream of the call that waits. */
struct question {
	struct exchange *x;
	struct mcp *m;
};

static bool
send_question(void *ctx, const char *message, size_t len)
{
	const struct question *q = ctx;

	if (!mcp_wait_begin(q->m))
		return false;
	q->m->client.event_max = EVENT_MAX;
	return send_event(q->x, message, len);
}

static enum ss_err
receive_answer(void *ctx, const char *id, uint32_t timeout_ms,
	const char **message, size_t *len)
{
	const struct question *q = ctx;
	const struct mcp_wait_beat beat = { send_beat, q->x };
	struct ss_text response = { 0 };
	enum ss_err code =
		mcp_wait_response(q->m, id, timeout_ms, &beat, &response);

	*message = response.data;
	*len = response.len;
	return code;
}

static bool
wants_events(const struct exchange *x, const struct mcp *m)
{
	return events_accepted(x) && mcp_progress_wanted(m);
}

/* A cancelled call has no response: its stream ends without one. */
static enum ss_err
answer_cancelled(struct exchange *x, struct mcp *m)
{
	error_clear(&m->err);
	x->stage = "cancelled";
	if (x->streamed)
		return SS_OK;
	if (!events_accepted(x)) {
		mcp_refuse(m, RPC_INTERNAL, "the call was cancelled");
		return answer_error(x, m, RPC_INTERNAL, 200);
	}
	buf_clear(&x->body);
	buf_text(&x->body, ": cancelled\n\n");
	exchange_header(x, "Cache-Control", "no-store");
	exchange_body(x, 200, "text/event-stream");
	return SS_OK;
}

/* *was_cancelled: the run has ended, and the client wants no answer. */
static enum rpc_code
run_message(struct exchange *x, struct mcp *m, bool *was_cancelled)
{
	struct mcp_cancel watch;
	struct question question = { x, m };
	enum rpc_code code = RPC_INTERNAL;
	const char *session;

	mcp_cancel_begin(&watch, m);
	if (watch.fd >= 0 && events_accepted(x) && mcp_wait_possible(m))
		m->client.asker = (struct mcp_asker){ send_question,
			receive_answer, &question };
	m->client.asks = m->client.session_asks;
	if (!watch.cancelled)
		code = mcp_message_run(m);
	mcp_cancel_end(&watch);
	*was_cancelled = watch.cancelled &&
		(m->record.method == NULL || m->err.code == SS_GONE);
	session = code == RPC_OK ? mcp_session_new(m) : NULL;
	if (session != NULL)
		exchange_header(x, "Mcp-Session-Id", session);
	return code;
}

static enum ss_err
answer_message(struct exchange *x, struct mcp *m)
{
	bool was_cancelled;
	enum rpc_code code = mcp_message_read(
		m, x->req->body != NULL ? x->req->body : "", x->req->body_len);

	if (code != RPC_OK)
		return answer_error(x, m, code, 400);
	mcp_session_read(m, x->req->mcp_session);
	if (m->rpc.kind == RPC_RESPONSE) {
		mcp_wait_responded(m, x->req->body, x->req->body_len);
		return answer_accepted(x);
	}
	if (m->rpc.kind == RPC_NOTIFICATION) {
		mcp_cancel_notified(m);
		return answer_accepted(x);
	}
	code = check_revision(m, x->req);
	if (code != RPC_OK)
		return answer_error(x, m, code, 400);
	if (wants_events(x, m)) {
		m->client.notify = send_event;
		m->client.notify_ctx = x;
		m->client.event_max = EVENT_MAX;
	}
	code = run_message(x, m, &was_cancelled);
	x->stage = m->record.method != NULL ? m->record.method : "mcp";
	x->tool = m->record.tool;
	x->page = m->record.page;
	x->trace = m->record.trace;
	x->result = m->record.result;
	if (was_cancelled)
		return answer_cancelled(x, m);
	if (m->err.code == SS_GONE)
		return SS_GONE;
	if (code == RPC_INTERNAL) {
		error_detail(&x->err, "%s", m->err.detail);
		x->err.sys_errno = m->err.sys_errno;
	}
	if (!x->streamed)
		return answer_json(x, status_of(code, m->revision));
	if (!buf_ok(&x->body) || !send_event(x, x->body.data, x->body.len))
		return error_set(&x->err, SS_GONE, "the client left");
	return SS_OK;
}

static enum ss_err
answer_post(struct exchange *x)
{
	struct mcp m;
	enum ss_err code;

	mcp_message_init(&m, x->site, &x->body);
	x->body.max = MCP_ANSWER_MAX(x->site);
	m.request_id = x->id;
	m.client.user = x->req->remote_user;
	m.client.trace = x->trace;
	m.client.fd = x->req->client_fd;
	m.client.wait_ms = prefer_wait_ms(x->req->prefer);
	if (!media_is_json(x->req->content_type))
		code = error_set(&x->err, SS_CONTENT_TYPE,
			"a POST carries Content-Type: application/json");
	else if (x->req->body_too_large)
		code = error_set(&x->err, SS_BODY_TOO_LARGE,
			"the body is larger than %llu bytes",
			(unsigned long long)
				x->site->config.limits.max_body_bytes);
	else
		code = answer_message(x, &m);
	mcp_message_release(&m);
	return code;
}

enum ss_err
http_mcp_answer(struct exchange *x)
{
	if (exchange_is(x, "POST"))
		return answer_post(x);
	exchange_header(x, "Allow", ALLOWED);
	if (exchange_is(x, "OPTIONS")) {
		x->status = 204;
		return SS_OK;
	}
	buf_text(&x->body, "MCP takes only POST\n");
	exchange_body(x, 405, "text/plain; charset=utf-8");
	return SS_OK;
}

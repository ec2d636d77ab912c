/* SPDX-License-Identifier: MIT */
/*
 * MCP without HTTP (ss_site_mcp): messages one by one, as lines of standard
 * input or however a host gets them.
 */
#include "base/log.h"
#include "mcp/message.h"
#include "site/request_log.h"

struct line {
	struct mcp m;
	bool (*send)(void *ctx, const char *message, size_t len);
	void *ctx;
};

static bool
pass_on(void *ctx, const char *message, size_t len)
{
	const struct line *l = ctx;

	return l->send(l->ctx, message, len);
}

static void
log_message(const struct mcp *m)
{
	const struct ss_site *site = m->site;
	struct log_line l;

	if (!request_log_begin(site, &l, "mcp"))
		return;
	log_text(&l, "id", m->request_id);
	log_text(&l, "method", m->method != NULL ? m->method : "unknown");
	if (m->err.code != SS_OK)
		log_text(&l, "code", ss_err_code(m->err.code));
	request_log_run(&l, m->tool, &m->result);
	if (m->err.detail[0] != '\0')
		log_text(&l, "detail", m->err.detail);
	log_end(&l, site->log, site->log_ctx);
}

/* False: there is nothing to answer. */
static bool
answer(struct mcp *m, const char *message, size_t len)
{
	enum rpc_code code = mcp_message_read(m, message, len);

	if (m->rpc.kind != RPC_REQUEST) /* however wrong it is */
		return false;
	if (code == RPC_OK)
		code = mcp_message_check(m);
	if (code == RPC_OK)
		mcp_message_run(m);
	else
		mcp_message_error(m, code);
	log_message(m);
	return m->err.code != SS_GONE;
}

enum ss_err
ss_site_mcp(struct ss_site *site, const char *message, size_t len,
	int client_fd, bool (*send)(void *ctx, const char *message, size_t len),
	void *ctx)
{
	struct line l = { .send = send, .ctx = ctx };
	struct buf out = BUF_INIT(MCP_ANSWER_MAX(site));
	enum ss_err code = site_needs_open(site, NULL);
	char id[33];

	if (code != SS_OK)
		return code;
	site_make_id(site, id);
	mcp_message_init(&l.m, site, &out);
	l.m.request_id = id;
	l.m.client_fd = client_fd;
	l.m.notify = pass_on;
	l.m.notify_ctx = &l;
	if (answer(&l.m, message, len)) {
		if (!buf_ok(&out))
			code = SS_INTERNAL;
		else if (!send(ctx, out.data, out.len))
			code = SS_GONE;
	}
	if (l.m.err.code == SS_GONE)
		code = SS_GONE;
	mcp_message_release(&l.m);
	buf_release(&out);
	arena_clear(&site->arena);
	return code;
}

/* The id as JSON text; "" when it is too long to be kept. */
static void
copy_id(const struct rpc_value *id, char *out, size_t cap)
{
	struct buf text = BUF_INIT(cap - 1);

	out[0] = '\0';
	if (id != NULL && rpc_is_token(id) && rpc_write(&text, id))
		memcpy(out, text.data, text.len + 1);
	buf_release(&text);
}

void
ss_mcp_look(const char *message, size_t len, struct ss_mcp_glance *out)
{
	struct rpc rpc;

	*out = (struct ss_mcp_glance){ .kind = SS_MCP_SIMPLE };
	if (rpc_parse(message, len, &rpc, NULL) == RPC_OK) {
		if (rpc.kind == RPC_REQUEST && mcp_message_runs(rpc.method))
			out->kind = SS_MCP_RUNS;
		if (rpc.kind == RPC_NOTIFICATION &&
			strcmp(rpc.method, "notifications/cancelled") == 0)
			out->kind = SS_MCP_CANCELS;
		copy_id(out->kind == SS_MCP_CANCELS
				? rpc_member(rpc.params, "requestId")
				: rpc.id,
			out->id, sizeof(out->id));
	}
	rpc_release(&rpc);
}

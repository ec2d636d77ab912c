/* SPDX-License-Identifier: MIT */
/*
 * MCP without HTTP (ss_site_mcp): one message, from a line of standard input or
 * wherever a host gets it.
 */
#include "base/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "mcp/elicit.h"
#include "mcp/message.h"
#include "site/request_log.h"

static bool
send_to_host(void *ctx, const char *message, size_t len)
{
	const struct ss_mcp_client *c = ctx;

	return c->send(c->ctx, message, len);
}

/* The host hands over no other message than the response. */
static enum ss_err
receive_from_host(void *ctx, const char *id, uint32_t timeout_ms,
	const char **message, size_t *len)
{
	const struct ss_mcp_client *c = ctx;

	(void)id;
	return c->receive(c->ctx, timeout_ms, message, len);
}

static void
log_message(const struct mcp *m, uint64_t began_us)
{
	const struct ss_site *site = m->site;
	struct log_line l;

	if (request_log_slow(&site->log, &l, m->request_id, m->record.page,
		    m->record.tool, clock_us() - began_us)) {
		request_log_usage(&l, m->record.tool, &m->record.result);
		request_log_end(&site->log, &l);
	}
	if (!request_log_begin(&site->log, &l, "mcp"))
		return;
	log_text(&l, "id", m->request_id);
	log_text(&l, "trace", m->record.trace);
	log_text(&l, "method",
		m->record.method != NULL ? m->record.method : "unknown");
	if (m->err.code != SS_OK)
		log_text(&l, "code", ss_err_code(m->err.code));
	log_text(&l, "page", m->record.page);
	request_log_run(&l, m->record.tool, &m->record.result);
	if (m->err.detail[0] != '\0')
		log_text(&l, "detail", m->err.detail);
	request_log_end(&site->log, &l);
}

/* False: it gets no answer. */
static bool
answer_message(struct mcp *m, const char *message, size_t len)
{
	uint64_t began_us = clock_us();
	enum rpc_code code = mcp_message_read(m, message, len);

	if (m->rpc.kind != RPC_REQUEST) /* valid or not */
		return false;
	if (code == RPC_OK)
		code = mcp_message_check(m);
	if (code == RPC_OK)
		mcp_message_run(m);
	else
		mcp_message_error(m, code);
	log_message(m, began_us);
	return m->err.code != SS_GONE;
}

enum ss_err
ss_site_mcp_client(struct ss_site *site, const char *message, size_t len,
	const struct ss_mcp_client *client)
{
	struct ss_mcp_client c = *client;
	struct buf out = BUF_INIT(MCP_ANSWER_MAX(site));
	enum ss_err code = site_needs_open(site, NULL);
	char id[33];
	struct mcp m;

	if (code != SS_OK)
		return code;
	site_make_id(site, id);
	mcp_message_init(&m, site, &out);
	m.request_id = id;
	m.client.fd = c.client_fd;
	m.client.ends = true;
	m.client.notify = send_to_host;
	m.client.notify_ctx = &c;
	m.client.asks = c.asks != 0 ? c.asks : SS_MCP_ASKS_PERSON;
	if (c.receive != NULL)
		m.client.asker = (struct mcp_asker){ send_to_host,
			receive_from_host, &c };
	if (answer_message(&m, message, len)) {
		if (!buf_ok(&out))
			code = SS_INTERNAL;
		else if (!c.send(c.ctx, out.data, out.len))
			code = SS_GONE;
	}
	if (m.err.code == SS_GONE)
		code = SS_GONE;
	mcp_message_release(&m);
	buf_release(&out);
	arena_clear(&site->arena);
	return code;
}

enum ss_err
ss_site_mcp(struct ss_site *site, const char *message, size_t len,
	int client_fd, bool (*send)(void *ctx, const char *message, size_t len),
	void *ctx)
{
	struct ss_mcp_client c = { .size = sizeof(c),
		.client_fd = client_fd,
		.send = send,
		.ctx = ctx };

	return ss_site_mcp_client(site, message, len, &c);
}

/* The id as JSON; when too long, "#" (which is no JSON) and its digest. */
static void
copy_id(const struct rpc_value *id, size_t message, char *out, size_t cap)
{
	/* An escape may have six bytes for one. */
	struct buf text = BUF_INIT(6 * message + 64);
	uint8_t digest[DIGEST_BYTES];

	out[0] = '\0';
	if (id != NULL && rpc_is_token(id) && rpc_write(&text, id)) {
		if (text.len < cap) {
			memcpy(out, text.data, text.len + 1);
		} else {
			digest_of(text.data, text.len, digest);
			out[0] = '#';
			digest_hex(digest, DIGEST_BYTES, out + 1);
		}
	}
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
		out->page = out->kind == SS_MCP_RUNS &&
			strcmp(rpc.method, "tools/call") != 0;
		if (rpc.kind == RPC_NOTIFICATION &&
			strcmp(rpc.method, "notifications/cancelled") == 0)
			out->kind = SS_MCP_CANCELS;
		if (rpc.kind == RPC_RESPONSE)
			out->kind = SS_MCP_ANSWERS;
		if (rpc.kind == RPC_REQUEST &&
			strcmp(rpc.method, "initialize") == 0)
			out->asks = mcp_elicit_offers(
				rpc_member(rpc.params, "capabilities"));
		out->can_ask = out->asks != 0;
		copy_id(out->kind == SS_MCP_CANCELS
				? rpc_member(rpc.params, "requestId")
				: rpc.id,
			len, out->id, sizeof(out->id));
	}
	rpc_release(&rpc);
}

/* SPDX-License-Identifier: MIT */
#include "mcp/elicit.h"

#include <sys/random.h>

#include "base/clock.h"
#include "page/ask.h"

#define ID_BYTES 16          /* nobody can guess the id of a question */
#define WAIT_MS (600 * 1000) /* for a person to read and decide */

/* An empty object means forms, as in 2025-06-18, which has no other mode. */
static bool
offers_forms(const struct rpc_value *e)
{
	return rpc_is_object(e) &&
		(rpc_first(e) == NULL || rpc_is_object(rpc_member(e, "form")));
}

unsigned
mcp_elicit_offers(const struct rpc_value *capabilities)
{
	unsigned asks = 0;

	if (offers_forms(rpc_member(capabilities, "elicitation")))
		asks |= 1u << ASK_PERSON;
	if (rpc_is_object(rpc_member(capabilities, "sampling")))
		asks |= 1u << ASK_MODEL;
	if (rpc_is_object(rpc_member(capabilities, "roots")))
		asks |= 1u << ASK_ROOTS;
	return asks;
}

void
mcp_elicit_begin(struct mcp *m, const char *name, const char *method)
{
	struct mcp_elicitation *e = &m->elicitation;
	uint8_t bytes[ID_BYTES];
	bool random =
		getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes);

	e->result = NULL;
	e->name = name;
	buf_clear(&e->text);
	e->text.failed = !random;
	e->answer = m->out;
	m->out = &e->text;
	if (!random)
		return;
	digest_hex(bytes, sizeof(bytes), e->id);
	buf_printf(m->out,
		"{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"id\":\"%s\","
		"\"params\":{",
		method, e->id);
}

/* Fills m->err: SS_GONE, or the reason for the model. */
static enum mcp_answered
no_answer(struct mcp *m, enum ss_err code)
{
	if (code == SS_GONE)
		error_set(&m->err, SS_GONE, "the client left");
	else if (code == SS_TIMEOUT)
		error_set(&m->err, SS_NOT_ALLOWED,
			"it did not run: the person did not answer in time");
	else if (m->err.code == SS_OK)
		error_set(&m->err, SS_NOT_ALLOWED,
			"it did not run: the client did not ask the person");
	return MCP_DECLINED;
}

static bool
is_the_response(struct mcp_elicitation *e, const char *text, size_t len)
{
	const char *id;

	rpc_release(&e->response);
	if (rpc_parse(text, len, &e->response, NULL) != RPC_OK ||
		e->response.kind != RPC_RESPONSE)
		return false;
	id = rpc_text(e->response.id);
	return id != NULL && strcmp(id, e->id) == 0;
}

enum mcp_answered
mcp_elicit_end(struct mcp *m)
{
	struct mcp_elicitation *e = &m->elicitation;
	const struct mcp_asker *a = &m->client.asker;
	uint64_t deadline_ms = clock_ms() + WAIT_MS;
	enum ss_err code;
	const char *text;
	size_t len;

	m->out = e->answer;
	if (!buf_ok(&e->text)) {
		error_set(&m->err, SS_NOT_ALLOWED,
			"it did not run: the question is too long");
		return MCP_DECLINED;
	}
	if (!a->send(a->ctx, e->text.data, e->text.len))
		return no_answer(
			m, m->err.code == SS_OK ? SS_GONE : m->err.code);
	do
		code = a->receive(a->ctx, e->id,
			(uint32_t)clock_left_ms(deadline_ms), &text, &len);
	while (code == SS_OK && !is_the_response(e, text, len));
	if (code != SS_OK)
		return no_answer(m, code);
	e->result = rpc_member(e->response.root, "result");
	return e->result != NULL ? MCP_AGREED : no_answer(m, SS_NOT_ALLOWED);
}

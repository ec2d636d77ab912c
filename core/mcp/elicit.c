/* SPDX-License-Identifier: MIT */
/*
 * elicitation/create of revisions 2025-06-18 and 2025-11-25: the server sends
 * a request of its own while the client's call waits, and the answer is a
 * response that comes on its own.
 */
#include "mcp/round.h"

#include <sys/random.h>

#include "base/clock.h"

#define ID_BYTES 16          /* nobody guesses whose question it is */
#define WAIT_MS (600 * 1000) /* a person reads, thinks, clicks */

/* An empty object means forms, as it did when there were only forms. */
bool
mcp_elicits(const struct rpc_value *capabilities)
{
	const struct rpc_value *e = rpc_member(capabilities, "elicitation");

	return rpc_is_object(e) &&
		(rpc_first(e) == NULL || rpc_is_object(rpc_member(e, "form")));
}

void
mcp_elicit_begin(struct mcp *m, const char *name)
{
	uint8_t bytes[ID_BYTES];
	bool random =
		getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes);

	m->answered = NULL;
	m->question_name = name;
	buf_clear(&m->question);
	m->question.failed = !random;
	m->answer_out = m->out;
	m->out = &m->question;
	if (!random)
		return;
	digest_hex(bytes, sizeof(bytes), m->question_id);
	buf_printf(m->out,
		"{\"jsonrpc\":\"2.0\",\"method\":\"elicitation/create\","
		"\"id\":\"%s\",\"params\":{\"message\":",
		m->question_id);
}

/* SS_GONE, or what the model is told: the tool did not run. */
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
is_the_answer(struct mcp *m, const char *text, size_t len)
{
	const char *id;

	rpc_release(&m->response);
	if (rpc_parse(text, len, &m->response, NULL) != RPC_OK ||
		m->response.kind != RPC_RESPONSE)
		return false;
	id = rpc_text(m->response.id);
	return id != NULL && strcmp(id, m->question_id) == 0;
}

/* The question is whole: sends it and waits. */
enum mcp_answered
mcp_elicit_end(struct mcp *m)
{
	const struct mcp_asker *a = &m->asker;
	uint64_t deadline_ms = clock_ms() + WAIT_MS;
	enum ss_err code = SS_INTERNAL;
	const char *text;
	size_t len;

	m->out = m->answer_out;
	if (!buf_ok(&m->question)) {
		error_set(&m->err, SS_NOT_ALLOWED,
			"it did not run: the question is too long");
		return MCP_DECLINED;
	}
	if (!a->send(a->ctx, m->question.data, m->question.len))
		return no_answer(
			m, m->err.code == SS_OK ? SS_GONE : m->err.code);
	do
		code = a->receive(a->ctx, m->question_id,
			(uint32_t)clock_left_ms(deadline_ms), &text, &len);
	while (code == SS_OK && !is_the_answer(m, text, len));
	if (code != SS_OK)
		return no_answer(m, code);
	m->answered = rpc_member(m->response.root, "result");
	return m->answered != NULL ? MCP_AGREED : no_answer(m, SS_NOT_ALLOWED);
}

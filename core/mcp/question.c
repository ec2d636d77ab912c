/* SPDX-License-Identifier: MIT */
#include "mcp/question.h"
#include "mcp/elicit.h"
#include "wire/json.h"

#define ANSWER_TOKENS 1000 /* of a model, at most */

static const struct {
	const char *method, *capability;
} kinds[] = { [ASK_PERSON] = { "elicitation/create", "elicitation" },
	[ASK_MODEL] = { "sampling/createMessage", "sampling" },
	[ASK_ROOTS] = { "roots/list", "roots" } };

bool
mcp_question_possible(const struct mcp *m, enum ask_from from)
{
	unsigned asks = m->client.asks;

	if (m->revision->asking == MCP_ASKS_BY_RESULT)
		asks = mcp_elicit_offers(rpc_member(
			m->meta, MCP_NAMESPACE "clientCapabilities"));
	else if (m->client.asker.receive == NULL)
		asks = 0;
	return (asks >> from & 1) != 0;
}

void
mcp_question_impossible(struct mcp *m, enum ask_from from, const char *message)
{
	buf_clear(&m->error_data);
	buf_printf(&m->error_data, "{\"requiredCapabilities\":{\"%s\":{}}}",
		kinds[from].capability);
	mcp_refuse(m, RPC_NO_CAPABILITY, "%s", message);
}

const struct rpc_value *
mcp_question_response(const struct mcp *m, const char *name)
{
	const struct mcp_elicitation *e = &m->elicitation;

	if (m->revision->asking == MCP_ASKS_BY_RESULT)
		return rpc_member(
			rpc_member(m->rpc.params, "inputResponses"), name);
	return e->result != NULL && strcmp(e->name, name) == 0 ? e->result
							       : NULL;
}

bool
mcp_question_is_accepted(const struct rpc_value *response)
{
	const char *action = rpc_text(rpc_member(response, "action"));

	return action != NULL && strcmp(action, "accept") == 0;
}

/* The members before the message. */
static void
begin_params(struct mcp *m, enum ask_from from)
{
	switch (from) {
	case ASK_PERSON:
		if (m->revision->asking == MCP_ASKS_BY_RESULT)
			buf_text(m->out, "\"mode\":\"form\",");
		buf_text(m->out, "\"message\":");
		break;
	case ASK_MODEL:
		buf_text(m->out,
			"\"messages\":[{\"role\":\"user\",\"content\":"
			"{\"type\":\"text\",\"text\":");
		break;
	case ASK_ROOTS:
	case ASK_KINDS: break;
	}
}

void
mcp_question_begin(struct mcp *m, const char *name, enum ask_from from)
{
	if (m->revision->asking == MCP_ASKS_BY_REQUEST) {
		mcp_elicit_begin(m, name, kinds[from].method);
	} else {
		if (strcmp(m->result_type, "complete") == 0) {
			m->result_type = "input_required";
			mcp_key(m, "inputRequests");
			buf_char(m->out, '{');
		}
		mcp_key(m, name);
		buf_printf(m->out, "{\"method\":\"%s\",\"params\":{",
			kinds[from].method);
	}
	begin_params(m, from);
}

void
mcp_question_form(struct mcp *m)
{
	buf_text(m->out,
		",\"requestedSchema\":{\"type\":\"object\",\"properties\":{");
}

enum mcp_answered
mcp_question_end(struct mcp *m, enum ask_from from, const char *const *required,
	size_t count)
{
	if (from == ASK_PERSON) {
		buf_text(m->out, "},\"required\":[");
		for (size_t i = 0; i < count; i++) {
			mcp_comma(m);
			mcp_string(m, required[i]);
		}
		buf_text(m->out, "]}");
	} else if (from == ASK_MODEL) {
		buf_printf(m->out, "}}],\"maxTokens\":%d", ANSWER_TOKENS);
	}
	buf_text(m->out, "}}");
	return m->revision->asking == MCP_ASKS_BY_REQUEST ? mcp_elicit_end(m)
							  : MCP_ASKED;
}

void
mcp_question_send(struct mcp *m, struct mcp_round *r, bool confirming)
{
	struct buf state = BUF_INIT(MCP_ROUND_STATE_MAX);

	buf_char(m->out, '}');
	mcp_key(m, "requestState");
	if (mcp_round_state(m, r, confirming, &state))
		json_string(m->out, state.data, state.len);
	else
		m->out->failed = true;
	buf_release(&state);
}

/* SPDX-License-Identifier: MIT */
#include "mcp/question.h"
#include "mcp/elicit.h"
#include "wire/json.h"

bool
mcp_question_possible(const struct mcp *m)
{
	if (m->revision->asking == MCP_ASKS_BY_REQUEST)
		return m->client.asker.receive != NULL;
	return mcp_elicit_offered(
		rpc_member(m->meta, MCP_NAMESPACE "clientCapabilities"));
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

void
mcp_question_begin(struct mcp *m, const char *name)
{
	if (m->revision->asking == MCP_ASKS_BY_REQUEST) {
		mcp_elicit_begin(m, name);
		return;
	}
	m->result_type = "input_required";
	mcp_key(m, "inputRequests");
	buf_char(m->out, '{');
	mcp_key(m, name);
	buf_text(m->out,
		"{\"method\":\"elicitation/create\",\"params\":{\"mode\":"
		"\"form\",\"message\":");
}

void
mcp_question_form(struct mcp *m)
{
	buf_text(m->out,
		",\"requestedSchema\":{\"type\":\"object\",\"properties\":{");
}

enum mcp_answered
mcp_question_end(struct mcp *m, struct mcp_round *r,
	const char *const *required, size_t count, bool confirming)
{
	struct buf state = BUF_INIT(MCP_ROUND_STATE_MAX);

	buf_text(m->out, "},\"required\":[");
	for (size_t i = 0; i < count; i++) {
		mcp_comma(m);
		mcp_string(m, required[i]);
	}
	if (m->revision->asking == MCP_ASKS_BY_REQUEST) {
		buf_text(m->out, "]}}}");
		return mcp_elicit_end(m);
	}
	buf_text(m->out, "]}}}}");
	mcp_key(m, "requestState");
	if (mcp_round_state(m, r, confirming, &state))
		json_string(m->out, state.data, state.len);
	else
		m->out->failed = true;
	buf_release(&state);
	return MCP_ASKED;
}

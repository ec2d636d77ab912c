/* SPDX-License-Identifier: MIT */
#include "http/mcp_refusal.h"

#include "wire/json.h"
#include "wire/rpc.h"
#include "wire/step.h"

#define MCP_PATH "/mcp"
#define PARSED_MAX ((size_t)64 << 10) /* of a body, for its id */

bool
http_mcp_is_path(const struct exchange *x)
{
	const char *rest;

	if (!exchange_starts(x, MCP_PATH))
		return false;
	rest = exchange_path(x) + strlen(MCP_PATH);
	return rest[0] == '\0' || strcmp(rest, "/") == 0;
}

/*
 * The id of the request; null where it could not be read (JSON-RPC 2.0): the
 * Python SDK ignores an error without an id.
 */
static void
write_id(struct exchange *x)
{
	const struct ss_request *req = x->req;
	struct rpc rpc = { 0 };

	if (req->body != NULL && req->body_len <= PARSED_MAX)
		rpc_parse(req->body, req->body_len, &rpc, NULL);
	if (rpc.id != NULL)
		rpc_write(&x->body, rpc.id);
	else
		buf_text(&x->body, "null");
	rpc_release(&rpc);
}

void
http_mcp_refusal(struct exchange *x)
{
	const struct ss_error *err = &x->err;
	bool ours = ss_err_status(err->code) >= 500;

	buf_text(&x->body, "{\"jsonrpc\":\"2.0\",\"id\":");
	write_id(x);
	buf_printf(&x->body, ",\"error\":{\"code\":%d,\"message\":",
		ours ? RPC_INTERNAL : RPC_INVALID);
	json_string(&x->body, err->message, strlen(err->message));
	buf_printf(&x->body,
		",\"data\":{\"code\":\"%s\",\"hint\":", ss_err_code(err->code));
	json_string(&x->body, err->hint, strlen(err->hint));
	step_members(err, NULL, NULL, &x->body);
	buf_text(&x->body, "}}}");
}

/* SPDX-License-Identifier: MIT */
/*
 * Refusals of HTTP at /mcp, as errors of JSON-RPC: clients show no other body.
 */
#ifndef SS_HTTP_MCP_REFUSAL_H
#define SS_HTTP_MCP_REFUSAL_H

#include "http/exchange.h"

/* Is this request, of any method, for /mcp, whether MCP is on or not? */
bool http_mcp_is_path(const struct exchange *x);
/* The body for x->err, when no message was read. */
void http_mcp_refusal(struct exchange *x);

#endif

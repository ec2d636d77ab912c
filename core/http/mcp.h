/* SPDX-License-Identifier: MIT */
/*
 * The Model Context Protocol over the same road as POST: every tool of a
 * listed page is an MCP tool, every page a resource.  Nothing is remembered
 * from one message to the next, in either era of the protocol (revision
 * 2026-07-28, and 2025-11-25 and 2025-06-18, which begin with `initialize`);
 * a session is a random id that only the client keeps (mcp_session.h).
 *
 * Source   the specification, revisions named above; statespace.toml(5).
 */
#ifndef SS_HTTP_MCP_H
#define SS_HTTP_MCP_H

#include "http/exchange.h"

/* Does this request, of any method, go to /mcp, and is MCP on? */
bool http_mcp_wanted(const struct exchange *x);
/* Does it go there, on or not? */
bool http_mcp_is_path(const struct exchange *x);
/* The body for x->err, which no message has led to. */
void http_mcp_refusal(struct exchange *x);
/*
 * The whole answer.  What the protocol calls an error is an answer, SS_OK;
 * errors are of HTTP: SS_CONTENT_TYPE, SS_BODY_TOO_LARGE, SS_GONE, SS_INTERNAL.
 */
enum ss_err http_mcp_answer(struct exchange *x);

#endif

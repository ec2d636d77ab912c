/* SPDX-License-Identifier: MIT */
/*
 * The Model Context Protocol at /mcp: every tool of a listed page is an MCP
 * tool, every page a resource.  Nothing is kept from one message to the next;
 * a session is a random id that only the client keeps (mcp/session.h).
 *
 * Source   the specification, in the revisions of mcp/revision.c;
 *          statespace-protocol(7), MODEL CONTEXT PROTOCOL.
 */
#ifndef SS_HTTP_MCP_H
#define SS_HTTP_MCP_H

#include "http/exchange.h"

/* Is MCP on? */
bool http_mcp_is_on(const struct ss_site *site);
/* Is this request, of any method, for /mcp, and is it on? */
bool http_mcp_wanted(const struct exchange *x);
/*
 * The whole answer.  What the protocol calls an error is an answer, SS_OK;
 * errors are of HTTP: SS_CONTENT_TYPE, SS_BODY_TOO_LARGE, SS_GONE, SS_INTERNAL.
 */
enum ss_err http_mcp_answer(struct exchange *x);

#endif

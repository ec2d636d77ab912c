/* SPDX-License-Identifier: MIT */
/*
 * Questions of revisions 2025-06-18 and 2025-11-25: the server sends a
 * request of its own while the client's call waits, and gets a response.
 */
#ifndef SS_MCP_ELICIT_H
#define SS_MCP_ELICIT_H

#include "mcp/question.h"

/* Up to the members of params. */
void mcp_elicit_begin(struct mcp *m, const char *name, const char *method);
/*
 * Sends the question and waits.  MCP_AGREED: mcp_question_response has the
 * answer; else MCP_DECLINED.
 */
enum mcp_answered mcp_elicit_end(struct mcp *m);
/* Whom a client with these capabilities can ask: bits by enum ask_from. */
unsigned mcp_elicit_offers(const struct rpc_value *capabilities);

#endif

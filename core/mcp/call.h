/* SPDX-License-Identifier: MIT */
/*
 * tools/call: from the arguments of a message, and what a person adds to them,
 * to the words of one command.
 */
#ifndef SS_MCP_CALL_H
#define SS_MCP_CALL_H

#include "mcp/mcp.h"

enum rpc_code mcp_call(struct mcp *m);

#endif

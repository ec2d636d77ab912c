/* SPDX-License-Identifier: MIT */
/* What a client learns first: who serves, which methods there are. */
#ifndef SS_MCP_SERVER_H
#define SS_MCP_SERVER_H

#include "mcp/mcp.h"

/* Methods. */
enum rpc_code mcp_server_initialize(struct mcp *m);
enum rpc_code mcp_server_discover(struct mcp *m);

/* `serverInfo`: name and version; whole: all that is known. */
void mcp_server_info(struct mcp *m, bool whole);

#endif

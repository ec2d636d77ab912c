/* SPDX-License-Identifier: MIT */
/*
 * tools/list: pages' tools under their names, or, on a site with more of them
 * than [mcp] max_tools, those of large.h.
 */
#ifndef SS_MCP_TOOLS_H
#define SS_MCP_TOOLS_H

#include "mcp/mcp.h"

enum rpc_code mcp_tools_list(struct mcp *m);

#endif

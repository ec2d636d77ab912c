/* SPDX-License-Identifier: MIT */
/*
 * tools/list: pages' tools under their names, or, on a site with more of them
 * than [mcp] max_tools, one tool `run` for all.
 */
#ifndef SS_MCP_TOOLS_H
#define SS_MCP_TOOLS_H

#include "mcp/mcp.h"

#define MCP_TOOLS_RUN "run"

enum rpc_code mcp_tools_list(struct mcp *m);

/* Is `run` the one tool? */
bool mcp_tools_is_generic(const struct mcp *m, const struct catalog *c);
/*
 * The paths of pages with tools, in up to most bytes, and how many more there
 * are.
 */
void mcp_tools_pages(const struct catalog *c, struct buf *out, size_t most);

#endif

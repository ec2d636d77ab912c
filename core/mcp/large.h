/* SPDX-License-Identifier: MIT */
/*
 * The tools of a site with more of them than [mcp] max_tools: `search` finds
 * tools and pages, `read` gives a page, and `run` does what a POST to a page
 * does.  What a client loads before its first call is a few hundred tokens,
 * however large the site.
 */
#ifndef SS_MCP_LARGE_H
#define SS_MCP_LARGE_H

#include "mcp/mcp.h"

#define MCP_LARGE_RUN "run"
#define MCP_LARGE_SEARCH "search"
#define MCP_LARGE_READ "read"

/* Is the site so large? */
bool mcp_large(const struct mcp *m, const struct catalog *c);
/* Appends the three to a list of tools. */
void mcp_large_list(struct mcp *m);
/* Both write the result. */
enum rpc_code mcp_large_search(struct mcp *m);
enum rpc_code mcp_large_read(struct mcp *m);
/* Pages with tools, in up to most bytes, and how many more there are. */
void mcp_large_pages(const struct catalog *c, struct buf *out, size_t most);

#endif

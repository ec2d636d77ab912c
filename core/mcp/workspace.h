/* SPDX-License-Identifier: MIT */
/*
 * Sessions of workspaces as four tools of the site, where one of its pages
 * declares a workspace.  A tool of a page with the same name goes before.
 */
#ifndef SS_MCP_WORKSPACE_H
#define SS_MCP_WORKSPACE_H

#include "mcp/mcp.h"

/* Appends them to a list of tools, if the site has them. */
void mcp_workspace_list(struct mcp *m, const struct catalog *c);
/* Is it one of their names? */
bool mcp_workspace_is_name(const char *name);
/* Has the site that one? */
bool mcp_workspace_has(const struct catalog *c, const char *name);
/* Writes the result. */
enum rpc_code mcp_workspace_call(struct mcp *m, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* prompts/list and prompts/get. */
#ifndef SS_MCP_PROMPTS_H
#define SS_MCP_PROMPTS_H

#include "mcp/mcp.h"

enum rpc_code mcp_prompts_list(struct mcp *m);
enum rpc_code mcp_prompts_get(struct mcp *m);

/* The first page that has a prompt of that name; NULL: none. */
const struct catalog_page *
mcp_prompts_page(const struct catalog *c, const char *name);

#endif

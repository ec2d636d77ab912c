/* SPDX-License-Identifier: MIT */
/* completion/complete: paths of pages, for arguments that are one. */
#ifndef SS_MCP_COMPLETE_H
#define SS_MCP_COMPLETE_H

#include "mcp/mcp.h"

enum rpc_code mcp_complete(struct mcp *m);

#endif

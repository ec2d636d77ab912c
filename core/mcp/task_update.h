/* SPDX-License-Identifier: MIT */
/* A person's answers to what a task asked. */
#ifndef SS_MCP_TASK_UPDATE_H
#define SS_MCP_TASK_UPDATE_H

#include "mcp/mcp.h"

/*
 * The method tasks/update: makes the call again, with the answers; the task then
 * asks for what is left, is queued, or has ended since somebody declined.
 *
 * call  the method tools/call.
 */
enum rpc_code
mcp_task_update(struct mcp *m, enum rpc_code (*call)(struct mcp *m));

#endif

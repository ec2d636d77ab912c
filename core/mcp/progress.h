/* SPDX-License-Identifier: MIT */
/* Progress of a running tool, for a request with a progressToken. */
#ifndef SS_MCP_PROGRESS_H
#define SS_MCP_PROGRESS_H

#include "mcp/mcp.h"
#include "site/call.h"

/* call_run, with notifications/progress where the request asks for them. */
/* kind: how the tool tells its own. */
enum ss_err
mcp_progress_run(struct mcp *m, struct call *job, enum spec_progress kind);

#endif

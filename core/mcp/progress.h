/* SPDX-License-Identifier: MIT */
/*
 * What a client hears of a running tool: its progress, for a request with a
 * progressToken; the lines of its standard error as log messages, for one of
 * 2026-07-28 whose _meta has a logLevel of info or debug.
 */
#ifndef SS_MCP_PROGRESS_H
#define SS_MCP_PROGRESS_H

#include "mcp/mcp.h"
#include "site/call.h"

/* Does the request ask to hear of the run? */
bool mcp_progress_wanted(const struct mcp *m);
/* call_run, with notifications/progress where the request asks for them. */
/* kind: how the tool tells its own. */
enum ss_err
mcp_progress_run(struct mcp *m, struct call *job, enum spec_progress kind);

#endif

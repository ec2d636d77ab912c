/* SPDX-License-Identifier: MIT */
/* What the list of tools, the call of one and its result share. */
#ifndef SS_MCP_CALL_H
#define SS_MCP_CALL_H

#include "mcp/parts.h"

#define MCP_RUN_TOOL "run"

/* Has the site more tools than are told one by one? */
bool mcp_is_generic(const struct mcp *m, const struct catalog *c);
/*
 * The paths of pages with tools, in up to most bytes, and how many more there
 * are.
 */
void
mcp_pages_with_tools(const struct catalog *c, struct buf *out, size_t most);
/* "image/png", without parameters; "" for text. */
struct ss_text mcp_output_type(const struct spec *spec);

/* The result for m->err: what went wrong is the model's to read and correct. */
enum rpc_code mcp_refused(struct mcp *m, struct ss_text type);
/* The result for a tool that was ended at a limit, with what it had written. */
enum rpc_code mcp_ended(struct mcp *m, struct ss_text type);
/* The result for m->result, of a tool of the page at path. */
enum rpc_code mcp_ran(struct mcp *m, struct ss_text type, const char *path);

#endif

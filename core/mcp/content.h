/* SPDX-License-Identifier: MIT */
/*
 * What a call gave, as MCP's content blocks and structure: text, bytes of a
 * type, or blocks that the tool wrote itself.
 */
#ifndef SS_MCP_CONTENT_H
#define SS_MCP_CONTENT_H

#include "mcp/mcp.h"

/* "image/png", without parameters; "" for text, which has no structure. */
struct ss_text mcp_content_type(const struct spec *spec);

/*
 * Results of a tool with that type:
 * refused  for m->err, which the model reads and corrects;
 * ended    for a tool that a limit ended, with what it had written;
 * ran      for m->record.result, of a tool of the page at path.
 */
enum rpc_code mcp_content_refused(struct mcp *m, struct ss_text type);
/* A text of our own. */
enum rpc_code mcp_content_text(struct mcp *m, struct ss_text text);
enum rpc_code mcp_content_ended(struct mcp *m, struct ss_text type);
enum rpc_code
mcp_content_ran(struct mcp *m, struct ss_text type, const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/* Pages as resources; a page is read as GET answers it, its components run. */
#ifndef SS_MCP_RESOURCES_H
#define SS_MCP_RESOURCES_H

#include "mcp/mcp.h"

/* Methods. */
enum rpc_code mcp_resources_list(struct mcp *m);
enum rpc_code mcp_resources_templates(struct mcp *m);
enum rpc_code mcp_resources_read(struct mcp *m);

/* How a file is read. */
enum mcp_reading {
	MCP_READ_AS_GET, /* for a client */
	MCP_READ_RAW,    /* for a client, without running components */
	MCP_READ_AUTHORS /* the author named it: also one that is hidden */
};

/*
 * What GET would answer for a clean path, in out, released by the caller.
 * resolved   where it was found; in the arena.
 * Errors  SS_NOT_FOUND, also for what is not listed; SS_OUTPUT_TOO_LARGE; those
 *         of a page and of its components.
 */
enum ss_err mcp_resources_get(struct mcp *m, const char *path,
	enum mcp_reading how, const char **resolved, struct buf *out);
/* Members mimeType and text or blob. */
void
mcp_resources_contents(struct mcp *m, const char *path, struct ss_text bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* A file of the site, opened for one message. */
#ifndef SS_MCP_DOCUMENT_H
#define SS_MCP_DOCUMENT_H

#include "mcp/mcp.h"

/*
 * page   NULL, or out: what it declares; its frontmatter must be right.
 * The caller closes it if SS_OK.
 */
enum ss_err mcp_document_open(struct mcp *m, const char *path,
	struct ss_document *doc, struct page **page);
/* The same for a file that the author names: also one that is hidden. */
enum ss_err
mcp_document_open_any(struct mcp *m, const char *path, struct ss_document *doc);
void mcp_document_close(struct mcp *m, struct ss_document *doc);

#endif

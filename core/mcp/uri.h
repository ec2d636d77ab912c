/* SPDX-License-Identifier: MIT */
/* URIs of resources: the site's base ([mcp] uri) and the path of a file. */
#ifndef SS_MCP_URI_H
#define SS_MCP_URI_H

#include "mcp/mcp.h"

/* A quote and the base, which config made sure needs no escape. */
void mcp_uri_begin(struct mcp *m);
/* The path, percent-encoded, without quotes and base. */
void mcp_uri_escape(struct mcp *m, const char *path);
/* The whole URI, in quotes. */
void mcp_uri(struct mcp *m, const char *path);

/* The clean path that uri names, in the arena; NULL: none of ours. */
const char *mcp_uri_path(struct mcp *m, const char *uri);
/* The same for the part behind a base. */
const char *mcp_uri_decode(struct mcp *m, const char *escaped);

#endif

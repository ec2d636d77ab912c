/* SPDX-License-Identifier: MIT */
/*
 * Finds tools and pages of a large site by words: in the names, titles and
 * descriptions that AGENTS.md has, best first.
 */
#ifndef SS_MCP_SEARCH_H
#define SS_MCP_SEARCH_H

#include "site/catalog.h"

/* What is found of so many bytes is told; the rest is counted. */
#define SEARCH_BYTES 6000

/*
 * c has its lists.  Appends what AGENTS.md says of each tool, below the path of
 * its page; without words the pages from the one of that number on.
 */
void mcp_search(const struct catalog *c, const char *query, size_t skip,
	struct buf *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A page's title and summary: the same in a browser, in llms.txt and AGENTS.md,
 * and over MCP.
 */
#ifndef SS_PAGE_TITLE_H
#define SS_PAGE_TITLE_H

#include "page/frontmatter.h"

/*
 * The frontmatter's title, else the text of the first heading, else the path:
 * one line of at most 200 bytes.
 *
 * text     the page without its frontmatter; its first 16 KiB are searched.
 * Errors   NULL when the arena has no memory.
 */
const char *title_find(struct arena *arena, const struct frontmatter *front,
	const char *path, struct ss_text text);
/*
 * The frontmatter's description, else the source of the first paragraph, else
 * "": at most 600 bytes.
 */
const char *title_summary(struct arena *arena, const struct frontmatter *front,
	struct ss_text text);

#endif

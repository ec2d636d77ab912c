/* SPDX-License-Identifier: MIT */
/*
 * What the lists that agents read say of one page: AGENTS.md its tools,
 * llms.txt a link.  Author's words stay on their line.
 */
#ifndef SS_ROSTER_H
#define SS_ROSTER_H

#include "buf.h"
#include "frontmatter.h"

struct roster_page {
	const char *path;
	const struct frontmatter *front;
	struct ss_text text; /* its beginning, for a page without title */
	bool grants;         /* its tools can be run */
};

/* Both append; failures stick in out. */
void roster_block(const struct roster_page *page, struct buf *out);
void roster_link(const struct roster_page *page, struct buf *out);

#endif

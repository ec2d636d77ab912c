/* SPDX-License-Identifier: MIT */
/*
 * One page in the lists that agents read: its tools in AGENTS.md, a link in
 * llms.txt.  An author's text takes one line.
 */
#ifndef SS_PAGE_AGENTS_H
#define SS_PAGE_AGENTS_H

#include "base/buf.h"
#include "page/frontmatter.h"

struct agents_page {
	const char *path;
	const char *title; /* title_find */
	const struct frontmatter *front;
	const struct ss_pair *server; /* the operator's variables */
	size_t server_count;
	bool grants; /* its tools can be run */
};

/* Both append; failures stick in out. */
void agents_block(const struct agents_page *page, struct buf *out);
void agents_link(const struct agents_page *page, struct buf *out);

#endif

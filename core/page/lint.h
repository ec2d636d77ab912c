/* SPDX-License-Identifier: MIT */
/*
 * What is valid in a page but looks like a mistake: the warnings of
 * `statespace check` (statespace-page(7), Warnings), and what is wrong with
 * prompts.  Advice: a page without warnings is not thereby safe.  What needs
 * files, the configuration or other pages is the caller's to check.
 */
#ifndef SS_PAGE_LINT_H
#define SS_PAGE_LINT_H

#include "page/warning.h"

struct lint_page {
	const char *path;    /* NULL: not known */
	struct ss_text text; /* all of it, from its first byte */
	/* The operator's table of variables, for secrets. */
	const struct ss_pair *server;
	size_t server_count;
};

/*
 * Calls fn for each finding: those of the text first, then those of each tool
 * and prompt in their order.
 *
 * f        what was read of the page.
 * Pure     no I/O.
 */
void lint_frontmatter(const struct frontmatter *f, const struct lint_page *page,
	lint_fn fn, void *ctx);

#endif

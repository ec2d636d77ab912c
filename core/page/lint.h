/* SPDX-License-Identifier: MIT */
/*
 * What is valid in a page but looks like a mistake: the warnings of
 * `statespace check` (statespace-page(7), Tools and statespace-protocol(7),
 * RUNNING and statespace.toml(5)), and what is wrong with prompts.  Advice:
 * a page without warnings is not thereby safe.  The caller checks whether a
 * program is installed.
 */
#ifndef SS_PAGE_LINT_H
#define SS_PAGE_LINT_H

#include "page/frontmatter.h"

/* message and hint live for the call; hint may be NULL. */
typedef void (*lint_fn)(void *ctx, unsigned line, unsigned column,
	enum ss_level level, const char *message, const char *hint);

/*
 * Calls fn for each finding, in the order of the page's tools and prompts.
 *
 * server   the operator's table of variables, for secrets.
 * Pure     no I/O.
 */
void lint_frontmatter(const struct frontmatter *f, const struct ss_pair *server,
	size_t server_count, lint_fn fn, void *ctx);

#endif

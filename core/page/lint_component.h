/* SPDX-License-Identifier: MIT */
/*
 * What the components of a page get wrong (statespace-page(7), Components): a
 * variable of the server's that a script reads and the page does not list.
 */
#ifndef SS_PAGE_LINT_COMPONENT_H
#define SS_PAGE_LINT_COMPONENT_H

#include "page/env.h"
#include "page/lint.h"

/*
 * Calls fn for the first use of each such variable.
 *
 * text     the whole page; f is what frontmatter_parse made of it.
 * scope    server and server_count: the operator's table of variables.
 * Pure     no I/O.
 */
void lint_components(const struct frontmatter *f, struct ss_text text,
	const struct env_scope *scope, lint_fn fn, void *ctx);

#endif

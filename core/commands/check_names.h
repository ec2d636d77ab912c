/* SPDX-License-Identifier: MIT */
/* Tools that would have the same name over MCP, in one page or in two. */
#ifndef SS_COMMANDS_CHECK_NAMES_H
#define SS_COMMANDS_CHECK_NAMES_H

#include "page/lint.h"

#define CHECK_NAMES_BUCKETS 256

struct check_name;

/* The names of the pages that were checked; zeroed to begin with. */
struct check_names {
	struct check_name *buckets[CHECK_NAMES_BUCKETS];
};

/*
 * Adds the tools of a page, and calls fn for each whose name an earlier one
 * has.  What is kept lives in arena.  False: no memory.
 */
bool check_names_add(struct check_names *names, struct arena *arena,
	const struct frontmatter *front, const char *page, lint_fn fn,
	void *ctx);

#endif

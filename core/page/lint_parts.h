/* SPDX-License-Identifier: MIT */
/* What the parts of the lint room share: where warnings go. */
#ifndef SS_PAGE_LINT_PARTS_H
#define SS_PAGE_LINT_PARTS_H

#include "page/env.h"
#include "page/lint.h"

struct lint {
	const struct frontmatter *front;
	struct env_scope scope;
	lint_fn fn;
	void *ctx;
};

/* hint may be NULL. */
void lint_warn(const struct lint *l, unsigned line, unsigned column,
	const char *hint, const char *message, ...) PRINTF_LIKE(5, 6);

/* lint_prompts.c: `prompts:`, which nothing else refuses. */
void lint_prompts(const struct lint *l);

#endif

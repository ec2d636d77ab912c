/* SPDX-License-Identifier: MIT */
/*
 * The names of the warnings of `statespace check`, which a page lists under
 * `allow:` to silence them (statespace-page(7), Warnings).
 */
#ifndef SS_PAGE_WARNING_H
#define SS_PAGE_WARNING_H

#include "page/frontmatter.h"

enum warning {
	WARN_ARGUMENT,
	WARN_BUILTIN,
	WARN_CHARACTER,
	WARN_CODE,
	WARN_COMPONENT,
	WARN_EMPTY,
	WARN_ENDLESS,
	WARN_ENV,
	WARN_FENCE,
	WARN_KEY,
	WARN_LIMIT,
	WARN_NAME,
	WARN_NETWORK,
	WARN_OPTION,
	WARN_PLACEHOLDER,
	WARN_PROGRAM,
	WARN_PROMPT,
	WARN_QUOTE,
	WARN_REGEX,
	WARN_RUNNER,
	WARN_SECRET,
	WARN_SHADOW,
	WARN_SHELL,
	WARN_STDIN,
	WARN_TEMPLATE,
	WARN_VARIABLE,
	WARN_WORD,
	WARN_WRITE,
	/* Of the site, the account or other pages, not of the page's text. */
	WARN_SITE,
	WARN_INSTALLED = WARN_SITE,
	WARN_CLASH,
	WARN_FILE,
	WARN_GRANT,
	WARN_COUNT
};

/* The same pointer each time. */
const char *warning_name(enum warning w);
/* Is it a name of a warning that says why a word means nothing? */
bool warning_is_of_word(const char *name);

/* Receives errors and warnings; what *p points to lives for the call. */
typedef void (*lint_fn)(void *ctx, const struct ss_problem *p);

/* What a page acknowledges, and for which lines. */
struct allow;

/*
 * Reads `allow` of the page and of its tools, and reports names that are none.
 * NULL: no memory.
 */
struct allow *allow_read(struct arena *arena, const struct frontmatter *f,
	lint_fn fn, void *ctx);
/* Does the page acknowledge this warning?  allow may be NULL. */
bool allow_silences(struct allow *allow, const struct ss_problem *p);
/* Reports the names of the page's text that silenced nothing. */
void allow_report_unused(const struct allow *allow, lint_fn fn, void *ctx);

#endif

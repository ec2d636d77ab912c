/* SPDX-License-Identifier: MIT */
/*
 * A regular expression of a page: the only file that knows PCRE2.  UTF mode,
 * searched and not anchored, `$` only at the very end, ASCII classes, \C
 * refused; match, depth and heap limits set; JIT where there is one
 * (statespace-page(7), Tools).
 */
#ifndef SS_PAGE_PATTERN_H
#define SS_PAGE_PATTERN_H

#include "base/base.h"
#include "base/error.h"

struct pattern;

enum pattern_result { PATTERN_NO, PATTERN_YES, PATTERN_LIMIT };

/*
 * SS_BAD_FRONTMATTER with what is wrong and at which character; an empty
 * source is an error.  The pattern is freed with pattern_free.
 */
enum ss_err pattern_new(const char *source, size_t len, struct pattern **out,
	struct ss_error *err);
void pattern_free(struct pattern *p);
/* text must be valid UTF-8; PATTERN_LIMIT when a limit stopped the search. */
enum pattern_result
pattern_search(const struct pattern *p, const char *text, size_t len);
/* Does it begin with ^ or \A and end with $ or \z? */
bool pattern_is_anchored(const char *source, size_t len);

#endif

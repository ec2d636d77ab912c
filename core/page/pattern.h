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

/* The last two say nothing of the word: the search did not end. */
enum pattern_result {
	PATTERN_NO,
	PATTERN_YES,
	PATTERN_LIMIT, /* stopped by a limit */
	PATTERN_MEMORY /* no memory */
};

/*
 * SS_BAD_FRONTMATTER with what is wrong and at which character; an empty
 * source is an error.  The pattern is freed with pattern_free.
 */
enum ss_err pattern_new(const char *source, size_t len, struct pattern **out,
	struct ss_error *err);
void pattern_free(struct pattern *p);
/*
 * The searches between these two share one second of processor time: a page
 * with many arguments must not cost a worker one second for each.  When it is
 * used up each search is PATTERN_LIMIT.  Other searches are not counted.
 */
void pattern_command_begin(void);
void pattern_command_end(void);
/* text must be valid UTF-8. */
enum pattern_result
pattern_search(const struct pattern *p, const char *text, size_t len);
/*
 * Which ends of the word a source binds: with ^ or \A, with $ or \z, in each
 * of its alternatives.
 */
struct pattern_anchors {
	bool start, end;
	bool alternatives; /* it has some, outside of all groups */
};
struct pattern_anchors pattern_anchors(const char *source, size_t len);
/* Both ends. */
bool pattern_is_anchored(const char *source, size_t len);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Finds the component blocks of a page (statespace-page(7), Components): fences
 * as CommonMark 0.31 section 4.5 has them, so that an example that shows a
 * component inside a longer fence, or one that is commented out, stays text.
 */
#ifndef SS_PAGE_FENCE_H
#define SS_PAGE_FENCE_H

#include "base/base.h"

struct fence_block {
	size_t start, end; /* the block, without the last line's break */
	size_t script, script_len; /* between the fences; CR LF is kept */
	struct ss_text info;       /* what the opening line says */
	bool component, closed;
};

/* `at` is where the search continues; set it to the offset to begin with. */
struct fence_scan {
	const char *text;
	size_t len, at;
};

/* The next fenced block of any kind, closed or not; false: no more. */
bool fence_next_any(struct fence_scan *scan, struct fence_block *out);
/* The next component that is closed; false: no more. */
bool fence_next(struct fence_scan *scan, struct fence_block *out);
/*
 * The next line outside of fences and comments, without its line break.  Each
 * fence or comment gives one empty line.  False: no more.
 */
bool fence_next_line(struct fence_scan *scan, struct ss_text *out);

#endif

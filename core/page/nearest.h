/* SPDX-License-Identifier: MIT */
/*
 * Why no tool of a page allows a command: the word at which the tool that comes
 * nearest gives up, and what it takes there.
 */
#ifndef SS_PAGE_NEAREST_H
#define SS_PAGE_NEAREST_H

#include "base/arena.h"
#include "page/spec.h"

/*
 * Appends it: `word 2, "--help", is not a word that matches ^[1-9]+$`.  The
 * nearest tool is the one that takes the most words; nothing is appended for a
 * page without tools, or when a regex reaches its limit.  Uses arena.  Failures stick in out.
 * *rule: the part that decided, of the tool that is returned; NULL: none.
 */
const struct spec *nearest_print(const struct spec *specs, size_t count,
	const struct ss_text *words, size_t word_count, struct arena *arena,
	const struct part **rule, struct buf *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Where a page's first heading and its first paragraph are, found line by line:
 * lists name pages by them, and may not pay for the rest of the page.  Pure, in
 * one pass.
 */
#ifndef SS_PAGE_HEADING_H
#define SS_PAGE_HEADING_H

#include "base/base.h"

/*
 * The source of the first heading outside of quotes, lists, code and comments
 * (CommonMark 4.2, 4.3), without its '#' marks or its underline; one that an
 * underline makes may have several lines.  False: there is none.
 */
bool heading_find(struct ss_text text, struct ss_text *out);
/* The source of the first paragraph that is no heading and no image. */
bool heading_paragraph(struct ss_text text, struct ss_text *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Finds a page's first heading and first paragraph, line by line and not
 * further: lists that show them must not parse every page.  Pure.
 */
#ifndef SS_PAGE_HEADING_H
#define SS_PAGE_HEADING_H

#include "base/base.h"

/*
 * The source of the first heading outside of quotes, lists, code and comments
 * (CommonMark 4.2, 4.3), without its '#' marks or its underline; an underlined
 * one may have several lines.  False: there is none.
 */
bool heading_find(struct ss_text text, struct ss_text *out);
/* The source of the first paragraph that is no heading and no image. */
bool heading_paragraph(struct ss_text text, struct ss_text *out);

#endif

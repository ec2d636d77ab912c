/* SPDX-License-Identifier: MIT */
/*
 * Markdown to HTML: CommonMark with GitHub's tables, strikethrough, autolinks
 * and task lists.  The only file that knows libcmark-gfm.
 *
 * The output has no script: HTML in the text is shown as text (comments are
 * left out), a link leads to http, https, mailto or within the site or is
 * dropped, an image of another site becomes a link.
 */
#ifndef SS_PAGE_MARKDOWN_H
#define SS_PAGE_MARKDOWN_H

#include "base/buf.h"
#include "base/error.h"

/* Longer text, or one that needs more memory, is shown as it is. */
#define MARKDOWN_BYTES_MAX ((size_t)1 << 20)
#define MARKDOWN_MEMORY_MAX ((size_t)64 << 20)

/*
 * Appends text as an HTML fragment to out.
 *
 * base     put before every relative link, "" for none: the path from the
 *          requested address to the folder of the page.
 * Errors   stick in out, no others.
 */
void markdown_html(struct ss_text text, const char *base, struct buf *out);
/* Appends the text as it is, with a note that it could not be rendered. */
void markdown_plain(struct ss_text text, struct buf *out);
/*
 * Appends the plain text of the first heading, of at most 1 KiB of source;
 * false: there is none.  It costs one pass over the text before it.
 */
bool markdown_heading(struct ss_text text, struct buf *out);

#endif

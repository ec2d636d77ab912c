/* SPDX-License-Identifier: MIT */
/*
 * A page's Markdown as HTML, within a budget of processor time: libcmark-gfm
 * needs a quadratic time for some texts and cannot be interrupted, so a text
 * of more than a few KiB is rendered by a child process of fork(2), which
 * setitimer(2) ends.  What could not be rendered is shown as plain text.
 */
#ifndef SS_HTTP_RENDER_H
#define SS_HTTP_RENDER_H

#include "base/buf.h"

struct render_limits {
	size_t bytes_here;  /* up to so many, rendered in this process */
	unsigned budget_ms; /* of a child's processor time */
};

/* Some milliseconds for the worst text that is known. */
#define RENDER_BYTES_HERE ((size_t)4096)
#define RENDER_BUDGET_MS 500

/*
 * Appends what markdown_html does of text, or what markdown_plain does.
 * limits   NULL for those above.
 * Errors   stick in out, no others.
 * Blocks until the child has ended.
 */
void render_markdown(struct ss_text text, const char *base,
	const struct render_limits *limits, struct buf *out);

#endif

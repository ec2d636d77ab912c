/* SPDX-License-Identifier: MIT */
/*
 * A page's Markdown as HTML, within a budget of processor time: libcmark-gfm
 * needs quadratic time for some texts and cannot be interrupted, so a text of
 * more than a few KiB is rendered by a forked child, which setitimer(2) kills.
 * Text that was not rendered is shown as it is.
 */
#ifndef SS_HTTP_RENDER_H
#define SS_HTTP_RENDER_H

#include "base/buf.h"

struct render_limits {
	size_t bytes_here;  /* up to so many, rendered in this process */
	unsigned budget_ms; /* of a child's processor time */
};

/* A few milliseconds for the worst known text. */
#define RENDER_BYTES_HERE ((size_t)4096)
#define RENDER_BUDGET_MS 500

/*
 * Appends what markdown_html makes of text, or markdown_plain when the child
 * was killed.
 * limits   NULL for those above.
 * Errors   stick in out, no others.
 * Blocks until the child has ended.
 */
void render_markdown(struct ss_text text, const char *base,
	const struct render_limits *limits, struct buf *out);

#endif

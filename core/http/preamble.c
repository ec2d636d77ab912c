/* SPDX-License-Identifier: MIT */
#include "http/preamble.h"

#include <stdlib.h>

#include "page/example.h"
#include "page/toolname.h"
#include "wire/media.h"

bool
preamble_wanted(const struct exchange *x)
{
	static const char *const offers[] = { "text/markdown" };
	const struct page *page = x->parsed;
	const char *accept = x->req->accept;

	return accept != NULL && x->site->config.http.preamble &&
		strcasestr(accept, offers[0]) != NULL &&
		media_prefer(accept, offers, 1) == 0 && page != NULL &&
		page->error.code == SS_OK && page->front.spec_count > 0 &&
		!documents_writable(&x->site->documents, &x->doc);
}

/* The first tool that nobody is asked about, else the first. */
static size_t
shown_tool(const struct frontmatter *front)
{
	for (size_t i = 0; i < front->spec_count; i++)
		if (!front->specs[i].confirm)
			return i;
	return 0;
}

static void
add_example(const struct exchange *x, struct buf *out)
{
	const struct frontmatter *front = &x->parsed->front;
	size_t tool = shown_tool(front);
	const struct spec *s = &front->specs[tool];
	struct toolcall_label *labels;

	if (example_is_command(front->specs, tool, &out->failed)) {
		example_command(s, out);
		return;
	}
	labels = toolcall_labels(front->specs, front->spec_count, x->doc.path);
	out->failed |= labels == NULL;
	if (labels != NULL)
		example_call(s, labels[tool].text, out);
	free(labels);
}

void
preamble_write(const struct exchange *x, struct buf *out)
{
	buf_text(out,
		"> Run a tool of this page: POST to its address, with "
		"Content-Type: application/json.\n> For example: `");
	add_example(x, out);
	buf_text(out,
		"`\n> Nothing else runs. AGENTS.md has all tools of this "
		"site, openapi.json their schemas.\n\n");
}

/* SPDX-License-Identifier: MIT */
/* What writes the view of one page (html.h), in pieces. */
#ifndef SS_HTTP_HTML_WRITER_H
#define SS_HTTP_HTML_WRITER_H

#include "http/html.h"

struct html_writer {
	const struct html_page *page;
	struct buf *out;
	struct buf scratch; /* text that is not yet escaped */
};

/* A tool that is being written, and the name that calls it. */
struct html_tool {
	const struct spec *spec;
	const char *name;
	size_t index;
};

/* HTML as it is. */
void html_put(struct html_writer *s, const char *html);
/* Escaped text; html_in: between two pieces of HTML. */
void html_text(struct html_writer *s, const char *text);
void html_bytes(struct html_writer *s, struct ss_text text);
void html_in(struct html_writer *s, const char *open, const char *text,
	const char *close);
/* Escapes what is in the scratch buffer. */
void html_scratch(struct html_writer *s);
/* The href of a path of the site. */
void html_href(struct html_writer *s, const char *path, size_t len);
/* The id of a part of a tool's card. */
void html_id(struct html_writer *s, const struct html_tool *t, const char *kind,
	size_t i);

/* The cards of the page's tools (html_card.c). */
void html_tools(struct html_writer *s);
/* The fields of one (html_form.c). */
void html_form(struct html_writer *s, const struct html_tool *t);

#endif

/* SPDX-License-Identifier: MIT */
/* Text and its places in the view of a page. */
#include "http/html_writer.h"

#include "wire/escape.h"

void
html_put(struct html_writer *s, const char *html)
{
	buf_text(s->out, html);
}

void
html_text(struct html_writer *s, const char *text)
{
	escape_html(s->out, text, strlen(text));
}

void
html_bytes(struct html_writer *s, struct ss_text text)
{
	escape_html(s->out, text.data, text.len);
}

void
html_in(struct html_writer *s, const char *open, const char *text,
	const char *close)
{
	html_put(s, open);
	html_text(s, text);
	html_put(s, close);
}

void
html_scratch(struct html_writer *s)
{
	html_bytes(s, buf_view(&s->scratch));
	s->out->failed |= s->scratch.failed;
	s->out->full |= s->scratch.full;
	buf_clear(&s->scratch);
}

void
html_href(struct html_writer *s, const char *path, size_t len)
{
	html_in(s, " href=\"", s->page->root, "");
	escape_path(s->out, path, len);
	html_put(s, "\"");
}

void
html_id(struct html_writer *s, const struct html_tool *t, const char *kind,
	size_t i)
{
	buf_printf(s->out, "_t%zu-%s%zu", t->index, kind, i);
}

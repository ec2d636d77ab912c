/* SPDX-License-Identifier: MIT */
#include "page/heading.h"

#include "page/fence.h"

struct line {
	struct ss_text text; /* without blanks around it */
	bool indented;       /* by a tab, or by four spaces or more */
};

static bool
next_line(struct fence_scan *scan, struct line *out)
{
	struct ss_text t;
	size_t indent = 0;

	if (!fence_next_line(scan, &t))
		return false;
	while (indent < t.len && t.data[indent] == ' ')
		indent++;
	out->indented =
		indent > 3 || (indent < t.len && t.data[indent] == '\t');
	t.data += indent;
	t.len -= indent;
	while (t.len > 0 && strchr(" \t", t.data[t.len - 1]) != NULL)
		t.len--;
	out->text = t;
	return true;
}

static bool
is_blank(struct ss_text t, size_t at)
{
	return at == t.len || t.data[at] == ' ' || t.data[at] == '\t';
}

/* How often the first byte is repeated at the start. */
static size_t
first_byte_run(struct ss_text t)
{
	size_t n = 0;

	while (n < t.len && t.data[n] == t.data[0])
		n++;
	return n;
}

/* The text of an ATX heading (CommonMark 4.2), after its '#'s. */
static bool
is_marked(const struct line *l, struct ss_text *out)
{
	size_t n = first_byte_run(l->text);

	if (l->indented || n == 0 || n > 6 || l->text.data[0] != '#' ||
		!is_blank(l->text, n))
		return false;
	*out = (struct ss_text){ l->text.data + n, l->text.len - n };
	return true;
}

static bool
is_underline(const struct line *l)
{
	return !l->indented && l->text.len > 0 &&
		strchr("=-", l->text.data[0]) != NULL &&
		first_byte_run(l->text) == l->text.len;
}

/* A thematic break (CommonMark 4.1): three or more of a mark, and blanks. */
static bool
is_break(const struct line *l)
{
	size_t marks = 0;

	if (l->indented || l->text.len == 0 ||
		strchr("*-_", l->text.data[0]) == NULL)
		return false;
	for (size_t i = 0; i < l->text.len; i++) {
		if (l->text.data[i] == l->text.data[0])
			marks++;
		else if (!is_blank(l->text, i))
			return false;
	}
	return marks >= 3;
}

/* Does the line begin code, a quote, a list, a table's row or HTML? */
static bool
is_other_block(const struct line *l)
{
	struct ss_text t = l->text;
	size_t digits = 0;

	if (l->indented || strchr("><|", t.data[0]) != NULL)
		return true;
	if (strchr("-+*", t.data[0]) != NULL)
		return is_blank(t, 1);
	while (digits < t.len && t.data[digits] >= '0' && t.data[digits] <= '9')
		digits++;
	return digits > 0 && digits < t.len &&
		strchr(".)", t.data[digits]) != NULL && is_blank(t, digits + 1);
}

/* Does such a block end a paragraph without an empty line before it? */
static bool
interrupts(const struct line *l)
{
	return !l->indented && strchr("<|", l->text.data[0]) == NULL &&
		is_other_block(l);
}

/* The first heading, or the first paragraph that is not one. */
static bool
find_block(struct ss_text text, bool heading, struct ss_text *out)
{
	struct fence_scan scan = { .text = text.data, .len = text.len };
	struct ss_text paragraph = { NULL, 0 };
	bool other = false; /* in a block of another kind */
	struct line l;

	while (next_line(&scan, &l)) {
		struct ss_text title = paragraph;
		bool underlined = paragraph.data != NULL && is_underline(&l);
		bool titled = underlined || is_marked(&l, &title);
		bool ends = titled || l.text.len == 0 || is_break(&l);

		if (heading && titled) {
			*out = title;
			return true;
		}
		if (!ends && paragraph.data != NULL && !interrupts(&l)) {
			paragraph.len = (size_t)(l.text.data + l.text.len -
				paragraph.data);
			continue;
		}
		if (!heading && paragraph.data != NULL && !underlined)
			break;
		other = !ends &&
			(other || paragraph.data != NULL ||
				is_other_block(&l) ||
				(!heading && text_starts(l.text, "![")));
		paragraph =
			ends || other ? (struct ss_text){ NULL, 0 } : l.text;
	}
	*out = paragraph;
	return !heading && paragraph.data != NULL;
}

bool
heading_find(struct ss_text text, struct ss_text *out)
{
	return find_block(text, true, out);
}

bool
heading_paragraph(struct ss_text text, struct ss_text *out)
{
	return find_block(text, false, out);
}

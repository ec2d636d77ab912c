/* SPDX-License-Identifier: MIT */
#include "page/title.h"

#include "page/heading.h"
#include "page/markdown.h"
#include "wire/escape.h"

#define TITLE_MAX 200
#define SUMMARY_MAX 600
#define SEARCHED_MAX 16384
/* Bytes of source that are read for one line: markup does not count. */
#define SOURCE_MAX 4096

/* The text on one line, cut between two characters. */
static const char *
copy_line(struct arena *arena, struct ss_text text, size_t max)
{
	struct buf line = BUF_INIT(SOURCE_MAX);
	const char *copy = NULL;

	escape_line(
		&line, text.data, utf8_cut(text.data, text.len, SOURCE_MAX));
	text = buf_view(&line);
	if (buf_ok(&line))
		copy = arena_copy(
			arena, text.data, utf8_cut(text.data, text.len, max));
	buf_release(&line);
	return copy;
}

const char *
title_find(struct arena *arena, const struct frontmatter *front,
	const char *path, struct ss_text text)
{
	struct buf heading = BUF_INIT(SEARCHED_MAX);
	struct ss_text title = text_of(front->title);
	const char *copy;

	if (text.len > SEARCHED_MAX)
		text.len = SEARCHED_MAX;
	if (title.len == 0 && text.len > 0 && markdown_heading(text, &heading))
		title = buf_view(&heading);
	if (title.len == 0)
		title = text_of(path);
	copy = heading.failed ? NULL : copy_line(arena, title, TITLE_MAX);
	buf_release(&heading);
	return copy;
}

const char *
title_summary(struct arena *arena, const struct frontmatter *front,
	struct ss_text text)
{
	struct ss_text paragraph = TEXT("");

	if (front->description != NULL)
		return arena_copy(arena, front->description,
			utf8_cut(front->description, strlen(front->description),
				SUMMARY_MAX));
	if (text.len > 0)
		heading_paragraph(text, &paragraph);
	return copy_line(arena, paragraph, SUMMARY_MAX);
}

/* SPDX-License-Identifier: MIT */
#include "page/fence.h"

struct line {
	const char *data; /* without its break */
	size_t len;
	size_t start, next; /* offsets of it and of the line after it */
};

/* An opening fence: `count` of `mark`, then the info string. */
struct fence {
	char mark;
	size_t count, indent;
	struct ss_text info;
};

static bool
next_line(struct fence_scan *s, struct line *l)
{
	const char *end;

	if (s->at >= s->len)
		return false;
	l->start = s->at;
	l->data = s->text + s->at;
	end = memchr(l->data, '\n', s->len - s->at);
	l->len = end != NULL ? (size_t)(end - l->data) : s->len - s->at;
	l->next = s->at + l->len + (end != NULL);
	if (l->len > 0 && l->data[l->len - 1] == '\r')
		l->len--;
	s->at = l->next;
	return true;
}

static struct ss_text
trimmed(const char *data, size_t len)
{
	while (len > 0 && (data[0] == ' ' || data[0] == '\t')) {
		data++;
		len--;
	}
	while (len > 0 && (data[len - 1] == ' ' || data[len - 1] == '\t'))
		len--;
	return (struct ss_text){ data, len };
}

static size_t
run_length(const char *data, size_t len, char c)
{
	size_t n = 0;

	while (n < len && data[n] == c)
		n++;
	return n;
}

/* Three or more backticks or tildes, indented by at most three spaces. */
static bool
is_fence(const struct line *l, struct fence *f)
{
	size_t indent = run_length(l->data, l->len, ' ');

	if (indent > 3 || indent == l->len)
		return false;
	f->mark = l->data[indent];
	if (f->mark != '`' && f->mark != '~')
		return false;
	f->count = run_length(l->data + indent, l->len - indent, f->mark);
	if (f->count < 3)
		return false;
	f->indent = indent;
	f->info = trimmed(
		l->data + indent + f->count, l->len - indent - f->count);
	return true;
}

/* After backticks the info string has no backtick: else it is inline code. */
static bool
opens_fence(const struct line *l, struct fence *f)
{
	return is_fence(l, f) &&
		(f->mark == '~' || f->info.len == 0 ||
			memchr(f->info.data, '`', f->info.len) == NULL);
}

static bool
closes_fence(const struct line *l, const struct fence *open)
{
	struct fence f;

	return is_fence(l, &f) && f.mark == open->mark &&
		f.count >= open->count && f.info.len == 0;
}

static bool
is_component(const struct fence *f)
{
	return f->mark == '`' && f->count == 3 && f->indent == 0 &&
		text_is(f->info, "component");
}

/* A line that begins an HTML comment, which ends with the line that has -->. */
static bool
opens_comment(const struct line *l)
{
	size_t indent = run_length(l->data, l->len, ' ');

	return indent <= 3 && l->len - indent >= 4 &&
		memcmp(l->data + indent, "<!--", 4) == 0;
}

static bool
closes_comment(const struct line *l)
{
	return memmem(l->data, l->len, "-->", 3) != NULL;
}

static void
skip_comment(struct fence_scan *s, struct line l)
{
	while (!closes_comment(&l) && next_line(s, &l))
		;
}

bool
fence_next_any(struct fence_scan *s, struct fence_block *out)
{
	struct fence open;
	struct line l;

	while (next_line(s, &l)) {
		if (opens_comment(&l)) {
			skip_comment(s, l);
			continue;
		}
		if (!opens_fence(&l, &open))
			continue;
		*out = (struct fence_block){ .start = l.start,
			.script = l.next,
			.info = open.info,
			.component = is_component(&open) };
		while (!out->closed && next_line(s, &l))
			out->closed = closes_fence(&l, &open);
		out->script_len =
			(out->closed ? l.start : s->len) - out->script;
		out->end = l.start + l.len;
		return true;
	}
	return false;
}

bool
fence_next(struct fence_scan *s, struct fence_block *out)
{
	while (fence_next_any(s, out))
		if (out->component && out->closed)
			return true;
	return false;
}

bool
fence_next_line(struct fence_scan *s, struct ss_text *out)
{
	struct fence open;
	struct line l;

	if (!next_line(s, &l))
		return false;
	*out = (struct ss_text){ l.data, l.len };
	if (opens_comment(&l)) {
		skip_comment(s, l);
		out->len = 0;
	} else if (opens_fence(&l, &open)) {
		while (next_line(s, &l) && !closes_fence(&l, &open))
			;
		out->len = 0;
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/* A value that an argument takes, from a text that it does not. */
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "page/example.h"
#include "page/form.h"
#include "page/near.h"
#include "page/words.h"
#include "wire/path.h"

#define VALUE_MAX 4096 /* a longer text is not repaired */

static const struct ss_text none;

static bool
takes(const struct argument *a, struct ss_text text)
{
	bool matched = a->regex.data != NULL && a->type == ARGUMENT_WORD;

	return text.len <= PROTO_WORD_MAX &&
		argument_takes(a, text) == PATTERN_YES &&
		(a->type == ARGUMENT_TEXT || argument_is_authors(a, text) ||
			word_check(text, matched, NULL) == SS_OK);
}

/* The choice that is spelled most like it. */
static struct ss_text
near_choice(const struct argument *a, struct ss_text text)
{
	const char *name = near_key(
		text, (const char *const *)a->choices.names, a->choices.count);

	/* "descending" for desc */
	for (size_t i = 0; name == NULL && i < a->choices.count; i++) {
		struct ss_text choice = text_of(a->choices.names[i]);

		if (choice.len >= 3 && choice.len < text.len &&
			strncasecmp(choice.data, text.data, choice.len) == 0)
			name = choice.data;
	}
	return name != NULL ? text_of(name) : none;
}

/* The first digits in it, and the nearest limit. */
static struct ss_text
near_number(const struct argument *a, struct ss_text text, struct arena *arena)
{
	size_t from = 0, n;
	struct ss_text digits;
	double value;

	while (from < text.len && strchr("0123456789", text.data[from]) == NULL)
		from++;
	if (from == text.len)
		return none;
	if (from > 0 && text.data[from - 1] == '-')
		from--;
	value = strtod(text.data + from, NULL);
	n = 1;
	while (from + n < text.len &&
		strchr(a->type == ARGUMENT_INTEGER ? "0123456789"
						   : "0123456789.",
			text.data[from + n]) != NULL)
		n++;
	if (a->min.text != NULL && value < a->min.value)
		return text_of(a->min.text);
	if (a->max.text != NULL && value > a->max.value)
		return text_of(a->max.text);
	digits.data = arena_copy(arena, text.data + from, n);
	digits.len = digits.data != NULL ? n : 0;
	return digits.data != NULL ? digits : none;
}

/* Without blanks around it, the slash at its start, and "." and "..". */
static struct ss_text
clean_path(struct ss_text text, struct arena *arena)
{
	char *path = arena_alloc(arena, text.len + 1);
	size_t len = 0, n;

	while (text.len > 0 && strchr(" \t\r\n", text.data[0]) != NULL)
		text.data++, text.len--;
	while (text.len > 0 &&
		strchr(" \t\r\n", text.data[text.len - 1]) != NULL)
		text.len--;
	if (path == NULL)
		return none;
	for (size_t at = 0; at < text.len; at += n + 1) {
		const char *part = text.data + at;
		const char *slash = memchr(part, '/', text.len - at);

		n = slash != NULL ? (size_t)(slash - part) : text.len - at;
		if (n == 0 || (n == 1 && part[0] == '.') ||
			(n == 2 && memcmp(part, "..", 2) == 0))
			continue;
		if (len > 0)
			path[len++] = '/';
		memcpy(path + len, part, n);
		len += n;
	}
	path[len] = '\0';
	return len > 0 ? (struct ss_text){ path, len } : none;
}

static bool
has_file(const struct form_page *page, struct ss_text path)
{
	return page->has_file != NULL && page->has_file(page->ctx, path);
}

/* The file that it names in the page's directory, or the end of it does. */
static struct ss_text
near_file(const struct form_page *page, struct ss_text text)
{
	struct ss_text path = clean_path(text, page->arena);
	size_t at = 0;

	while (at < path.len) {
		const struct ss_text end = { path.data + at, path.len - at };
		const char *slash = memchr(end.data, '/', end.len);

		if (has_file(page, end))
			return end;
		if (slash == NULL)
			break;
		at += (size_t)(slash - end.data) + 1;
	}
	return none;
}

struct ss_text
form_repair(const struct form_page *page, const struct argument *a,
	struct ss_text text)
{
	struct ss_text value = none;

	if (text.data == NULL || text.len > VALUE_MAX)
		return none;
	if (takes(a, text))
		return text;
	switch (a->type) {
	case ARGUMENT_ENUM: value = near_choice(a, text); break;
	case ARGUMENT_INTEGER:
	case ARGUMENT_NUMBER: value = near_number(a, text, page->arena); break;
	case ARGUMENT_WORD:
	case ARGUMENT_TEXT:
	case ARGUMENT_PATH: value = near_file(page, text); break;
	case ARGUMENT_BOOLEAN:
	case ARGUMENT_DATE: break;
	}
	return value.data != NULL && takes(a, value) ? value : none;
}

struct ss_text
form_example(const struct form_page *page, const struct argument *a)
{
	struct buf value = BUF_INIT((size_t)1 << 16);
	struct ss_text out = { NULL, 0 }, own = text_of(page->path);
	size_t dir = path_dir_len(page->path);

	own.data += dir > 0 ? dir + 1 : 0;
	own.len -= dir > 0 ? dir + 1 : 0;
	if (a->type == ARGUMENT_PATH && a->examples.count == 0 &&
		a->initial == NULL && takes(a, own) && has_file(page, own)) {
		out.data = arena_copy(page->arena, own.data, own.len);
		out.len = out.data != NULL ? own.len : 0;
	} else if (example_value(a, &value) && buf_ok(&value)) {
		out.data = arena_copy(page->arena, value.data, value.len);
		out.len = out.data != NULL ? value.len : 0;
	}
	buf_release(&value);
	return out;
}

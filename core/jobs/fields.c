/* SPDX-License-Identifier: MIT */
#include "jobs/fields.h"

#include <stdlib.h>

#define END "end\n"

void
fields_text(struct buf *out, const char *key, struct ss_text value)
{
	buf_text(out, key);
	buf_char(out, ' ');
	for (size_t i = 0; i < value.len; i++)
		switch (value.data[i]) {
		case '\n': buf_text(out, "\\n"); break;
		case '\\': buf_text(out, "\\\\"); break;
		case '\0': break;
		default: buf_char(out, value.data[i]);
		}
	buf_char(out, '\n');
}

void
fields_number(struct buf *out, const char *key, int64_t value)
{
	buf_text(out, key);
	buf_char(out, ' ');
	buf_number(out, value);
	buf_char(out, '\n');
}

void
fields_end(struct buf *out)
{
	buf_text(out, END);
}

/* The line from *at on, without its break; *at moves behind it. */
static bool
next_line(struct ss_text text, size_t *at, struct ss_text *line)
{
	const char *from = text.data + *at, *end;

	if (*at >= text.len)
		return false;
	end = memchr(from, '\n', text.len - *at);
	if (end == NULL)
		return false;
	*line = (struct ss_text){ from, (size_t)(end - from) };
	*at += line->len + 1;
	return true;
}

static size_t
end_of(struct ss_text text)
{
	struct ss_text line;
	size_t at = 0;

	while (next_line(text, &at, &line))
		if (text_is(line, "end"))
			return at;
	return 0;
}

bool
fields_are_whole(struct ss_text text)
{
	return end_of(text) > 0;
}

struct ss_text
fields_rest(struct ss_text text)
{
	size_t at = end_of(text);

	return (struct ss_text){ text.data + at, text.len - at };
}

static void
decode(struct ss_text value, char *out, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < value.len && n + 1 < cap; i++) {
		char c = value.data[i];

		if (c == '\\' && i + 1 < value.len)
			c = value.data[++i] == 'n' ? '\n' : value.data[i];
		out[n++] = c;
	}
	out[n] = '\0';
}

bool
fields_take(struct ss_text text, const char *key, char *out, size_t cap)
{
	size_t at = 0, len = strlen(key);
	struct ss_text line;

	out[0] = '\0';
	while (next_line(text, &at, &line) && !text_is(line, "end")) {
		if (line.len <= len || line.data[len] != ' ' ||
			memcmp(line.data, key, len) != 0)
			continue;
		decode((struct ss_text){ line.data + len + 1,
			       line.len - len - 1 },
			out, cap);
		return true;
	}
	return false;
}

int64_t
fields_take_number(struct ss_text text, const char *key)
{
	char digits[32];

	return fields_take(text, key, digits, sizeof(digits))
		? strtoll(digits, NULL, 10)
		: 0;
}

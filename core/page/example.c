/* SPDX-License-Identifier: MIT */
#include "page/example.h"

#include <stdlib.h>

#include "page/interpreter.h"
#include "page/match.h"
#include "page/toolcall.h"
#include "wire/ecma.h"
#include "wire/json.h"

static bool
takes(const struct argument *a, const char *value, struct buf *out)
{
	enum pattern_result taken = argument_takes(a, text_of(value));

	out->failed |= taken == PATTERN_MEMORY;
	return taken == PATTERN_YES;
}

/* The first of these that it takes. */
static bool
add_first(const struct argument *a, const char *const *values, size_t count,
	struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] != NULL && takes(a, values[i], out))
			return buf_text(out, values[i]);
	return false;
}

/* A regex is not turned into a text: these are tried. */
static bool
add_match(const struct argument *a, struct buf *out)
{
	static const char *const words[] = { "1", "10", "a", "abc", "word", "A",
		"ABC", "Abc", "a1", "text", "name", "file.txt", "a.txt",
		"README.md", "a.md", "data.csv", "2026", "2026-01-31",
		"2026-01", "12:00", "1.5", "true", "en", "a/b", "a b", "a-b",
		"a_b", "a@b.example", "https://example.com/", "/", "/a", "-a",
		"" };
	struct buf choices = BUF_INIT(1000);
	bool found = ecma_choices(&choices, a->regex.data, a->regex.len) &&
		takes(a, choices.data, out);

	if (found)
		buf_text(out, choices.data);
	out->failed |= choices.failed;
	buf_release(&choices);
	return found || add_first(a, words, ARRAY_LEN(words), out);
}

bool
example_value(const struct argument *a, struct buf *out)
{
	const char *words[] = { a->name, "text" };
	const char *measures[] = { a->min.text, "1", a->max.text };
	const char *dates[] = { a->min.text, a->max.text, "2026-01-31" };

	if (a->examples.count > 0)
		return buf_text(out, a->examples.names[0]);
	if (a->initial != NULL)
		return buf_text(out, a->initial);
	switch (a->type) {
	case ARGUMENT_WORD:
	case ARGUMENT_TEXT:
	case ARGUMENT_PATH:
		if (a->exists)
			return false;
		return a->regex.data != NULL
			? add_match(a, out)
			: add_first(a, words, ARRAY_LEN(words), out);
	case ARGUMENT_INTEGER:
	case ARGUMENT_NUMBER:
		return add_first(a, measures, ARRAY_LEN(measures), out);
	case ARGUMENT_BOOLEAN: return buf_text(out, "true");
	case ARGUMENT_DATE: return add_first(a, dates, ARRAY_LEN(dates), out);
	case ARGUMENT_ENUM: return buf_text(out, a->choices.names[0]);
	}
	return false;
}

/* -------------------------------------------------------------- requests */

/* The example's words, each in out one behind the other.  False: no memory. */
static bool
make_words(const struct spec *s, struct buf *out, struct ss_text *words)
{
	for (size_t i = 0; i < s->part_count; i++) {
		const struct argument *a = part_argument(&s->parts[i]);
		size_t from = out->len;

		if (a == NULL)
			buf_add(out, s->parts[i].text.data,
				s->parts[i].text.len);
		else if (!example_value(a, out))
			buf_text(out, "text");
		words[i].len = out->len - from;
		buf_char(out, '\0');
	}
	for (size_t i = 0, at = 0; i < s->part_count; i++) {
		words[i].data = out->data + at;
		at += words[i].len + 1;
	}
	return buf_ok(out);
}

/* Does an earlier tool take the example of a plain one? */
static bool
is_taken_before(const struct spec *specs, size_t index, bool *failed)
{
	const struct spec *s = &specs[index];
	struct buf text = BUF_INIT((size_t)1 << 20);
	struct ss_text *words = calloc(s->part_count + 1, sizeof(*words));
	bool good = words != NULL && make_words(s, &text, words), taken = !good;

	*failed |= words == NULL || text.failed;
	for (size_t i = 0; !taken && i < index; i++) {
		enum pattern_result found =
			spec_match(&specs[i], words, s->part_count);

		taken = found != PATTERN_NO;
		*failed |= found == PATTERN_MEMORY;
	}
	buf_release(&text);
	free(words);
	return taken;
}

bool
example_is_command(const struct spec *specs, size_t index, bool *failed)
{
	const struct spec *s = &specs[index];
	struct interpreter_scan scan = { 0 };

	for (size_t i = 0; i < s->part_count; i++)
		if (part_is_long(&s->parts[i]) ||
			interpreter_next(&scan, &s->parts[i]) ==
				INTERPRETER_SCRIPT)
			return false;
	return s->plain &&
		(index == 0 || !is_taken_before(specs, index, failed));
}

/* A word that may be left out is shown whole or not at all. */
bool
example_is_shown(const struct spec *s, const struct argument *a)
{
	const struct part *p = spec_part(s, a);

	if (a->initial != NULL || p == NULL || !p->optional)
		return a->initial == NULL || a->examples.count > 0;
	for (size_t i = 0; i < p->piece_count; i++)
		if (p->pieces[i].argument != NULL &&
			p->pieces[i].argument->examples.count > 0)
			return true;
	return false;
}

/* As text; in JSON numbers and booleans may be values of their type. */
static void
add_value(const struct spec *s, const struct argument *a, bool typed,
	struct buf *out)
{
	struct buf value = BUF_INIT((size_t)1 << 16);
	char name[TOOLCALL_PROPERTY_MAX + 1];
	bool found = example_value(a, &value);

	toolcall_property(s, a, name);
	if (!found)
		buf_printf(&value, "{%s}", name);
	if (found && typed && argument_is_json(a))
		buf_add(out, value.data, value.len);
	else
		json_string(out, value.data, value.len);
	out->failed |= value.failed;
	buf_release(&value);
}

static void
add_end(const struct spec *s, struct buf *out)
{
	buf_text(out, s->takes_stdin ? ", \"stdin\": \"text\"}" : "}");
}

void
example_command(const struct spec *s, struct buf *out)
{
	buf_text(out, "{\"command\": [");
	for (size_t i = 0; i < s->part_count; i++) {
		const struct part *p = &s->parts[i];

		buf_text(out, i > 0 ? ", " : "");
		if (p->kind == PART_TEXT)
			json_string(out, p->text.data, p->text.len);
		else
			add_value(s, part_argument(p), false, out);
	}
	buf_char(out, ']');
	add_end(s, out);
}

/* The members of the arguments that are shown. */
static size_t
add_arguments(const struct spec *s, const char *before, struct buf *out)
{
	char own[TOOLCALL_PROPERTY_MAX + 1];
	size_t count = 0;

	for (size_t i = 0; i < s->argument_count; i++) {
		const struct argument *a = s->arguments[i];

		if (!example_is_shown(s, a))
			continue;
		toolcall_property(s, a, own);
		buf_text(out, count++ > 0 ? ", " : before);
		json_string(out, own, strlen(own));
		buf_text(out, ": ");
		add_value(s, a, true, out);
	}
	return count;
}

void
example_arguments(const struct spec *s, const char *name, struct buf *out)
{
	size_t count;

	buf_text(out, "{\"tool_call\": {\"name\": ");
	json_string(out, name, strlen(name));
	buf_text(out, ", \"arguments\": {");
	count = add_arguments(s, "", out);
	if (s->takes_stdin)
		buf_text(out,
			count > 0 ? ", \"stdin\": \"text\""
				  : "\"stdin\": \"text\"");
	buf_text(out, "}}}");
}

void
example_call(const struct spec *s, const char *name, struct buf *out)
{
	size_t count;

	buf_text(out, "{\"tool_call\": {\"name\": ");
	json_string(out, name, strlen(name));
	count = add_arguments(s, ", \"arguments\": {", out);
	buf_text(out, count > 0 ? "}}" : "}");
	add_end(s, out);
}

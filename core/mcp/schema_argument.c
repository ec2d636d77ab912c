/* SPDX-License-Identifier: MIT */
/*
 * One argument as JSON Schema, with the types of JSON where it has one of them.
 * What the schema cannot say is in its description.
 */
#include "mcp/schema.h"
#include "wire/ecma.h"
#include "wire/json.h"

/* A longer pattern is only described: clients compile it. */
#define PATTERN_MAX 1000

static const char *
type_of(const struct argument *a)
{
	switch (a->type) {
	case ARGUMENT_WORD:
	case ARGUMENT_TEXT:
	case ARGUMENT_PATH:
	case ARGUMENT_DATE:
	case ARGUMENT_ENUM: return "string";
	case ARGUMENT_INTEGER: return "integer";
	case ARGUMENT_NUMBER: return "number";
	case ARGUMENT_BOOLEAN: return "boolean";
	}
	return "string";
}

static bool
is_number(const struct argument *a)
{
	return a->type == ARGUMENT_INTEGER || a->type == ARGUMENT_NUMBER;
}

/* Numbers and booleans are written in the page as JSON has them. */
static void
write_value(struct mcp *m, const struct argument *a, const char *value)
{
	if (argument_is_json(a))
		buf_text(m->out, value);
	else
		mcp_string(m, value);
}

static void
write_words(struct mcp *m, const char *key, const struct argument *a,
	const struct name_list *list)
{
	if (list->count == 0)
		return;
	mcp_key(m, key);
	buf_char(m->out, '[');
	for (size_t i = 0; i < list->count; i++) {
		mcp_comma(m);
		write_value(m, a, list->names[i]);
	}
	buf_char(m->out, ']');
}

/* Without min and dash a number has no sign. */
static void
write_limits(struct mcp *m, const struct argument *a)
{
	const char *min = a->min.text;

	if (!is_number(a))
		return;
	if (min == NULL && !a->dash)
		min = "0";
	if (min != NULL) {
		mcp_key(m, "minimum");
		buf_text(m->out, min);
	}
	if (a->max.text != NULL) {
		mcp_key(m, "maximum");
		buf_text(m->out, a->max.text);
	}
}

/* Does the schema's type not say all that it takes? */
static bool
is_more_than_its_type(const struct argument *a)
{
	switch (a->type) {
	case ARGUMENT_PATH: return true;
	case ARGUMENT_TEXT: return !a->dash;
	case ARGUMENT_DATE: return a->min.text != NULL || a->max.text != NULL;
	case ARGUMENT_WORD:
	case ARGUMENT_INTEGER:
	case ARGUMENT_NUMBER:
	case ARGUMENT_BOOLEAN:
	case ARGUMENT_ENUM: return false;
	}
	return false;
}

/* checked: the schema has its pattern. */
static void
describe(struct mcp *m, const struct spec *spec, const struct argument *a,
	bool checked)
{
	const char *words = spec_describe(spec, a);
	struct buf text = BUF_INIT(4000 + 2 * PATTERN_MAX);

	if (words != NULL)
		buf_text(&text, words);
	if (is_more_than_its_type(a)) {
		buf_text(&text, text.len > 0 ? " Takes " : "Takes ");
		argument_expects(a, &text);
		buf_char(&text, '.');
	} else if (a->regex.data != NULL && !checked) {
		buf_printf(&text, "%sMust match the regular expression %.*s",
			text.len > 0 ? " " : "",
			(int)utf8_cut(a->regex.data, a->regex.len, PATTERN_MAX),
			a->regex.data);
	}
	if (text.len > 0) {
		mcp_key(m, "description");
		json_string(m->out, text.data, text.len);
	}
	m->out->failed |= text.failed;
	buf_release(&text);
}

static void
write_type(struct mcp *m, const struct argument *a)
{
	mcp_text(m, "type", type_of(a));
	if (a->type == ARGUMENT_DATE)
		mcp_text(m, "format", "date");
	write_limits(m, a);
	write_words(m, "enum", a, &a->choices);
}

static void
write_default(struct mcp *m, const struct argument *a)
{
	if (a->initial == NULL)
		return;
	mcp_key(m, "default");
	write_value(m, a, a->initial);
}

void
mcp_schema_argument(
	struct mcp *m, const struct spec *spec, const struct argument *a)
{
	struct buf pattern = BUF_INIT(PATTERN_MAX);
	bool checked = a->regex.data != NULL &&
		ecma_write(&pattern, a->regex.data, a->regex.len);

	write_type(m, a);
	if (checked) {
		mcp_key(m, "pattern");
		json_string(m->out, pattern.data, pattern.len);
	}
	describe(m, spec, a, checked);
	write_default(m, a);
	write_words(m, "examples", a, &a->examples);
	m->out->failed |= pattern.failed;
	buf_release(&pattern);
}

/* A form has no pattern, but it has lists to choose from. */
void
mcp_schema_field(
	struct mcp *m, const struct spec *spec, const struct argument *a)
{
	struct buf words = BUF_INIT(PATTERN_MAX);
	bool chosen = a->regex.data != NULL &&
		ecma_choices(&words, a->regex.data, a->regex.len);

	write_type(m, a);
	if (chosen) {
		mcp_key(m, "enum");
		buf_char(m->out, '[');
		for (const char *at = words.data, *end = at + words.len;
			at < end; at += strlen(at) + 1) {
			mcp_comma(m);
			mcp_string(m, at);
		}
		buf_char(m->out, ']');
	}
	describe(m, spec, a, chosen);
	write_default(m, a);
	m->out->failed |= words.failed;
	buf_release(&words);
}

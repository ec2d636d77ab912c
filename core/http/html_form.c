/* SPDX-License-Identifier: MIT */
/*
 * The form of a tool's card: a field for each argument, by its type, for more
 * words, variables and standard input.  view.js sends it.
 */
#include "http/html_writer.h"
#include "page/env.h"
#include "page/example.h"
#include "page/toolcall.h"

static void
put_label(struct html_writer *s, const struct html_tool *t, const char *kind,
	size_t i, const char *text)
{
	html_put(s, "<div class=\"field\">\n<label for=\"");
	html_id(s, t, kind, i);
	html_in(s, "\">", text, "</label>\n");
}

/* The id of a field, and of its help, which has the same and 'h'. */
static void
put_ids(struct html_writer *s, const struct html_tool *t, const char *kind,
	size_t i, bool help)
{
	html_put(s, " id=\"");
	html_id(s, t, kind, i);
	html_put(s, "\"");
	if (!help)
		return;
	html_put(s, " aria-describedby=\"");
	html_id(s, t, kind, i);
	html_put(s, "h\"");
}

/* Writes "<input …" without the end, so that the caller can add attributes. */
static void
put_input(struct html_writer *s, const struct html_tool *t, const char *kind,
	size_t i, bool help)
{
	html_put(s,
		"<input type=\"text\" autocomplete=\"off\" "
		"autocapitalize=\"off\" spellcheck=\"false\"");
	put_ids(s, t, kind, i, help);
}

static void
put_help(struct html_writer *s, const struct html_tool *t, const char *kind,
	size_t i)
{
	html_put(s, "<p class=\"help\" id=\"");
	html_id(s, t, kind, i);
	html_put(s, "h\">");
}

/* ------------------------------------------------------------- arguments */

/* What the script reads: the argument, and a value to show for it. */
static void
put_data(struct html_writer *s, const struct html_tool *t,
	const struct argument *a, const char *name)
{
	bool may_omit = spec_may_omit(t->spec, a);

	html_in(s, " data-argument=\"", name, "\"");
	if (argument_is_json(a))
		html_put(s, " data-json");
	if (may_omit)
		html_put(s, " data-omit");
	if (a->regex.data != NULL)
		html_in(s, " data-regex=\"", a->regex.data, "\"");
	if (example_is_shown(t->spec, a) && example_value(a, &s->scratch)) {
		html_put(s, " data-sample=\"");
		html_scratch(s);
		html_put(s, "\"");
	}
	s->out->failed |= s->scratch.failed;
	buf_clear(&s->scratch);
}

static void
put_value(struct html_writer *s, const struct argument *a)
{
	if (a->initial != NULL)
		html_in(s, " value=\"", a->initial, "\"");
	else if (a->examples.count > 0)
		html_in(s, " placeholder=\"", a->examples.names[0], "\"");
}

/* An empty text is a word, but no number and no date. */
static void
put_measure(struct html_writer *s, const struct html_tool *t,
	const struct argument *a)
{
	const char *min = a->min.text;

	if (a->type == ARGUMENT_DATE)
		html_put(s, "<input type=\"date\"");
	else
		html_put(s,
			a->type == ARGUMENT_INTEGER
				? "<input type=\"number\" step=\"1\""
				: "<input type=\"number\" step=\"any\"");
	if (min == NULL && !a->dash && a->type != ARGUMENT_DATE)
		min = "0";
	if (min != NULL)
		html_in(s, " min=\"", min, "\"");
	if (a->max.text != NULL)
		html_in(s, " max=\"", a->max.text, "\"");
	if (!spec_may_omit(t->spec, a))
		html_put(s, " required");
}

/* Without the attribute value, browsers take the text without its blanks. */
static void
put_option(struct html_writer *s, const struct argument *a, const char *value)
{
	bool chosen = a->initial != NULL && strcmp(a->initial, value) == 0;

	html_put(s, chosen ? "<option selected" : "<option");
	if (strpbrk(value, " \t\n\f\r") != NULL)
		html_in(s, " value=\"", value, "\"");
	html_put(s, ">");
	html_text(s, value);
	html_put(s, "</option>");
}

static void
put_options(struct html_writer *s, const struct html_tool *t,
	const struct argument *a)
{
	html_put(s, ">");
	if (a->initial == NULL && spec_may_omit(t->spec, a))
		html_put(s, "<option></option>");
	if (a->type == ARGUMENT_BOOLEAN) {
		put_option(s, a, "true");
		put_option(s, a, "false");
	}
	for (size_t i = 0; i < a->choices.count && buf_ok(s->out); i++)
		put_option(s, a, a->choices.names[i]);
	html_put(s, "</select>\n");
}

/* Is there more to say than the field itself says? */
static bool
has_phrase(const struct argument *a)
{
	switch (a->type) {
	case ARGUMENT_BOOLEAN:
	case ARGUMENT_ENUM: return false;
	case ARGUMENT_WORD:
	case ARGUMENT_TEXT: return a->regex.data != NULL;
	case ARGUMENT_DATE: return a->min.text != NULL || a->max.text != NULL;
	case ARGUMENT_PATH:
	case ARGUMENT_INTEGER:
	case ARGUMENT_NUMBER: return true;
	}
	return false;
}

static bool
has_help(const struct spec *spec, const struct argument *a)
{
	return spec_describe(spec, a) != NULL || has_phrase(a) ||
		spec_may_omit(spec, a) || a->examples.count > 0;
}

static void
put_phrase(struct html_writer *s, const struct argument *a)
{
	if (a->type == ARGUMENT_WORD || a->type == ARGUMENT_TEXT) {
		html_in(s, "must match <code>", a->regex.data, "</code>");
		return;
	}
	argument_expects(a, &s->scratch);
	html_scratch(s);
}

static void
put_argument_help(struct html_writer *s, const struct html_tool *t,
	const struct argument *a)
{
	const char *words = spec_describe(t->spec, a), *next = "";

	put_help(s, t, "a", a->index);
	if (words != NULL) {
		html_text(s, words);
		next = "; ";
	}
	if (has_phrase(a)) {
		html_put(s, next);
		put_phrase(s, a);
		next = "; ";
	}
	if (a->initial != NULL) {
		html_put(s, next);
		html_in(s, "default <code>", a->initial, "</code>");
		next = "; ";
	} else if (spec_may_omit(t->spec, a)) {
		html_put(s, next);
		html_put(s, "optional");
		next = "; ";
	}
	for (size_t i = 0; i < a->examples.count && buf_ok(s->out); i++) {
		html_put(s, i == 0 ? next : ", ");
		html_in(s, i == 0 ? "for example <code>" : "<code>",
			a->examples.names[i], "</code>");
	}
	html_put(s, "</p>\n");
}

static void
put_argument(struct html_writer *s, const struct html_tool *t,
	const struct argument *a)
{
	bool chosen = a->type == ARGUMENT_ENUM || a->type == ARGUMENT_BOOLEAN;
	bool help = has_help(t->spec, a);
	char name[TOOLCALL_PROPERTY_MAX + 1];

	toolcall_property(t->spec, a, name);
	put_label(s, t, "a", a->index, name);
	if (chosen) {
		html_put(s, "<select");
		put_ids(s, t, "a", a->index, help);
	} else if (a->type == ARGUMENT_INTEGER || a->type == ARGUMENT_NUMBER ||
		a->type == ARGUMENT_DATE) {
		put_measure(s, t, a);
		put_ids(s, t, "a", a->index, help);
	} else {
		put_input(s, t, "a", a->index, help);
	}
	put_data(s, t, a, name);
	if (chosen) {
		put_options(s, t, a);
	} else {
		put_value(s, a);
		html_put(s, ">\n");
	}
	if (help)
		put_argument_help(s, t, a);
	html_put(s, "</div>\n");
}

/* ------------------------------------------------------------ all the rest */

static void
put_extra(struct html_writer *s, const struct html_tool *t)
{
	put_label(s, t, "x", 0, "more words");
	put_input(s, t, "x", 0, true);
	html_put(s, " data-more>\n");
	put_help(s, t, "x", 0);
	html_put(s,
		"optional; divided by blanks, quotes keep one together</p>\n"
		"</div>\n");
}

static void
put_variables(struct html_writer *s, const struct html_tool *t)
{
	const struct name_list *list = &s->page->front->env;
	const struct env_scope scope = { .server = s->page->server,
		.server_count = s->page->server_count,
		.page = list,
		.tool = &t->spec->env };

	/* A full card is thrown away: the rest of it is not worth writing. */
	for (size_t i = 0; i < list->count && buf_ok(s->out); i++) {
		const char *name = list->names[i];

		if (!env_is_open(&scope, name))
			continue;
		put_label(s, t, "e", i, name);
		put_input(s, t, "e", i, true);
		html_in(s, " data-env=\"", name, "\">\n");
		put_help(s, t, "e", i);
		html_put(s,
			"optional; a variable of the environment</p>\n"
			"</div>\n");
	}
}

static void
put_stdin(struct html_writer *s, const struct html_tool *t)
{
	put_label(s, t, "s", 0, "standard input");
	html_put(s, "<textarea rows=\"4\" spellcheck=\"false\"");
	put_ids(s, t, "s", 0, false);
	html_put(s, " data-stdin></textarea>\n</div>\n");
}

void
html_form(struct html_writer *s, const struct html_tool *t)
{
	html_in(s, "<form data-tool=\"", t->name, "\">\n");
	for (size_t i = 0; i < t->spec->argument_count && buf_ok(s->out); i++)
		put_argument(s, t, t->spec->arguments[i]);
	if (!t->spec->locked)
		put_extra(s, t);
	put_variables(s, t);
	if (t->spec->takes_stdin)
		put_stdin(s, t);
	html_put(s,
		"<div class=\"act\"><button type=\"submit\" hidden>Run</button>"
		"</div>\n</form>\n");
}

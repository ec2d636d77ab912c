/* SPDX-License-Identifier: MIT */
/*
 * Arguments inside a word whose regex lets a value change the text around it:
 * another path or query of a URL, the end of a quoted text in SQL or JSON.
 */
#include "page/template.h"
#include "page/lint_own.h"

struct danger {
	const char *value; /* that must not fit */
	const char *what;
};

/* A URL: RFC 3986 section 2.2.  SQL and JSON: inside of quotes. */
static const struct danger in_url[] = { { "a/b", "a /" }, { "/", "a /" },
	{ "..", ".." }, { "a?b", "a ?" }, { "a&b", "a &" }, { "a#b", "a #" },
	{ "a%2fb", "a %" }, { "?", "a ?" }, { "&", "a &" } };
static const struct danger in_sql[] = { { "'", "a single quote" },
	{ "a'b", "a single quote" }, { "O'Brien", "a single quote" } };
static const struct danger in_json[] = { { "\"", "a double quote" },
	{ "a\"b", "a double quote" }, { "a\\b", "a backslash" } };
static const struct danger in_bare_sql[] = { { "a b", "a blank" },
	{ "1;2", "a ;" }, { "--", "--" }, { "a(b", "a (" } };

struct place {
	const struct danger *dangers;
	size_t count;
	const char *text; /* what it is inside of */
	const char *hint;
};

static bool
has(struct ss_text t, const char *part)
{
	return memmem(t.data, t.len, part, strlen(part)) != NULL;
}

static bool
is_sql(const struct spec *s)
{
	static const char *const programs[] = { "sqlite3", "psql", "mysql",
		"mariadb", "duckdb" };
	struct ss_text name = lint_program_name(s->parts[0].text);

	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (text_is(name, programs[i]))
			return true;
	return false;
}

/* False: nothing is known of the text around piece i. */
static bool
find_place(
	const struct spec *s, const struct part *p, size_t i, struct place *out)
{
	bool quoted = template_count_before(p, i, '\'') % 2 == 1;

	if (has(p->text, "://"))
		*out = (struct place){ in_url, ARRAY_LEN(in_url), "a URL",
			"write escape: url instead of the regex, or leave it "
			"out of the regex" };
	else if (is_sql(s) && quoted)
		*out = (struct place){ in_sql, ARRAY_LEN(in_sql),
			"a text in SQL",
			"add escape: sql, or leave it out of the regex" };
	else if (is_sql(s))
		*out = (struct place){ in_bare_sql, ARRAY_LEN(in_bare_sql),
			"SQL",
			"put the value between quotes, with escape: sql, or "
			"give it a type or an enum" };
	else if (template_count_before(p, i, '"') % 2 == 1 &&
		p->text.data[0] == '{')
		*out = (struct place){ in_json, ARRAY_LEN(in_json),
			"a text in JSON",
			"add escape: json, or leave it out of the regex" };
	else
		return false;
	return true;
}

/* Is the value before the first / of a URL, where its host and port are? */
static bool
is_in_host(const struct part *p, size_t i)
{
	struct ss_text t;
	const char *start = NULL;

	for (size_t k = 0; k < i; k++) {
		t = p->pieces[k].text;
		if (p->pieces[k].argument != NULL)
			continue;
		if (start == NULL) {
			start = memmem(t.data, t.len, "://", 3);
			if (start == NULL)
				continue;
			t.len -= (size_t)(start + 3 - t.data);
			t.data = start + 3;
		}
		for (size_t c = 0; c < t.len; c++)
			if (strchr("/?#", t.data[c]) != NULL)
				return false;
	}
	return start != NULL;
}

/* Any text there names another host: ".example.net" after "http://stock". */
static bool
lint_host(const struct lint *l, const struct part *p, size_t i)
{
	const struct argument *a = p->pieces[i].argument;

	if (a == NULL || a->pattern != NULL ||
		(a->type != ARGUMENT_TEXT && a->type != ARGUMENT_PATH) ||
		!is_in_host(p, i))
		return false;
	lint_warn(l, WARN_TEMPLATE, (struct node_place){ a->line, a->column },
		"write a / before it, or give it an enum",
		"{%.64s} is a part of the host: the agent chooses it", a->name);
	return true;
}

static void
lint_piece(const struct lint *l, const struct spec *s, const struct part *p,
	size_t i)
{
	const struct argument *a = p->pieces[i].argument;
	struct place place;

	if (lint_host(l, p, i) || a == NULL || a->pattern == NULL ||
		a->escape != ESCAPE_NONE || !find_place(s, p, i, &place))
		return;
	for (size_t k = 0; k < place.count; k++)
		if (argument_takes(a, text_of(place.dangers[k].value)) ==
			PATTERN_YES) {
			lint_warn(l, WARN_TEMPLATE,
				(struct node_place){ a->line, a->column },
				place.hint,
				"{%.64s} may hold %s, which changes %s around "
				"it",
				a->name, place.dangers[k].what, place.text);
			return;
		}
}

void
lint_templates(const struct lint *l, const struct spec *s)
{
	for (size_t i = 0; i < s->part_count; i++)
		if (s->parts[i].kind == PART_TEMPLATE)
			for (size_t k = 0; k < s->parts[i].piece_count; k++)
				lint_piece(l, s, &s->parts[i], k);
}

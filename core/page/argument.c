/* SPDX-License-Identifier: MIT */
#include "page/argument.h"

#include <ctype.h>

#include "page/near.h"

/* RFC 7493 section 2.2: JSON carries these integers exactly. */
#define INTEGER_MAX 9007199254740991.0
#define NUMBER_BYTES_MAX 40

/* ---------------------------------------------------------------- values */

bool
argument_is_name(struct ss_text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!isalpha((unsigned char)t.data[i]) && t.data[i] != '_' &&
			(i == 0 || !isdigit((unsigned char)t.data[i])))
			return false;
	return t.len > 0;
}

static size_t
count_digits(struct ss_text t, size_t from)
{
	size_t i = from;

	while (i < t.len && t.data[i] >= '0' && t.data[i] <= '9')
		i++;
	return i - from;
}

/* 10 to the power of e, without the C library's locale. */
static double
scale(double value, long e)
{
	for (; e > 0; e--)
		value *= 10;
	for (; e < 0; e++)
		value /= 10;
	return value;
}

/* Digits at from as a number. */
static double
digits_at(struct ss_text t, size_t from, size_t count)
{
	double value = 0;

	for (size_t i = from; i < from + count; i++)
		value = value * 10 + (t.data[i] - '0');
	return value;
}

/* The grammar of numbers in JSON (RFC 8259 section 6). */
static bool
read_number(struct ss_text t, bool whole, double *out)
{
	size_t at = t.len > 0 && t.data[0] == '-', n = count_digits(t, at);
	bool minus = at == 1;
	double value, exponent = 0;

	if (t.len > NUMBER_BYTES_MAX || n == 0 || (n > 1 && t.data[at] == '0'))
		return false;
	value = digits_at(t, at, n);
	at += n;
	if (!whole && at < t.len && t.data[at] == '.') {
		n = count_digits(t, at + 1);
		value += scale(digits_at(t, at + 1, n), -(long)n);
		if (n == 0)
			return false;
		at += 1 + n;
	}
	if (!whole && at < t.len && (t.data[at] | 0x20) == 'e') {
		bool down = at + 1 < t.len && t.data[at + 1] == '-';

		at += 1 + (at + 1 < t.len && strchr("+-", t.data[at + 1]));
		n = count_digits(t, at);
		if (n == 0 || n > 3)
			return false;
		exponent = digits_at(t, at, n);
		at += n;
		value = scale(value, down ? -(long)exponent : (long)exponent);
	}
	*out = minus ? -value : value;
	return at == t.len && value <= 1e300 &&
		(!whole || value <= INTEGER_MAX);
}

/* YYYY-MM-DD of the Gregorian calendar (RFC 3339 full-date). */
static bool
read_date(struct ss_text t, double *out)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
		31 };
	int year, month, day, leap;

	if (t.len != 10 || count_digits(t, 0) != 4 || t.data[4] != '-' ||
		count_digits(t, 5) != 2 || t.data[7] != '-' ||
		count_digits(t, 8) != 2)
		return false;
	year = (int)digits_at(t, 0, 4);
	month = (int)digits_at(t, 5, 2);
	day = (int)digits_at(t, 8, 2);
	leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	*out = year * 10000.0 + month * 100.0 + day;
	return month >= 1 && month <= 12 && day >= 1 &&
		day <= days[month - 1] + (leap && month == 2);
}

/* The value of an integer, a number or a date. */
static bool
read_measure(const struct argument *a, struct ss_text t, double *out)
{
	if (a->type == ARGUMENT_DATE)
		return read_date(t, out);
	return read_number(t, a->type == ARGUMENT_INTEGER, out);
}

static bool
is_measured(const struct argument *a)
{
	return a->type == ARGUMENT_INTEGER || a->type == ARGUMENT_NUMBER ||
		a->type == ARGUMENT_DATE;
}

static bool
is_within(const struct argument *a, struct ss_text t)
{
	double value;

	return read_measure(a, t, &value) &&
		(a->min.text == NULL || value >= a->min.value) &&
		(a->max.text == NULL || value <= a->max.value);
}

/*
 * A value must not change what the author wrote around it: "." and ".." are
 * steps in the path of a URL however they are written (RFC 3986 section
 * 6.2.2.3), and some databases read a backslash in a quoted text.
 */
static bool
can_be_escaped(const struct argument *a, struct ss_text t)
{
	switch (a->escape) {
	case ESCAPE_NONE:
	case ESCAPE_JSON: return true;
	case ESCAPE_URL:
		return a->query ||
			(t.len > 0 && !text_is(t, ".") && !text_is(t, ".."));
	case ESCAPE_SQL: return memchr(t.data, '\\', t.len) == NULL;
	}
	return false;
}

/* Words and their regexes are as their author wrote them. */
static bool
begins_wrong(const struct argument *a, struct ss_text t)
{
	bool below = a->min.text != NULL && a->min.value < 0;

	return a->type != ARGUMENT_WORD && a->type != ARGUMENT_ENUM &&
		text_starts(t, "-") && !a->dash && !below;
}

enum pattern_result
argument_takes(const struct argument *a, struct ss_text value)
{
	bool fits = true;

	if (begins_wrong(a, value) || !can_be_escaped(a, value))
		return PATTERN_NO;
	switch (a->type) {
	case ARGUMENT_WORD:
	case ARGUMENT_TEXT: break;
	case ARGUMENT_PATH: fits = value.len > 0; break;
	case ARGUMENT_INTEGER:
	case ARGUMENT_NUMBER:
	case ARGUMENT_DATE: fits = is_within(a, value); break;
	case ARGUMENT_BOOLEAN:
		fits = text_is(value, "true") || text_is(value, "false");
		break;
	case ARGUMENT_ENUM: fits = name_list_has(&a->choices, value); break;
	}
	if (!fits)
		return PATTERN_NO;
	return a->pattern == NULL
		? PATTERN_YES
		: pattern_search(a->pattern, value.data, value.len);
}

bool
argument_is_json(const struct argument *a)
{
	return a->type == ARGUMENT_INTEGER || a->type == ARGUMENT_NUMBER ||
		a->type == ARGUMENT_BOOLEAN;
}

bool
argument_is_authors(const struct argument *a, struct ss_text value)
{
	return a->type == ARGUMENT_ENUM ||
		(a->initial != NULL && text_is(value, a->initial));
}

/* -------------------------------------------------------------- messages */

static void
add_limits(const struct argument *a, struct buf *out)
{
	if (a->min.text != NULL)
		buf_printf(out, " from %s", a->min.text);
	if (a->max.text != NULL)
		buf_printf(out, "%s%s", a->min.text ? " to " : " up to ",
			a->max.text);
}

static void
add_text_rules(const struct argument *a, struct buf *out)
{
	const char *next = " and ";

	buf_text(out, "text");
	if (a->escape == ESCAPE_URL && !a->query)
		buf_text(out, " that is not empty");
	else if (a->escape == ESCAPE_SQL)
		buf_text(out, " that has no \\");
	else
		next = " that ";
	if (!a->dash)
		buf_printf(out, "%sbegins with no -", next);
}

/* In quotes where its end or its blanks would not be seen. */
void
argument_print_value(const char *value, struct buf *out)
{
	const char *quote =
		*value == '\0' || strpbrk(value, " ,\t\n\r") ? "\"" : "";

	buf_printf(out, "%s%s%s", quote, value, quote);
}

static void
add_choices(const struct argument *a, struct buf *out)
{
	buf_text(out, a->choices.count > 1 ? "one of " : "only ");
	for (size_t i = 0; i < a->choices.count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		argument_print_value(a->choices.names[i], out);
	}
}

void
argument_expects(const struct argument *a, struct buf *out)
{
	switch (a->type) {
	case ARGUMENT_WORD: buf_text(out, "a word"); break;
	case ARGUMENT_TEXT: add_text_rules(a, out); break;
	case ARGUMENT_PATH:
		buf_text(out,
			a->exists ? "the path of a file that exists"
				  : "a path");
		break;
	case ARGUMENT_INTEGER: buf_text(out, "a whole number"); break;
	case ARGUMENT_NUMBER: buf_text(out, "a number"); break;
	case ARGUMENT_BOOLEAN: buf_text(out, "true or false"); break;
	case ARGUMENT_DATE: buf_text(out, "a date as 2026-01-31"); break;
	case ARGUMENT_ENUM: add_choices(a, out);
	}
	add_limits(a, out);
	if (a->regex.data != NULL) {
		buf_text(out, " that matches ");
		buf_add(out, a->regex.data, a->regex.len);
	}
}

enum ss_err
argument_refuse(const struct argument *a, const char *name,
	struct ss_text value, struct ss_error *err)
{
	struct buf text = BUF_INIT(900);

	if (err == NULL)
		return SS_BAD_REQUEST;
	if (a->type == ARGUMENT_WORD && a->regex.data != NULL) {
		error_set(err, SS_BAD_REQUEST,
			"the argument \"%s\" does not match its pattern", name);
		error_hint(err, "its pattern is %.900s", a->regex.data);
		error_rule(err, a->line, "regex: %s", a->regex.data);
		return SS_BAD_REQUEST;
	}
	argument_expects(a, &text);
	if (text.failed)
		return error_memory(err);
	error_set(err, SS_BAD_REQUEST,
		"\"%.*s\" is no value for the argument \"%s\"",
		(int)utf8_cut(value.data, value.len, 64), value.data, name);
	error_hint(err, "it takes %s", text.data);
	error_rule(err, a->line, "%s: %s", name, text.data);
	buf_release(&text);
	return SS_BAD_REQUEST;
}

/* --------------------------------------------------------------- reading */

#define KEYS_OF_TYPES "type, kind, enum or regex"

static enum ss_err
read_regex(const struct reading *r, const struct node *n, struct argument *out)
{
	struct ss_error inner;
	enum ss_err e;

	e = value_word(r, n, "a regex as text", &out->regex);
	if (e != SS_OK) {
		if (n->kind == NODE_LIST || n->kind == NODE_MAP)
			error_hint(r->err,
				"quote a regex that begins with [ or {: "
				"{ regex: '[a-z]+' }");
		return e;
	}
	e = pattern_new(out->regex.data, out->regex.len, &out->pattern, &inner);
	if (e == SS_BAD_FRONTMATTER)
		return value_refuse_found(r, n, inner.message,
			"a PCRE2 regular expression",
			out->regex.data[0] == '*'
				? "a regex is no wildcard: *.txt is written "
				  "'^[^/]*\\.txt$'"
				: "single quotes keep every backslash: "
				  "'\\.txt$'");
	if (e != SS_OK && r->err != NULL)
		*r->err = inner;
	return e;
}

/* Names of types in other languages, and what has a key of its own. */
static const struct {
	const char *word, *hint;
} other_types[] = { { "string", "kind: text" }, { "str", "kind: text" },
	{ "text", "kind: text" }, { "path", "kind: path" },
	{ "file", "kind: path, exists: true" }, { "filename", "kind: path" },
	{ "integer", "type: integer" }, { "int", "type: integer" },
	{ "float", "type: number" }, { "double", "type: number" },
	{ "number", "type: number" }, { "boolean", "type: boolean" },
	{ "bool", "type: boolean" }, { "date", "type: date" },
	{ "enum", "enum: [open, paid]" }, { "choice", "enum: [open, paid]" },
	{ "regex", "regex: '^[a-z]+$'" } };

/* Refuses a name that is none of names, with the one that is meant. */
static enum ss_err
refuse_choice(const struct reading *r, const struct node *n,
	const char *const *names, size_t count, const char *expected)
{
	struct ss_text word = { n->text, n->len };
	const char *near = near_word(word, names, count);

	if (near != NULL)
		return value_refuse(r, n, expected, "did you mean %s?", near);
	for (size_t i = 0; i < ARRAY_LEN(other_types); i++)
		if (text_is(word, other_types[i].word))
			return value_refuse(r, n, expected, "write %s",
				other_types[i].hint);
	return value_refuse(r, n, expected, NULL);
}

/* One of a list of names, for a key whose value is a name. */
static enum ss_err
read_choice(const struct reading *r, const struct node *n,
	const char *const *names, size_t count, const char *expected,
	size_t *out)
{
	struct ss_text word;
	enum ss_err e = value_word(r, n, expected, &word);

	for (*out = 0; e == SS_OK && *out < count; (*out)++)
		if (text_is(word, names[*out]))
			return SS_OK;
	return e != SS_OK ? e : refuse_choice(r, n, names, count, expected);
}

static enum ss_err
read_type(const struct reading *r, const struct node *map, struct argument *out)
{
	static const char *const types[] = { "integer", "number", "boolean",
		"date" };
	static const char *const kinds[] = { "text", "path" };
	const struct node *type = node_member(map, "type"),
			  *kind = node_member(map, "kind"),
			  *choices = node_member(map, "enum"),
			  *regex = node_member(map, "regex");
	size_t i;
	enum ss_err e = SS_OK;

	if ((type != NULL) + (kind != NULL) + (choices != NULL) > 1 ||
		(regex != NULL && (type != NULL || choices != NULL)))
		return value_refuse_found(r, map, "two types of one argument",
			"one of " KEYS_OF_TYPES, "remove one of them");
	if (type != NULL) {
		e = read_choice(r, type, types, ARRAY_LEN(types),
			"integer, number, boolean or date", &i);
		out->type = ARGUMENT_INTEGER + (unsigned)i;
	} else if (kind != NULL) {
		e = read_choice(
			r, kind, kinds, ARRAY_LEN(kinds), "text or path", &i);
		out->type = ARGUMENT_TEXT + (unsigned)i;
	} else if (choices != NULL) {
		e = value_names(r, choices, &out->choices);
		out->type = ARGUMENT_ENUM;
		if (e == SS_OK && out->choices.count == 0)
			return value_refuse_found(r, choices, "an empty list",
				"the words to choose from",
				"write enum: [open, paid]");
	}
	return e == SS_OK && regex != NULL ? read_regex(r, regex, out) : e;
}

static enum ss_err
read_limit(const struct reading *r, const struct node *n,
	const struct argument *a, struct argument_limit *out)
{
	struct ss_text text = { n->text, n->len };
	bool scalar = n->kind == NODE_STRING || n->kind == NODE_INTEGER ||
		n->kind == NODE_FLOAT || n->kind == NODE_LOCAL_DATE;

	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (!is_measured(a))
		return value_refuse_found(r, n->key, "a limit",
			"it with type: integer, number or date",
			"write { name: n, type: integer, min: 1, max: 99 }");
	if (!scalar || !read_measure(a, text, &out->value))
		return value_refuse(r, n,
			a->type == ARGUMENT_DATE ? "a date as 2026-01-31"
						 : "a number of this type",
			"write %s",
			a->type == ARGUMENT_DATE ? "min: 2026-01-31"
						 : "min: 1");
	out->text = arena_copy(r->arena, n->text, n->len);
	return out->text != NULL ? SS_OK : error_memory(r->err);
}

static enum ss_err
read_limits(
	const struct reading *r, const struct node *map, struct argument *out)
{
	const struct node *min = node_member(map, "min"),
			  *max = node_member(map, "max");
	enum ss_err e = SS_OK;

	if (min != NULL)
		e = read_limit(r, min, out, &out->min);
	if (e == SS_OK && max != NULL)
		e = read_limit(r, max, out, &out->max);
	if (e == SS_OK && min != NULL && max != NULL &&
		out->min.value > out->max.value)
		return value_refuse(r, max, "a max that is not below min",
			"no value is between them: exchange the two");
	return e;
}

static enum ss_err
read_flags(
	const struct reading *r, const struct node *map, struct argument *out)
{
	const struct {
		const char *key;
		bool *out;
		bool fits;
		const char *where;
	} flags[] = {
		{ "optional", &out->optional, true, "" },
		{ "dash", &out->dash, out->type != ARGUMENT_ENUM,
			"an argument without enum" },
		{ "exists", &out->exists, out->type == ARGUMENT_PATH,
			"it with kind: path" },
	};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		const struct node *n = node_member(map, flags[i].key);

		if (n == NULL)
			continue;
		if (!flags[i].fits)
			return value_refuse(r, n->key, flags[i].where,
				"remove %s", flags[i].key);
		if (value_bool(r, n, flags[i].out) != SS_OK)
			return SS_BAD_FRONTMATTER;
	}
	return SS_OK;
}

static enum ss_err
read_escape(
	const struct reading *r, const struct node *map, struct argument *out)
{
	static const char *const names[] = { "none", "url", "sql", "json" };
	const struct node *n = node_member(map, "escape");
	size_t i;
	enum ss_err e;

	if (n == NULL)
		return SS_OK;
	e = read_choice(
		r, n, names, ARRAY_LEN(names), "none, url, sql or json", &i);
	out->escape = ESCAPE_NONE + (unsigned)i;
	return e;
}

static enum ss_err
refuse_value(
	const struct reading *r, const struct node *n, const struct argument *a)
{
	struct buf text = BUF_INIT(400);
	enum ss_err e;

	argument_expects(a, &text);
	e = text.failed ? error_memory(r->err)
			: value_refuse(r, n, "a value that the argument takes",
				  "it takes %.300s", text.data);
	buf_release(&text);
	return e;
}

static enum ss_err
check_value(const struct reading *r, const struct node *n,
	const struct argument *a, struct ss_text value)
{
	switch (argument_takes(a, value)) {
	case PATTERN_YES: return SS_OK;
	case PATTERN_MEMORY: return error_memory(r->err);
	case PATTERN_NO:
	case PATTERN_LIMIT: break;
	}
	return refuse_value(r, n, a);
}

/* default: and examples:, which must be values that it takes. */
static enum ss_err
read_values(
	const struct reading *r, const struct node *map, struct argument *out)
{
	const struct node *initial = node_member(map, "default"),
			  *examples = node_member(map, "examples"), *entry;
	struct ss_text word;
	enum ss_err e = SS_OK;

	if (examples != NULL)
		e = value_names(r, examples, &out->examples);
	entry = examples != NULL ? examples->first : NULL;
	for (; e == SS_OK && entry != NULL; entry = entry->next)
		e = check_value(r, entry, out,
			(struct ss_text){ entry->text, entry->len });
	if (e != SS_OK || initial == NULL)
		return e;
	e = value_word(r, initial, "a word as the default", &word);
	if (e == SS_OK)
		e = check_value(r, initial, out, word);
	if (e != SS_OK)
		return e;
	out->initial = word.data;
	return SS_OK;
}

/* A word of the agent's inside a word of the author's. */
static enum ss_err
check_in_word(
	const struct reading *r, const struct node *n, const struct argument *a)
{
	if (a->regex.data != NULL &&
		!pattern_is_anchored(a->regex.data, a->regex.len))
		return value_refuse(r, n,
			"a regex that binds the whole value: '^...$'",
			"without ^ and $ the value may hold anything beside "
			"what it matches");
	if ((a->type == ARGUMENT_WORD && a->regex.data == NULL) ||
		(a->type == ARGUMENT_TEXT && a->regex.data == NULL &&
			a->escape == ESCAPE_NONE))
		return value_refuse_found(r, n,
			"a value that could change the text around it",
			"a regex, type, enum or escape",
			"write %s: '^[0-9]+$', or %s: { kind: text, escape: "
			"url } in a URL, sql in SQL, json in JSON",
			a->name, a->name);
	return SS_OK;
}

static enum ss_err
read_map(const struct reading *r, const struct node *map, bool in_word,
	struct argument *out)
{
	static const char *const keys[] = { "description", "regex", "type",
		"kind", "enum", "min", "max", "default", "examples", "dash",
		"exists", "name", "optional" };
	static const char *const word_keys[] = { "description", "regex", "type",
		"kind", "enum", "min", "max", "default", "examples", "dash",
		"exists", "escape" };
	const struct node *described = node_member(map, "description");
	enum ss_err e;

	e = in_word ? value_keys(r, map, word_keys, ARRAY_LEN(word_keys),
			      "a key of an argument inside a word (regex, "
			      "type, kind, enum, escape, ...)")
		    : value_keys(r, map, keys, ARRAY_LEN(keys),
			      "a key of a part (regex, literal, text, name, "
			      "type, kind, enum, description, ...)");
	if (e == SS_OK && described != NULL)
		e = value_text(r, described, &out->description);
	if (e == SS_OK)
		e = read_type(r, map, out);
	if (e == SS_OK)
		e = read_limits(r, map, out);
	if (e == SS_OK)
		e = read_escape(r, map, out);
	if (e == SS_OK)
		e = read_flags(r, map, out);
	return e == SS_OK ? read_values(r, map, out) : e;
}

enum ss_err
argument_parse(const struct reading *r, const struct node *n, bool in_word,
	struct argument *out)
{
	enum ss_err e;

	if (in_word && n->kind != NODE_MAP) {
		e = read_regex(r, n, out);
	} else {
		if (value_untagged(r, n) != SS_OK)
			return SS_BAD_FRONTMATTER;
		e = read_map(r, n, in_word, out);
	}
	return e == SS_OK && in_word ? check_in_word(r, n, out) : e;
}

void
argument_release(struct argument *a)
{
	pattern_free(a->pattern);
	a->pattern = NULL;
}

/* SPDX-License-Identifier: MIT */
/* Regular expressions that take more, or less, than their author meant. */
#include <ctype.h>
#include <stdio.h>

#include "page/lint_own.h"

/* Longer sources are not written out in a hint. */
#define SHOWN_BYTES 80

/* The source of one regex. */
struct source {
	const struct lint *l;
	struct node_place at;
	struct ss_text text;
};

static char
at(const struct source *s, size_t i)
{
	return i < s->text.len ? s->text.data[i] : '\0';
}

/* The hint, with the whole source between left and right if it is short. */
static void
warn(const struct source *s, const char *message, const char *hint,
	const char *left, const char *right)
{
	char text[SHOWN_BYTES + 200];

	if (left == NULL || s->text.len > SHOWN_BYTES)
		snprintf(text, sizeof(text), "%s", hint);
	else
		snprintf(text, sizeof(text), "%s: '%s%.*s%s'", hint, left,
			(int)s->text.len, s->text.data, right);
	lint_warn(s->l, WARN_REGEX, s->at, text, "%s", message);
}

/* ----------------------------------------------------------------- anchors */

static bool
lint_anchors(const struct source *s)
{
	const struct pattern_anchors a =
		pattern_anchors(s->text.data, s->text.len);
	struct ss_text t = s->text;
	char hint[SHOWN_BYTES + 40];

	if (a.start && a.end)
		return false;
	if (a.alternatives && at(s, 0) == '^' && at(s, t.len - 1) == '$' &&
		t.len <= SHOWN_BYTES) {
		snprintf(hint, sizeof(hint),
			"bind all alternatives with one group: '^(%.*s)$'",
			(int)t.len - 2, t.data + 1);
		warn(s,
			"the ^ and the $ of this regex bind one alternative "
			"each",
			hint, NULL, NULL);
	} else if (a.start)
		warn(s,
			"this regex binds the start of a word only: anything "
			"may follow",
			"end it with $, or say that any text may follow", "",
			"[\\s\\S]*$");
	else if (a.end)
		warn(s,
			"this regex binds the end of a word only: anything "
			"may come before, a - too",
			"begin it with ^, or say which text may come before",
			"^[\\w./]*", "");
	else
		warn(s, "this regex is found anywhere in a word",
			"bind the whole word: '^...$'", NULL, NULL);
	return true;
}

/* ------------------------------------------------------------------- slips */

/* '/^[a-z]+$/' */
static bool
lint_delimiters(const struct source *s)
{
	size_t end = s->text.len;

	while (end > 0 && strchr("gimsux", s->text.data[end - 1]) != NULL)
		end--;
	if (end < 3 || at(s, 0) != '/' || at(s, end - 1) != '/' ||
		(at(s, 1) != '^' && at(s, end - 2) != '$'))
		return false;
	warn(s, "the slashes are part of this regex",
		"write it without: (?i) at the start ignores case", NULL, NULL);
	return true;
}

static bool
lint_blanks(const struct source *s)
{
	if (at(s, 0) != ' ' && at(s, s->text.len - 1) != ' ')
		return false;
	warn(s, "a blank begins or ends this regex",
		"take it out of the quotes", NULL, NULL);
	return true;
}

/* '\\d' in single quotes: a backslash and a d. */
static bool
lint_backslashes(const struct source *s)
{
	for (size_t i = 0; i + 2 < s->text.len; i++) {
		if (at(s, i) != '\\')
			continue;
		if (at(s, i + 1) == '\\' &&
			strchr("dwsbDWSB.", at(s, i + 2)) != NULL) {
			warn(s, "two backslashes are one that is text",
				"in single quotes write each backslash once",
				NULL, NULL);
			return true;
		}
		i++;
	}
	return false;
}

static bool
lint_range(const struct source *s)
{
	if (memmem(s->text.data, s->text.len, "A-z", 3) == NULL)
		return false;
	warn(s, "A-z also takes [ \\ ] ^ _ and `", "write A-Za-z", NULL, NULL);
	return true;
}

/* Is the . at i no escape and outside of classes?  classes: those before i. */
static bool
is_bare_dot(const struct source *s, size_t i, bool in_class)
{
	return at(s, i) == '.' && !in_class;
}

/* Does a file's ending follow the . at i: letters, then the end? */
static bool
is_ending(const struct source *s, size_t i)
{
	size_t n = 1;

	while (isalnum((unsigned char)at(s, i + n)))
		n++;
	return n >= 3 && n <= 6 && isalpha((unsigned char)at(s, i + 1)) &&
		(at(s, i + n) == '$' ||
			(at(s, i + n) == ')' && at(s, i + n + 1) == '$'));
}

static bool
lint_file_ending(const struct source *s)
{
	bool in_class = false;

	for (size_t i = 0; i < s->text.len; i++) {
		if (at(s, i) == '\\') {
			i++;
			continue;
		}
		if (at(s, i) == '[' || at(s, i) == ']')
			in_class = at(s, i) == '[';
		if (i > 1 && is_bare_dot(s, i, in_class) && is_ending(s, i)) {
			warn(s, "the . before the ending is any character",
				"write \\. for a dot", NULL, NULL);
			return true;
		}
	}
	return false;
}

/* -------------------------------------------------------------------- URLs */

/* Where the host begins, after "://"; 0: this is no URL. */
static size_t
host_at(const struct source *s)
{
	struct ss_text t = s->text;
	const char *sign = memmem(t.data, t.len, "://", 3);

	if (sign == NULL || !text_starts(t, "^http"))
		return 0;
	return (size_t)(sign - t.data) + 3;
}

/*
 * ^https://example.com/ also takes https://example-com/, and a host that is
 * followed by .* goes on: https://example.com.other.org.
 */
static bool
lint_url(const struct source *s)
{
	size_t i = host_at(s), begin = i;
	bool dots = false;

	if (i == 0)
		return false;
	while (isalnum((unsigned char)at(s, i)) || at(s, i) == '-' ||
		at(s, i) == ':' || (at(s, i) == '\\' && at(s, i + 1) == '.') ||
		(at(s, i) == '.' && isalnum((unsigned char)at(s, i + 1)))) {
		dots |= at(s, i) == '.';
		i += at(s, i) == '\\' ? 2 : 1;
	}
	if (i == begin)
		return false;
	if (dots)
		warn(s, "a . in this host is any character: other hosts match",
			"write \\. for each dot of the host", NULL, NULL);
	else if (at(s, i) == '.' || at(s, i) == '[' || at(s, i) == '\0' ||
		(at(s, i) == '\\' && at(s, i + 1) != '/'))
		warn(s, "the host may go on: example.com.other.org matches",
			"end the host with / before what is free", NULL, NULL);
	else
		return false;
	return true;
}

/* A template binds its regexes itself. */
static void
lint_argument(const struct lint *l, const struct argument *a, bool bound)
{
	const struct source source = { l, { a->line, a->column }, a->regex };

	if (a->regex.data != NULL)
		(void)(lint_delimiters(&source) || lint_blanks(&source) ||
			lint_backslashes(&source) || lint_range(&source) ||
			lint_url(&source) || lint_file_ending(&source) ||
			bound || lint_anchors(&source));
}

void
lint_regexes(const struct lint *l, const struct spec *s)
{
	for (size_t i = 0; i < s->part_count; i++) {
		const struct part *p = &s->parts[i];

		for (size_t k = 0; k < p->piece_count; k++)
			if (p->pieces[k].argument != NULL)
				lint_argument(l, p->pieces[k].argument,
					p->kind == PART_TEMPLATE);
	}
}

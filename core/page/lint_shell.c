/* SPDX-License-Identifier: MIT */
/* A shell's text that reads $1 without quotes. */
#include <ctype.h>

#include "page/lint_own.h"

/* What a shell says that this file does not follow: no warning then. */
static bool
is_hard(struct ss_text t)
{
	static const char *const signs[] = { "<<", "$((", "[[", "case " };

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (memmem(t.data, t.len, signs[i], strlen(signs[i])) != NULL)
			return true;
	return false;
}

/* The parameter at i, "$1", "${1}" or "$@": its character, else 0. */
static char
parameter_at(struct ss_text t, size_t i)
{
	size_t at = i + 1;

	if (t.data[i] != '$')
		return 0;
	if (at < t.len && t.data[at] == '{')
		at++;
	if (at >= t.len ||
		(at == i + 2 && at + 1 < t.len && t.data[at + 1] != '}'))
		return 0;
	return t.data[at] != '0' &&
			(isdigit((unsigned char)t.data[at]) ||
				t.data[at] == '@' || t.data[at] == '*')
		? t.data[at]
		: 0;
}

/* May a blank or a wildcard be in what an agent sends there? */
static bool
is_free(const struct part *p)
{
	const struct argument *a = part_argument(p);

	return a != NULL && a->regex.data == NULL &&
		(a->type == ARGUMENT_WORD || a->type == ARGUMENT_TEXT ||
			a->type == ARGUMENT_PATH);
}

/* zero is the index of the part that is $0. */
static bool
is_agents(const struct spec *s, size_t zero, char parameter)
{
	size_t first = zero + 1, last = s->part_count;

	if (isdigit((unsigned char)parameter)) {
		first = zero + (size_t)(parameter - '0');
		last = first < last ? first + 1 : last;
	}
	for (size_t i = first; i < last; i++)
		if (is_free(&s->parts[i]))
			return true;
	return !s->locked && first >= s->part_count;
}

/* The first parameter outside of quotes that an agent fills, else 0. */
static char
find_bare(const struct spec *s, size_t text)
{
	struct ss_text t = s->parts[text].text;
	char quote = 0, found;

	for (size_t i = 0; i < t.len; i++) {
		if (t.data[i] == '\\' && quote != '\'') {
			i++;
		} else if (quote != 0) {
			quote = t.data[i] == quote ? 0 : quote;
		} else if (t.data[i] == '\'' || t.data[i] == '"') {
			quote = t.data[i];
		} else if (i == 0 || t.data[i - 1] != '=') {
			found = parameter_at(t, i);
			if (found != 0 && is_agents(s, text + 1, found))
				return found;
		}
	}
	return 0;
}

void
lint_shell(const struct lint *l, const struct spec *s)
{
	char found;

	for (size_t i = 2; i < s->part_count; i++) {
		const struct part *option = &s->parts[i - 1];

		if (!lint_takes_code(s, option) ||
			s->parts[i].kind != PART_TEXT)
			continue;
		if (is_hard(s->parts[i].text))
			return;
		found = find_bare(s, i);
		if (found != 0)
			lint_warn(l, WARN_QUOTE, place_of_part(&s->parts[i]),
				"write it in double quotes: \"$1\"",
				"the shell splits $%c at blanks and replaces "
				"its wildcards",
				found);
		return;
	}
}

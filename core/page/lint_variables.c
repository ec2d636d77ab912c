/* SPDX-License-Identifier: MIT */
/* $NAME in words, and the lists of variables. */
#include "page/lint_own.h"

#include <ctype.h>

/*
 * The name of the next $NAME or ${NAME} in word from *at on, which moves after
 * it.  The name is empty when there is none.
 */
static struct ss_text
next_variable(struct ss_text word, size_t *at)
{
	struct ss_text name;

	for (size_t i = *at, n; i < word.len; i++) {
		n = env_variable_at(word.data + i, word.len - i, &name);
		if (n == 0)
			continue;
		*at = i + n;
		return name;
	}
	*at = word.len;
	return (struct ss_text){ "", 0 };
}

/* An upper-case name, as in environments; not $x or $Foo of some language. */
static bool
looks_like_environment(struct ss_text name)
{
	for (size_t i = 0; i < name.len; i++)
		if (islower((unsigned char)name.data[i]))
			return false;
	return name.len >= 2;
}

static bool
has_free_word(const struct spec *s)
{
	for (size_t i = 0; i < s->part_count; i++)
		if (part_takes_any(&s->parts[i]))
			return true;
	return !s->locked;
}

static void
lint_word_variables(
	const struct lint *l, const struct spec *s, const struct part *part)
{
	struct ss_text name;
	size_t at = 0;

	while ((name = next_variable(part->text, &at)).len > 0) {
		int len = name.len < 64 ? (int)name.len : 64;

		if (env_server_value(&l->scope, name) != NULL &&
			has_free_word(s))
			lint_warn(l, WARN_SECRET, place_of_part(part),
				"fix the other words, with a regex or as "
				"text, and end the tool with ;",
				"$%.*s is the server's, and the agent chooses "
				"other words of this tool",
				len, name.data);
		if (env_server_value(&l->scope, name) == NULL &&
			!env_is_listed(&l->scope, name) &&
			!lint_reads_code(s) && looks_like_environment(name))
			lint_warn(l, WARN_VARIABLE, place_of_part(part),
				"list it under env:, or have the server set "
				"it",
				"$%.*s is neither listed nor set, and stays "
				"text",
				len, name.data);
	}
}

void
lint_variable_list(const struct lint *l, const struct name_list *own)
{
	const struct node_place at = { own->line, own->column };

	for (size_t i = 0; i < own->count; i++)
		if (!env_is_listed(&l->scope, text_of(own->names[i])))
			lint_warn(l, WARN_ENV, at,
				"list it under the page's env: too",
				"%.64s is not in the page's env:, so the tool "
				"does not get it",
				own->names[i]);
}

void
lint_variables(const struct lint *l, const struct spec *s)
{
	for (size_t i = 0; i < s->part_count; i++)
		if (s->parts[i].kind != PART_ARGUMENT)
			lint_word_variables(l, s, &s->parts[i]);
}

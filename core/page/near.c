/* SPDX-License-Identifier: MIT */
#include "page/near.h"

#include <ctype.h>

/* Longer words are near to none. */
#define LETTERS_MAX 24

static char
folded(char c)
{
	return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Optimal string alignment distance: edits and exchanges of neighbours.  Only
 * the last three rows of the table are kept.
 */
static unsigned
distance(struct ss_text a, struct ss_text b)
{
	unsigned rows[3][LETTERS_MAX + 1];

	for (size_t k = 0; k <= b.len; k++)
		rows[0][k] = (unsigned)k;
	for (size_t i = 1; i <= a.len; i++) {
		unsigned *now = rows[i % 3];
		const unsigned *last = rows[(i + 2) % 3];
		const unsigned *before = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t k = 1; k <= b.len; k++) {
			char c = folded(a.data[i - 1]);
			char d = folded(b.data[k - 1]);

			now[k] = least(last[k - 1] + (c != d),
				1 + least(last[k], now[k - 1]));
			if (i > 1 && k > 1 && c == folded(b.data[k - 2]) &&
				d == folded(a.data[i - 2]))
				now[k] = least(now[k], before[k - 2] + 1);
		}
	}
	return rows[a.len % 3][b.len];
}

const char *
near_word(struct ss_text word, const char *const *names, size_t count)
{
	const char *best = NULL;
	unsigned least_seen = 3;

	if (word.len == 0 || word.len > LETTERS_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct ss_text name = text_of(names[i]);
		unsigned allowed = name.len < 6 ? 1 : 2, d;

		if (name.len > LETTERS_MAX)
			continue;
		d = distance(word, name);
		if (d <= allowed && d < least_seen) {
			least_seen = d;
			best = names[i];
		}
	}
	return best;
}

static const struct {
	const char *word, *name;
} others[] = { { "cmd", "command" }, { "run", "command" },
	{ "argv", "command" }, { "args", "arguments" }, { "pattern", "regex" },
	{ "match", "regex" }, { "value", "literal" }, { "environment", "env" },
	{ "variables", "env" }, { "input", "stdin" },
	{ "memory", "memory_bytes" }, { "type", "output" },
	{ "about", "description" }, { "help", "description" },
	{ "choices", "enum" }, { "values", "enum" }, { "options", "enum" },
	{ "required", "optional" }, { "id", "name" } };

static const char *
find_name(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return names[i];
	return NULL;
}

const char *
near_key(struct ss_text word, const char *const *names, size_t count)
{
	const char *name = near_word(word, names, count);

	for (size_t i = 0; name == NULL && i < ARRAY_LEN(others); i++)
		if (text_is(word, others[i].word))
			name = find_name(others[i].name, names, count);
	for (size_t i = 0; name == NULL && word.len >= 3 && i < count; i++)
		if (strlen(names[i]) > word.len &&
			memcmp(names[i], word.data, word.len) == 0)
			name = names[i];
	return name;
}

/* SPDX-License-Identifier: MIT */
/*
 * Matching against a plain slow matcher: the input chooses a tool and a
 * command out of small tables; what the tool means is computed here a second
 * time, from the choices and without the parser, the spec or PCRE2.
 */
#include "page/frontmatter.h"
#include "fuzz.h"

#define PARTS_MAX 8
#define WORDS_MAX 12

static const char *const words[] = { "", "a", "aa", "ab", "b", ";", "{}", "{w}",
	"a\n", "null", "\xc3\xa9", "\xff", "-n", "5" };

static bool
only_a(const char *w)
{
	return w[0] != '\0' && strspn(w, "a") == strlen(w);
}

static bool
has_b(const char *w)
{
	return strchr(w, 'b') != NULL;
}

static bool
ends_in_a(const char *w)
{
	return w[0] != '\0' && w[strlen(w) - 1] == 'a';
}

static bool
one_character(const char *w)
{
	size_t n = utf8_sequence(w, strlen(w));

	return n > 0 && w[n] == '\0' && w[0] != '\n';
}

static bool
is_empty(const char *w)
{
	return w[0] == '\0';
}

static bool
any(const char *w)
{
	(void)w;
	return true;
}

/* A part as it is written, and what it means: a word, or a question. */
static const struct choice {
	const char *written;
	const char *word;
	bool (*matches)(const char *w);
	bool regex; /* not found in a word that is not UTF-8 */
} choices[] = {
	{ "a", "a", NULL, false },
	{ "'null'", "null", NULL, false },
	{ "5", "5", NULL, false },
	{ "-n", "-n", NULL, false },
	{ "''", "", NULL, false },
	{ "\xc3\xa9", "\xc3\xa9", NULL, false },
	{ "\"a\\n\"", "a\n", NULL, false },
	{ "{literal: '{}'}", "{}", NULL, false },
	{ "{literal: '{w}'}", "{w}", NULL, false },
	{ "{literal: ;}", ";", NULL, false },
	{ ";", ";", NULL, false },
	{ "{}", NULL, any, false },
	{ "'{}'", NULL, any, false },
	{ "{w}", NULL, any, false },
	{ "\"{w}\"", NULL, any, false },
	{ "{name: w, description: D}", NULL, any, false },
	{ "{regex: '^a+$'}", NULL, only_a, true },
	{ "{regex: b, name: w}", NULL, has_b, true },
	{ "{regex: 'a$'}", NULL, ends_in_a, true },
	{ "{regex: '^.$'}", NULL, one_character, true },
	{ "{regex: '^$'}", NULL, is_empty, true },
	{ "{regex: '(?=)'}", NULL, any, true },
};

static bool
slow_part(const struct choice *c, const char *w)
{
	if (c->word != NULL)
		return strcmp(c->word, w) == 0;
	return c->matches(w) && (!c->regex || utf8_valid(w, strlen(w)));
}

static bool
slow_match(const struct choice *const *parts, size_t part_count,
	const char *const *argv, size_t argc)
{
	bool locked = strcmp(parts[part_count - 1]->written, ";") == 0;

	if (locked)
		part_count--;
	if (argc < part_count || (locked && argc > part_count))
		return false;
	for (size_t i = 0; i < part_count; i++)
		if (!slow_part(parts[i], argv[i]))
			return false;
	return true;
}

static struct ss_toolset *
parse(const struct choice *const *parts, size_t count)
{
	struct ss_toolset *set = NULL;
	struct buf page = BUF_INIT(4096);
	enum ss_err e;

	buf_text(&page, "---\ntools:\n  - [");
	for (size_t i = 0; i < count; i++)
		buf_printf(&page, "%s%s", i > 0 ? ", " : "", parts[i]->written);
	buf_text(&page, "]\n---\n");
	promise(buf_ok(&page));
	e = ss_toolset_parse(page.data, page.len, &set, NULL);
	/* Only a ; and nothing else is no tool. */
	promise((e == SS_OK) ==
		!(count == 1 && strcmp(parts[0]->written, ";") == 0));
	buf_release(&page);
	return set;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct choice *parts[PARTS_MAX];
	const char *argv[WORDS_MAX];
	size_t part_count, argc = 0, tool = 0;
	struct ss_toolset *set;
	struct ss_error err; /* with it, a refusal says why (nearest.c) */

	if (size < 2)
		return 0;
	part_count = 1 + data[0] % PARTS_MAX;
	if (size < 1 + part_count)
		return 0;
	for (size_t i = 0; i < part_count; i++)
		parts[i] = &choices[data[1 + i] % ARRAY_LEN(choices)];
	for (size_t i = 1 + part_count; i < size && argc < WORDS_MAX; i++)
		argv[argc++] = words[data[i] % ARRAY_LEN(words)];
	set = parse(parts, part_count);
	if (set == NULL)
		return 0;
	promise((ss_toolset_allows(set, argc, argv, &tool, &err) == SS_OK) ==
		slow_match(parts, part_count, argv, argc));
	ss_toolset_free(set);
	return 0;
}

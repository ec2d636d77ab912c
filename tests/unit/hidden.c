/* SPDX-License-Identifier: MIT */
/*
 * Which paths the patterns of [http] hidden match, and which frontmatter, right
 * or wrong, hides its page.
 */
#include "page/frontmatter.h"
#include "site/hidden.h"
#include "tap.h"

static bool
hides(const char *pattern, const char *path)
{
	struct hidden h;
	struct arena arena;
	bool found;

	arena_init(&arena, 0);
	found = hidden_init(&h, &arena, &pattern, 1, NULL) == SS_OK &&
		hidden_has(&h, path);
	arena_release(&arena);
	return found;
}

static void
test_paths(void)
{
	static const struct {
		const char *pattern, *path;
		bool hidden;
	} cases[] = {
		{ "/data/**", "data/x.db", true },
		{ "/data/**", "data/a/b/c", true },
		{ "/data/**", "data", true },
		{ "/data/**", "database/x", false },
		{ "/data/**", "sub/data/x", false },
		{ "/data/**", "", false },
		{ "/data", "data/a/b", true },
		{ "/data/", "data/a", true },
		{ "//data", "data/a", true },
		{ "/data/*", "data/a/b", true },
		{ "/data/*", "data", false },
		{ "/**/*.py", "a.py", true },
		{ "/**/*.py", "a/b/c.py", true },
		{ "/**/*.py", "a.pyc", false },
		{ "/*.py", "a/b.py", false },
		{ "/a.{db,sqlite}", "a.sqlite", true },
		{ "/a.{db,sqlite}", "a.txt", false },
		{ "/plan", "plan.md", true },
		{ "/plan", "plan.markdown", true },
		{ "/plan", "plan.txt", false },
		{ "/plan.md", "plan.md", true },
		{ "/plan.md", "plan", false },
		{ "/docs", "docs/README.md", true },
		{ "/Data/x", "data/X", true },
		{ "/data/X", "DATA/x", true },
		{ "/[[:upper:]]x", "Ax", true },
		{ "/a?c", "abc", true },
		{ "/a?c", "a/c", false },
		{ "/**", "", true },
		{ "/**", "a", true },
		{ "/a\\*", "a*", true },
		{ "/a\\*", "ab", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		ok(hides(cases[i].pattern, cases[i].path) == cases[i].hidden,
			"%s %s %s", cases[i].pattern,
			cases[i].hidden ? "hides" : "shows", cases[i].path);
}

static void
test_many(void)
{
	const char *most[1025];
	struct ss_error err = { 0 };
	struct arena arena;
	struct hidden h;

	for (size_t i = 0; i < ARRAY_LEN(most); i++)
		most[i] = i == 1023 ? "/last" : "/x";
	arena_init(&arena, 0);
	ok(hidden_init(&h, &arena, most, 1024, &err) == SS_OK &&
			hidden_has(&h, "last"),
		"1024 patterns count");
	is_int(SS_CONFIG, hidden_init(&h, &arena, most, 1025, &err),
		"one more is refused");
	ok(hidden_init(&h, &arena, most, 0, &err) == SS_OK &&
			!hidden_has(&h, "x"),
		"none hide nothing");
	arena_release(&arena);
}

static bool
page_hides(const char *text)
{
	struct ss_error err = { 0 };
	struct node_place place;
	struct frontmatter f;
	struct arena arena;
	bool hidden;

	arena_init(&arena, 0);
	frontmatter_parse(&arena, text, strlen(text), &f, &place, &err);
	hidden = f.hidden;
	frontmatter_release(&f);
	arena_release(&arena);
	return hidden;
}

static void
test_pages(void)
{
	static const char *const hidden[] = { "---\nhidden: true\n---\n",
		"+++\nhidden = true\n+++\n", "---\n{hidden: true}\n---\n",
		"---\nhidden: yes\n---\n", "---\nhidden:\n---\n",
		"---\nhidden: [true]\n---\n",
		"---\nhidden: true\nhidden: false\n---\n",
		"---\nhidden: true\ntools: 7\n---\n",
		"---\ntools: 7\n\"hidden\" : true # why\n---\n",
		"---\ntools: 7\n  hidden: true\n---\n",
		"---\r\ntools: 7\r\nhidden: true\r\n---\r\n",
		"---\n{ a: [, hidden: true }\n---\n",
		"+++\ntools = 7\n'hidden' = true\n+++\n",
		"---\nhidden: true\n\ntext", "---\nhidden: true" };
	static const char *const shown[] = { "hidden: true\n", "",
		"---\ntitle: hidden\n---\nhidden: true\n",
		"---\nhidden: false\n---\n", "+++\nhidden = false\n+++\n",
		"---\ntitle: x\n# hidden: true\n---\n",
		"---\ntools: 7\nhidden: false # yet\n---\n",
		"---\ntools: 7\nhidden: 'false'\n---\n",
		"---\ntools: 7\nhiddenness: true\n---\n",
		"---\ntools: 7\ntitle: hidden\n---\nhidden: true\n",
		"---\ntools: 7\nnot_hidden: true\n---\n",
		"---\ntools: [[ls]]\n---\n", "---\n" };

	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		ok(page_hides(hidden[i]), "hidden %zu", i);
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		ok(!page_hides(shown[i]), "shown %zu", i);
}

int
main(void)
{
	test_paths();
	test_many();
	test_pages();
	return done();
}

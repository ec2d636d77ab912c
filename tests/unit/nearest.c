/* SPDX-License-Identifier: MIT */
/* The word at which the nearest tool gives up, and what it takes there. */
#include "page/nearest.h"

#include <stdio.h>

#include "page/frontmatter.h"
#include "tap.h"

static struct ss_text words[16];

static void
says(const char *tools, const char *const *list, const char *expected)
{
	struct arena arena;
	struct frontmatter front;
	struct ss_error err;
	struct buf out = BUF_INIT(1024);
	const struct part *part;
	char page[4000];
	size_t count = 0;

	arena_init(&arena, 0);
	snprintf(page, sizeof(page), "---\ntools: [%s]\n---\n", tools);
	is_int(SS_OK,
		frontmatter_parse(
			&arena, page, strlen(page), &front, NULL, &err),
		"%s are tools: %s", tools, err.message);
	for (; list[count] != NULL; count++)
		words[count] = text_of(list[count]);
	nearest_print(front.specs, front.spec_count, words, count, &arena,
		&part, &out);
	is_str(expected, out.len > 0 ? out.data : "", "%s", expected);
	buf_release(&out);
	frontmatter_release(&front);
	arena_release(&arena);
}
#define SAYS(tools, expected, ...)                                             \
	says(tools, (const char *const[]){ __VA_ARGS__, NULL }, expected)

static void
test_plain(void)
{
	SAYS("[factor, { regex: '^[1-9]+$' }, ;]",
		"word 2, \"--help\", is not a word that matches ^[1-9]+$",
		"factor", "--help");
	SAYS("[head, -n, '5', {}, ;]", "word 3, \"6\", is not the word 5",
		"head", "-n", "6", "x");
	SAYS("[head, -n, '5', {}, ;]", "word 4 is missing: a word", "head",
		"-n", "5");
	SAYS("[ls, ;]", "word 2, \"-l\", is one too many", "ls", "-l");
	SAYS("[ls, ;], [cat, {}]", "no tool begins with \"rm\"", "rm", "-r");
	SAYS("{ name: rm, command: [ls, ;] }, [cat, {}]",
		"\"rm\" is the name of a tool and no word of its command: call "
		"it by its name (tool_call, or at the shell --tool)",
		"rm", "-r");
	SAYS("{ name: cat, command: [ls, ;] }, [cat, {}]",
		"word 2 is missing: a word", "cat");
	SAYS("", "", "ls");
}

static void
test_nearest(void)
{
	SAYS("[git, log, ;], [git, show, { type: integer, name: n }, ;], [ls]",
		"word 3, \"x\", is not a whole number", "git", "show", "x");
	SAYS("[git, log, ;], [git, show, ;]",
		"word 2, \"push\", is not the word log", "git", "push");
	SAYS("[o, { name: s, enum: [open, paid] }, ;]",
		"word 2, \"lost\", is not one of open, paid", "o", "lost");
	SAYS("[o, { name: s, enum: [' 5 ', \"it's\"] }, ;]",
		"word 2, \"5\", is not one of \" 5 \", it's", "o", "5");
	SAYS("[get, { text: 'http://h/{id}', id: '^[0-9]+$' }, ;]",
		"word 2, \"http://h/x\", is not 'http://h/{id}'", "get",
		"http://h/x");
}

static void
test_optional(void)
{
	const char *tool = "[t, { name: a, type: integer, optional: true }, "
			   "{ name: b, enum: [x, y] }, ;]";

	SAYS(tool, "word 2, \"z\", is not one of x, y", "t", "z");
	SAYS(tool, "word 3, \"z\", is not one of x, y", "t", "1", "z");
	SAYS(tool, "word 2 is missing: one of x, y", "t");
	SAYS(tool, "word 4, \"x\", is one too many", "t", "1", "x", "x");
}

/* match_choose compares the author's words first, and tries no regex here. */
static void
test_limit(void)
{
	SAYS("[a, { regex: '^(a+)+$' }, b, ;]", "", "a",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "c");
}

static void
test_long(void)
{
	char word[200] = "", expected[300];

	for (size_t i = 0; i < 60; i++)
		strcat(word, "\xc3\xa4");
	snprintf(expected, sizeof(expected), "no tool begins with \"%.48s…\"",
		word);
	SAYS("[ls]", expected, word);
}

int
main(void)
{
	test_plain();
	test_nearest();
	test_optional();
	test_limit();
	test_long();
	return done();
}

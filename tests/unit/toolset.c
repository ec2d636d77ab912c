/* SPDX-License-Identifier: MIT */
/* The pure functions of the public header, as a host calls them. */
#include "tap.h"

#include <stdlib.h>
#include <time.h>

#include "statespace.h"

static struct ss_error err;

static struct ss_toolset *
parse(const char *text)
{
	struct ss_toolset *set = NULL;

	ss_toolset_parse(text, strlen(text), &set, &err);
	return set;
}

/* A page of count tools, each with a literal and a placeholder. */
static char *
page_of(size_t count)
{
	char *page = malloc(64 + count * 64);
	size_t n = 0;

	if (page == NULL)
		abort();
	n += (size_t)sprintf(page, "---\ntools:\n");
	for (size_t i = 0; i < count; i++)
		n += (size_t)sprintf(
			page + n, "  - [tool-%zu, --flag, {}, ;]\n", i);
	sprintf(page + n, "---\n");
	return page;
}

static void
test_parse(void)
{
	struct ss_toolset *set = parse("---\ntools: [[ls], [cat, {}]]\n---\n");

	is_int(2, (long long)ss_toolset_count(set), "a page's tools");
	is_int(SS_OK, err.code, "no error is left behind");
	ss_toolset_free(set);
	ok(parse("# text\n") == NULL && err.code == SS_NO_FRONTMATTER,
		"a page without frontmatter is told apart");
	ok(parse("---\ntools: [ls]\n---\n") == NULL &&
			err.code == SS_BAD_FRONTMATTER &&
			strncmp(err.message, "line 2, column 9: found ", 24) ==
				0,
		"a wrong one too: %s", err.message);
	ok(err.hint[0] != '\0', "with a hint: %s", err.hint);
	set = parse("---\n---\n");
	is_int(0, (long long)ss_toolset_count(set), "a page without tools");
	ss_toolset_free(set);
	ok(ss_toolset_parse("x", 1, &set, NULL) == SS_NO_FRONTMATTER,
		"err may be NULL");
	ss_toolset_free(NULL);
}

static void
test_allows(void)
{
	const char *const cat[] = { "cat", "a" }, *const rm[] = { "rm", "x" };
	struct ss_toolset *set;
	size_t tool = 9;

	set = parse(
		"---\ntools: [[cat, b], [cat, {}], [cat, a], ['a b']]\n---");
	ok(ss_toolset_allows(set, 2, cat, &tool, &err) == SS_OK && tool == 1,
		"the first tool that matches decides");
	ok(ss_toolset_allows(set, 2, rm, &tool, &err) == SS_NOT_ALLOWED,
		"no tool, not allowed");
	is_str("this page allows: [cat, b], [cat, {}], [cat, a], ['a b']",
		err.hint, "the hint lists the tools as written");
	ok(ss_toolset_allows(set, 2, rm, &tool, NULL) == SS_NOT_ALLOWED,
		"err may be NULL");
	ok(ss_toolset_allows(set, 0, rm, &tool, &err) == SS_NOT_ALLOWED,
		"an empty command matches nothing");
	ss_toolset_free(set);
}

static void
test_limit(void)
{
	const char *const slow[] = { "a",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" };
	struct ss_toolset *set;
	size_t tool = 9;

	set = parse("---\ntools: [[a, {regex: '^(a+)+$'}], [a, {}]]\n---");
	ok(ss_toolset_allows(set, 2, slow, &tool, &err) == SS_NOT_ALLOWED &&
			tool == 9,
		"a regex at its limit refuses, whatever follows: %s",
		err.message);
	ss_toolset_free(set);
}

static void
test_hint(void)
{
	const char *const no[] = { "no" };
	char *page = page_of(1000), wide[3200];
	struct ss_toolset *set = parse(page);
	const char *more;
	size_t tool;

	ss_toolset_allows(set, 1, no, &tool, &err);
	more = strstr(err.hint, "], … and ");
	ok(more != NULL && strstr(more, " more") != NULL &&
			strlen(err.hint) < sizeof(err.hint) - 1,
		"a long list is cut between tools: %s",
		more != NULL ? more : "");
	ss_toolset_free(set);
	free(page);
	snprintf(wide, sizeof(wide), "---\ntools: [[%03000d]]\n---\n", 1);
	set = parse(wide);
	ss_toolset_allows(set, 1, no, &tool, &err);
	is_str("this page has 1 tool", err.hint,
		"a tool that does not fit at all is counted");
	ss_toolset_free(set);
	set = parse("---\ntitle: Text\n---\n");
	ss_toolset_allows(set, 1, no, &tool, &err);
	is_str("this page has no tools", err.hint, "and so is none");
	ss_toolset_free(set);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOWED_DOWN true
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SLOWED_DOWN true
#endif
#ifndef SLOWED_DOWN
#define SLOWED_DOWN false
#endif

static void
test_speed(void)
{
	const char *const last[] = { "tool-999", "--flag", "x" };
	char *page = page_of(1000);
	struct ss_toolset *set = parse(page);
	double best = 1e9, us;
	size_t tool = 0;

	for (int i = 0; i < 100; i++) {
		us = -1e3 * cpu_ms();
		ss_toolset_allows(set, 3, last, &tool, &err);
		us += 1e3 * cpu_ms();
		best = us < best ? us : best;
	}
	is_int(999, (long long)tool, "the last of 1000 tools is found");
	if (is_timed() && !SLOWED_DOWN)
		ok(best < 50, "in %.1f microseconds, under 50", best);
	else
		skip(1, "times mean nothing here");
	ss_toolset_free(set);
	free(page);
}

int
main(void)
{
	test_parse();
	test_allows();
	test_limit();
	test_hint();
	test_speed();
	return done();
}

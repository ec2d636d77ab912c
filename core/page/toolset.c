/* SPDX-License-Identifier: MIT */
/*
 * The tools of one page without a site: the pure functions of the public
 * header over frontmatter and spec.
 */
#include <stdlib.h>

#include "page/frontmatter.h"
#include "page/match.h"

struct ss_toolset {
	struct arena arena;
	struct frontmatter front;
};

static enum ss_err
toolset_parse(struct ss_toolset *set, const char *text, size_t len,
	struct ss_error *err)
{
	enum ss_err e;

	e = frontmatter_parse(&set->arena, text, len, &set->front, NULL, err);
	if (e == SS_OK && set->front.format == FRONT_NONE) {
		error_set(
			err, SS_NO_FRONTMATTER, "this page has no frontmatter");
		error_hint(err,
			"tools are between two --- lines at the "
			"page's start");
		e = SS_NO_FRONTMATTER;
	}
	return e;
}

enum ss_err
ss_toolset_parse(const char *text, size_t len, struct ss_toolset **out,
	struct ss_error *err)
{
	struct ss_toolset *set = calloc(1, sizeof(*set));
	enum ss_err e;

	*out = NULL;
	error_clear(err);
	if (set == NULL)
		return error_memory(err);
	arena_init(&set->arena, 0);
	e = toolset_parse(set, text, len, err);
	if (e == SS_OK)
		*out = set;
	else
		ss_toolset_free(set);
	return e;
}

size_t
ss_toolset_count(const struct ss_toolset *set)
{
	return set->front.spec_count;
}

enum ss_err
ss_toolset_allows(const struct ss_toolset *set, size_t argc,
	const char *const argv[], size_t *tool, struct ss_error *err)
{
	struct ss_text *words = calloc(argc + 1, sizeof(*words));
	struct arena arena;
	enum ss_err e;

	error_clear(err);
	if (words == NULL)
		return error_memory(err);
	for (size_t i = 0; i < argc; i++)
		words[i] = text_of(argv[i]);
	arena_init(&arena, 0);
	e = match_choose(set->front.specs, set->front.spec_count, words, argc,
		&arena, tool, NULL, err);
	arena_release(&arena);
	free(words);
	return e;
}

void
ss_toolset_free(struct ss_toolset *set)
{
	if (set == NULL)
		return;
	frontmatter_release(&set->front);
	arena_release(&set->arena);
	free(set);
}

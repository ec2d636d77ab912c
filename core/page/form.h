/* SPDX-License-Identifier: MIT */
/*
 * The request nearest to a refused one: the caller's words where a tool takes
 * them, repaired or as in its author's examples where it does not.  Whether the
 * request would run is for the caller to ask (site/refusal.c).
 */
#ifndef SS_PAGE_FORM_H
#define SS_PAGE_FORM_H

#include "page/match.h"
#include "page/toolcall.h"

/* One request: words, or a call by name where words is NULL. */
struct form {
	size_t tool;
	size_t own; /* how many of the caller's words or values are in it */
	struct ss_text *words;
	size_t word_count;
	const char *name;
	struct proto_argument *args;
	size_t arg_count;
	bool sent; /* the caller's own: printed as it is */
};

struct form_page {
	const struct spec *specs;
	size_t count;
	const char *path;
	struct arena *arena; /* forms live in it */
	/* Is there such a file in the page's directory or below?  NULL: no. */
	bool (*has_file)(void *ctx, struct ss_text path);
	void *ctx;
};

/* Each false: there is none, or memory ran out. */

/* Of the tool that takes the most of the words. */
bool form_of_words(const struct form_page *page, const struct ss_text *words,
	size_t count, struct form *out);
/* Of the tool with that name, or the one most like it. */
bool form_of_call(const struct form_page *page, const char *name,
	const struct proto_argument *args, size_t count, struct form *out);
/* Of that tool, with its author's examples. */
bool form_of_tool(const struct form_page *page, size_t tool, struct form *out);

/*
 * Appends the members of the request's JSON, without braces: "command", or
 * "tool_call" for a call, and for words that are too long to be sent again.
 * name: what the caller knows the tool by; NULL: its name within the page.
 */
bool form_print(const struct form_page *page, const struct form *form,
	const char *name, struct buf *out);

/*
 * A value that the argument takes and no rule of paths refuses, made of this
 * text; data is NULL where there is none.
 */
struct ss_text form_repair(const struct form_page *page,
	const struct argument *a, struct ss_text text);
/* A value of its author's, or one that it takes; data NULL: none is known. */
struct ss_text
form_example(const struct form_page *page, const struct argument *a);

#endif

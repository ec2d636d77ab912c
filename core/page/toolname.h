/* SPDX-License-Identifier: MIT */
/*
 * The names of a page's tools, by which calls and lists know them: made of what
 * the page says alone, never of the order of tools or of a description.  Pure.
 */
#ifndef SS_PAGE_TOOLNAME_H
#define SS_PAGE_TOOLNAME_H

#include "page/spec.h"

/* Model APIs take 64 characters, of which clients use some as a prefix. */
#define TOOLCALL_NAME_MAX 57

/*
 * The name of a tool, were it the only one of its page: the author's, else the
 * page without its ending, the program, and the plain words behind it that are
 * written as they are (git_log for [git, log, -n, {n}] of git.md); for README.md
 * the directory's name.  A program with the page's own name is not repeated.
 * Characters other than [A-Za-z0-9_-] become '-'.  Too long: as hashed.
 * False: no memory.
 */
bool toolcall_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1]);
/*
 * The same, cut to 48 characters and closed with '-' and 8 hexadecimal digits
 * over page and command: for names that several tools would have.  False: no
 * memory.
 */
bool toolcall_hashed_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1]);

/* The name that a tool has in its page. */
struct toolcall_label {
	char text[TOOLCALL_NAME_MAX + 1];
	bool shared; /* several tools have its toolcall_name */
};

/*
 * Of all tools of a page, each its own, for the caller to free; NULL: no
 * memory.  Where several have one toolcall_name, the words and arguments behind
 * it are added to it (git_log_n); where that is not enough, they are hashed.
 * The same command twice has one name.
 */
struct toolcall_label *
toolcall_labels(const struct spec *specs, size_t count, const char *page);

/*
 * The label with the page before it, where tools of several pages have one:
 * docs-a_search.  The label itself where it begins so, or for the README.md of
 * the root.  False: it would be too long.
 */
bool toolcall_qualify(const char *page, const char *label,
	char out[static TOOLCALL_NAME_MAX + 1]);

/*
 * The tool of the page that is called so, by its label, with the page before it,
 * or hashed.  SIZE_MAX: none.  False: no memory.
 */
bool toolcall_find(const struct spec *specs, size_t count, const char *page,
	const char *name, size_t *index);

#endif

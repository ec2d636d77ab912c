/* SPDX-License-Identifier: MIT */
/*
 * Questions to the file system that a check collects, and asks at once: what
 * tools can reach (sandbox/reach.h) of what a page or the operator names.
 */
#ifndef SS_COMMANDS_QUESTION_H
#define SS_COMMANDS_QUESTION_H

#include "commands/check.h"
#include "sandbox/reach.h"
#include "sandbox/view_plan.h"

enum question_of {
	QUESTION_PROGRAM, /* a tool's first word, or one of its `exec:` */
	QUESTION_WORD,    /* an author's word that looks like a path */
	QUESTION_GRANT    /* a path of `read:`, `write:`, `unix:` */
};

struct question {
	enum question_of of;
	const char *name;          /* as it is told */
	const char *key;           /* of a grant: "read"; NULL */
	const struct right *right; /* the tool; NULL: the operator asks */
	struct node_place at;
	bool may_be_absent;
};

struct questions {
	struct check *check;
	struct question *items; /* in the check's arena, as is asks */
	struct reach *asks;     /* one for each */
	size_t count, cap;
};

/* Tools see the view, and not the host. */
bool question_in_view(const struct check *c);
/*
 * Adds one, and asks all when they are many.  path: absolute, as a tool names
 * it; it may hold "..".  False: no memory, or they cannot be asked.
 */
bool question_add(struct questions *q, const struct question *item,
	enum reach_what what, const char *path);
/*
 * Where a page's word leads: absolute, as the page's tools name it.  False: it
 * leads out of the site, where no tool sees anything, or is too long.
 */
bool question_path(const struct check *c, const char *page_dir,
	const char *word, char out[static PATH_MAX]);
/* Asks all, and warns of what cannot be reached. */
enum ss_err question_ask(struct questions *q, struct ss_error *err);

#endif

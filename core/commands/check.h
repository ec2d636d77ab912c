/* SPDX-License-Identifier: MIT */
/*
 * One run of ss_site_check, and what its parts share: check.c walks the pages
 * and asks the parsers and lint, check_report.c keeps what they find, and
 * check_files.c asks the file system what tools
 * can reach of what a page names.
 */
#ifndef SS_COMMANDS_CHECK_H
#define SS_COMMANDS_CHECK_H

#include "commands/check_names.h"
#include "page/lint.h"
#include "site/page.h"
#include "site/site.h"

struct check {
	struct ss_site *site;
	void (*fn)(void *ctx, const struct ss_report *report);
	void *ctx;
	struct arena arena; /* of one page */
	struct ss_report report;
	struct ss_problem *problems;
	struct arena kept; /* of all pages */
	struct check_names names;
	struct allow *allow; /* what the page acknowledges; NULL: not read */
	struct buf json;
	bool memory_failed;
	unsigned what; /* SS_CHECK_... */
	bool closed;   /* tools cannot read the site: told once */
};

/*
 * Adds a finding to the page's report, once, unless the page acknowledges it:
 * a lint_fn, whose ctx is the check.
 */
void check_take(void *ctx, const struct ss_problem *p);
/* Adds a warning; hint may be NULL. */
void check_warn(struct check *c, enum warning w, struct node_place at,
	const char *message, const char *hint);

/* Adds an error, with what only the operator is told. */
void
check_error(struct check *c, struct node_place at, const struct ss_error *err);

/* Starts a report, of "." for the site itself, and hands it over. */
enum ss_err
check_begin(struct check *c, const char *page, struct ss_error *err);
enum ss_err check_end(struct check *c, struct ss_error *err);

/*
 * Programs, granted paths and author's words that look like files, of a page
 * without an error.  Forks once.  SS_INTERNAL: no memory, or no process.
 */
enum ss_err check_files(struct check *c, const struct page *page,
	const struct ss_document *doc, struct ss_error *err);
/*
 * Runs the components of the page, and each of its tools that may be run with
 * the examples of its arguments, as a request would.  What fails is an error of
 * the page.
 */
enum ss_err
check_run(struct check *c, const struct ss_document *doc, struct ss_error *err);
/* What [grant] lists, as a report of its own if anything is wrong with it. */
enum ss_err check_grants(struct check *c, struct ss_error *err);

#endif

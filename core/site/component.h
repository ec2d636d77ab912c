/* SPDX-License-Identifier: MIT */
/*
 * A page's components: blocks of shell whose output replaces them when the page
 * is read (statespace-page(7), Components).  They run as one batch, under the
 * page's own sandbox, in a worker or in a process that is forked for it.
 */
#ifndef SS_SITE_COMPONENT_H
#define SS_SITE_COMPONENT_H

#include "site/executor.h"
#include "site/page.h"

/* Of one block's output, before it is repaired. */
#define COMPONENT_OUTPUT_MAX ((size_t)1 << 20)

/* One page to render. */
struct component_job {
	struct executor *executor;
	const struct ss_document *doc;
	struct page *page; /* of doc */
	const char *request_id;
	int client_fd; /* its hang-up ends the run; -1 */
	/*
	 * Gets a line for each block that failed: the number of its first line
	 * in the page, a space, and what replaced it.  NULL: not wanted.
	 */
	struct buf *failed;
};

/*
 * Would a GET of this page run something?  False where [components] is off,
 * where tools may write the page, and for a page with wrong frontmatter.
 */
bool component_applies(const struct executor *e, const struct ss_document *doc,
	const struct page *page);

/*
 * Adds the page's text, with each block replaced, to out, whose ceiling this
 * sets.  A block that could not run is replaced by the reason.  Blocks for at
 * most [components] total; uses the executor's arena.
 * Errors  SS_GONE: the client left; SS_INTERNAL: no memory, or a process that
 *         cannot be killed.
 */
enum ss_err component_render(
	const struct component_job *job, struct buf *out, struct ss_error *err);

/*
 * Adds what replaces a block to out: its output, or one line in brackets.
 * Pure.
 *
 * own_s   the time of a block in seconds, all_s that of all blocks; r->run_us
 *         tells which of them was over.
 */
void component_result(struct buf *out, const struct spawn_result *r,
	double own_s, double all_s);

#endif

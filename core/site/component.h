/* SPDX-License-Identifier: MIT */
/*
 * A page's components: blocks of shell whose output stands in their place when
 * the page is read (statespace-page(7), Components).  They run as one batch,
 * under the page's own sandbox, here or in a process born for it.
 */
#ifndef SS_SITE_COMPONENT_H
#define SS_SITE_COMPONENT_H

#include "site/executor.h"
#include "site/page.h"

/* Of one block's output, as the tool wrote it. */
#define COMPONENT_OUTPUT_MAX ((size_t)1 << 20)

/* One page to be rendered, and for whom. */
struct component_job {
	struct executor *executor;
	const struct ss_document *doc;
	struct page *page; /* of doc */
	const char *request_id;
	int client_fd; /* a hang-up ends the run; -1 */
};

/*
 * Would a GET of this page run something?  Costs nothing but the page's
 * parsing; false where the operator says so, where tools may write the page,
 * and for a page whose frontmatter is wrong.
 */
bool component_applies(const struct executor *e, const struct ss_document *doc,
	const struct page *page);

/*
 * The page's text with each block replaced, added to out, whose ceiling this
 * sets.  A block that could not run says so in its place.  Blocks for at most
 * [components] total; uses the executor's arena.
 * Errors  SS_GONE: nobody reads it; SS_INTERNAL: no memory, or a process that
 *         would not die.
 */
enum ss_err component_render(
	const struct component_job *job, struct buf *out, struct ss_error *err);

/*
 * What stands in a block's place, added to out: its output, or one line in
 * brackets.  Pure.
 *
 * own_s    the time of a block in seconds, all_s of all: which of the two was
 *          over is told by r->run_us.
 */
void component_result(struct buf *out, const struct spawn_result *r,
	double own_s, double all_s);

#endif

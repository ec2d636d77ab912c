/* SPDX-License-Identifier: MIT */
/*
 * What the sandbox refused a run, and the line that would grant it
 * (statespace-exec(1), --explain).  watch saw what the kernel refused; here it
 * is held against the host (would the account have been allowed?), what the
 * page asks for and the operator's ceiling.
 */
#ifndef SS_SITE_EXPLAIN_H
#define SS_SITE_EXPLAIN_H

#include "run/watch.h"
#include "sandbox/policy.h"
#include "sandbox/sandbox_plan.h"

struct explain {
	const struct watch *watch;
	const struct sandbox_plan *plan; /* with the level that was reached */
	const struct grant *grant;
	const struct policy_ask *ask;
	const char *page; /* its clean path, relative to the site */
	bool failed;      /* the tool did not end with 0 */
};

/*
 * Adds lines of text, each with its line break, to out; none when nothing was
 * refused.  Forks once, to look at the files with the account's eyes.
 * False: no memory or no process.
 */
bool explain_print(const struct explain *e, struct buf *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the sandbox refused to a run, and the line that would grant it
 * (statespace-exec(1), --explain).  watch has the system calls that failed; here
 * they are compared with what the account may do without a sandbox, what the
 * page asks for and what the operator grants.
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
 * refused.  denied gets the same as the items of a JSON list
 * (statespace-protocol(7), RUNNING).  Forks once, to call access(2) as the
 * account.  False: no memory or no process.
 */
bool
explain_print(const struct explain *e, struct buf *out, struct buf *denied);

#endif

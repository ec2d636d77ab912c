/* SPDX-License-Identifier: MIT */
/*
 * The built-in executor: an allowed command becomes one confined child of
 * this process (PROTOCOL section 5, "Running").
 */
#ifndef SS_EXECUTOR_H
#define SS_EXECUTOR_H

#include "spawn.h"
#include "statespace.h"

struct ss_site;

struct executor {
	struct ss_site *site;
	bool prepared;			/* this process may spawn */
	char tmpdir[64];		/* the tools' TMPDIR; "" until prepared */
	struct spawn_result last;	/* its output is the caller's until the next */
};

void executor_init(struct executor *e, struct ss_site *site);
void executor_release(struct executor *e);
struct ss_executor executor_table(struct executor *e);
/* What TMPDIR is for a tool of this process. */
const char *executor_tmpdir(const struct executor *e);

#endif

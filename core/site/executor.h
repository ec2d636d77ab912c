/* SPDX-License-Identifier: MIT */
/*
 * The built-in executor: an allowed command becomes one confined child
 * (statespace-protocol(7), RUNNING, "Running"), of this process when it is a
 * worker, else of one that is born for it.
 */
#ifndef SS_SITE_EXECUTOR_H
#define SS_SITE_EXECUTOR_H

#include "base/buf.h"
#include "run/spawn.h"
#include "statespace.h"

/* What TMPDIR says until the executor knows better. */
#define EXECUTOR_TMPDIR "/tmp"

struct ss_site;

struct executor {
	struct ss_site *site;
	bool must_exit; /* the scratch could not be emptied: run nothing more */
	struct spawn_result
		last;            /* its output is the caller's until the next */
	struct buf collected[2]; /* the same, from a process of its own */
	struct buf refused;      /* the same, of an explained run */
};

void executor_init(struct executor *e, struct ss_site *site);
void executor_release(struct executor *e);
struct ss_executor executor_table(struct executor *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The pool's waiter: one confined process that holds the connections of all
 * who wait for a job, so that they hold no worker.  It reads no byte of a
 * client and none of a job: it looks at the sizes of the job's files, and hands
 * a request back to the workers when they have changed, or when it is time.
 *
 * inotify(7) is not for confined processes (sandbox/filters/rules.c), and knows
 * no network file system: each job is looked at after 10 ms, then after twice
 * as long, up to 200 ms.
 */
#ifndef FCGI_WAITER_H
#define FCGI_WAITER_H

#include <signal.h>

#include "waiting.h"

struct waiter {
	const struct waiting *waiting;
	int alive; /* a pipe; end of file: the supervisor is gone */
	uint32_t most;
	const sigset_t *open;
};

/* Runs in the confined process; returns its exit status. */
int waiter_run(const struct waiter *w);

#endif

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
#include "sandbox/sandbox_plan.h"
#include "site/config.h"
#include "site/documents.h"
#include "site/limit.h"

/* What TMPDIR says until the executor knows better. */
#define EXECUTOR_TMPDIR "/tmp"

/* Where a struct ss_command has its client_fd: how a hang-up is noticed. */
struct executor_client {
	bool (*left)(void *ctx); /* reads client_fd; NULL: nobody does */
	void *ctx;
};

struct executor {
	/* Borrowed from the site. */
	const struct config *config;
	const struct grant *grant;
	struct sandbox_plan *plan;
	struct documents *documents;
	struct arena *arena; /* of the request */
	struct limit limit;
	struct executor_client client;
	bool is_worker; /* commands run here, not in a process of their own */
	bool must_exit; /* the scratch could not be emptied: run nothing more */
	struct spawn_result
		last;            /* its output is the caller's until the next */
	struct buf collected[2]; /* the same, from a process of its own */
	struct buf refused;      /* the same, of an explained run */
};

void executor_release(struct executor *e);
struct ss_executor executor_table(struct executor *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The built-in executor: an allowed command becomes one confined child
 * (statespace-protocol(7), What a tool gets), of this process when it is a
 * worker, else of a process that is forked for the command.
 */
#ifndef SS_SITE_EXECUTOR_H
#define SS_SITE_EXECUTOR_H

#include "base/buf.h"
#include "run/spawn.h"
#include "sandbox/sandbox_plan.h"
#include "sandbox/workspace_use.h"
#include "state/state.h"
#include "site/config.h"
#include "site/documents.h"
#include "site/limit.h"
#include "site/oneshot.h"
#include "site/rights.h"

/* The TMPDIR of a command; executor.c replaces it by the worker's own. */
#define EXECUTOR_TMPDIR "/tmp"

/* How to find out that the client of a struct ss_command hung up. */
struct executor_client {
	bool (*left)(void *ctx); /* reads client_fd; NULL: nobody does */
	void *ctx;
};

struct executor {
	/* Borrowed from the site. */
	const struct config *config;
	const struct grant *grant;
	struct sandbox_plan *plan;
	struct state **state; /* of the site, or of all of its pool */
	struct documents *documents;
	struct arena *arena; /* of the request */
	struct limit limit;
	struct executor_client client;
	bool is_worker; /* commands run here, not in a process of their own */
	bool last_run;  /* this process ends behind it: ss_call */
	bool must_exit; /* the scratch could not be emptied: run nothing more */
	/* The output of the last run, borrowed by its result. */
	struct spawn_result last;
	struct buf collected[2]; /* of a process of its own */
	struct buf refused;      /* of an explained run */
	struct buf denied;       /* the same as the items of a JSON list */
	struct buf workspace;    /* what is told of it, by such a process */
};

void executor_release(struct executor *e);
struct ss_executor executor_table(struct executor *e);
/* A run here has ended: notes whether sandbox_clean allows another one. */
void executor_cleaned(struct executor *e);
/*
 * oneshot_run under a page's right, in a child that sees the site: fn gets the
 * command with dir_fd as the page's directory, opened in the child's view.
 *
 * oneshot  fn, ctx, cmd and what collects output are the caller's; plan and
 *          keeps are set here.
 */
enum ss_err executor_apart(struct executor *e, const struct right *right,
	struct oneshot *oneshot, struct oneshot_result *result,
	struct ss_error *err);

#endif

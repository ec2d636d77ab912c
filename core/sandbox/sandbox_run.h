/* SPDX-License-Identifier: MIT */
/* One command of a confined process, or the commands of a page's components. */
#ifndef SS_SANDBOX_SANDBOX_RUN_H
#define SS_SANDBOX_SANDBOX_RUN_H

#include "sandbox/policy.h"
#include "sandbox/ruleset.h"

/*
 * Runs one command under its policy: here, or, when the policy needs something
 * that this process gave up, in the launcher.  Fills in s->enter, s->bounds,
 * s->own_pid_namespace; s->program and a limit of processes are made fit.
 * Errors  SS_SANDBOX_UNAVAILABLE: the level is none, or a layer that this
 *         policy needs is missing; SS_INTERNAL; otherwise as spawn_run.
 */
enum ss_err sandbox_run(const struct policy *p, const struct ruleset *r,
	struct spawn *s, struct spawn_result *result, struct ss_error *err);

/* The same in this process, for in_workspace (workspace_use.h). */
enum ss_err sandbox_run_here(const struct policy *p, const struct ruleset *r,
	struct spawn *s, struct spawn_result *result, struct ss_error *err);

/*
 * The same for a page's components, all under one policy, as one run: runs is
 * what batch names, to be filled in.  A launcher takes them one by one.
 */
enum ss_err sandbox_run_many(const struct policy *p, const struct ruleset *r,
	struct spawn *runs, const struct spawn_batch *batch,
	struct ss_error *err);

#endif

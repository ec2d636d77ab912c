/* SPDX-License-Identifier: MIT */
/*
 * Starts workers, each with its launcher, at the best level that the mode
 * allows and the machine gives.
 */
#ifndef SS_SANDBOX_SANDBOX_FORK_H
#define SS_SANDBOX_SANDBOX_FORK_H

#include "sandbox/sandbox_plan.h"

/* A process to be started. */
struct sandbox_process {
	unsigned flags; /* SS_FORK_... of statespace.h */
	unsigned keeps; /* KEEP_...: what its one tool needs; else 0 */
	/*
	 * Strict only: Internet sockets can be made, and reach nothing, so that
	 * a traced tool shows which addresses it uses (watch.h).
	 */
	bool watched;
	int (*main)(void *ctx); /* its return value is the exit status */
	void *ctx;
};

/*
 * Finds out which level this machine gives, by a child that does nothing, and
 * fixes it: later processes reach that level or have no tools.  Without this
 * call the first sandbox_fork decides.  Never fails: SANDBOX_NONE, with the
 * reason in plan->why.
 */
enum sandbox_level sandbox_decide(struct sandbox_plan *plan);

/*
 * Starts a process that is confined and then runs process->main.  Blocks until
 * the child has reported that all its steps succeeded (about 2 ms).
 *
 * *child   as for ss_site_fork.
 * Levels   By plan->mode.  When no allowed level can be reached the process
 *          runs all the same, as SANDBOX_NONE, under the account: pages are
 *          served, sandbox_run refuses.
 * Errors   SS_INTERNAL: no process, or the account cannot be entered.
 * Process  Descriptors are inherited; the parent should be single-threaded.
 *          spawn_settle was called in the child: it must set its signal
 *          handlers before its first command.
 */
enum ss_err
sandbox_fork(struct sandbox_plan *plan, const struct sandbox_process *process,
	struct ss_child *child, struct ss_error *err);
/* As ss_site_launch; when it fails the reason is in plan->why. */
bool sandbox_launch(struct sandbox_plan *plan, struct ss_child *child);

#endif

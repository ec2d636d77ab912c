/* SPDX-License-Identifier: MIT */
/*
 * The launcher: a confined process beside a worker that kept what the worker
 * gave up (network, granted sockets, /proc), and runs one command at a time for
 * it.  Each command narrows that again to its own policy: the ruleset is made
 * in the launcher, and a filter takes the socket families that the command may
 * not have.
 *
 * The launcher does not trust the worker: it was started with the operator's
 * ceiling, and its confinement lets it give no more, whatever it is sent.
 */
#ifndef SS_SANDBOX_LAUNCHER_H
#define SS_SANDBOX_LAUNCHER_H

#include "sandbox/sandbox_plan.h"
#include "sandbox/step.h"

/* KEEP_...: everything that the plan's grants could give to a tool. */
unsigned launcher_keeps(const struct sandbox_plan *plan);
/*
 * In the parent: a launcher at the plan's level that reads from socket, in
 * group unless that is NULL.  socket stays the caller's.
 */
bool launcher_fork(struct sandbox_plan *plan, int socket, struct cgroup *group,
	struct step *failed);

#endif

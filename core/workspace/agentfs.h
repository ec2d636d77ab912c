/* SPDX-License-Identifier: MIT */
/*
 * The agentfs backend: session.db is what the session holds, upper a copy of it
 * for the mount.  The program statespace-agentfs does the work, since it alone
 * has SQLite.  For other backends, and for sessions of one call, all of these do
 * nothing.
 *
 * helper   path of that program; "" or NULL: there is none.
 * Errors   SS_SANDBOX_UNAVAILABLE: no helper; SS_BUSY: another program has the
 *          file open; SS_INTERNAL, the reason is in the log.
 */
#ifndef SS_WORKSPACE_AGENTFS_H
#define SS_WORKSPACE_AGENTFS_H

#include "workspace/workspace.h"

struct agentfs_call {
	char *const *argv; /* of the tool, NULL-terminated */
	int returncode;
	int64_t started_s, duration_ms;
};

/* Makes upper what the file has; the caller holds the lock. */
enum ss_err
agentfs_load(struct workspace *w, const char *helper, struct ss_error *err);
/* The same before a tool runs: what it does counts from agentfs_save on. */
enum ss_err
agentfs_begin(struct workspace *w, const char *helper, struct ss_error *err);
/* Takes upper into the file, with a row of tool_calls. */
enum ss_err agentfs_save(struct workspace *w, const char *helper,
	const struct agentfs_call *call, struct ss_error *err);

#endif

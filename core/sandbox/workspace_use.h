/* SPDX-License-Identifier: MIT */
/*
 * What a call wants of workspaces: that a tool runs in one, or one of the acts
 * on a session.  All of them are done by a process that kept KEEP_WORKSPACE,
 * since workers hold neither the sessions nor the site for writing.
 */
#ifndef SS_SANDBOX_WORKSPACE_USE_H
#define SS_SANDBOX_WORKSPACE_USE_H

#include "run/spawn.h"
#include "sandbox/policy.h"
#include "workspace/workspace.h"

enum workspace_act {
	WORKSPACE_RUN,
	WORKSPACE_CREATE,
	WORKSPACE_LIST,
	WORKSPACE_READ,
	WORKSPACE_DIFF,
	WORKSPACE_COMMIT,
	WORKSPACE_DISCARD,
	WORKSPACE_ACT_LAST = WORKSPACE_DISCARD
};

/* No text is NULL. */
struct workspace_use {
	enum workspace_act act;
	const char *session; /* ""; then a run has one of its own */
	bool commit;         /* a run's changes, if the tool ended with 0 */
	bool force;          /* commit, although the site changed */
	bool anybody; /* sessions of every caller: the operator's shell */
	bool patch;   /* the diff as a patch */
	const char *commits;                /* [workspace] commit */
	uint64_t total_bytes, sessions_max; /* of all; 0: no limit */
	struct workspace_meta meta;         /* of a new one; owner: who asks */
	const char *path;                   /* to be read */
	const char *after;  /* `next` of the diff's earlier page */
	uint64_t most;      /* changes on a page; 0: all */
	const char *digest; /* of the changes to commit; "": any */
};

#define WORKSPACE_USE_INIT                                                     \
	((struct workspace_use){ .session = "",                                \
		.commits = "none",                                             \
		.path = "",                                                    \
		.after = "",                                                   \
		.digest = "",                                                  \
		.meta = { .owner = { "", "", "" }, .folder = "" } })

/* Of what is told of a workspace in one answer. */
#define WORKSPACE_ANSWER_MAX ((size_t)64 << 20)

/*
 * Runs s under the policy in the workspace that s->workspace names, or does that
 * act; for sandbox_run, in a process that may.  What it tells goes to
 * result->workspace for a run, else to result->out.
 */
enum ss_err in_workspace(const struct policy *p, struct spawn *s,
	struct spawn_result *result, struct ss_error *err);
/* A mount could not be taken away: run no more tools here. */
bool in_workspace_is_stuck(void);

/*
 * Acts without a mount, on a session that is open and, for a commit, locked.
 */
enum ss_err workspace_tell_list(const struct workspace_use *u, int store,
	struct arena *arena, struct buf *out, struct ss_error *err);
enum ss_err
workspace_tell_diff(const struct workspace_use *u, const struct workspace *w,
	struct arena *arena, struct buf *out, struct ss_error *err);
enum ss_err
workspace_do_commit(const struct workspace_use *u, struct workspace *w,
	struct arena *arena, struct buf *out, struct ss_error *err);
/*
 * A file's bytes, or (*is_folder) a list; top is the merged tree of the site,
 * and the path must lie in the folder of the session.
 */
enum ss_err
workspace_tell_file(const struct workspace_use *u, const char *folder, int top,
	struct buf *out, bool *is_folder, struct ss_error *err);

#endif

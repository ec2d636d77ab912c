/* SPDX-License-Identifier: MIT */
/*
 * Applies a session's changes to its folder, all or none.
 *
 * What is new is written below OWN_STAGE in the folder and synced; then a journal
 * in the session's directory names each step; then the steps, all of them
 * rename(2): a new path is moved in, a changed one exchanged with its stage
 * (RENAME_EXCHANGE), a deleted one moved out, last.  Each step can be told to be
 * done by inode numbers and can be undone, so that a process that is killed
 * leaves the old folder, or a journal that leads to the new one; and a step that
 * fails (no space, no right) leads back to the old one.
 *
 * A conflict is a path whose base changed since the session began: what is
 * looked at is the state-change time of each touched path, so that the cost is
 * that of the changes.
 */
#ifndef SS_WORKSPACE_COMMIT_H
#define SS_WORKSPACE_COMMIT_H

#include "workspace/changes.h"

struct commit_ask {
	bool force;           /* over conflicts; never over refusals */
	const char *expected; /* changes.digest that a person saw; NULL */
	struct change_rule rule;
};

/*
 * The caller holds the lock (workspace_lock) and w->base is open; afterwards the
 * session is empty and begins anew with the folder as it is now.
 *
 * out      what was applied, or what hinders it; in arena.
 * Errors   SS_CONFLICT: out->conflicts paths, or the changes are not the
 *          expected ones, or the base changed in between; SS_NOT_ALLOWED:
 *          out->refusals paths; SS_INTERNAL.  The folder is the old one then.
 * Blocking until all is on disk.
 */
enum ss_err commit_apply(struct workspace *w, const struct commit_ask *ask,
	struct arena *arena, struct changes *out, struct ss_error *err);

/*
 * Finishes a commit whose process was killed, forward if that is possible, else
 * back, and removes what it had staged.  The caller holds the lock.
 * Errors   SS_INTERNAL: neither way was possible for now; nothing is lost.
 */
enum ss_err commit_replay(struct workspace *w, struct ss_error *err);
/*
 * The same for all sessions of a site that have a journal; root is a descriptor
 * of owner.root.  Sessions that are locked are left to their process.
 */
enum ss_err commit_replay_all(
	int store, int root, const char *owner_root, struct ss_error *err);

#endif

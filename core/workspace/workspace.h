/* SPDX-License-Identifier: MIT */
/*
 * Copy-on-write sessions, as files: a session is a directory below the state
 * directory's workspaces/, and the directory is the only registry.  Nothing here
 * mounts or runs; changes.h tells what a session changed, commit.h applies it.
 *
 *	ID/meta         what struct workspace_meta holds, written once
 *	ID/upper, work  of overlayfs; of the copy backend upper is the whole tree
 *	ID/base.list    of the copy backend: the base as it was copied
 *	ID/session.db   of the agentfs backend: the session's truth
 *	ID/lock         flock(2) of a running tool; its mtime is the last use
 *	ID/journal      a commit that is not finished
 *
 *   Memory      strings are the arena's that the caller gives.
 *   Descriptors all close-on-exec; those in struct workspace belong to it.
 *   Units       bytes, seconds, nanoseconds since the epoch, as named.
 *   Blocking    files alone; no function waits for a lock.  workspace_create
 *               waits at most for one tick of the clock (10 ms).
 *   Errors      one and the same SS_NOT_FOUND for a session that is unknown,
 *               malformed, expired or of another owner; SS_BUSY: another process
 *               has the lock; SS_INTERNAL with the call in its detail.
 */
#ifndef SS_WORKSPACE_WORKSPACE_H
#define SS_WORKSPACE_WORKSPACE_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "state/state.h"

enum workspace_backend {
	WORKSPACE_OVERLAY,
	WORKSPACE_COPY,
	WORKSPACE_AGENTFS /* an overlay whose upper is made from session.db */
};

/* "overlay", "copy", "agentfs". */
const char *workspace_backend_name(enum workspace_backend backend);
bool workspace_backend_of(const char *name, enum workspace_backend *out);

/* Whose a session is.  For open and list, NULL is anybody's. */
struct workspace_owner {
	const char *root;   /* the site's directory, its real path */
	const char *page;   /* clean path of the page, "" of the site */
	const char *caller; /* who asked, as the front server told; "" */
};

struct workspace_meta {
	enum workspace_backend backend;
	struct workspace_owner owner; /* no member is NULL */
	const char *folder;     /* clean path below owner.root; "": all of it */
	uint64_t device, inode; /* of that folder */
	uint64_t bytes_max;     /* that a session may hold; 0: no limit */
	uint64_t files_max;     /* 0: no limit */
	uint32_t idle_s;        /* until it expires; 0: never */
	bool temporary;         /* of one call: no other may open it */
	/* Filled by create. */
	int64_t created_s, used_s;
	/*
	 * What of the base has an earlier st_ctim is as the session found it
	 * (commit.h); moved by each commit.
	 */
	int64_t start_ns;
};

struct workspace {
	char id[STATE_ID_CAP];
	int store;       /* borrowed: workspaces/ of the state directory */
	int dir;         /* the session's */
	int base;        /* the folder as it is now; -1: it was not asked for */
	int upper, work; /* for the mount; upper is readable */
	int lock;        /* held while it is not -1 */
	struct workspace_meta meta;
};

#define WORKSPACE_INIT                                                         \
	((struct workspace){ .store = -1,                                      \
		.dir = -1,                                                     \
		.base = -1,                                                    \
		.upper = -1,                                                   \
		.work = -1,                                                    \
		.lock = -1 })

/*
 * A new session, locked by the caller.  The copy backend copies the folder.
 *
 * store    descriptor of workspaces/, borrowed for as long as w lives.
 * root     descriptor of owner.root, by whatever path it was opened; borrowed.
 * meta     copied into arena.
 * Errors   SS_NOT_FOUND: there is no such folder; SS_BODY_TOO_LARGE: a copy
 *          would pass bytes_max or files_max; SS_STATE: the disk is full;
 *          SS_INTERNAL.  Nothing is left.
 */
enum ss_err workspace_create(struct workspace *w, int store, int root,
	const struct workspace_meta *meta, struct arena *arena,
	struct ss_error *err);
/*
 * An existing session by its id, not locked.  root as above; -1: w->base stays
 * -1, and only dir, upper, work and meta are of use.
 * Errors   SS_NOT_FOUND as above; SS_CONFLICT: the folder is another directory
 *          than the one that the session began with; SS_INTERNAL.
 */
enum ss_err workspace_open(struct workspace *w, int store, int root,
	const char *id, const struct workspace_owner *owner,
	struct arena *arena, struct ss_error *err);
/* Gives the lock back; a temporary session is still to be discarded. */
void workspace_close(struct workspace *w);

/*
 * Takes the lock for a tool, a commit or a discard, and renews the time of the
 * last use.  Descriptor w->lock may be inherited: the lock is held until all
 * copies of it are closed.
 * Errors   SS_BUSY: a tool runs in it; SS_NOT_FOUND: it was discarded
 *          meanwhile; SS_INTERNAL.
 */
enum ss_err workspace_lock(struct workspace *w, struct ss_error *err);
void workspace_unlock(struct workspace *w);
/* Was a commit interrupted?  Then only commit_replay (commit.h) may go on. */
bool workspace_is_pending(const struct workspace *w);

/* What the session holds on disk, counted by a walk of its upper. */
struct workspace_usage {
	uint64_t bytes; /* allocated, as st_blocks tells */
	uint64_t files; /* entries of all kinds */
};
enum ss_err workspace_usage(const struct workspace *w,
	struct workspace_usage *out, struct ss_error *err);
/* SS_BODY_TOO_LARGE when the usage is over the session's own limits. */
enum ss_err
workspace_check_limits(const struct workspace *w, struct ss_error *err);

/* SS_STATE for ENOSPC or EDQUOT of that call, with the remedy. */
enum ss_err workspace_full(struct ss_error *err, int number, const char *call);

/*
 * Removes the session and leaves nothing of it.  Closes w; the caller must hold
 * the lock and have finished a pending commit.
 */
enum ss_err workspace_discard(struct workspace *w, struct ss_error *err);

struct workspace_item {
	char id[STATE_ID_CAP];
	struct workspace_meta meta;
	bool running; /* another process has the lock */
};

/*
 * The sessions of an owner that can be opened, last used first; temporary ones
 * are left out.  All in arena.
 */
enum ss_err workspace_list(int store, const struct workspace_owner *owner,
	struct arena *arena, struct workspace_item **items, size_t *count,
	struct ss_error *err);

/*
 * Removes what is expired, what a killed process left, and then the sessions
 * that were not used for longest until all together hold at most bytes_most (0:
 * no limit).  Never one that is locked or has a pending commit.
 *
 * removed  how many; NULL.
 */
enum ss_err workspace_collect(
	int store, uint64_t bytes_most, size_t *removed, struct ss_error *err);
/*
 * The same, unless it was done by any process in the last 10 seconds: it walks
 * all that the sessions hold.
 */
enum ss_err workspace_collect_due(
	int store, uint64_t bytes_most, size_t *removed, struct ss_error *err);
/*
 * May one more be made?  Counts names alone, temporary ones and those in the
 * making included; at the limit it first removes, at most once a second, what is
 * expired.
 *
 * most    0: no limit.
 * Errors  SS_OVERLOADED; SS_INTERNAL.
 */
enum ss_err workspace_room(int store, uint64_t most, struct ss_error *err);

#endif

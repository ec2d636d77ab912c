/* SPDX-License-Identifier: MIT */
/* What the files of this folder share about sessions, and no other folder. */
#ifndef SS_WORKSPACE_OWN_H
#define SS_WORKSPACE_OWN_H

#include <time.h>

#include "workspace/workspace.h"

/* Names below workspaces/ that are no ids. */
#define OWN_NEW ".new-"
#define OWN_GONE ".gone-"
/* Their mtime is when a process last began to collect. */
#define OWN_COLLECTED ".collected" /* all, with a walk of what they hold */
#define OWN_EXPIRED ".expired"     /* what is expired, at the limit */
#define OWN_JOURNAL "journal"
/* Of agentfs: what session.db holds was committed. */
#define OWN_CLEAR "session.clear"
#define OWN_APPLIED "applied" /* the journal, when all steps are on disk */
/* Below the folder, with a digest of the session's id behind it. */
#define OWN_STAGE ".statespace-commit-"
#define OWN_STAGE_CAP (sizeof(OWN_STAGE) + STATE_ID_LEN)

int64_t own_ns(const struct timespec *t);
/* See workspace_meta.start_ns; 0 or errno. */
int own_stamp(int lock, bool waits, int64_t *out);
/* The one SS_NOT_FOUND. */
enum ss_err own_unknown(struct ss_error *err);
/* Opens upper and work.  0 or errno. */
int own_open_parts(struct workspace *w);
/*
 * Makes the session empty, with the folder as it is now; it keeps its id.  The
 * caller holds the lock.
 */
enum ss_err own_renew(struct workspace *w, struct ss_error *err);
/* No member but dir and meta is filled.  0 or errno; workspace_close follows. */
int
own_look(struct workspace *w, int store, const char *id, struct arena *arena);
/* The rest of it, for whomever; root as for workspace_open. */
enum ss_err own_open(struct workspace *w, int root, struct ss_error *err);
bool
own_is_of(const struct workspace_meta *m, const struct workspace_owner *who);
bool own_is_expired(const struct workspace_meta *m, int64_t now_s);

/* The name of its stage, with a NUL. */
void own_stage_name(const struct workspace *w, char out[static OWN_STAGE_CAP]);
/* Removes a name in dir with all that is below it, whatever its modes. */
bool own_remove(int dir, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* What the files of this folder share about sessions, and no other folder. */
#ifndef SS_WORKSPACE_OWN_H
#define SS_WORKSPACE_OWN_H

#include <time.h>

#include "workspace/workspace.h"

/* Names below workspaces/ that are no ids. */
#define OWN_NEW ".new-"
#define OWN_GONE ".gone-"
#define OWN_JOURNAL "journal"

int64_t own_ns(const struct timespec *t);
/* See workspace_meta.start_ns; 0 or errno. */
int own_stamp(int lock, bool waits, int64_t *out);
/* The one SS_NOT_FOUND. */
enum ss_err own_unknown(struct ss_error *err);
/* No member but dir and meta is filled.  0 or errno; workspace_close follows. */
int
own_look(struct workspace *w, int store, const char *id, struct arena *arena);
bool
own_is_of(const struct workspace_meta *m, const struct workspace_owner *who);
bool own_is_expired(const struct workspace_meta *m, int64_t now_s);

/* Removes a name in dir with all that is below it, whatever its modes. */
bool own_remove(int dir, const char *name);

#endif

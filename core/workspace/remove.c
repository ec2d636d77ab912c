/* SPDX-License-Identifier: MIT */
/*
 * Removing what tools built: files/scratch.h empties a tree of any depth and any
 * modes without following a path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "files/scratch.h"
#include "workspace/at.h"
#include "workspace/own.h"

/* A session of a million files is removed in less. */
#define REMOVE_BUDGET_MS 600000

bool
own_remove(int dir, const char *name)
{
	struct scratch s = SCRATCH_INIT;

	if (unlinkat(dir, name, 0) == 0 ||
		unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return true;
	/* A directory of ours: fchmodat(2) is not given a link here. */
	s.fd = openat(dir, name, AT_DIRECTORY);
	if (s.fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
		s.fd = openat(dir, name, AT_DIRECTORY);
	if (s.fd < 0)
		return false;
	scratch_empty(&s, REMOVE_BUDGET_MS);
	fd_close(&s.fd);
	return unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

enum ss_err
workspace_discard(struct workspace *w, struct ss_error *err)
{
	char gone[STATE_ID_CAP + 8];
	int number = 0;

	if (workspace_is_pending(w)) {
		error_set(err, SS_CONFLICT,
			"a commit of this session was interrupted");
		error_hint(err, "commit it again first");
		return SS_CONFLICT;
	}
	/* From here on the id is unknown; collect removes what a kill leaves. */
	snprintf(gone, sizeof(gone), OWN_GONE "%s", w->id);
	unlinkat(w->dir, "lock", 0);
	if (renameat(w->store, w->id, w->store, gone) < 0 ||
		!own_remove(w->store, gone))
		number = errno;
	workspace_close(w);
	return number == 0
		? SS_OK
		: error_internal(err, number, "remove the workspace %s", gone);
}

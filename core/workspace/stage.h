/* SPDX-License-Identifier: MIT */
/*
 * What a commit brings, written beside the folder's files before any of those is
 * changed, and the steps that put it in place.
 */
#ifndef SS_WORKSPACE_STAGE_H
#define SS_WORKSPACE_STAGE_H

#include "workspace/changes.h"
#include "workspace/journal.h"

/*
 * Fills the stage, an empty directory of the folder, and the journal's steps.
 * The paths are borrowed from c.  0 or errno; the stage is on disk then.
 */
int stage_fill(const struct workspace *w, int stage, const struct changes *c,
	struct journal *j);
/* Everything below fd's file system is on disk: syncfs(2).  0 or errno. */
int stage_sync(int fd);

#endif

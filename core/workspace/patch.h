/* SPDX-License-Identifier: MIT */
/*
 * Changes as a patch that `git apply` takes: git-diff(1), GENERATING PATCH TEXT
 * WITH -P, with names quoted as git quotes them and binary files as literals.
 * What git does not record is told in a line that begins with "#", which it
 * passes over: empty directories, other modes than 0644 and 0755, attributes,
 * files of more than PATCH_FILE_MAX bytes.
 *
 * The differences are found here and not by a library: Debian has none of this
 * alone (libxdiff is not packaged), and libgit2 is larger than this program.
 */
#ifndef SS_WORKSPACE_PATCH_H
#define SS_WORKSPACE_PATCH_H

#include "workspace/changes.h"

#define PATCH_FILE_MAX ((uint64_t)64 << 20)

/*
 * put      gets each file's part; false ends the patch with SS_GONE.
 * Errors   SS_INTERNAL.
 * Blocking reads the changed files of both sides, one after the other.
 */
enum ss_err patch_write(const struct workspace *w, const struct changes *c,
	bool (*put)(void *ctx, const char *data, size_t len), void *ctx,
	struct ss_error *err);

/* ------------------------------------------------- of the files patch_*.c */

/*
 * The hunks that make the left text the right one, with three lines of context;
 * nothing where they are equal.  False: no memory.
 */
bool patch_hunks(struct buf *out, struct ss_text left, struct ss_text right);
/* "GIT binary patch" with the whole of data. */
bool patch_literal(struct buf *out, struct ss_text data);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The copy backend: upper is the whole folder, by reflink where the file system
 * has them.  base.list beside it has what was copied, so that a later change of
 * the base is told from one of the session.
 */
#ifndef SS_WORKSPACE_COPY_H
#define SS_WORKSPACE_COPY_H

#include "workspace/workspace.h"

/* Fills upper from base.  SS_BODY_TOO_LARGE, SS_INTERNAL. */
enum ss_err copy_fill(struct workspace *w, struct ss_error *err);
/*
 * Copies one file's bytes from its start: FICLONE, else copy_file_range(2), else
 * read and write.  0 or errno.
 */
int copy_bytes(int from, int to);

/* base.list: the paths that were copied, and when that was done. */
struct copy_list;
int copy_list_read(const struct workspace *w, struct copy_list **out);
void copy_list_free(struct copy_list *l);
bool copy_list_has(const struct copy_list *l, const char *path);
/* Is what the session has at path the copy that was made, and not moved there? */
bool copy_list_is(const struct copy_list *l, const char *path, uint64_t inode);
/* What has a later st_ctim was touched by a tool. */
int64_t copy_list_stamp(const struct copy_list *l);

#endif

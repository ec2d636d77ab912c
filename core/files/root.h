/* SPDX-License-Identifier: MIT */
/*
 * The site's directory, held open: resolves a clean path beneath it and returns
 * the descriptor that was checked (statespace-protocol(7), PATHS).  By
 * openat2(2) where the kernel has it, else component by component.
 */
#ifndef SS_FILES_ROOT_H
#define SS_FILES_ROOT_H

#include "base/base.h"
#include "base/error.h"

struct root {
	int fd;                 /* O_PATH directory */
	bool walk;              /* never openat2: set by tests, or ENOSYS */
	uint64_t device, inode; /* of the directory, to notice a deploy */
};

#define ROOT_INIT ((struct root){ .fd = -1 })

/* SS_CONFIG, in one sentence, when it cannot be read as a directory. */
enum ss_err root_open(struct root *r, const char *path, struct ss_error *err);
/* The directory that fd has open, once more; name is for the error. */
enum ss_err
root_reopen(struct root *r, int fd, const char *name, struct ss_error *err);
void root_close(struct root *r);

/* What a caller of root_resolve wants to hold. */
enum root_want {
	ROOT_FILE,        /* doc->dir_fd stays -1 */
	ROOT_FILE_AND_DIR /* the file was opened in doc->dir_fd: one call more */
};

/*
 * Opens what a clean path (ss_path_clean) names: the file, else the directory's
 * README.md, else path.md (statespace-protocol(7), PATHS).  Fills every member
 * of doc but data; on failure doc holds no descriptor.
 * Errors  SS_NOT_FOUND, SS_PATH_REFUSED (leaves the root), SS_INTERNAL.
 */
enum ss_err root_resolve(const struct root *r, const char *path,
	enum root_want want, struct ss_document *doc, struct ss_error *err);
/*
 * One path exactly, no order, beneath the root: flags as for open(2), without
 * O_CREAT; always close-on-exec, non-blocking.  "" is the root itself.  *fd on
 * success.
 */
enum ss_err root_open_at(const struct root *r, const char *path, int flags,
	int *fd, struct ss_error *err);
/*
 * The same, as 0 or errno: EXDEV for a path that leaves the root, ENOENT also
 * for a link that names a dot entry.  O_PATH | O_NOFOLLOW opens a last link
 * itself.
 */
int root_find(const struct root *r, const char *path, int flags, int *fd);
/* Does a link, the last component or one before it, name a dot entry? */
bool root_leads_hidden(const struct root *r, const char *path);
/* Has it a component that begins with a dot, but for "." and ".."?  Pure. */
bool root_hides(const char *path);
void root_close_document(struct ss_document *doc);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Opening beneath a directory by openat2(2): no symbolic link, no ".." that
 * leads out and no other mount is followed.  overlayfs in a user namespace is
 * younger than that call, so that there is no second way.
 */
#ifndef SS_WORKSPACE_AT_H
#define SS_WORKSPACE_AT_H

#include <fcntl.h>

#define AT_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/*
 * "" is the directory itself, opened once more.  -1 and errno: EXDEV for a path
 * that leaves the directory or its mount, ELOOP for a link.
 */
int at_open(int dir, const char *path, int flags);
/* The same, and it may lie on a mount below the directory. */
int at_open_mounted(int dir, const char *path, int flags);
/*
 * A file or directory of a session, for reading, also when a tool took the
 * account's right to read it: given for the moment, its mode is as it was.  -1
 * and errno.
 */
int at_read(int dir, const char *name, int flags);
/*
 * The directory that holds path; *name is its last component, within path.  The
 * caller's descriptor; -1 and errno.
 */
int at_parent(int dir, const char *path, const char **name);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Mounts as descriptors, in a mount namespace of our own: open_tree(2),
 * fsopen(2), mount_setattr(2), move_mount(2).  By number, since glibc has
 * wrappers only from 2.36 on.
 *
 * "In root" means: beneath the directory that root has open, and links in the
 * path cannot leave it (RESOLVE_IN_ROOT of openat2(2)).
 */
#ifndef SS_SANDBOX_MOUNT_H
#define SS_SANDBOX_MOUNT_H

#include <linux/mount.h>

#include "base/base.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

#define MOUNT_READ_ONLY                                                        \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define MOUNT_WRITABLE                                                         \
	(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define MOUNT_DEVICE (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

struct mount_option {
	const char *key, *value;
};

/* A path in root, with flags of open(2).  -1 and errno. */
int mount_open_in(int root, const char *path, int flags);
/* Makes every directory above the last part of an absolute path in root. */
bool mount_make_parents(int root, const char *path);
/* A new file in root, open for writing, with what is above it.  -1, errno. */
int mount_make_file(int root, const char *path);

/*
 * A detached copy of what lies at path, with the mounts beneath it; "" is dir
 * itself.  It gets attr before it is attached anywhere: no moment has more
 * rights.  -1 and errno.
 */
int mount_copy(int dir, const char *path, uint64_t attr);
/* A new filesystem, detached; the options end with an empty one. */
int
mount_new(const char *type, const struct mount_option *options, uint64_t attr);
/* Attaches a detached tree at a file or directory that target has open. */
bool mount_attach(int tree, int target);
/* The same at an absolute path in root, which is made if it is not there. */
bool mount_place(int root, int tree, const char *path);
/*
 * The same at a path of the new root that is not there yet.  What is above it
 * was made by this process, and is no link.
 */
bool mount_place_new(int root, int tree, const char *path, bool directory);

#endif

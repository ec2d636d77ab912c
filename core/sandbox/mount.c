/* SPDX-License-Identifier: MIT */
#include "sandbox/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#define OPEN_TREE_ATTR 467 /* of every architecture */

int
mount_open_in(int root, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/*
 * open_tree_attr(2), Linux 6.15: both calls in one.  A kernel or a filter of a
 * container that has it not says so in its own way: then it is not tried again.
 */
static int
copy_at_once(int dir, const char *path, unsigned flags, struct mount_attr *set)
{
	static bool missing;
	int fd = -1;

	errno = ENOSYS;
	if (!missing)
		fd = (int)syscall(OPEN_TREE_ATTR, dir, path,
			flags | AT_RECURSIVE, set, sizeof(*set));
	missing |= fd < 0 && errno != ENOENT && errno != ENOTDIR &&
		errno != EACCES && errno != ELOOP;
	return fd;
}

int
mount_copy(int dir, const char *path, uint64_t attr)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
		(path[0] == '\0' ? AT_EMPTY_PATH : 0);
	struct mount_attr set = { .attr_set = attr };
	int fd = copy_at_once(dir, path, flags, &set);

	if (fd >= 0 || errno == ENOENT || errno == ENOTDIR)
		return fd;
	fd = (int)syscall(SYS_open_tree, dir, path, flags | AT_RECURSIVE);
	if (fd >= 0 &&
		syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE,
			&set, sizeof(set)) < 0)
		fd_close(&fd);
	return fd;
}

bool
mount_attach(int tree, int target)
{
	return syscall(SYS_move_mount, tree, "", target, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

int
mount_new(const char *type, const struct mount_option *options, uint64_t attr)
{
	int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs < 0)
		return -1;
	for (; options->key != NULL; options++)
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, options->key,
			    options->value, 0) < 0)
			goto out;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
out:
	fd_close(&fs);
	return fd;
}

bool
mount_make_parents(int root, const char *path)
{
	char part[PATH_MAX];
	const char *slash = path;
	int fd;

	while ((slash = strchr(slash + 1, '/')) != NULL) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		fd = mount_open_in(root, part, O_PATH);
		if (fd < 0 && mkdirat(root, part + 1, 0755) < 0)
			return false;
		fd_close(&fd);
	}
	return true;
}

int
mount_make_file(int root, const char *path)
{
	struct open_how how = { .flags =
					O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		.mode = 0444,
		.resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0 && errno == ENOENT && mount_make_parents(root, path))
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd;
}

/* A place of the new root to mount on, made if it is not there. */
static int
mount_point(int root, const char *path, bool directory)
{
	int fd = directory ? -1 : mount_make_file(root, path);

	if (fd >= 0)
		return fd;
	fd = mount_open_in(root, path, O_PATH);
	if (fd >= 0 || !directory || !mount_make_parents(root, path) ||
		mkdirat(root, path + 1, 0755) < 0)
		return fd;
	return mount_open_in(root, path, O_PATH);
}

bool
mount_place(int root, int tree, const char *path)
{
	struct stat st;
	int target;
	bool done;

	if (fstat(tree, &st) < 0)
		return false;
	target = mount_point(root, path, S_ISDIR(st.st_mode));
	if (target < 0)
		return false;
	done = mount_attach(tree, target);
	fd_close(&target);
	return done;
}

bool
mount_place_new(int root, int tree, const char *path, bool directory)
{
	bool made;

	for (int tries = 0;; tries++) {
		made = directory
			? mkdirat(root, path + 1, 0755) == 0
			: mknodat(root, path + 1, S_IFREG | 0444, 0) == 0;
		if (made || errno != ENOENT || tries > 0 ||
			!mount_make_parents(root, path))
			break;
	}
	return made &&
		syscall(SYS_move_mount, tree, "", root, path + 1,
			MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

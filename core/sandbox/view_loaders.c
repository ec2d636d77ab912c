/* SPDX-License-Identifier: MIT */
#include "sandbox/view_loaders.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/loader.h"
#include "sandbox/mount.h"

/* Which of loader_paths this view has covered: bit i for the i-th. */
static uint64_t covered;

/*
 * Mounts a copy over a loader.  The copy is a file on the new root, which is
 * mounted noexec: its own mount clears that.  Its name is removed again.
 */
static bool
cover_by_copy(int root, int from, int target, bool *needless)
{
	struct mount_attr runs = { .attr_clr = MOUNT_ATTR_NOEXEC };
	int to = openat(
		root, "loader", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0555);
	int error = to < 0 ? errno : loader_copy(from, to);
	int tree = -1;

	fd_close(&to);
	*needless = error == ENOEXEC;
	if (error == 0 &&
		((tree = mount_copy(root, "loader", MOUNT_READ_ONLY)) < 0 ||
			syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH,
				&runs, sizeof(runs)) < 0 ||
			!mount_attach(tree, target)))
		error = errno;
	fd_close(&tree);
	unlinkat(root, "loader", 0);
	errno = error;
	return error == 0;
}

/* True also when there is no such loader, or it needs no cover. */
static bool
cover_one(int root, size_t i)
{
	int from = open(loader_paths[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int target =
		from < 0 ? -1 : mount_open_in(root, loader_paths[i], O_PATH);
	bool needless = target < 0 && (errno == ENOENT || errno == ENOTDIR);
	bool done = target >= 0 && cover_by_copy(root, from, target, &needless);

	if (done)
		covered |= (uint64_t)1 << i;
	fd_close(&target);
	fd_close(&from);
	return done || needless;
}

bool
view_loaders_cover(int root, struct step *s)
{
	covered = 0;
	for (size_t i = 0; loader_paths[i] != NULL; i++)
		if (!cover_one(root, i))
			return step_fail(s, "cover %s", loader_paths[i]);
	return true;
}

bool
view_loaders_hold(void)
{
	struct stat root, st;

	if (covered == 0)
		return true;
	if (stat("/", &root) < 0)
		return false;
	for (size_t i = 0; loader_paths[i] != NULL; i++)
		if ((covered >> i & 1) != 0 &&
			(stat(loader_paths[i], &st) < 0 ||
				st.st_dev != root.st_dev))
			return false;
	return true;
}

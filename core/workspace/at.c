/* SPDX-License-Identifier: MIT */
#include "workspace/at.h"

#include <errno.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

static int
open_beneath(int dir, const char *path, int flags, uint64_t more)
{
	const struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			RESOLVE_NO_MAGICLINKS | more,
	};
	int fd;

	do /* EAGAIN: a rename raced with it */
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN);
	return fd;
}

int
at_open(int dir, const char *path, int flags)
{
	return open_beneath(
		dir, path[0] != '\0' ? path : ".", flags, RESOLVE_NO_XDEV);
}

int
at_open_mounted(int dir, const char *path, int flags)
{
	return open_beneath(dir, path[0] != '\0' ? path : ".", flags, 0);
}

int
at_read(int dir, const char *name, int flags)
{
	struct stat st;
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 || errno != EACCES)
		return fd;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		!(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) ||
		st.st_uid != geteuid()) {
		errno = EACCES;
		return -1;
	}
	/* fchmodat(2) follows links, and this is none. */
	if (fchmodat(dir, name, 0700, 0) < 0)
		return -1;
	fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC);
	if (fchmodat(dir, name, st.st_mode & 07777, 0) < 0)
		fd_close(&fd);
	return fd;
}

int
at_parent(int dir, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash != NULL ? (size_t)(slash - path) : 0;
	char parent[PATH_MAX];

	*name = slash != NULL ? slash + 1 : path;
	if (len >= sizeof(parent)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(parent, path, len);
	parent[len] = '\0';
	return at_open(dir, parent, AT_DIRECTORY);
}

/* SPDX-License-Identifier: MIT */
/*
 * The tools' private directory.  A worker runs one tool at a time, so it is
 * the worker's, and all that happens on the usual path is one getdents(2) that
 * finds it empty.  What a tool left is removed without recursion and without
 * following a link; what resists costs the worker its life.
 */
#include "walls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "fdio.h"

#define CLEAN_MS 500 /* a new worker costs about 2 */
#define PREFIX "statespace-scratch."
#define NEWBORN_S 10 /* its owner may not have locked it yet */

static struct {
	int fd; /* the directory; -1: none */
	mode_t mode;
	uid_t uid;
	ssize_t xattrs; /* bytes of their names when it was new */
	unsigned long serial;
} scratch = { .fd = -1 };

static bool
is_self_or_parent(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Empty, and as it was when it was new? */
static bool
is_untouched(void)
{
	_Alignas(8) char entries[512];
	struct stat st;
	long n;

	if (fstat(scratch.fd, &st) < 0 || st.st_mode != scratch.mode ||
		st.st_uid != scratch.uid ||
		flistxattr(scratch.fd, NULL, 0) != scratch.xattrs ||
		lseek(scratch.fd, 0, SEEK_SET) < 0)
		return false;
	n = syscall(SYS_getdents64, scratch.fd, entries, sizeof(entries));
	/* "." and ".." are 24 bytes each: one more name makes it longer. */
	return n >= 0 && n <= 48;
}

bool
scratch_open(const char *path, struct step *s)
{
	struct stat st;

	fd_close(&scratch.fd);
	scratch.fd =
		open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (scratch.fd < 0 || fstat(scratch.fd, &st) < 0)
		return step_fail(s, "open the scratch");
	scratch.mode = st.st_mode;
	scratch.uid = st.st_uid;
	scratch.xattrs = flistxattr(scratch.fd, NULL, 0);
	if (is_untouched())
		return true;
	errno = ENOTEMPTY;
	return step_fail(s, "find the scratch empty");
}

/* ------------------------------------------------------------ emptying */

/*
 * A directory inside a directory moves up to the top under a name of ours, so
 * that no depth is ever walked.  Moving needs write permission on itself.
 */
static bool
lift(int top, int dir, const char *name)
{
	char fresh[32];

	snprintf(fresh, sizeof(fresh), ".%lu", scratch.serial++);
	return fchmodat(dir, name, 0700, 0) == 0 &&
		renameat2(dir, name, top, fresh, RENAME_NOREPLACE) == 0;
}

static bool
is_directory(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(st.st_mode);
}

/* Removes the files of one directory and lifts its directories to the top. */
static bool
empty_one(int top, int dir, uint64_t deadline)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool done = false;

	if (list == NULL) {
		fd_close(&fd);
		return false;
	}
	while ((errno = 0, entry = readdir(list)) != NULL) {
		if (is_self_or_parent(entry->d_name))
			continue;
		if (clock_ms() > deadline)
			goto out;
		if (is_directory(dir, entry)
				? !lift(top, dir, entry->d_name)
				: unlinkat(dir, entry->d_name, 0) < 0)
			goto out;
	}
	done = errno == 0;
out:
	closedir(list);
	return done;
}

static bool
remove_directory(int top, const char *name, uint64_t deadline)
{
	int dir;
	bool done;

	if (fchmodat(top, name, 0700, 0) < 0)
		return false;
	dir = openat(
		top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return false;
	done = empty_one(top, dir, deadline);
	fd_close(&dir);
	return done && unlinkat(top, name, AT_REMOVEDIR) == 0;
}

/* One pass over the top; what it lifts is left to the next pass. */
static bool
empty_pass(int top, uint64_t deadline, bool *again)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool done = false;

	if (list == NULL) {
		fd_close(&fd);
		return false;
	}
	*again = false;
	while ((errno = 0, entry = readdir(list)) != NULL) {
		if (is_self_or_parent(entry->d_name))
			continue;
		*again = true;
		if (clock_ms() > deadline)
			goto out;
		if (is_directory(top, entry)
				? !remove_directory(
					  top, entry->d_name, deadline)
				: unlinkat(top, entry->d_name, 0) < 0)
			goto out;
	}
	done = errno == 0;
out:
	closedir(list);
	return done;
}

static bool
empty(int top)
{
	uint64_t deadline = clock_ms() + CLEAN_MS;
	bool again = true;

	if (fchmod(top, 0700) < 0)
		return false;
	while (again)
		if (!empty_pass(top, deadline, &again))
			return false;
	return true;
}

bool
sandbox_clean(void)
{
	if (scratch.fd < 0)
		return sandbox_self()->level == SANDBOX_NONE;
	if (is_untouched())
		return true;
	return empty(scratch.fd) &&
		fchmod(scratch.fd, scratch.mode & 07777) == 0 && is_untouched();
}

/* --------------------------------------------- without a private mount */

void
scratch_remove(const char *path)
{
	if (scratch.fd >= 0 && empty(scratch.fd))
		rmdir(path);
	fd_close(&scratch.fd);
}

/* The owner holds a lock for as long as it lives; whose is free is dead. */
static void
remove_stale(int tmp, const char *name)
{
	struct stat st;
	int fd = openat(
		tmp, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
		time(NULL) - st.st_ctime > NEWBORN_S &&
		flock(fd, LOCK_EX | LOCK_NB) == 0 && empty(fd))
		unlinkat(tmp, name, AT_REMOVEDIR);
	fd_close(&fd);
}

static void
remove_all_stale(const char *tmp)
{
	DIR *list = opendir(tmp);
	struct dirent *entry;

	if (list == NULL)
		return;
	while ((entry = readdir(list)) != NULL)
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			remove_stale(dirfd(list), entry->d_name);
	closedir(list);
}

bool
scratch_make(char *path, size_t cap, struct step *s)
{
	remove_all_stale("/tmp");
	snprintf(path, cap, "/tmp/" PREFIX "XXXXXX");
	if (mkdtemp(path) == NULL) {
		path[0] = '\0';
		return step_fail(s, "make a scratch directory");
	}
	if (!scratch_open(path, s))
		return false;
	if (flock(scratch.fd, LOCK_EX | LOCK_NB) < 0)
		return step_fail(s, "lock the scratch directory");
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * Empties a tree that a hostile tool built: no path is followed, nothing
 * recurses.  A directory inside a directory is moved up to the top before it is
 * read, so that two descriptors are enough for any depth.
 */
#include "files/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

/* A worker that ends leaves the rest to ss_sweep. */
#define CLOSE_BUDGET_MS 500

#define WORK_MS 20 /* scratch_empty_slowly works so long, then pauses */
#define REST_MS 80

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum ss_err
scratch_take(struct scratch *s, const char *path, struct ss_error *err)
{
	snprintf(s->path, sizeof(s->path), "%s", path);
	s->fd = open(path, DIR_FLAGS);
	if (s->fd < 0)
		return error_internal(err, errno, "open the scratch %s", path);
	s->owner = getpid();
	return SS_OK;
}

/*
 * Renames the directory to its final name when it is locked: ss_sweep removes
 * one that it can lock, flock(2), since its owner has ended.  name: the end of
 * the final name; NULL: a new one.  0 or errno.
 */
static int
make_locked(struct scratch *s, const char *name)
{
	char path[] = "/tmp/" SCRATCH_NEW "XXXXXX";
	size_t n = sizeof("/tmp/" SCRATCH_NEW) - 1;

	if (mkdtemp(path) == NULL)
		return errno;
	s->fd = open(path, DIR_FLAGS);
	snprintf(s->path, sizeof(s->path), "/tmp/" SCRATCH_NAME "%s",
		name != NULL ? name : path + n);
	/* /tmp with the set-group-ID bit passes it on to new directories. */
	if (s->fd < 0 || fchmod(s->fd, 0700) != 0 ||
		flock(s->fd, LOCK_EX | LOCK_NB) != 0 ||
		renameat2(AT_FDCWD, path, AT_FDCWD, s->path,
			RENAME_NOREPLACE) != 0) {
		int number = errno;

		fd_close(&s->fd);
		rmdir(path);
		return number;
	}
	return 0;
}

enum ss_err
scratch_make(struct scratch *s, struct ss_error *err)
{
	int number;

	do /* the name may be one that is still to be removed */
		number = make_locked(s, NULL);
	while (number == EEXIST);
	if (number != 0)
		return error_internal(err, number, "make a scratch below /tmp");
	s->made = true;
	s->owner = getpid();
	return SS_OK;
}

/* ------------------------------------------------ kept for the next one */

#define PARKED 0500
#define FLAGS_OF_USERS 0x000380ff /* FS_FL_USER_MODIFIABLE, linux/fs.h */

static bool holds_nothing(int fd);
static bool is_intact(const struct scratch *s);

/* No user may set an attribute of this space, xattr(7). */
static bool
has_attributes(int fd)
{
	static const char own[] = "security.";
	char names[256];
	ssize_t n = flistxattr(fd, names, sizeof(names));

	if (n < 0)
		return errno != ENOTSUP;
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1)
		if (strncmp(names + at, own, sizeof(own) - 1) != 0)
			return true;
	return false;
}

static bool
has_flags(int fd)
{
	int flags = 0;

	return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 &&
		(flags & FLAGS_OF_USERS) != 0;
}

/* Locked by the caller.  What it was used for must not show. */
static bool
is_parked(int fd, const struct stat *st)
{
	return (st->st_mode & 07777) == PARKED && holds_nothing(fd) &&
		!has_attributes(fd) && !has_flags(fd);
}

/*
 * Locked, since its owner ended.  Compares the path after flock(2): the name
 * may have been given to another directory before that.
 */
static bool
is_left(const struct scratch *s, struct stat *st)
{
	struct stat named;

	return flock(s->fd, LOCK_EX | LOCK_NB) == 0 && fstat(s->fd, st) == 0 &&
		st->st_uid == geteuid() && lstat(s->path, &named) == 0 &&
		named.st_ino == st->st_ino && named.st_dev == st->st_dev;
}

/* Takes the one at s->path, or removes it when a killed process left it. */
static bool
take_parked(struct scratch *s)
{
	struct stat st;

	s->fd = open(s->path, DIR_FLAGS);
	if (s->fd >= 0 && is_left(s, &st)) {
		if (is_parked(s->fd, &st) && fchmod(s->fd, 0700) == 0 &&
			futimens(s->fd, NULL) == 0)
			return true;
		scratch_empty(s, CLOSE_BUDGET_MS);
		rmdir(s->path);
	}
	fd_close(&s->fd);
	return false;
}

static bool
park(struct scratch *s)
{
	return is_intact(s) && holds_nothing(s->fd) &&
		fchmod(s->fd, PARKED) == 0;
}

enum ss_err
scratch_make_kept(struct scratch *s, struct ss_error *err)
{
	char name[24];

	snprintf(name, sizeof(name), "u%u", geteuid());
	snprintf(s->path, sizeof(s->path), "/tmp/" SCRATCH_NAME "%s", name);
	if (!take_parked(s) && make_locked(s, name) != 0)
		return scratch_make(s, err);
	s->made = s->kept = true;
	s->owner = getpid();
	return SS_OK;
}

static bool
is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The state of emptying one scratch. */
struct sweep {
	int top;
	uint64_t deadline_ms; /* 0: none, but with rests */
	uint64_t rested_ms;
	unsigned moved;   /* for names at the top */
	uint64_t changed; /* entries removed or moved */
	bool failed;
};

/* Without a deadline: leaves disk and processor to other processes. */
static void
rest_a_while(struct sweep *w)
{
	const struct timespec pause = { .tv_nsec = REST_MS * 1000000 };

	if (clock_ms() < w->rested_ms + WORK_MS)
		return;
	nanosleep(&pause, NULL);
	w->rested_ms = clock_ms();
}

static bool
is_time_up(struct sweep *w)
{
	if (w->deadline_ms != 0)
		return clock_ms() >= w->deadline_ms;
	rest_a_while(w);
	return false;
}

/*
 * Gives a directory the mode 0700: reading it needs that, and rename(2), which
 * rewrites its "..".  A failure shows at the next step.
 */
static void
open_up(int dir, const char *name)
{
	struct stat st;

	/* fchmodat(2) follows links: only directories. */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(st.st_mode) && fchmodat(dir, name, 0700, 0) != 0)
		errno = 0;
}

/*
 * Removes one entry of dir; a directory that is not empty is moved to the top
 * (or stays, when dir is the top) and *left is set.
 */
static void
remove_entry(struct sweep *w, int dir, const char *name, bool *left)
{
	char up[32];

	w->changed++;
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return;
	w->changed--;
	*left = true;
	if (dir == w->top)
		return;
	open_up(dir, name);
	do {
		snprintf(up, sizeof(up), "s%u", w->moved++);
		if (renameat2(dir, name, w->top, up, RENAME_NOREPLACE) == 0) {
			w->changed++;
			return;
		}
	} while (errno == EEXIST);
}

/* One pass over dir: true when something is still in it or above it. */
static bool
sweep_once(struct sweep *w, int dir)
{
	_Alignas(struct fd_entry) char buffer[4096];
	bool left = false;
	long n;

	lseek(dir, 0, SEEK_SET);
	while ((n = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < n;) {
			struct fd_entry *e =
				(struct fd_entry *)(void *)(buffer + at);

			at += e->length;
			if (!is_dot(e->name))
				remove_entry(w, dir, e->name, &left);
		}
		if (is_time_up(w)) {
			w->failed = true;
			return true;
		}
	}
	return left || n < 0;
}

/* Empties the directories at the top, each by one pass. */
static void
sweep_children(struct sweep *w)
{
	DIR *top = fdopendir(openat(w->top, ".", DIR_FLAGS));
	struct dirent *e;
	int fd;

	if (top == NULL) {
		w->failed = true;
		return;
	}
	while (!w->failed && (e = readdir(top)) != NULL) {
		if (is_dot(e->d_name))
			continue;
		open_up(w->top, e->d_name);
		fd = openat(w->top, e->d_name, DIR_FLAGS);
		if (fd < 0)
			continue;
		sweep_once(w, fd);
		close(fd);
	}
	closedir(top);
}

static bool
is_intact(const struct scratch *s)
{
	struct stat st;

	return fstat(s->fd, &st) == 0 && (st.st_mode & 0700) == 0700 &&
		st.st_nlink > 0;
}

/* By one getdents64(2): nothing but "." and "..". */
static bool
holds_nothing(int fd)
{
	_Alignas(struct fd_entry) char buffer[512];
	long n;

	lseek(fd, 0, SEEK_SET);
	n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
	if (n < 0)
		return false;
	for (long at = 0; at < n;) {
		struct fd_entry *e = (struct fd_entry *)(void *)(buffer + at);

		at += e->length;
		if (!is_dot(e->name))
			return false;
	}
	return true;
}

/* Ends also when a whole pass changed nothing: the rest cannot be removed. */
static bool
empty_until(struct scratch *s, uint64_t deadline_ms)
{
	struct sweep w = {
		.top = s->fd, .deadline_ms = deadline_ms, .changed = 1
	};

	if (s->fd < 0)
		return false;
	if (holds_nothing(s->fd))
		return is_intact(s);
	fchmod(s->fd, 0700);
	w.rested_ms = clock_ms();
	while (!w.failed && w.changed > 0) {
		w.changed = 0;
		if (!sweep_once(&w, s->fd))
			break;
		sweep_children(&w);
	}
	return !w.failed && is_intact(s) && holds_nothing(s->fd);
}

bool
scratch_empty(struct scratch *s, uint32_t budget_ms)
{
	return empty_until(s, clock_ms() + budget_ms);
}

bool
scratch_empty_slowly(struct scratch *s)
{
	return empty_until(s, 0);
}

void
scratch_close(struct scratch *s)
{
	bool ours = s->made && s->owner == getpid();

	if (ours && !(s->kept && park(s))) {
		scratch_empty(s, CLOSE_BUDGET_MS);
		rmdir(s->path);
	}
	fd_close(&s->fd);
	*s = SCRATCH_INIT;
}

/* SPDX-License-Identifier: MIT */
/*
 * The worker's own scratch.  A worker runs one tool at a time, and usually
 * finds the scratch empty and as it was: mode, owner, times and attributes too,
 * since each could carry a message from one request to the next.  When it
 * cannot be made so again the worker must end.
 */
#include "sandbox/sandbox_scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "files/scratch.h"
#include "sandbox/launcher_call.h"
#include "sandbox/ruleset.h"
#include "sandbox/sandbox.h"

#define CLEAN_MS 500 /* a new worker costs about 2 */
#define SWEEP_EACH 16
#define SWEEP_MS 100
#define UNLOCKED_S 10 /* its owner may be about to rename it */

/* Two changes within one tick of the kernel's clock have the same time. */
#define TICK_NS 20000000

static struct scratch scratch = SCRATCH_INIT;
static struct stat as_new;
static ssize_t attributes; /* bytes of their names when it was new */
static int flags;          /* chattr(1) */
/*
 * st_ctime of the directory when it was last found empty and as new, if that
 * was more than a tick old: every change since would have changed it, and no
 * call can set it.
 */
static struct timespec quiet;

/* 0 on a filesystem without such flags: none can be set there. */
static int
flags_now(void)
{
	int now = 0;

	return ioctl(scratch.fd, FS_IOC_GETFLAGS, &now) == 0 ? now : 0;
}

static bool
is_as_new(void)
{
	struct stat st;

	return fstat(scratch.fd, &st) == 0 && st.st_mode == as_new.st_mode &&
		st.st_uid == as_new.st_uid && st.st_gid == as_new.st_gid &&
		flistxattr(scratch.fd, NULL, 0) == attributes &&
		flags_now() == flags &&
		st.st_mtim.tv_sec == as_new.st_mtim.tv_sec &&
		st.st_mtim.tv_nsec == as_new.st_mtim.tv_nsec;
}

static bool
is_quiet(const struct stat *now)
{
	return quiet.tv_sec != 0 && now->st_ctim.tv_sec == quiet.tv_sec &&
		now->st_ctim.tv_nsec == quiet.tv_nsec;
}

/* With the time from before the check: a change meanwhile is seen later. */
static void
note_quiet(const struct stat *before)
{
	struct timespec now;
	int64_t age;

	clock_gettime(CLOCK_REALTIME, &now);
	age = (int64_t)(now.tv_sec - before->st_ctim.tv_sec) * 1000000000 +
		now.tv_nsec - before->st_ctim.tv_nsec;
	quiet = age > TICK_NS ? before->st_ctim : (struct timespec){ 0 };
}

/* Restores mode and times.  Another owner, flags or attributes stay: false. */
static bool
make_as_new(void)
{
	const struct timespec times[2] = { as_new.st_atim, as_new.st_mtim };

	return fchmod(scratch.fd, as_new.st_mode & 07777) == 0 &&
		futimens(scratch.fd, times) == 0 && is_as_new();
}

static bool
note_new(struct step *s)
{
	if (fstat(scratch.fd, &as_new) < 0)
		return step_fail(s, "stat the scratch");
	attributes = flistxattr(scratch.fd, NULL, 0);
	flags = flags_now();
	if (sandbox_clean())
		return true;
	errno = ENOTEMPTY;
	return step_fail(s, "find the scratch empty");
}

bool
sandbox_scratch_take(const char *path, struct step *s)
{
	struct ss_error err = { .code = SS_OK };

	if (scratch_take(&scratch, path, &err) == SS_OK)
		return note_new(s);
	errno = err.sys_errno;
	return step_fail(s, "open the scratch");
}

bool
sandbox_clean(void)
{
	struct stat before;

	if (launcher_is_broken() || ruleset_view_is_stale())
		return false;
	if (scratch.fd < 0)
		return sandbox_self()->level == SANDBOX_NONE;
	if (fstat(scratch.fd, &before) < 0)
		return false;
	if (is_quiet(&before))
		return true;
	if (!scratch_empty(&scratch, CLEAN_MS) ||
		(!is_as_new() && !make_as_new()))
		return false;
	note_quiet(&before);
	return true;
}

/* --------------------------------------------- without a private mount */

/* A tool may have set its directory's mode to 0.  -1: not ours. */
static int
open_stale(int tmp, const char *name, struct stat *st)
{
	int fd = openat(
		tmp, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char same[32];

	if (fd < 0)
		return -1;
	if (fstat(fd, st) < 0 || st->st_uid != geteuid()) {
		fd_close(&fd);
		return -1;
	}
	if ((st->st_mode & 0700) != 0700) {
		snprintf(same, sizeof(same), "/proc/self/fd/%d", fd);
		chmod(same, 0700);
	}
	fd_close(&fd);
	fd = openat(tmp, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, st) < 0 || st->st_uid != geteuid()))
		fd_close(&fd);
	return fd;
}

/*
 * The owner of a directory holds its lock, flock(2), until it ends: a free one
 * is removed.  budget_ms 0: no limit, with pauses.  False: something is left.
 */
static bool
remove_stale(int tmp, const char *name, uint32_t budget_ms)
{
	struct scratch old = SCRATCH_INIT;
	bool removed = true;
	struct stat st;

	old.fd = open_stale(tmp, name, &st);
	if (old.fd >= 0 && flock(old.fd, LOCK_EX | LOCK_NB) == 0)
		removed = (budget_ms > 0 ? scratch_empty(&old, budget_ms)
					 : scratch_empty_slowly(&old)) &&
			unlinkat(tmp, name, AT_REMOVEDIR) == 0;
	scratch_close(&old);
	return removed;
}

/* Its owner was killed before it took the lock: it is empty. */
static void
remove_unlocked(int tmp, const char *name)
{
	struct stat st;

	if (fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
		time(NULL) - st.st_ctime > UNLOCKED_S)
		unlinkat(tmp, name, AT_REMOVEDIR);
}

/* Others' directories cost one call each. */
static bool
is_own(int tmp, const char *name)
{
	struct stat st;

	return fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static bool
begins_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* In the directory `tmp`, which is closed.  budget_ms as in remove_stale. */
static bool
remove_all_stale(DIR *tmp, uint32_t budget_ms)
{
	uint64_t deadline_ms = clock_ms() + budget_ms;
	bool removed = true;
	struct dirent *entry;

	while ((entry = readdir(tmp)) != NULL) {
		int left = budget_ms > 0 ? clock_left_ms(deadline_ms) : 0;

		if (budget_ms > 0 && left <= 0) {
			removed = false;
			break;
		}
		if (begins_with(entry->d_name, SCRATCH_NEW))
			remove_unlocked(dirfd(tmp), entry->d_name);
		else if (begins_with(entry->d_name, SCRATCH_NAME) &&
			is_own(dirfd(tmp), entry->d_name))
			removed &= remove_stale(
				dirfd(tmp), entry->d_name, (uint32_t)left);
	}
	closedir(tmp);
	return removed;
}

bool
ss_sweep(uint32_t budget_ms)
{
	DIR *tmp = sandbox_self()->level == SANDBOX_STRICT ? NULL
							   : opendir("/tmp");

	return tmp == NULL || remove_all_stale(tmp, budget_ms);
}

/*
 * Reading /tmp costs more the more there is in it, so that one start in
 * SWEEP_EACH does it: which one the clock decides, since process numbers may
 * come in steps.  The sweep is bounded: the start waits for it.  A pool has a
 * process that sweeps (fcgi/sweep.c).
 */
static void
sweep_sometimes(void)
{
	if (clock_us() % SWEEP_EACH == 0)
		ss_sweep(SWEEP_MS);
}

const char *
sandbox_scratch_make(bool brief, struct step *s)
{
	struct ss_error err = { .code = SS_OK };

	sweep_sometimes();
	if ((brief ? scratch_make_kept : scratch_make)(&scratch, &err) !=
		SS_OK) {
		errno = err.sys_errno;
		step_fail(s, "make a scratch directory");
		return NULL;
	}
	return note_new(s) ? scratch.path : NULL;
}

void
sandbox_scratch_leave(void)
{
	scratch.kept = scratch.kept && sandbox_clean();
	scratch_close(&scratch);
}

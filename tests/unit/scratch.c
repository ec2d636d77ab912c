/* SPDX-License-Identifier: MIT */
/* scratch: whatever a tool leaves, the next one finds an empty directory. */
#include "files/scratch.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "tap.h"

static void
put_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0);

	close(fd);
}

/* depth directories inside each other, the innermost without any mode. */
static void
put_chain(int dir, int depth)
{
	int at = dup(dir), next;

	for (int i = 0; i < depth; i++) {
		mkdirat(at, "d", 0700);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		put_file(at, "f");
		close(at);
		at = next;
	}
	mkdirat(at, "locked", 0);
	fchmod(at, 0);
	close(at);
}

/* Only some file systems have the flag, and only for CAP_LINUX_IMMUTABLE. */
static void
check_resisting(struct scratch *s)
{
	int fd = openat(s->fd, "stone", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int flags = FS_IMMUTABLE_FL;

	put_chain(s->fd, 20);
	if (ioctl(fd, FS_IOC_SETFLAGS, &flags) != 0) {
		skip(2, "no file resists here");
	} else {
		ok(!scratch_empty_slowly(s), "an end although one file stays");
		flags = 0;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
		ok(scratch_empty_slowly(s), "... and it goes when it may");
	}
	close(fd);
	scratch_empty(s, 10000);
}

static void
check_lock(const struct scratch *s)
{
	int fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ok(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0,
		"its owner holds its lock");
	close(fd);
}

/* Takes the account's parked directory; its name, when it got that one. */
static bool
take(struct scratch *s, bool expected, const char *what)
{
	char name[64];
	bool fixed;

	snprintf(name, sizeof(name), "/tmp/" SCRATCH_NAME "u%u", geteuid());
	for (int i = 0; i < 100; i++) {
		*s = SCRATCH_INIT;
		if (scratch_make_kept(s, NULL) != SS_OK)
			break;
		if (!expected || strcmp(s->path, name) == 0)
			break;
		scratch_close(s); /* a command of the account has it now */
		usleep(20000);
	}
	ok(s->fd >= 0, "%s: there is a directory", what);
	fixed = strcmp(s->path, name) == 0;
	ok(fixed == expected, "... %s", expected ? "the kept one" : "another");
	return fixed;
}

/* A change that a tool made and a killed process left: never used again. */
static void
check_unusable(const char *what, void (*change)(int fd))
{
	struct stat st;
	struct scratch s;

	if (!take(&s, true, what)) {
		scratch_close(&s);
		return;
	}
	change(s.fd);
	fd_close(&s.fd); /* as by SIGKILL */
	take(&s, true, "after that");
	ok(fstat(s.fd, &st) == 0 && (st.st_mode & 07777) == 0700 &&
			fgetxattr(s.fd, "user.message", NULL, 0) < 0 &&
			scratch_empty(&s, 0),
		"%s: nothing of it is there", what);
	scratch_close(&s);
}

static void
leave_mode(int fd)
{
	(void)fd;
}

static void
leave_file(int fd)
{
	put_file(fd, "left");
	fchmod(fd, 0500);
}

static void
leave_attribute(int fd)
{
	if (fsetxattr(fd, "user.message", "x", 1, 0) < 0)
		put_file(fd, "no attributes here");
	fchmod(fd, 0500);
}

/* Root in a container, under this number, with the /tmp of the host. */
static bool
is_taken_by_another(void)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof(name), "/tmp/" SCRATCH_NAME "u%u", geteuid());
	return lstat(name, &st) == 0 && st.st_uid != geteuid();
}

static void
check_kept(void)
{
	struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 2 } };
	struct scratch s, other;
	struct stat st;
	ino_t first;

	if (is_taken_by_another()) {
		skip(1, "another account made the directory of this one");
		return;
	}
	take(&s, true, "a kept one");
	fstat(s.fd, &st);
	first = st.st_ino;
	ok((st.st_mode & 07777) == 0700, "it is private while it is used");
	take(&other, false, "while it is used");
	scratch_close(&other);
	futimens(s.fd, old);
	scratch_close(&s);
	take(&s, true, "when it was parked");
	ok(fstat(s.fd, &st) == 0 && st.st_ino == first, "it is the same one");
	ok(st.st_mtim.tv_sec > 2 && st.st_atim.tv_sec > 1,
		"its times tell nothing of the last run");
	put_file(s.fd, "left");
	scratch_close(&s);
	ok(access(s.path[0] != '\0' ? s.path : "/nowhere", F_OK) < 0,
		"one that is not empty is removed");
	check_unusable("killed in use", leave_mode);
	check_unusable("killed with a file in it", leave_file);
	check_unusable("killed with an attribute", leave_attribute);
}

int
main(void)
{
	struct scratch s = SCRATCH_INIT;
	struct ss_error err = { 0 };
	char path[64], victim[] = "/tmp/ss-victim-XXXXXX";
	struct stat st;
	int fd;

	is_int(SS_OK, scratch_make(&s, &err), "a scratch is made");
	snprintf(path, sizeof(path), "%s", s.path);
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700,
		"it is private to its owner");
	ok(scratch_empty(&s, 1000), "an empty one is empty");

	for (int i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "file %d", i);
		put_file(s.fd, name);
	}
	ok(scratch_empty(&s, 1000), "300 files are gone");

	put_chain(s.fd, 1500);
	ok(scratch_empty(&s, 10000), "a tree 1500 deep is gone");

	mkdirat(s.fd, "s0", 0700);
	mkdirat(s.fd, "a", 0700);
	fd = openat(s.fd, "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mkdirat(fd, "b", 0);
	close(fd);
	mkfifoat(s.fd, "fifo", 0);
	ok(scratch_empty(&s, 1000),
		"names like ours, closed directories and a FIFO are gone");

	ok(mkdtemp(victim) != NULL, "a directory outside");
	fd = open(victim, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_file(fd, "precious");
	ok(symlinkat(victim, s.fd, "link") == 0, "a link to it");
	ok(scratch_empty(&s, 1000), "a symlink is gone");
	ok(faccessat(fd, "precious", F_OK, 0) == 0,
		"what it pointed at is still there");
	unlinkat(fd, "precious", 0);
	close(fd);
	rmdir(victim);

	put_chain(s.fd, 1500);
	ok(scratch_empty_slowly(&s), "without a limit of time, with rests");
	check_resisting(&s);
	check_lock(&s);

	put_chain(s.fd, 20);
	ok(!scratch_empty(&s, 0), "no time: says that it is not empty");
	fchmod(s.fd, 0);
	scratch_close(&s);
	ok(stat(path, &st) != 0, "closing removes it with what is in it");
	check_kept();
	return done();
}

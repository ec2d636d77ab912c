/* SPDX-License-Identifier: MIT */
/*
 * The dot entries of a directory are remembered, and believed only while they
 * must be true: with a clock, a filesystem and a moment of the test's own, and
 * with each call failing once.  Then workers: a site that stays as it is is
 * listed once for all of them, and what appears in it is hidden at the next.
 *
 * wrap: syscall fstat fstatfs lseek clock_gettime
 */
#include "files/dotfiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "sandbox/policy.h"
#include "sandbox/ruleset.h"
#include "sandbox/sandbox_fork.h"
#include "tap.h"

#define MANY 100
#define CALLS_MAX 50

/* In memory that a worker shares. */
struct seen {
	struct fault fault;
	int lists; /* how often the site's root was begun to be listed */
	enum sandbox_level level;
	bool hidden, ruled, fresh;
};
static struct seen *seen;

static char base[] = "/var/tmp/ss-dots-XXXXXX";
static char site[64], old[64];

static const char *while_alive; /* appears once a worker has started */

/* What the wrapped calls pretend. */
static struct timespec now; /* 0: the true one */
static bool whole_seconds;  /* times of files are */
static unsigned long filesystem = EXT4_SUPER_MAGIC;
static const char *before_a_start; /* appears when the parent has looked */

FAULT(lseek, off_t, -1, EIO, (int fd, off_t at, int from), (fd, at, from))

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int
__wrap_fstat(int fd, struct stat *st)
{
	if (fault_now("fstat")) {
		errno = EIO;
		return -1;
	}
	if (__real_fstat(fd, st) < 0)
		return -1;
	if (whole_seconds)
		st->st_ctim.tv_nsec = 0;
	return 0;
}

int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);
int
__wrap_fstatfs(int fd, struct statfs *fs)
{
	if (fault_now("fstatfs")) {
		errno = EIO;
		return -1;
	}
	if (__real_fstatfs(fd, fs) < 0)
		return -1;
	fs->f_type = (__typeof__(fs->f_type))filesystem;
	return 0;
}

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int
__wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	if (id != CLOCK_REALTIME || now.tv_sec == 0)
		return __real_clock_gettime(id, t);
	*t = now;
	return 0;
}

static uid_t
owner(void)
{
	return geteuid() == 0 ? 65534 : geteuid();
}

static void
make_site(void)
{
	if (mkdir(site, 0755) < 0 || chown(site, owner(), (gid_t)-1) < 0)
		exit(99);
}

static void
put(const char *name)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", site, name);
	fd = creat(path, 0644);
	if (fd < 0 || fchown(fd, owner(), (gid_t)-1) < 0)
		exit(99);
	close(fd);
}

/* With a new time for its directory, which may move in ticks. */
static void
add(const char *name)
{
	const struct timespec little = { .tv_nsec = 1000000 };
	struct timespec tick;
	struct stat st;

	if (stat(site, &st) < 0)
		exit(99);
	while (clock_gettime(CLOCK_REALTIME_COARSE, &tick) == 0 &&
		(tick.tv_sec < st.st_ctim.tv_sec ||
			(tick.tv_sec == st.st_ctim.tv_sec &&
				tick.tv_nsec <= st.st_ctim.tv_nsec)))
		nanosleep(&little, NULL);
	put(name);
}

static bool
is_site(int fd)
{
	struct stat a, b;

	return __real_fstat(fd, &a) == 0 &&
		(stat(site, &b) == 0 || stat("/site", &b) == 0) &&
		a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

long __real_syscall(long call, ...);
long __wrap_syscall(long call, ...);
FAULT_UNCHECKED long
__wrap_syscall(long call, ...)
{
	long w[6];

	FAULT_WORDS(w, call);
	if (fault_now("syscall")) {
		errno = EIO;
		return -1;
	}
	if (call == SYS_clone && before_a_start != NULL) {
		add(before_a_start);
		before_a_start = NULL;
	}
	seen->lists += call == SYS_getdents64 && is_site((int)w[0]) &&
		__real_lseek((int)w[0], 0, SEEK_CUR) == 0;
	return __real_syscall(call, w[0], w[1], w[2], w[3], w[4], w[5]);
}

/* ------------------------------------------------------- the directory */

static int
open_site(void)
{
	int fd = open(site, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		exit(99);
	return fd;
}

/* So long after the site's root was last changed. */
static void
clock_after(int64_t ns)
{
	struct stat st;
	int64_t at;

	if (stat(site, &st) < 0)
		exit(99);
	at = st.st_ctim.tv_nsec + ns;
	if (whole_seconds)
		at = ns;
	now.tv_sec = st.st_ctim.tv_sec + at / 1000000000;
	now.tv_nsec = at % 1000000000;
	if (now.tv_nsec < 0) {
		now.tv_nsec += 1000000000;
		now.tv_sec--;
	}
}

#define MS INT64_C(1000000)
#define HOUR (3600000 * MS)

static bool
count_one(void *ctx, const char *name)
{
	int *count = ctx;

	(void)name;
	++*count;
	return true;
}

/* How many a list has; NULL: the directory; -1: it cannot be listed. */
static int
count_of(const struct dotfiles *d, int dir)
{
	int count = 0;

	return dotfiles_each(d, dir, count_one, &count) == 1 ? count : -1;
}

static bool
keeps_after(int64_t ns)
{
	struct dotfiles d = { 0 };
	int dir = open_site();
	bool kept;

	clock_after(ns);
	kept = dotfiles_keep(&d, dir);
	if (kept != d.known || (!kept && dotfiles_hold(&d, dir)) ||
		(kept && count_of(&d, dir) != 2))
		printf("# kept %d, known %d, %zu bytes\n", kept, d.known,
			d.len);
	close(dir);
	return kept;
}

static void
test_times(void)
{
	int before = seen->lists;

	ok(!keeps_after(-HOUR), "from the future: not kept");
	ok(!keeps_after(0), "changed right now: not kept");
	ok(!keeps_after(20 * MS), "changed within 20 ms: not kept");
	is_int(before, seen->lists, "nor read");
	ok(keeps_after(21 * MS), "changed before that: kept");
	whole_seconds = true;
	ok(!keeps_after(2900 * MS),
		"times of whole seconds want three of them");
	ok(keeps_after(3100 * MS), "and are believed then");
	whole_seconds = false;
	filesystem = FUSE_SUPER_MAGIC;
	ok(!keeps_after(HOUR), "a file system's that makes times up: not kept");
	filesystem = NFS_SUPER_MAGIC;
	ok(!keeps_after(HOUR), "a server's: not kept");
	filesystem = EXT4_SUPER_MAGIC;
	ok(keeps_after(HOUR), "a disk's of this machine: kept");
}

static void
test_changes(void)
{
	struct dotfiles d = { 0 };
	int dir = open_site(), up = open(base, O_RDONLY | O_CLOEXEC), before;
	char name[32];

	clock_after(HOUR);
	before = seen->lists;
	dotfiles_keep(&d, dir);
	ok(dotfiles_keep(&d, dir) && dotfiles_hold(&d, dir),
		"nothing changes: it is held");
	is_int(1, seen->lists - before, "and was listed once");
	is_int(2, count_of(&d, dir), "two names");
	ok(!dotfiles_hold(&d, up), "it is no other directory's");
	add("page.md");
	ok(!dotfiles_hold(&d, dir), "a page more: it is not held");
	clock_after(HOUR);
	ok(dotfiles_keep(&d, dir), "it is read again");
	add(".new");
	if (futimens(dir,
		    (struct timespec[2]){ { 0, UTIME_OMIT }, d.modified }) < 0)
		exit(99);
	ok(!dotfiles_hold(&d, dir), "nor when its time is set back");
	clock_after(HOUR);
	dotfiles_keep(&d, dir);
	is_int(3, count_of(&d, dir), "and has the new name");
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), ".one-of-many-%03d", i);
		put(name);
	}
	clock_after(HOUR);
	ok(!dotfiles_keep(&d, dir) && !dotfiles_hold(&d, dir),
		"more names than it takes: it holds none");
	is_int(3 + MANY, count_of(NULL, dir), "and the directory has all");
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), ".one-of-many-%03d", i);
		unlinkat(dir, name, 0);
	}
	unlinkat(dir, ".new", 0);
	unlinkat(dir, "page.md", 0);
	close(up);
	close(dir);
}

static void
test_faults(void)
{
	int dir = open_site(), n, lies = 0, kept = 0;

	clock_after(HOUR);
	for (n = 1; n < CALLS_MAX; n++) {
		struct dotfiles d = { 0 };

		fault_at = n;
		kept = dotfiles_keep(&d, dir);
		if (fault_at != 0)
			break;
		fault_at = 0;
		lies += kept || dotfiles_hold(&d, dir) ||
			count_of(NULL, dir) != 2;
	}
	fault_at = 0;
	ok(n > 4 && n < CALLS_MAX && kept, "%d calls fail", n - 1);
	is_int(0, lies, "after each it holds nothing, and nothing is missed");
	close(dir);
}

/* --------------------------------------------------------------- workers */

/* In a worker: no dot entry of the root can be opened, all are there. */
static bool
hides(int count)
{
	DIR *dir = opendir(sandbox_self()->site);
	struct dirent *e;
	int fd;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] != '.' || strcmp(e->d_name, ".") == 0 ||
			strcmp(e->d_name, "..") == 0)
			continue;
		count--;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && errno == EACCES)
			continue;
		closedir(dir);
		return false;
	}
	if (dir != NULL)
		closedir(dir);
	return count == 0;
}

static int
worker(void *ctx)
{
	const int *count = ctx;
	struct grant grant = { .root = sandbox_self()->site, .exec_any = true };
	struct wants none = { 0 };
	struct policy_ask ask = {
		.page = &none, .page_dir = "", .program = "sh"
	};
	struct policy policy;
	struct ruleset rules[2] = { RULESET_INIT, RULESET_INIT };
	struct arena arena;

	if (while_alive != NULL) {
		add(while_alive);
		clock_after(HOUR);
	}
	arena_init(&arena, 0);
	seen->level = sandbox_self()->level;
	seen->hidden = hides(*count);
	seen->ruled =
		policy_resolve(&arena, &ask, &grant, &policy, NULL) == SS_OK &&
		ruleset_make(&arena, &policy, &rules[0], NULL) == SS_OK &&
		ruleset_make(&arena, &policy, &rules[1], NULL) == SS_OK &&
		rules[0].fd >= 0 && rules[1].fd >= 0;
	seen->fresh = ruleset_is_fresh(&rules[0]);
	ruleset_release(&rules[0]);
	ruleset_release(&rules[1]);
	arena_release(&arena);
	return 0;
}

/*
 * A worker with two rulesets, when the site has so many dot entries; how often
 * its root was listed for it, or -1.
 */
static int
start_worker(struct sandbox_plan *plan, int count)
{
	const struct sandbox_process process = { .main = worker,
		.ctx = &count };
	struct ss_error err = { .code = SS_OK };
	struct ss_child child;
	int status = -1;

	seen->lists = 0;
	seen->hidden = seen->ruled = seen->fresh = false;
	if (sandbox_fork(plan, &process, &child, &err) == SS_OK)
		waitpid(child.pid, &status, 0);
	if (status != 0 || seen->level != plan->level || !seen->ruled)
		printf("# status %d, level %d, %s\n", status, seen->level,
			err.detail);
	return status == 0 && seen->ruled ? seen->lists : -1;
}

static void
test_starts(void)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT, other;
	struct grant grant = { .root = site, .exec_any = true };
	struct ss_error err = { .code = SS_OK };

	plan.root = site;
	plan.grant = &grant;
	plan.mode = SANDBOX_MODE_STRICT;
	if (sandbox_prepare(&plan, &err) != SS_OK)
		exit(99);
	other = plan;
	clock_after(HOUR);
	seen->lists = 0;
	if (sandbox_decide(&plan) != SANDBOX_STRICT) {
		printf("# %s\n", plan.why);
		skip(13, "this machine refuses namespaces");
		return;
	}
	is_int(1, seen->lists, "the first start lists the site");
	is_int(0, start_worker(&plan, 2) + start_worker(&plan, 2),
		"later ones and their rulesets do not");
	ok(seen->hidden && seen->fresh, "the entries are hidden");
	is_int(1, start_worker(&other, 2),
		"a start that is the only one lists once");
	ok(seen->hidden && seen->fresh, "with the same effect");

	add(".new");
	clock_after(HOUR);
	is_int(1, start_worker(&plan, 3),
		"an entry appears: it is listed again");
	ok(seen->hidden, "the new one is hidden");
	is_int(0, start_worker(&plan, 3), "and remembered");

	before_a_start = ".late";
	ok(start_worker(&plan, 4) > 0 && seen->hidden,
		"one that appears when the parent has looked is hidden");
	add(".fresh");
	clock_after(MS);
	is_int(3, start_worker(&plan, 5),
		"within 20 ms of a change nothing is remembered");
	ok(seen->hidden && !seen->fresh, "and no ruleset is kept");

	if (rename(site, old) < 0)
		exit(99);
	make_site();
	put(".other");
	clock_after(HOUR);
	is_int(1, start_worker(&plan, 1),
		"another directory of that name is listed");
	ok(seen->hidden, "and its entries are hidden");
}

/* Nothing is hidden from the worker here; its tools' rulesets do that. */
static void
test_landlock(void)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct grant grant = { .root = site, .exec_any = true };

	plan.root = site;
	plan.grant = &grant;
	plan.mode = SANDBOX_MODE_LANDLOCK;
	clock_after(HOUR);
	if (sandbox_prepare(&plan, NULL) != SS_OK ||
		sandbox_decide(&plan) != SANDBOX_LANDLOCK) {
		skip(3, "this machine has no Landlock");
		return;
	}
	seen->lists = 0;
	is_int(0, start_worker(&plan, 0),
		"landlock: a worker's rulesets do not list");
	add(".more");
	clock_after(HOUR);
	is_int(1, start_worker(&plan, 0), "but after a change the parent does");
	while_alive = ".last";
	is_int(1, start_worker(&plan, 0),
		"and they, once for both, after a later one");
}

static void
set_up(void)
{
	char path[160];

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED || mkdtemp(base) == NULL ||
		chmod(base, 0755) < 0)
		exit(99);
	fault = &seen->fault;
	snprintf(site, sizeof(site), "%s/site", base);
	snprintf(old, sizeof(old), "%s/old", base);
	snprintf(path, sizeof(path), "%s/.git", site);
	make_site();
	if (mkdir(path, 0755) < 0)
		exit(99);
	put("README.md");
	put(".env");
	put(".git/config");
}

int
main(void)
{
	char command[160];

	set_up();
	test_times();
	test_changes();
	test_faults();
	test_starts();
	test_landlock();
	snprintf(command, sizeof(command), "rm -rf %s", base);
	is_int(0, system(command), "nothing is left of the test's files");
	return done();
}

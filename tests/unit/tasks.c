/* SPDX-License-Identifier: MIT */
/* census: the tasks of this account, as RLIMIT_NPROC counts them. */
#include "run/tasks.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tap.h"

#define UNUSED_UID 61234
#define CHILDREN 20

/* Does a limit of so many tasks let one more start? */
static bool
lets_start(uint64_t limit)
{
	struct rlimit before, now;
	pid_t pid;

	if (getrlimit(RLIMIT_NPROC, &before) < 0)
		return false;
	now = (struct rlimit){ (rlim_t)limit, before.rlim_max };
	setrlimit(RLIMIT_NPROC, &now);
	pid = fork();
	if (pid == 0)
		_exit(0);
	setrlimit(RLIMIT_NPROC, &before);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static void
start_all(pid_t children[static CHILDREN])
{
	for (size_t i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			pause();
			_exit(0);
		}
	}
}

static void
end_all(const pid_t children[static CHILDREN])
{
	for (size_t i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

enum {
	COUNTED = 1 << 0,
	RESTORED = 1 << 1,
	EXACT = 1 << 2,
	CHILDLESS = 1 << 3,
	HARD = 1 << 4
};

/* Root's have a number of their own; a user's others may come and go. */
static bool
is_exact(uint64_t *count)
{
	bool exact = false;

	for (int i = 0; i < 5 && !exact; i++) {
		if (i > 0)
			usleep(1010000); /* until it is counted again */
		*count = tasks_count();
		exact = !lets_start(*count) && lets_start(*count + 1);
	}
	return exact;
}

static int
look(bool alone)
{
	struct rlimit before = { 0 }, after = { 1, 1 }, low = { 5, 5 };
	pid_t children[CHILDREN];
	uint64_t count;
	int seen = 0;

	getrlimit(RLIMIT_NPROC, &before);
	count = tasks_count();
	getrlimit(RLIMIT_NPROC, &after);
	if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
		seen |= CHILDLESS;
	if (before.rlim_cur == after.rlim_cur &&
		before.rlim_max == after.rlim_max)
		seen |= RESTORED;
	start_all(children);
	usleep(1010000);
	if (is_exact(&count))
		seen |= EXACT;
	if (alone ? count == CHILDREN + 1 : count > CHILDREN)
		seen |= COUNTED;
	setrlimit(RLIMIT_NPROC, &low);
	usleep(1010000);
	if (tasks_count() == 5)
		seen |= HARD;
	end_all(children);
	return seen;
}

/* Under an account that RLIMIT_NPROC binds. */
static int
seen_in_child(void)
{
	bool root = geteuid() == 0;
	uid_t uid = UNUSED_UID;
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		if (root &&
			(setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) ||
				setresuid(uid, uid, uid) < 0))
			_exit(0);
		_exit(look(root));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void
test_count(void)
{
	int seen = seen_in_child();

	ok(seen & COUNTED, "this process and its children are counted");
	ok(seen & EXACT, "a limit of as many lets none start, of one more one");
	ok(seen & RESTORED, "RLIMIT_NPROC is as before");
	ok(seen & CHILDLESS, "no child was made to find out");
	ok(seen & HARD, "a hard limit that is reached is the answer");
}

static void
test_once_a_second(void)
{
	uint64_t began = clock_ms(), before = tasks_count(), after;
	pid_t children[CHILDREN];

	start_all(children);
	after = tasks_count();
	if (clock_ms() - began < 1000)
		is_int((long long)before, (long long)after,
			"it is not counted twice within a second");
	else
		skip(1, "the machine is too slow to tell");
	while (clock_ms() - began < 2100)
		usleep(50000);
	after = tasks_count();
	ok(geteuid() == 0 || (after >= CHILDREN && after + 1000 > before),
		"children of ours are among the next count");
	end_all(children);
}

int
main(void)
{
	test_count();
	test_once_a_second();
	return done();
}

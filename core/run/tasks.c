/* SPDX-License-Identifier: MIT */
/*
 * The kernel tells nobody its count, but compares it with RLIMIT_NPROC in each
 * clone(2): EAGAIN says that the limit is reached.  Below the limit the same
 * call fails later (copy_process in kernel/fork.c), where it stores the pidfd
 * at an address that nothing is mapped at: no process is made.  A few such
 * calls find the count, however many processes the host has.
 */
#include "run/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/spawn.h"

#define FRESH_MS 1000
#define MOST (UINT64_C(1) << 28) /* more than PID_MAX_LIMIT */

/* ------------------------------------------------- asked by clone(2) */

enum answer { REACHED, BELOW, UNKNOWN };

/* Before Linux 5.2, where CLONE_PIDFD means nothing, there is a child. */
static int
child_main(void *ctx)
{
	(void)ctx;
	return 0;
}

static enum answer
try_clone(void)
{
	_Alignas(16) static char stack[4096];
	int status;
	pid_t pid = clone(child_main, stack + sizeof(stack),
		CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, NULL, NULL,
		NULL, (void *)(uintptr_t)spawn_pass);

	if (pid < 0)
		return errno == EAGAIN    ? REACHED
			: errno == EFAULT ? BELOW
					  : UNKNOWN;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return BELOW;
}

static enum answer
try_limit(uint64_t limit, rlim_t hard)
{
	const struct rlimit now = { (rlim_t)limit, hard };

	return setrlimit(RLIMIT_NPROC, &now) == 0 ? try_clone() : UNKNOWN;
}

/*
 * *low becomes the largest limit that is reached, which is the count.  False:
 * it cannot be found out in this way.
 */
static bool
search(uint64_t *low, rlim_t hard)
{
	uint64_t high = 0, next = 2;
	enum answer answer;

	*low = 1; /* this process */
	while (high == 0 || high - *low > 1) {
		if (next > hard)
			next = hard;
		answer = try_limit(next, hard);
		if (answer == UNKNOWN || next > MOST)
			return false;
		if (answer == BELOW)
			high = next;
		else
			*low = next;
		if (*low == hard)
			return true; /* or more: all that it may have */
		next = high == 0 ? next * 2 : *low + (high - *low) / 2;
	}
	return true;
}

static bool
ask_kernel(uint64_t *tasks)
{
	struct rlimit before;
	bool found;

	if (getrlimit(RLIMIT_NPROC, &before) < 0)
		return false;
	found = search(tasks, before.rlim_max);
	return setrlimit(RLIMIT_NPROC, &before) == 0 && found;
}

/* ------------------------------------------------ counted in /proc */

/*
 * A process's task directory has one link for each thread beside its own two.
 * Looking it up costs more than the process's own directory, whose owner tells
 * most processes apart.
 */
static uint64_t
threads_of(int proc, const char *pid, uid_t account)
{
	char path[300];
	struct stat st;

	if (fstatat(proc, pid, &st, 0) != 0 || st.st_uid != account)
		return 0;
	snprintf(path, sizeof(path), "%s/task", pid);
	if (fstatat(proc, path, &st, 0) != 0)
		return 0;
	return st.st_nlink > 2 ? st.st_nlink - 2 : 1;
}

static uint64_t
count_tasks(void)
{
	DIR *proc = opendir("/proc");
	uid_t account = geteuid();
	uint64_t total = 0;
	struct dirent *e;

	if (proc == NULL)
		return 0;
	while ((e = readdir(proc)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			total += threads_of(dirfd(proc), e->d_name, account);
	closedir(proc);
	return total;
}

uint64_t
tasks_count(void)
{
	static uint64_t counted_ms, tasks;
	uint64_t now = clock_ms();

	if (counted_ms == 0 || now - counted_ms >= FRESH_MS) {
		if (!ask_kernel(&tasks))
			tasks = count_tasks();
		counted_ms = now;
	}
	return tasks;
}

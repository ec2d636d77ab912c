/* SPDX-License-Identifier: MIT */
/*
 * The child between clone(2) and execve(2): descriptors, limits, signals, its
 * Landlock ruleset and filter, the program.  It runs in its parent's memory
 * (CLONE_VM): it calls only what signal-safety(7) lists, and system calls.
 */
#include "run/spawn_run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
child_failed(struct run *run, enum spawn_step step, int number)
{
	run->r->failed_step = step;
	run->r->failed_errno = number;
	return 127;
}

/* A host may have opened descriptors without close-on-exec. */
static int
child_close(void)
{
	struct rlimit most;

	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return 0;
	if (getrlimit(RLIMIT_NOFILE, &most) != 0)
		return errno;
	for (int fd = 3; fd < 65536 && (rlim_t)fd < most.rlim_cur; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

/* A hard limit that is already lower stays as it is. */
static int
child_limit(int what, rlim_t soft, rlim_t hard)
{
	struct rlimit want = { soft, hard }, have;

	if (setrlimit((__rlimit_resource_t)what, &want) == 0)
		return 0;
	if (errno != EPERM || getrlimit((__rlimit_resource_t)what, &have) != 0)
		return errno;
	want.rlim_max = hard < have.rlim_max ? hard : have.rlim_max;
	want.rlim_cur = soft < want.rlim_max ? soft : want.rlim_max;
	if (setrlimit((__rlimit_resource_t)what, &want) != 0)
		return errno;
	return 0;
}

/* The second of grace after RLIMIT_CPU lets SIGXCPU name the limit. */
static int
child_limits(const struct spawn_limits *l)
{
	const struct {
		int what;
		uint64_t value;
	} rest[] = { { RLIMIT_DATA, l->memory_bytes },
		{ RLIMIT_NPROC, l->processes },
		{ RLIMIT_NOFILE, l->open_files },
		{ RLIMIT_FSIZE, l->file_bytes } };
	/*
	 * Not 0, which forbids core files only: the program in core_pattern
	 * would still be started, on the host.  With 1 the kernel starts none
	 * (core(5), fs/coredump.c).
	 */
	int e = child_limit(RLIMIT_CORE, 1, 1);

	if (e == 0 && l->cpu_s > 0)
		e = child_limit(RLIMIT_CPU, l->cpu_s, (rlim_t)l->cpu_s + 1);
	for (size_t i = 0; i < ARRAY_LEN(rest) && e == 0; i++)
		if (rest[i].value > 0)
			e = child_limit(
				rest[i].what, rest[i].value, rest[i].value);
	return e;
}

/*
 * A handler would run in our memory, and an ignored signal stays ignored after
 * execve(2).  By number: libc's sigaction refuses its own two signals (32, 33),
 * which some parents leave ignored.  All zero is SIG_DFL in the kernel's struct
 * on every architecture.
 */
static void
child_signals(const struct signal_list *reset)
{
	static const uint64_t normal[8];

	for (size_t i = 0; i < reset->count; i++)
		syscall(SYS_rt_sigaction, (int)reset->number[i], normal, NULL,
			(size_t)(NSIG / 8));
}

static int
child_descriptors(const struct run *run)
{
	for (int fd = 0; fd < 3; fd++)
		if (dup2(run->child[fd], fd) < 0)
			return errno;
	return child_close();
}

/* As the last step: until then the ruleset may be descriptor 3. */
static int
child_report(int fd)
{
	if (fd < 0)
		return 0;
	if (fd == SPAWN_REPORT_FD)
		return fcntl(fd, F_SETFD, 0) < 0 ? errno : 0;
	return dup2(fd, SPAWN_REPORT_FD) < 0 ? errno : 0;
}

int
spawn_child_main(void *arg)
{
	struct run *run = arg;
	const struct spawn *s = run->s;
	sigset_t none;
	int e;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (s->dir_fd >= 0 && fchdir(s->dir_fd) != 0)
		return child_failed(run, SPAWN_STEP_CHDIR, errno);
	if ((e = child_descriptors(run)) != 0)
		return child_failed(run, SPAWN_STEP_DESCRIPTORS, e);
	if ((e = child_limits(&s->limits)) != 0)
		return child_failed(run, SPAWN_STEP_LIMITS, e);
	umask(077);
	child_signals(run->batch->reset);
	if (s->enter.child_enter != NULL &&
		(e = s->enter.child_enter(s->enter.ctx)) != 0)
		return child_failed(run, SPAWN_STEP_SANDBOX, e);
	if ((e = child_report(run->report[1])) != 0)
		return child_failed(run, SPAWN_STEP_DESCRIPTORS, e);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(s->program, s->argv, s->envp);
	return child_failed(run, SPAWN_STEP_EXEC, errno);
}

/* SPDX-License-Identifier: MIT */
/*
 * statespace-pipe: runs the stages of a pipeline, each with descriptors 0 to 2
 * only, and ends as the last one that failed did.  A stage before the last that
 * SIGPIPE ended did not fail: the next one had read enough.
 *
 * It signals nobody: when a stage cannot be started, it ends at once, and
 * who started it kills what is left (run/spawn.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/helper.h"
#include "tools/stages.h"

#define CANNOT_START 126 /* as sh(1) has them */
#define NO_PROGRAM 127

struct running {
	struct stage stages[STAGES_MAX];
	pid_t pids[STAGES_MAX];
	size_t count;
	int in; /* of the next stage; -1: an error */
};

static int
say_failed(const struct running *r, size_t i, int number)
{
	dprintf(STDERR_FILENO,
		STAGES_HELPER ": stage %zu: %s cannot be started: %s\n", i + 1,
		r->stages[i].name, strerror(number));
	return number == ENOENT ? NO_PROGRAM : CANNOT_START;
}

/* The child shares our memory until execve(2): only system calls. */
static int
start_stage(struct running *r, size_t i, int out)
{
	volatile int number = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		if (dup2(r->in, STDIN_FILENO) >= 0 &&
			dup2(out, STDOUT_FILENO) >= 0)
			execve(r->stages[i].program, r->stages[i].argv,
				environ);
		number = errno;
		_exit(NO_PROGRAM);
	}
	if (pid < 0)
		return errno;
	r->pids[i] = pid;
	return number;
}

/* One stage, and the pipe to the next one.  0 or errno. */
static int
start_next(struct running *r, size_t i)
{
	int ends[2] = { -1, STDOUT_FILENO };
	bool last = i + 1 == r->count;
	int number;

	if (!last && pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	number = start_stage(r, i, ends[1]);
	/* 0 and 1 stay: a pipe must not get their numbers. */
	if (r->in > STDERR_FILENO)
		close(r->in);
	if (ends[1] > STDERR_FILENO)
		close(ends[1]);
	r->in = ends[0];
	return number;
}

static bool
is_failure(int status, bool last)
{
	if (WIFSIGNALED(status))
		return last || WTERMSIG(status) != SIGPIPE;
	/* A shell reports the signal of its own last command so. */
	return WEXITSTATUS(status) != 0 &&
		(last || WEXITSTATUS(status) != 128 + SIGPIPE);
}

/* Waits for all of them; the status of the last one that failed. */
static int
wait_all(const struct running *r)
{
	int failed = 0, status;

	for (size_t i = 0; i < r->count; i++) {
		while (waitpid(r->pids[i], &status, 0) < 0)
			if (errno != EINTR)
				return NO_PROGRAM << 8;
		if (is_failure(status, i + 1 == r->count))
			failed = status;
	}
	return failed;
}

/* Ends as the stage did, so that its limit is known by its signal. */
static int
end_as(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	kill(getpid(), WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static bool
has_standard_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return false;
	return true;
}

/* What was open here is nobody's: each stage has 0, 1 and 2. */
static void
close_others(void)
{
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	for (int fd = 3; fd < 1024; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int
pipe_main(int argc, char **argv)
{
	struct running r = { .in = STDIN_FILENO };
	int number;

	r.count = stages_read(argc, argv, r.stages);
	if (r.count == 0 || !has_standard_descriptors()) {
		dprintf(STDERR_FILENO,
			"usage: " STAGES_HELPER
			" COUNT NAME PROGRAM WORD... ...\n");
		return 2;
	}
	close_others();
	for (size_t i = 0; i < r.count; i++)
		if ((number = start_next(&r, i)) != 0)
			return say_failed(&r, i, number);
	/* Whoever writes our input or reads our output sees the stages end. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	return end_as(wait_all(&r));
}

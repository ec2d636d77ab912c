/* SPDX-License-Identifier: MIT */
/*
 * The least that running a command can cost, for comparison: two pipes,
 * vfork, exec, read to the end, wait.  No limits, no checks, no confinement:
 * never use this for anything but measuring.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads fd to its end into text (cap bytes, the rest is dropped). */
static inline size_t
child_drain(int fd, char *text, size_t cap)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, cap - len - 1)) > 0)
		len = len + (size_t)n < cap - 1 ? len + (size_t)n : 0;
	close(fd);
	text[len] = '\0';
	return len;
}

/* Runs program with no arguments; its exit status, or -1. */
static inline int
child_run(const char *program, char *out, char *err, size_t cap)
{
	char name[] = "true", *argv[] = { name, NULL }, *empty[] = { NULL };
	int o[2], e[2], status;
	pid_t pid;

	if (pipe2(o, O_CLOEXEC) != 0 || pipe2(e, O_CLOEXEC) != 0)
		return -1;
	pid = vfork();
	if (pid == 0) {
		dup2(o[1], STDOUT_FILENO);
		dup2(e[1], STDERR_FILENO);
		execve(program, argv, empty);
		_exit(127);
	}
	close(o[1]);
	close(e[1]);
	child_drain(o[0], out, cap);
	child_drain(e[0], err, cap);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The answer object, for output that needs no escapes. */
static inline int
child_answer(char *text, size_t cap)
{
	char out[4096], err[4096];
	int code = child_run("/bin/true", out, err, sizeof(out));

	return snprintf(text, cap,
		"{\"stdout\":\"%s\",\"stderr\":\"%s\",\"returncode\":%d}", out,
		err, code);
}

#endif

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
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_WORDS 16
#define CHILD_OUT ((1 << 20) + 4096)
#define CHILD_TEXT (2 * CHILD_OUT + 4096)

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

/* Runs a command, found along the PATH; its exit status, or -1. */
static inline int
child_run(char *const argv[], char *out, char *err, size_t cap)
{
	char *empty[] = { NULL };
	int o[2], e[2], status;
	pid_t pid;

	if (pipe2(o, O_CLOEXEC) != 0 || pipe2(e, O_CLOEXEC) != 0)
		return -1;
	pid = vfork();
	if (pid == 0) {
		dup2(o[1], STDOUT_FILENO);
		dup2(e[1], STDERR_FILENO);
		execvpe(argv[0], argv, empty);
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

/* The strings of {"command": ["a", "b"]}, cut out where they stand. */
static inline void
child_words(char *body, char *argv[CHILD_WORDS + 1])
{
	char *at = strchr(body, '['), *end;
	int n = 0;

	while (at != NULL && n < CHILD_WORDS &&
		(at = strchr(at, '"')) != NULL &&
		(end = strchr(at + 1, '"')) != NULL) {
		*end = '\0';
		argv[n++] = at + 1;
		at = end + 1;
	}
	argv[n] = NULL;
}

/* Text as JSON has it, where lines are all that needs an escape. */
static inline size_t
child_escape(char *to, const char *text)
{
	char *at = to;

	for (; *text != '\0'; text++) {
		if (*text == '\n')
			*at++ = '\\';
		*at++ = *text == '\n' ? 'n' : *text;
	}
	return (size_t)(at - to);
}

/* The answer to a request's body; text has room for CHILD_TEXT bytes. */
static inline size_t
child_answer(char *body, char *text)
{
	static char out[CHILD_OUT], err[CHILD_OUT];
	char *argv[CHILD_WORDS + 1], *at = text;
	int code;

	child_words(body, argv);
	if (argv[0] == NULL)
		return 0;
	code = child_run(argv, out, err, CHILD_OUT);
	at += sprintf(at, "{\"stdout\":\"");
	at += child_escape(at, out);
	at += sprintf(at, "\",\"stderr\":\"");
	at += child_escape(at, err);
	at += sprintf(at, "\",\"returncode\":%d}", code);
	return (size_t)(at - text);
}

#endif

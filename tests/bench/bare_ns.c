/* SPDX-License-Identifier: MIT */
/*
 * A command in six new namespaces, and nothing else: no view, no filter, no
 * limits, no check.  What is above this is ours, what is below is the kernel's.
 *
 *	bare_ns PROGRAM WORD...
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "child.h"

#define NAMESPACES                                                             \
	(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |            \
		CLONE_NEWUTS)

extern char **environ;

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(1);
	close(fd);
}

/* As root the user namespace comes last, as in core/sandbox/confine.c. */
static int
inside(bool root, unsigned id, char **argv)
{
	char map[64];
	int status;
	pid_t pid;

	if (root && syscall(SYS_unshare, CLONE_NEWUSER) < 0)
		return 1;
	snprintf(map, sizeof(map), "%u %u 1", id, id);
	put("/proc/self/setgroups", "deny");
	put("/proc/self/uid_map", map);
	pid = vfork();
	if (pid == 0) {
		execvpe(argv[0], argv, environ);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int
main(int argc, char **argv)
{
	bool root = geteuid() == 0;
	unsigned id = geteuid();
	unsigned long flags = SIGCHLD | NAMESPACES | (root ? 0 : CLONE_NEWUSER);
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);
	if (pid == 0)
		_exit(inside(root, id, argv + 1));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

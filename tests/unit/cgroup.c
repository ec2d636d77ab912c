/* SPDX-License-Identifier: MIT */
/*
 * cgroup: the files, in a folder that plays the kernel's.  That a group really
 * bounds memory needs one that is delegated: the last checks, else skipped.
 */
#include "run/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "tap.h"

static char base[] = "/tmp/ss-cgroup-XXXXXX";
static int dir;

static void
put(const char *name, const char *text)
{
	int fd = openat(
		dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		exit(99);
	close(fd);
}

static bool
says(const char *name, const char *text)
{
	char got[64] = "";
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof(got) - 1);

	if (fd >= 0)
		close(fd);
	return n >= 0 && strcmp(got, text) == 0;
}

static bool
is_there(const char *name)
{
	return faccessat(dir, name, F_OK, 0) == 0;
}

/* Before anything was touched. */
static bool
is_refused(void)
{
	return !cgroup_delegate_at(dir) && says("pool/cgroup.procs", "") &&
		says("cgroup.subtree_control", "");
}

static void
check_delegation(void)
{
	mkdirat(dir, "pool", 0755);
	put("pool/cgroup.procs", "");
	put("cgroup.procs", "");
	put("cgroup.type", "domain\n");
	put("cgroup.subtree_control", "");
	ok(is_refused(), "a folder without controllers is not delegated");
	put("cgroup.controllers", "cpu pids memory_not\n");
	ok(is_refused(), "nor one without the memory controller");
	put("cgroup.controllers", "cpu memory pids\n");
	unlinkat(dir, "cgroup.type", 0);
	ok(is_refused(), "nor the machine's own group");
	put("cgroup.type", "domain\n");
	unlinkat(dir, "cgroup.subtree_control", 0);
	ok(!cgroup_delegate_at(dir) && says("cgroup.procs", "0"),
		"where memory is not given on this process comes back");
	put("cgroup.procs", "");
	put("cgroup.subtree_control", "");
	unlinkat(dir, "pool/cgroup.procs", 0);
	unlinkat(dir, "pool", AT_REMOVEDIR);
	ok(!cgroup_delegate_at(dir) && !is_there("pool") &&
			says("cgroup.procs", "0"),
		"where the leaf cannot be entered all is as it was");
	mkdirat(dir, "pool", 0755);
	put("pool/cgroup.procs", "");
	ok(cgroup_delegate_at(dir) && says("pool/cgroup.procs", "0") &&
			says("cgroup.subtree_control", "+memory"),
		"else this process is in the leaf and memory is given on");
}

static void
check_files(void)
{
	struct cgroup g = CGROUP_INIT;

	ok(cgroup_limit(&g, 1 << 20) == 0 && !cgroup_has_killed(&g),
		"no group is no limit, and no error");
	put("memory.max", "");
	put("memory.events", "low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\n");
	g.max = openat(dir, "memory.max", O_WRONLY | O_CLOEXEC);
	g.events = openat(dir, "memory.events", O_RDONLY | O_CLOEXEC);
	g.allowance = 1000;
	ok(cgroup_limit(&g, 2000) == 0 && says("memory.max", "3000"),
		"a limit is the tool's memory and the allowance");
	put("memory.max", "");
	ok(cgroup_limit(&g, 2000) == 0 && says("memory.max", ""),
		"the same limit again is no write");
	ok(cgroup_limit(&g, 0) == 0 && says("memory.max", "max"),
		"none is max");
	put("memory.max", "");
	ok(cgroup_limit(&g, UINT64_MAX - 1) == 0 && says("memory.max", "max"),
		"as is one that the allowance takes past the last number");
	ok(!cgroup_has_killed(&g), "nobody was killed");
	put("memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n");
	ok(cgroup_has_killed(&g) && !cgroup_has_killed(&g),
		"a kill is told once");
	fd_close(&g.max);
	g.max = openat(dir, "memory.max", O_RDONLY | O_CLOEXEC);
	is_int(EBADF, cgroup_limit(&g, 3000), "a refused write is an error");
	put("procs", "");
	g.procs = openat(dir, "procs", O_WRONLY | O_CLOEXEC);
	cgroup_join(&g);
	ok(says("procs", "0") && g.procs < 0 && g.max >= 0,
		"a process joins once");
	cgroup_join(&g);
	ok(g.max < 0 && g.events < 0, "without a group it has no limits");
	cgroup_close(&g);
	ok(g.max < 0 && g.events < 0, "and closed is as before");
}

/* Twice what it may have, in a child that is in the group. */
static int
overuse(struct cgroup *g)
{
	const size_t bytes = 64 << 20;
	char *p;

	cgroup_join(g);
	if (g->max < 0)
		return 2;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 3;
	memset(p, 1, bytes);
	return 0;
}

static void
check_kernel(void)
{
	struct cgroup g;
	int status = 0;
	pid_t pid;

	if (!cgroup_delegate()) {
		skip(3, "no control group is delegated to this test");
		return;
	}
	ok(cgroup_open(&g, 1 << 20), "a group is made");
	is_int(0, cgroup_limit(&g, 31 << 20), "and limited");
	pid = fork();
	if (pid == 0)
		_exit(overuse(&g));
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
			cgroup_has_killed(&g),
		"a process in it that takes more is ended, and that is told");
	cgroup_close(&g);
	cgroup_return();
}

int
main(void)
{
	char command[64];

	if (mkdtemp(base) == NULL)
		return 99;
	dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check_delegation();
	check_files();
	check_kernel();
	close(dir);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	ok(system(command) == 0, "nothing is left");
	return done();
}

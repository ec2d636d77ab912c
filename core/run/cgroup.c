/* SPDX-License-Identifier: MIT */
/* The files are those of the kernel's Documentation/admin-guide/cgroup-v2. */
#include "run/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"

#define MOUNT "/sys/fs/cgroup"
#define CGROUP2_MAGIC 0x63677270
#define LEAF "pool"
#define GROUPS_MAX 4096

/* The delegated group; -1.  A fork uses it; only the owner returns it. */
static int ours = -1;
static pid_t owner;

static ssize_t
read_file(int dir, const char *name, char *out, size_t cap)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, cap - 1);

	fd_close(&fd);
	out[n > 0 ? n : 0] = '\0';
	return n;
}

static bool
write_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 &&
		write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	fd_close(&fd);
	return done;
}

static bool
has_memory(int dir)
{
	char text[512], *save, *word;

	read_file(dir, "cgroup.controllers", text, sizeof(text));
	word = strtok_r(text, " \n", &save);
	while (word != NULL && strcmp(word, "memory") != 0)
		word = strtok_r(NULL, " \n", &save);
	return word != NULL;
}

/* The line "0::/path" of /proc/self/cgroup is that of version 2. */
static int
open_own(void)
{
	char text[8192], path[PATH_MAX], *line;
	struct statfs fs;
	int n;

	if (statfs(MOUNT, &fs) < 0 || fs.f_type != CGROUP2_MAGIC ||
		read_file(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) <=
			0)
		return -1;
	line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (line == NULL)
		return -1;
	line = strchr(line, '/');
	if (line == NULL)
		return -1;
	line[strcspn(line, "\n")] = '\0';
	n = snprintf(path, sizeof(path), MOUNT "%s", line);
	return n > 0 && (size_t)n < sizeof(path)
		? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
		: -1;
}

/*
 * cgroup v2: a group with processes of its own cannot enable controllers for
 * its children (cgroup.subtree_control), so this process moves to a leaf.
 */
bool
cgroup_delegate_at(int dir)
{
	if (!has_memory(dir) ||
		/* the root group has no such file */
		faccessat(dir, "cgroup.type", F_OK, 0) != 0 ||
		(mkdirat(dir, LEAF, 0755) < 0 && errno != EEXIST))
		return false;
	if (write_file(dir, LEAF "/cgroup.procs", "0") &&
		write_file(dir, "cgroup.subtree_control", "+memory"))
		return true;
	write_file(dir, "cgroup.procs", "0");
	unlinkat(dir, LEAF, AT_REMOVEDIR);
	return false;
}

bool
cgroup_delegate(void)
{
	if (ours >= 0)
		return true;
	ours = open_own();
	if (ours >= 0 && !cgroup_delegate_at(ours))
		fd_close(&ours);
	owner = getpid();
	return ours >= 0;
}

static const char *
group_name(unsigned i, char name[16])
{
	snprintf(name, 16, "worker%u", i);
	return name;
}

void
cgroup_return(void)
{
	char name[16];

	if (ours < 0 || owner != getpid())
		return;
	for (unsigned i = 0; i < GROUPS_MAX; i++)
		if (unlinkat(ours, group_name(i, name), AT_REMOVEDIR) < 0 &&
			errno == ENOENT)
			break;
	write_file(ours, "cgroup.subtree_control", "-memory");
	write_file(ours, "cgroup.procs", "0");
	unlinkat(ours, LEAF, AT_REMOVEDIR);
	fd_close(&ours);
}

/* Removes and makes a dead worker's group, so that its counters start at 0. */
static int
make_group(void)
{
	char name[16];

	for (unsigned i = 0; i < GROUPS_MAX; i++) {
		unlinkat(ours, group_name(i, name), AT_REMOVEDIR);
		if (mkdirat(ours, name, 0755) == 0)
			return openat(
				ours, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

bool
cgroup_open(struct cgroup *g, uint64_t allowance)
{
	int dir = ours < 0 ? -1 : make_group();

	*g = CGROUP_INIT;
	if (dir < 0)
		return false;
	g->allowance = allowance;
	/* Kernels without swap have no such file. */
	write_file(dir, "memory.swap.max", "0");
	g->procs = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	g->max = openat(dir, "memory.max", O_WRONLY | O_CLOEXEC);
	g->events = openat(dir, "memory.events", O_RDONLY | O_CLOEXEC);
	fd_close(&dir);
	if (g->procs >= 0 && g->max >= 0 && g->events >= 0)
		return true;
	cgroup_close(g);
	return false;
}

void
cgroup_join(struct cgroup *g)
{
	if (g->procs < 0 || write(g->procs, "0", 1) != 1)
		cgroup_close(g);
	fd_close(&g->procs);
}

void
cgroup_close(struct cgroup *g)
{
	fd_close(&g->procs);
	fd_close(&g->max);
	fd_close(&g->events);
}

int
cgroup_limit(struct cgroup *g, uint64_t bytes)
{
	char text[32] = "max";
	ssize_t n;

	if (g->max < 0 || bytes == g->limit)
		return 0;
	if (bytes > 0 && bytes < UINT64_MAX - g->allowance)
		snprintf(text, sizeof(text), "%" PRIu64, bytes + g->allowance);
	n = pwrite(g->max, text, strlen(text), 0);
	if (n != (ssize_t)strlen(text))
		return n < 0 ? errno : EIO;
	g->limit = bytes;
	return 0;
}

bool
cgroup_has_killed(struct cgroup *g)
{
	char text[512];
	const char *line;
	uint64_t kills, before = g->kills;
	ssize_t n;

	if (g->events < 0)
		return false;
	n = pread(g->events, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\noom_kill ");
	kills = line != NULL ? strtoull(line + 10, NULL, 10) : before;
	g->kills = kills;
	return kills > before;
}

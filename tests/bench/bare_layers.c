/* SPDX-License-Identifier: MIT */
/*
 * What the kernel does for one command at each level, and nothing of ours: the
 * same processes, mounts, rules and filters one after the other, with no
 * configuration, page, check, limit of output or message.  It is measured, and
 * confines nothing that anybody should rely on.
 *
 *	bare_layers strict|landlock|off SITE PROGRAM WORD...
 *
 * What it leaves out of the calls that a run makes are those whose result
 * nobody here reads; `strace -c` of both says which.
 */
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/loader.h"
#include "sandbox/mount.h"
#include "sandbox/view.h"

#define ACCOUNT 65534

enum level { OFF, LANDLOCK, STRICT };

extern char **environ;
static const char *site;

static void
must(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	_exit(1);
}

/* ------------------------------------------------------------- the view */

static void
put_at(int dir, const char *name, const char *text, int flags)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC | flags, 0444);

	must(fd >= 0 && write(fd, text, strlen(text)) > 0, name);
	close(fd);
}

/* In a directory of the new root that is made already. */
static void
bind_at(int root, const char *from, const char *to, unsigned long attr)
{
	char link[256];
	struct stat st;
	int tree;
	ssize_t n;

	if (fstatat(AT_FDCWD, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISLNK(st.st_mode)) {
		n = readlink(from, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		must(symlinkat(link, root, to) == 0, to);
		return;
	}
	tree = mount_copy(AT_FDCWD, from, attr);
	must(tree >= 0, from);
	must((S_ISDIR(st.st_mode) ? mkdirat(root, to, 0755)
				  : mknodat(root, to, S_IFREG, 0)) == 0,
		to);
	must(syscall(SYS_move_mount, tree, "", root, to,
		     MOVE_MOUNT_F_EMPTY_PATH) == 0,
		to);
	close(tree);
}

static void
bind_all(int root, const char *const *paths, unsigned long attr)
{
	for (; *paths != NULL; paths++)
		bind_at(root, *paths, *paths + 1, attr);
}

static void
cover_loader(int root)
{
	struct mount_attr runs = { .attr_clr = MOUNT_ATTR_NOEXEC,
		.attr_set = MOUNT_READ_ONLY };
	int from = open(loader_paths[0], O_RDONLY | O_CLOEXEC);
	int to = openat(root, "l", O_RDWR | O_CREAT | O_CLOEXEC, 0555);
	int target = mount_open_in(root, loader_paths[0], O_PATH), tree;

	if (from < 0)
		return;
	must(loader_copy(from, to) == 0, "loader");
	tree = (int)syscall(SYS_open_tree, to, "",
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	must(syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &runs,
		     sizeof(runs)) == 0 &&
			mount_attach(tree, target),
		"cover the loader");
	unlinkat(root, "l", 0);
	close(from);
	close(to);
	close(target);
	close(tree);
}

static void
mount_at(int root, const char *to, const char *type,
	const struct mount_option *options)
{
	int fd = mount_new(type, options, MOUNT_WRITABLE);

	must(fd >= 0, type);
	if (to != NULL)
		must(mkdirat(root, to, 0755) == 0 &&
				syscall(SYS_move_mount, fd, "", root, to,
					MOVE_MOUNT_F_EMPTY_PATH) == 0,
			to);
	close(fd);
}

static void
enter_view(void)
{
	static const char *const directories[] = { "dev", "etc", "etc/ssl",
		NULL };
	const struct mount_option whole[] = { { "mode", "0755" },
		{ "size", "8m" }, { "nr_inodes", "4096" }, { NULL, NULL } };
	const struct mount_option scratch[] = { { "mode", "0700" },
		{ "size", "64m" }, { "nr_inodes", "10001" }, { "uid", "65534" },
		{ "gid", "65534" }, { NULL, NULL } };
	const struct mount_option pids[] = { { "subset", "pid" },
		{ NULL, NULL } };
	struct mount_attr set = { .attr_set = MOUNT_READ_ONLY };
	int root;

	must(syscall(SYS_mount, NULL, "/", NULL, 1 << 18 | 1 << 14, NULL) == 0,
		"private");
	root = mount_new("tmpfs", whole, MOUNT_WRITABLE);
	must(root >= 0 &&
			syscall(SYS_move_mount, root, "", AT_FDCWD, "/",
				MOVE_MOUNT_F_EMPTY_PATH) == 0,
		"root");
	mount_at(root, NULL, "proc", pids);
	for (size_t i = 0; directories[i] != NULL; i++)
		must(mkdirat(root, directories[i], 0755) == 0, directories[i]);
	bind_all(root, view_program_trees, MOUNT_READ_ONLY);
	bind_all(root, view_devices, MOUNT_DEVICE);
	put_at(root, "etc/passwd", "root:x:0:0::/:/bin/sh\n", O_CREAT);
	put_at(root, "etc/group", "root:x:0:\n", O_CREAT);
	put_at(root, "etc/nsswitch.conf", "passwd: files\n", O_CREAT);
	put_at(root, "etc/hosts", "127.0.0.1 localhost\n", O_CREAT);
	bind_all(root, view_etc_entries, MOUNT_READ_ONLY);
	bind_at(root, site, "site", MOUNT_READ_ONLY);
	cover_loader(root);
	mount_at(root, "tmp", "tmpfs", scratch);
	must(syscall(SYS_mount_setattr, root, "", AT_EMPTY_PATH, &set,
		     sizeof(set)) == 0 &&
			fchdir(root) == 0 &&
			syscall(SYS_pivot_root, ".", ".") == 0 &&
			syscall(SYS_umount2, ".", 2) == 0 && chdir("/") == 0,
		"pivot_root");
	close(root);
}

/* ------------------------------------------------------ less and less power */

static void
lose_power(bool root)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	for (unsigned long cap = 0; root && cap < 41; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	must(syscall(SYS_capset, &head, none) == 0 &&
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
			prctl(PR_SET_DUMPABLE, 0) == 0,
		"lose power");
}

static void
become_account(void)
{
	must(syscall(SYS_setgroups, 0, NULL) == 0 &&
			syscall(SYS_setresgid, ACCOUNT, ACCOUNT, ACCOUNT) ==
				0 &&
			syscall(SYS_setresuid, ACCOUNT, ACCOUNT, ACCOUNT) == 0,
		"account");
}

static void
map_account(int proc, unsigned id)
{
	char map[64];

	prctl(PR_SET_DUMPABLE, 1);
	snprintf(map, sizeof(map), "%u %u 1", id, id);
	put_at(proc, "self/setgroups", "deny", 0);
	put_at(proc, "self/uid_map", map, 0);
	put_at(proc, "self/gid_map", map, 0);
}

static void
allow_all(int ruleset, int abi, const char *const *paths, unsigned rights)
{
	int fd;

	for (; *paths != NULL; paths++) {
		fd = open(*paths, O_PATH | O_CLOEXEC);
		if (fd < 0)
			continue;
		landlock_allow_fd(ruleset, abi, fd, rights);
		close(fd);
	}
}

static int
make_ruleset(enum level level, const char *program, const char *scratch)
{
	const char *const etc[] = { "/etc", NULL };
	const char *const run[] = { program, NULL };
	const char *const own[] = { level == STRICT ? "/site" : site, NULL };
	const char *const writable[] = { scratch, NULL };
	int abi = landlock_abi(0), ruleset = landlock_new(abi, false);

	must(ruleset >= 0, "ruleset");
	allow_all(ruleset, abi, view_library_trees, LAND_READ);
	allow_all(ruleset, abi, run, LAND_READ | LAND_EXECUTE);
	allow_all(ruleset, abi, loader_paths, LAND_READ | LAND_EXECUTE);
	allow_all(ruleset, abi, level == STRICT ? etc : view_etc_entries,
		LAND_READ);
	allow_all(ruleset, abi, view_devices, LAND_DEVICE);
	allow_all(ruleset, abi, own, LAND_READ);
	allow_all(ruleset, abi, writable, LAND_WRITE);
	return ruleset;
}

static void
enter_filters(bool strict)
{
	int listener;

	must(filter_child_listen(
		     filter_whole(0, strict, false), NULL, &listener) == 0,
		"filter");
}

/* ------------------------------------------------------------- the command */

static const char *
program_of(char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "/usr/bin/%s", name);
	return path;
}

static void
start(const char *program, char **argv, int ruleset, const int out[2],
	const int err[2])
{
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out[1], 1);
	dup2(err[1], 2);
	if (ruleset >= 0)
		syscall(SYS_landlock_restrict_self, ruleset, 0);
	execve(program, argv, environ);
	_exit(127);
}

/* Until both streams have ended. */
static void
pass_on(int out, int err, int answer)
{
	static char text[65536];
	struct pollfd p[2] = { { out, POLLIN, 0 }, { err, POLLIN, 0 } };
	ssize_t n;

	for (int ends = 0; ends < 2;) {
		must(poll(p, 2, -1) > 0, "poll");
		for (int i = 0; i < 2; i++) {
			if (p[i].revents == 0)
				continue;
			n = read(p[i].fd, text, sizeof(text));
			if (n > 0) {
				must(write(answer, text, (size_t)n) == n,
					"write");
				continue;
			}
			p[i].fd = -1;
			ends++;
		}
	}
}

static int
run(const char *program, char **argv, int ruleset, int answer)
{
	int out[2], err[2], status;
	pid_t pid;

	must(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0, "pipe2");
	pid = vfork();
	if (pid == 0)
		start(program, argv, ruleset, out, err);
	close(out[1]);
	close(err[1]);
	pass_on(out[0], err[0], answer);
	must(pid > 0 && waitpid(pid, &status, 0) == pid, "wait");
	return WEXITSTATUS(status);
}

static int
confined(enum level level, bool root, char **argv, int answer)
{
	const char *program = program_of(argv[0]);
	char scratch[] = "/tmp/bare-layers.XXXXXX";
	int proc = open("/proc", O_PATH | O_CLOEXEC), ruleset = -1, status;

	if (level == STRICT && !root)
		map_account(proc, geteuid());
	if (level == STRICT)
		enter_view();
	if (root)
		become_account();
	if (level == STRICT && root) {
		prctl(PR_SET_DUMPABLE, 1);
		must(syscall(SYS_unshare, CLONE_NEWUSER) == 0, "unshare");
		map_account(proc, ACCOUNT);
	}
	if (level != STRICT)
		must(mkdtemp(scratch) != NULL, "scratch");
	lose_power(root && level == STRICT);
	if (level != OFF) {
		enter_filters(level == STRICT);
		ruleset = make_ruleset(
			level, program, level == STRICT ? "/tmp" : scratch);
	}
	status = run(program, argv, ruleset, answer);
	if (level != STRICT)
		rmdir(scratch);
	return status;
}

int
main(int argc, char **argv)
{
	bool root = geteuid() == 0;
	enum level level = argc < 4              ? OFF
		: strcmp(argv[1], "off") == 0    ? OFF
		: strcmp(argv[1], "strict") == 0 ? STRICT
						 : LANDLOCK;
	unsigned long flags = SIGCHLD;
	static char text[65536];
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	if (argc < 4)
		return 2;
	site = argv[2];
	if (level == STRICT)
		flags |= CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
			CLONE_NEWIPC | CLONE_NEWUTS |
			(root ? 0 : CLONE_NEWUSER);
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
		"socketpair");
	pid = (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);
	if (pid == 0) {
		close(ends[0]);
		_exit(confined(level, root, argv + 3, ends[1]));
	}
	close(ends[1]);
	while ((n = read(ends[0], text, sizeof(text))) > 0)
		n = write(STDOUT_FILENO, text, (size_t)n);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

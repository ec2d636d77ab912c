/* SPDX-License-Identifier: MIT */
/*
 * Tries what this kernel and account can confine, instead of trusting version
 * numbers: each layer in a child of its own.
 */
#include "sandbox/sandbox_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/bounds.h"
#include "sandbox/confine.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/loader.h"

/* Runs in the child; false with errno, and with a detail where it helps. */
typedef bool (*probe_fn)(const struct sandbox_plan *plan, char *detail);

#define DETAIL_SIZE sizeof(((struct sandbox_probe *)0)->detail)

static bool
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = fd < 0 ? errno : fd_write_all(fd, text, strlen(text));

	fd_close(&fd);
	errno = error;
	return error == 0;
}

static bool
become_account(const struct sandbox_plan *p)
{
	return account_become(&p->account) &&
		(!p->account.drop || prctl(PR_SET_DUMPABLE, 1) == 0);
}

static bool
own_user_namespace(const struct sandbox_plan *p)
{
	char map[64];

	snprintf(map, sizeof(map), "%u %u 1", p->account.uid, p->account.uid);
	return become_account(p) && unshare(CLONE_NEWUSER) == 0 &&
		write_file("/proc/self/setgroups", "deny") &&
		write_file("/proc/self/uid_map", map);
}

/* Root makes the other namespaces without a user namespace. */
static bool
own_namespace(const struct sandbox_plan *p, int flags)
{
	return (p->account.drop || own_user_namespace(p)) &&
		unshare(flags) == 0;
}

static bool
try_user(const struct sandbox_plan *p, char *detail)
{
	(void)detail;
	return own_user_namespace(p);
}

static bool
try_mount(const struct sandbox_plan *p, char *detail)
{
	struct mount_attr set = { .attr_set = MOUNT_ATTR_RDONLY };
	int tree;

	(void)detail;
	if (!own_namespace(p, CLONE_NEWNS) ||
		syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) <
			0)
		return false;
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, "/usr",
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | 0x8000 /* recursive */);
	return tree >= 0 &&
		syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &set,
			sizeof(set)) == 0;
}

static bool
try_pid(const struct sandbox_plan *p, char *detail)
{
	int status;
	pid_t pid;

	(void)detail;
	if (!own_namespace(p, CLONE_NEWPID))
		return false;
	pid = fork();
	if (pid == 0)
		_exit(getpid() != 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool
try_network(const struct sandbox_plan *p, char *detail)
{
	(void)detail;
	return own_namespace(p, CLONE_NEWNET);
}

static bool
try_ipc(const struct sandbox_plan *p, char *detail)
{
	(void)detail;
	return own_namespace(p, CLONE_NEWIPC | CLONE_NEWUTS);
}

static int
main_of_none(void *ctx)
{
	(void)ctx;
	return 0;
}

/* In a child at the strict level: does its main return 0? */
static bool
try_child(const struct sandbox_plan *p, unsigned keeps, int (*main)(void *ctx),
	char *detail)
{
	struct sandbox_plan plan = *p;
	struct confine_request request = { .level = SANDBOX_STRICT,
		.keeps = keeps,
		.only = -1,
		.main = main };
	struct step failed;
	int status = 0;
	pid_t pid;

	if (!confine_start(&plan, &request, &pid, &failed)) {
		snprintf(detail, DETAIL_SIZE, "%.80s: %s", failed.name,
			strerror(failed.number));
		errno = failed.number;
		return false;
	}
	if (waitpid(pid, &status, 0) == pid && status == 0)
		return true;
	errno = EPERM;
	return false;
}

static bool
try_strict(const struct sandbox_plan *p, char *detail)
{
	return try_child(p, 0, main_of_none, detail);
}

/* view_enter leaves /proc out where it cannot be mounted. */
static int
has_proc(void *ctx)
{
	(void)ctx;
	return access("/proc/self", F_OK) == 0 ? 0 : 1;
}

static bool
try_proc(const struct sandbox_plan *p, char *detail)
{
	bool works = try_child(p, KEEP_PROC, has_proc, detail);

	detail[0] = '\0'; /* the view's line has it */
	return works;
}

static int
memory_is_read(void *ctx)
{
	(void)ctx;
	return bounds_watch() ? 0 : 1;
}

/* 0: none of them runs a program. */
static int
loaders_run(void *ctx)
{
	int status;
	pid_t pid;

	(void)ctx;
	for (const char *const *path = loader_paths; *path != NULL; path++) {
		pid = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L,
			spawn_pass, spawn_pass);
		if (pid == 0) {
			execl(*path, *path, "/bin/true", (char *)NULL);
			_exit(1);
		}
		if (waitpid(pid, &status, 0) != pid || status == 0)
			return 1;
	}
	return 0;
}

static bool
try_loaders(const struct sandbox_plan *p, char *detail)
{
	bool works = try_child(p, 0, loaders_run, detail);

	if (works)
		snprintf(detail, DETAIL_SIZE, "ld.so PROGRAM is refused");
	return works;
}

static bool
try_landlock(const struct sandbox_plan *p, char *detail)
{
	int abi = landlock_abi(p->landlock_abi_max);
	int rules, fd;

	snprintf(detail, DETAIL_SIZE, "ABI %d: files%s%s%s", abi,
		abi >= 3 ? ", truncation" : "", abi >= 4 ? ", TCP" : "",
		abi >= 6 ? ", signals, abstract sockets" : "");
	if (abi < 3) {
		errno = EOPNOTSUPP;
		return false;
	}
	rules = landlock_new(abi, false);
	if (rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return false;
	errno = landlock_child_enter(rules);
	if (errno != 0)
		return false;
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == EACCES)
		return true;
	fd_close(&fd);
	errno = ENOTSUP; /* the kernel accepted it, without effect */
	return false;
}

static bool
try_filter(const struct sandbox_plan *p, char *detail)
{
	const struct filter *filter = filter_whole(0, true);
	int fd;

	(void)p;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return false;
	errno = filter_child_enter(filter);
	if (errno != 0)
		return false;
	snprintf(detail, DETAIL_SIZE, "%u instructions", filter->count);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 && errno == EAFNOSUPPORT)
		return true;
	fd_close(&fd);
	errno = ENOTSUP;
	return false;
}

/* The one limit that depends on the account and on the namespace. */
static bool
try_processes(const struct sandbox_plan *p, char *detail)
{
	if ((!p->account.drop || own_user_namespace(p)) &&
		bounds_processes_bind())
		return true;
	if (p->account.drop) {
		errno = errno != 0 ? errno : ENOTSUP;
		return false;
	}
	snprintf(detail, DETAIL_SIZE,
		"counted here: the account is the machine's root");
	return try_child(p, 0, main_of_none, detail);
}

static bool
try_group(const struct sandbox_plan *p, char *detail)
{
	bool works = cgroup_delegate();

	(void)p;
	snprintf(detail, DETAIL_SIZE, "%s",
		works ? "the kernel bounds a tool's processes together"
		      : "the kernel does not bound a tool's processes together");
	cgroup_return();
	errno = EBUSY;
	return works;
}

/* Without a group: what bounds the processes of a tool together. */
static bool
try_memory(const struct sandbox_plan *p, char *detail)
{
	bool works = try_child(p, 0, memory_is_read, detail);

	snprintf(detail, DETAIL_SIZE, "%s",
		works ? "of all processes together, every 50 ms"
		      : "of each process by itself");
	return works;
}

static bool
try_subreaper(const struct sandbox_plan *p, char *detail)
{
	(void)p;
	(void)detail;
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

/* ------------------------------------------------------------ remedies */

static char
first_byte(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char c = '\0';

	if (fd >= 0 && read(fd, &c, 1) != 1)
		c = '\0';
	fd_close(&fd);
	return c;
}

/* Why distributions and containers refuse namespaces, most likely first. */
static const char *
remedy_namespaces(void)
{
	if (first_byte("/proc/sys/kernel/"
		       "apparmor_restrict_unprivileged_userns") == '1')
		return "AppArmor restricts user namespaces (Ubuntu): give this "
		       "program a profile with the rule userns, or set "
		       "kernel.apparmor_restrict_unprivileged_userns=0";
	if (first_byte("/proc/sys/kernel/unprivileged_userns_clone") == '0')
		return "set kernel.unprivileged_userns_clone=1 (sysctl)";
	if (first_byte("/proc/sys/user/max_user_namespaces") == '0')
		return "set user.max_user_namespaces to a few hundred (sysctl)";
	if (access("/.dockerenv", F_OK) == 0 ||
		access("/run/.containerenv", F_OK) == 0)
		return "this is a container: its seccomp and AppArmor profiles "
		       "must allow unshare, mount and pivot_root (docker: "
		       "--security-opt seccomp=FILE --security-opt "
		       "apparmor=unconfined --security-opt "
		       "systempaths=unconfined)";
	return "the kernel needs CONFIG_USER_NS and Linux 5.12 or newer";
}

static const char *
remedy_landlock(void)
{
	return "Linux 6.2 or newer with CONFIG_SECURITY_LANDLOCK, and landlock "
	       "in the lsm= list of the kernel's command line";
}

static const char *
remedy_filter(void)
{
	return "the kernel needs CONFIG_SECCOMP_FILTER";
}

static const char *
remedy_loaders(void)
{
	return "needs the view of the site; without it a tool can run what it "
	       "can read through the loader";
}

static const char *
remedy_group(void)
{
	return "a control group (v2) of its own: Delegate=memory in the unit";
}

static const char *
remedy_proc(void)
{
	return "containers mask parts of /proc: unmask it (docker: "
	       "--security-opt systempaths=unconfined)";
}

static const struct {
	const char *name;
	probe_fn try;
	bool needed;
	const char *(*remedy)(void);
} probes[] = {
	{ "user namespace", try_user, true, remedy_namespaces },
	{ "mount namespace", try_mount, true, remedy_namespaces },
	{ "pid namespace", try_pid, true, remedy_namespaces },
	{ "network namespace", try_network, true, remedy_namespaces },
	{ "ipc and uts namespaces", try_ipc, true, remedy_namespaces },
	{ "process limit", try_processes, true, remedy_namespaces },
	{ "system call filter", try_filter, true, remedy_filter },
	{ "landlock", try_landlock, true, remedy_landlock },
	{ "subreaper", try_subreaper, true, remedy_filter },
	{ "view of the site", try_strict, true, remedy_namespaces },
	{ "closed exec sets", try_loaders, false, remedy_loaders },
	{ "private /proc", try_proc, false, remedy_proc },
	{ "memory read", try_memory, false, remedy_proc },
	{ "memory group", try_group, false, remedy_group },
};

struct verdict {
	int error;
	char detail[DETAIL_SIZE];
};

/* In a child, since no layer can be removed again. */
static struct verdict
try_apart(const struct sandbox_plan *plan, probe_fn try)
{
	struct verdict v = { .error = EIO };
	int ends[2];
	pid_t pid;

	v.error = fd_pipe(ends);
	if (v.error != 0)
		return v;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		errno = 0;
		v.error = try(plan, v.detail) ? 0 : errno != 0 ? errno : EIO;
		_exit(write(ends[1], &v, sizeof(v)) != (ssize_t)sizeof(v));
	}
	fd_close(&ends[1]);
	if (pid < 0 || read(ends[0], &v, sizeof(v)) != (ssize_t)sizeof(v))
		v = (struct verdict){ .error = EIO };
	fd_close(&ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return v;
}

size_t
sandbox_probe(
	const struct sandbox_plan *plan, struct sandbox_probe *out, size_t cap)
{
	size_t count = 0;
	struct verdict v;

	for (; count < ARRAY_LEN(probes) && count < cap; count++) {
		v = try_apart(plan, probes[count].try);
		out[count] = (struct sandbox_probe){ .name = probes[count].name,
			.works = v.error == 0,
			.needed = probes[count].needed,
			.remedy =
				v.error == 0 ? NULL : probes[count].remedy() };
		if (v.error == 0 || v.detail[0] != '\0')
			snprintf(
				out[count].detail, DETAIL_SIZE, "%s", v.detail);
		else
			snprintf(out[count].detail, DETAIL_SIZE, "%s",
				strerror(v.error));
	}
	return count;
}

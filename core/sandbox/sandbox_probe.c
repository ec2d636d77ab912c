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
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/bounds.h"
#include "sandbox/confine.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/loader.h"
#include "sandbox/remedy.h"

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

/* In a probe's child: the part that failed. */
static enum step_part failed_part;

static bool
become_account(const struct sandbox_plan *p)
{
	if (!account_become(&p->account)) {
		failed_part = PART_ACCOUNT;
		return false;
	}
	return !p->account.drop || prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool
own_user_namespace(const struct sandbox_plan *p)
{
	char map[64];

	snprintf(map, sizeof(map), "%u %u 1", p->account.uid,
		p->account.own_uid);
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
	if (!own_namespace(p, CLONE_NEWNS))
		return false;
	/* EINVAL from here on: the root directory is no mount. */
	failed_part = PART_VIEW;
	if (syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, "/",
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

/* In a child at this level: does its main return 0? */
static bool
try_level(const struct sandbox_plan *p, enum sandbox_level level,
	unsigned keeps, int (*main)(void *ctx), char *detail)
{
	struct sandbox_plan plan = *p;
	struct confine_request request = {
		.level = level, .keeps = keeps, .only = -1, .main = main
	};
	struct step failed;
	int status = 0;
	pid_t pid;

	if (!confine_start(&plan, &request, &pid, &failed)) {
		snprintf(detail, DETAIL_SIZE, "%.80s: %s", failed.name,
			strerror(failed.number));
		failed_part = failed.part;
		errno = failed.number;
		return false;
	}
	if (waitpid(pid, &status, 0) == pid && status == 0)
		return true;
	errno = EPERM;
	return false;
}

static bool
try_child(const struct sandbox_plan *p, unsigned keeps, int (*main)(void *ctx),
	char *detail)
{
	return try_level(p, SANDBOX_STRICT, keeps, main, detail);
}

static bool
try_outside(const struct sandbox_plan *p, char *detail)
{
	return try_level(p, SANDBOX_LANDLOCK, 0, main_of_none, detail);
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

	snprintf(detail, DETAIL_SIZE, "ABI %d%s%s%s%s", abi,
		abi >= 1 ? ": files" : "", abi >= 3 ? ", truncation" : "",
		abi >= 4 ? ", TCP" : "",
		abi >= 6 ? ", signals, abstract sockets" : "");
	errno = landlock_check(p->landlock_abi_max);
	if (errno != 0)
		return false;
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
	const struct filter *filter = filter_whole(0, true, false);
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
	if (become_account(p) && bounds_processes_bind())
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

/* -------------------------------------------------------------------- places */

static bool
try_devices(const struct sandbox_plan *p, char *detail)
{
	(void)detail;
	return become_account(p) && access("/dev/null", R_OK | W_OK) == 0;
}

/* Read in the parent, since a probe's child may have other rights. */
static struct place place;

static bool
show_container(const struct sandbox_plan *p, char *detail)
{
	(void)p;
	snprintf(detail, DETAIL_SIZE, "%s%s", place_engine_name(place.engine),
		place.unit ? ", started by systemd" : "");
	return true;
}

static bool
show_refusals(const struct sandbox_plan *p, char *detail)
{
	(void)p;
	snprintf(detail, DETAIL_SIZE, "seccomp filter: %s; %s: %s",
		place.filtered ? "one is in force" : "none",
		place.selinux ? "SELinux" : "AppArmor",
		place.profile[0] != '\0' ? place.profile : "none");
	return true;
}

static size_t
add_setting(char *detail, size_t len, const char *name, long value)
{
	int n;

	if (value < 0)
		return len;
	n = snprintf(detail + len, DETAIL_SIZE - len, "%s%s=%ld",
		len > 0 ? ", " : "", name, value);
	return n < 0 || (size_t)n >= DETAIL_SIZE - len ? len : len + (size_t)n;
}

static bool
show_settings(const struct sandbox_plan *p, char *detail)
{
	size_t len = 0;

	(void)p;
	len = add_setting(detail, len, "user.max_user_namespaces",
		place.max_user_namespaces);
	len = add_setting(detail, len, "kernel.unprivileged_userns_clone",
		place.userns_clone);
	add_setting(detail, len, "kernel.apparmor_restrict_unprivileged_userns",
		place.apparmor_userns);
	return true;
}

/* "overlay, read-only, noexec": how a path is mounted; false: it is not. */
static bool
show_mount(const char *path, char *detail)
{
	struct statvfs fs;

	if (path == NULL || path[0] == '\0' || statvfs(path, &fs) < 0) {
		snprintf(detail, DETAIL_SIZE, "none");
		return false;
	}
	snprintf(detail, DETAIL_SIZE, "%s%s%s%s%s",
		strcmp(path, "/") != 0  ? ""
			: place.overlay ? "overlay, "
					: "",
		fs.f_flag & ST_RDONLY ? "read-only" : "writable",
		fs.f_flag & ST_NOEXEC ? ", noexec" : "",
		fs.f_flag & ST_NOSUID ? ", nosuid" : "",
		fs.f_flag & ST_NODEV ? ", nodev" : "");
	return (fs.f_flag & ST_NOEXEC) == 0;
}

static bool
show_root(const struct sandbox_plan *p, char *detail)
{
	(void)p;
	show_mount("/", detail);
	return true;
}

static bool
show_tmp(const struct sandbox_plan *p, char *detail)
{
	(void)p;
	show_mount("/tmp", detail);
	return true;
}

static bool
show_site(const struct sandbox_plan *p, char *detail)
{
	const char *site = sandbox_plan_site(p);
	bool works = true;

	if (site[0] != '\0' || p->site_count == 0)
		works = show_mount(site, detail);
	/* Of several, the first one whose scripts cannot be run. */
	for (size_t i = 0; works && i < p->site_count; i++)
		works = show_mount(p->sites[i].root, detail);
	errno = EACCES;
	return works;
}

static bool
show_helpers(const struct sandbox_plan *p, char *detail)
{
	errno = p->libexec == NULL ? ENOENT : EACCES;
	return show_mount(p->libexec, detail);
}

/* ---------------------------------------------------------------- the table */

/* What an optional layer takes; where the view is missing, that is first. */
#define REMEDY_GROUP "Delegate=memory in the [Service] section of its unit"
#define REMEDY_SITE                                                            \
	"mount -o remount,exec the site's file system, if scripts of the "     \
	"site are to be run"
#define REMEDY_HELPERS                                                         \
	"make install, on a file system without noexec: the built-in tools "   \
	"are programs in libexec"

static const char *
remedy_of_proc(void)
{
	switch (place.engine) {
	case ENGINE_DOCKER:
		return "docker run --security-opt systempaths="
		       "unconfined";
	case ENGINE_PODMAN: return "podman run --security-opt unmask=ALL";
	case ENGINE_KUBERNETES:
		return "procMount: Unmasked in the container's securityContext";
	case ENGINE_NONE:
	case ENGINE_LXC:
	case ENGINE_NSPAWN:
	case ENGINE_OTHER: break;
	}
	return "take away what is mounted below /proc";
}

static const struct probe {
	const char *name;
	probe_fn try;
	bool needed;
	enum step_part part; /* of a needed one */
	const char *optional;
} probes[] = {
	{ "container", show_container, .needed = false },
	{ "refusals before ours", show_refusals, .needed = false },
	{ "settings", show_settings, .needed = false },
	{ "root mount", show_root, .needed = false },
	{ "/tmp mount", show_tmp, .needed = false },
	{ "site mount", show_site, false, .optional = REMEDY_SITE },
	{ "libexec mount", show_helpers, false, .optional = REMEDY_HELPERS },
	{ "/dev/null", try_devices, true, PART_DEVICES, NULL },
	{ "user namespace", try_user, true, PART_NAMESPACES, NULL },
	{ "mount namespace", try_mount, true, PART_NAMESPACES, NULL },
	{ "pid namespace", try_pid, true, PART_NAMESPACES, NULL },
	{ "network namespace", try_network, true, PART_NAMESPACES, NULL },
	{ "ipc and uts namespaces", try_ipc, true, PART_NAMESPACES, NULL },
	{ "process limit", try_processes, true, PART_BOUNDS, NULL },
	{ "system call filter", try_filter, true, PART_FILTER, NULL },
	{ "landlock", try_landlock, true, PART_LANDLOCK, NULL },
	{ "subreaper", try_subreaper, true, PART_FILTER, NULL },
	{ "view of the site", try_strict, true, PART_VIEW, NULL },
	/* Needed where there is no view. */
	{ "without namespaces", try_outside, true, PART_SCRATCH, NULL },
	{ "closed exec sets", try_loaders, false, .optional = NULL },
	{ "private /proc", try_proc, false, .optional = "" },
	{ "memory read", try_memory, false, .optional = "" },
	{ "memory group", try_group, false, .optional = REMEDY_GROUP },
};

struct verdict {
	struct step failed;
	char detail[DETAIL_SIZE];
};

/* In a child, since no layer can be removed again. */
static struct verdict
try_apart(const struct sandbox_plan *plan, const struct probe *probe)
{
	struct verdict v = { .failed = { .part = probe->part } };
	int ends[2];
	pid_t pid;

	v.failed.number = fd_pipe(ends);
	if (v.failed.number != 0)
		return v;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		errno = 0;
		failed_part = probe->part;
		v.failed.number = probe->try(plan, v.detail) ? 0
			: errno != 0                         ? errno
							     : EIO;
		v.failed.part = failed_part;
		_exit(write(ends[1], &v, sizeof(v)) != (ssize_t)sizeof(v));
	}
	fd_close(&ends[1]);
	if (pid < 0 || read(ends[0], &v, sizeof(v)) != (ssize_t)sizeof(v))
		v.failed.number = EIO;
	fd_close(&ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return v;
}

/* For the best level that the mode allows and this machine gives. */
static bool
is_needed(
	const struct sandbox_plan *plan, const struct probe *probe, bool viewed)
{
	if (probe->try == try_outside)
		return probe->needed &&
			(plan->mode == SANDBOX_MODE_LANDLOCK ||
				(plan->mode == SANDBOX_MODE_AUTO && !viewed));
	return probe->needed && plan->mode != SANDBOX_MODE_OFF &&
		(plan->mode != SANDBOX_MODE_LANDLOCK ||
			(probe->part != PART_NAMESPACES &&
				probe->part != PART_VIEW));
}

static const char *
remedy_for(const struct sandbox_plan *plan, const struct probe *probe,
	const struct verdict *v, bool viewed)
{
	if (v->failed.number == 0)
		return NULL;
	if (probe->needed && !is_needed(plan, probe, viewed))
		return NULL;
	if (probe->needed)
		return remedy_of(&v->failed, &plan->account, &place);
	if (probe->optional == NULL || probe->optional[0] != '\0')
		return probe->optional;
	return viewed ? remedy_of_proc() : NULL;
}

size_t
sandbox_probe(
	const struct sandbox_plan *plan, struct sandbox_probe *out, size_t cap)
{
	size_t count = 0;
	bool viewed = false;
	struct verdict v;

	place_read(&place);
	for (; count < ARRAY_LEN(probes) && count < cap; count++) {
		v = try_apart(plan, &probes[count]);
		out[count] = (struct sandbox_probe){ .name = probes[count].name,
			.works = v.failed.number == 0,
			.needed = is_needed(plan, &probes[count], viewed),
			.remedy =
				remedy_for(plan, &probes[count], &v, viewed) };
		if (probes[count].try == try_strict)
			viewed = out[count].works;
		snprintf(out[count].detail, DETAIL_SIZE, "%s",
			v.failed.number == 0 || v.detail[0] != '\0'
				? v.detail
				: strerror(v.failed.number));
	}
	return count;
}

/* SPDX-License-Identifier: MIT */
/*
 * How one confined process starts.  The parent clones; the child takes the
 * steps of its level, in the order in which power is lost, and reports the
 * first one that fails; nothing else of the child has run by then.
 *
 * Source   clone(2), user_namespaces(7), pid_namespaces(7), capabilities(7).
 */
#include "sandbox/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/bounds.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/overlay.h"
#include "sandbox/sandbox_scratch.h"
#include "sandbox/view.h"

#define OWN_NAMESPACES                                                         \
	(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |            \
		CLONE_NEWUTS)

#define STACK_BYTES (64 << 20)

/* The child's own, while it is being confined. */
struct confining {
	const struct sandbox_plan *plan;
	struct sandbox *self;
	enum sandbox_level level;
	unsigned keeps;
	bool watched, brief;
	bool grouped;  /* in a memory group, its own or its worker's */
	bool filtered; /* the filter came with the bounds */
	int proc;      /* the host's /proc, until the view is entered; -1 */
	int root_fd;   /* the plan's, for levels without a view; -1 */
	int store_fd;  /* the plan's, with KEEP_WORKSPACE; -1 */
	struct step *step;
	struct dotfiles *dotfiles; /* the child's copy of the plan's */
};

/* ------------------------------------------------------------ privileges */

static bool
write_at(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	fd_close(&fd);
	return n == (ssize_t)strlen(text);
}

/*
 * Maps the account to our own and nobody else, user_namespaces(7).  The map
 * files belong to root while the process is not dumpable, proc(5), and writing
 * them is then EACCES.  gid_map takes an unprivileged writer only after
 * "deny" was written to setgroups.
 */
static bool
map_account(struct confining *c)
{
	const struct account *account = &c->plan->account;
	char map[64];

	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		return step_fail(c->step, "become dumpable");
	if (!write_at(c->proc, "self/setgroups", "deny"))
		return step_fail(c->step, "forbid setgroups");
	snprintf(map, sizeof(map), "%u %u 1", account->uid, account->own_uid);
	if (!write_at(c->proc, "self/uid_map", map))
		return step_fail(c->step, "write uid_map");
	snprintf(map, sizeof(map), "%u %u 1", account->gid, account->own_gid);
	if (!write_at(c->proc, "self/gid_map", map))
		return step_fail(c->step, "write gid_map");
	return true;
}

/* Without a user namespace an account that is only a name there is root. */
static bool
become_account(struct confining *c)
{
	const struct account *account = &c->plan->account;

	errno = EPERM;
	return ((!account->alias || c->level == SANDBOX_STRICT ||
			c->level == SANDBOX_NONE) &&
		       account_become(account)) ||
		step_fail_at(PART_ACCOUNT, c->step, "become %s",
			c->plan->account.name);
}

/*
 * PR_CAPBSET_DROP needs CAP_SETPCAP.  Without it the bounding set stays and
 * gives nothing: no_new_privs, which comes next, keeps execve(2) from adding
 * capabilities of a file.  The first number that PR_CAPBSET_READ does not know
 * ends the loop.
 */
static bool
drop_bounding_set(struct confining *c)
{
	int why;

	for (unsigned long cap = 0;; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		why = errno;
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) < 0)
			return true;
		errno = why;
		if (why == EPERM)
			return true;
		return step_fail(c->step, "drop the bounding set");
	}
}

static bool
drop_capabilities(struct confining *c)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct kept[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return step_fail(c->step, "drop ambient capabilities");
	if (c->self->layers >= 0)
		for (size_t i = 0; i < ARRAY_LEN(kept); i++)
			kept[i].effective = kept[i].permitted =
				(uint32_t)(overlay_capabilities() >> 32 * i);
	if (syscall(SYS_capset, &head, kept) < 0)
		return step_fail(c->step, "drop capabilities");
	return true;
}

/* At every level: also a process that runs no tools reads clients' input. */
static bool
lose_privileges(struct confining *c)
{
	if (!drop_bounding_set(c) || !drop_capabilities(c))
		return false;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return step_fail(c->step, "set no_new_privs");
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return step_fail(c->step, "become undumpable");
	/*
	 * After the change of account, which clears the signal, prctl(2).  At
	 * the landlock and off levels no pid namespace ends with this process:
	 * it must live to end its tool's descendants when the parent dies, and
	 * learns of that by a hang-up.
	 */
	if ((c->level == SANDBOX_STRICT || c->level == SANDBOX_NONE) &&
		prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return step_fail(c->step, "die with the parent");
	return true;
}

/* ---------------------------------------------------------------- limits */

/*
 * RLIMIT_DATA does not count the stack, and each process has one: programs
 * could keep as much there as the hard limit allows.
 */
static bool
bound_stack(struct confining *c)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_STACK, &most) < 0)
		return step_fail(c->step, "read RLIMIT_STACK");
	if (most.rlim_max <= STACK_BYTES)
		return true;
	most.rlim_max = STACK_BYTES;
	if (most.rlim_cur > STACK_BYTES)
		most.rlim_cur = STACK_BYTES;
	return setrlimit(RLIMIT_STACK, &most) == 0 ||
		step_fail(c->step, "set RLIMIT_STACK");
}

/* For the memory of tools without a group, or to count them (enter_bounds). */
static bool
reads_proc(const struct confining *c)
{
	return !c->grouped || !c->plan->account.drop;
}

static const struct filter *
filter_of(const struct confining *c)
{
	bool strict = c->level == SANDBOX_STRICT;
	unsigned keeps = c->keeps;

	if (strict && c->watched)
		keeps |= KEEP_NETWORK; /* sockets, in an empty namespace */
	return filter_whole(keeps, strict, c->self->layers >= 0);
}

/*
 * In a memory group of its own the kernel bounds the memory.  RLIMIT_NPROC
 * does not bind the machine's root, user 0 of the first user namespace; an
 * account that root chose is never that one.
 */
static bool
enter_bounds(struct confining *c)
{
	bool strict = c->level == SANDBOX_STRICT;
	int proc = c->proc;
	bool binds;

	c->proc = -1;
	if (strict)
		proc = view_take_proc();
	if (!bound_stack(c)) {
		fd_close(&proc);
		return false;
	}
	binds = c->plan->account.drop || bounds_processes_bind();
	errno = 0;
	if (c->level == SANDBOX_OFF)
		bounds_enter_open(proc, false);
	else
		errno = bounds_enter(
			proc, strict, binds, filter_of(c), &c->filtered);
	c->self->memory = c->grouped ? SANDBOX_MEMORY_GROUP
		: bounds_watch()     ? SANDBOX_MEMORY_READ
				     : SANDBOX_MEMORY_PROCESS;
	return errno == 0 ||
		step_fail_at(PART_BOUNDS, c->step,
			binds ? "bound shared memory"
			      : "bound the processes of root");
}

/* Joined with that of the bounds, where there is one. */
static bool
enter_filter(struct confining *c)
{
	errno = c->filtered ? 0 : filter_child_enter(filter_of(c));
	return errno == 0 ||
		step_fail_at(PART_FILTER, c->step, "install the filter");
}

/* ---------------------------------------------------------------- levels */

static bool
has_store(const struct confining *c)
{
	return (c->keeps & KEEP_WORKSPACE) && c->plan->store != NULL;
}

/*
 * Root makes the user namespace last: the others then belong to the first user
 * namespace, and no capability in the new one reaches them; but what mounts has
 * one mount namespace more.  An ordinary user can make the others only inside a user namespace: clone(2) made all of them.
 */
static bool
enter_user_namespace(struct confining *c)
{
	if (!c->plan->account.drop)
		return true;
	if (prctl(PR_SET_DUMPABLE, 1) < 0 ||
		syscall(SYS_unshare,
			CLONE_NEWUSER | (has_store(c) ? CLONE_NEWNS : 0)) < 0)
		return step_fail_at(
			PART_NAMESPACES, c->step, "unshare the user namespace");
	return map_account(c);
}

/*
 * A second protection: the filter refuses unshare, clone, clone3 and setns
 * anyway, so a container that mounts this file read-only loses nothing.
 */
static void
forbid_namespaces(const struct confining *c)
{
	write_at(c->proc, "sys/user/max_user_namespaces", "0");
}

/* Programs read and write it, and each command gets it as its input. */
static bool
check_null(struct confining *c)
{
	return access("/dev/null", R_OK | W_OK) == 0 ||
		step_fail_at(PART_DEVICES, c->step, "open /dev/null");
}

static bool
check_site(struct confining *c)
{
	return access(VIEW_SITE, R_OK | X_OK) == 0 ||
		step_fail_at(PART_SITE, c->step, "read the site as %s",
			c->plan->account.name);
}

static struct view_plan
view_of(const struct confining *c)
{
	const struct sandbox_plan *p = c->plan;

	return (struct view_plan){ .root = sandbox_plan_site(p),
		.dotfiles = c->dotfiles,
		.libexec = p->libexec,
		.grant = p->grant,
		.sites = p->sites,
		.site_count = p->site_count,
		.store = has_store(c) ? p->store : NULL,
		.store_fd = c->store_fd,
		.writes = c->self->landlock_abi >= 3,
		.watches = reads_proc(c),
		.scratch_bytes = p->scratch_bytes,
		.scratch_files = p->scratch_files,
		.account = &p->account };
}

static bool
enter_strict(struct confining *c)
{
	const struct view_plan view = view_of(c);

	c->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->proc < 0)
		return step_fail_at(PART_PROC, c->step, "open /proc");
	if (!c->plan->account.drop && !map_account(c))
		return false;
	/*
	 * The filter of Podman allows all but this: then tools see the name of
	 * its container.
	 */
	(void)!sethostname("statespace", 10);
	c->step->part = PART_VIEW;
	if (!view_enter(&view, &c->keeps, c->step) || !become_account(c) ||
		!enter_user_namespace(c) || !view_hide_mounts(c->step))
		return false;
	if (has_store(c) &&
		(c->self->layers = overlay_take_layers(c->step)) < 0)
		return false;
	forbid_namespaces(c);
	fd_close(&c->proc);
	c->self->own_pid_namespace = true;
	c->self->site = VIEW_SITE;
	c->self->scratch = VIEW_SCRATCH;
	c->self->libexec = view.libexec != NULL ? VIEW_LIBEXEC : "";
	return lose_privileges(c) && check_null(c) && check_site(c) &&
		enter_bounds(c) && enter_filter(c) &&
		sandbox_scratch_take(VIEW_SCRATCH, c->step);
}

/* All levels without a view. */
static bool
enter_outside(struct confining *c)
{
	const struct sandbox_plan *p = c->plan;

	c->self->site = sandbox_plan_site(p);
	c->self->site_fd = c->root_fd;
	c->self->libexec = p->libexec != NULL ? p->libexec : "";
	/* While still root: the account has no CAP_SETPCAP. */
	if (p->account.drop && !drop_bounding_set(c))
		return false;
	if (!become_account(c))
		return false;
	if (c->level == SANDBOX_NONE)
		return lose_privileges(c);
	if (!check_null(c))
		return false;
	c->self->scratch = sandbox_scratch_make(c->brief, c->step);
	if (c->self->scratch == NULL) {
		c->self->scratch = "";
		c->step->part = PART_SCRATCH;
		return false;
	}
	if (reads_proc(c))
		c->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return lose_privileges(c) && enter_bounds(c) &&
		(c->level != SANDBOX_LANDLOCK || enter_filter(c));
}

static bool
enter_landlock(struct confining *c)
{
	errno = landlock_check(c->plan->landlock_abi_max);
	if (errno != 0)
		return step_fail_at(PART_LANDLOCK, c->step,
			"find Landlock 3 or newer (have %d)",
			c->self->landlock_abi);
	/* Without a pid namespace /proc would show everybody's processes. */
	c->keeps &= ~(unsigned)KEEP_PROC;
	return enter_outside(c);
}

static bool
enter_level(struct confining *c)
{
	struct sandbox *self = c->self;

	*self = (struct sandbox){ .level = c->level,
		.landlock_abi = landlock_abi(c->plan->landlock_abi_max),
		.site = "",
		.site_fd = -1,
		.layers = -1,
		.store_fd = c->store_fd,
		.scratch = "",
		.libexec = "",
		.one_program = c->plan->one_program,
		.dotfiles = c->dotfiles,
		.shared = c->plan->site_count > 0,
		.plan = c->plan };
	snprintf(self->why, sizeof(self->why), "%s", c->plan->why);
	snprintf(self->remedy, sizeof(self->remedy), "%s", c->plan->remedy);
	switch (c->level) {
	case SANDBOX_STRICT: return enter_strict(c);
	case SANDBOX_LANDLOCK: return enter_landlock(c);
	case SANDBOX_OFF:
	case SANDBOX_NONE: self->landlock_abi = 0; return enter_outside(c);
	}
	return false;
}

/* -------------------------------------------------------------- the child */

/*
 * Closes what the parent has open: a launcher gets no listening socket.  The
 * kept ones are moved up first, since one's new number may be another's old.
 */
static bool
keep_only(struct confining *c, int *report, int only)
{
	int *kept[] = { &only, report, &c->root_fd, &c->store_fd };
	int next = CONFINE_FIRST_FD;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (*kept[i] >= 0 &&
			(*kept[i] = fcntl(*kept[i], F_DUPFD_CLOEXEC,
				 CONFINE_FIRST_FD + ARRAY_LEN(kept))) < 0)
			return step_fail(c->step, "keep a descriptor");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (*kept[i] >= 0 &&
			(*kept[i] = dup3(*kept[i], next++, O_CLOEXEC)) < 0)
			return step_fail(c->step, "keep a descriptor");
	if (syscall(SYS_close_range, next, ~0U, 0) < 0)
		return step_fail(c->step, "close what the parent has open");
	return true;
}

/* A launcher is in its worker's group, whose limits the worker sets. */
static void
join_group(struct confining *c, const struct confine_request *request)
{
	struct cgroup *memory = sandbox_memory_group();

	if (request->group == NULL)
		return;
	*memory = *request->group;
	cgroup_join(memory);
	c->grouped = memory->max >= 0;
	if (request->only >= 0)
		cgroup_close(memory);
}

static int
child_main(
	struct confining *c, int report, const struct confine_request *request)
{
	bool done;
	int status;

	join_group(c, request);
	done = (request->only < 0 || keep_only(c, &report, request->only)) &&
		enter_level(c);
	if (!done && c->step->number == 0)
		c->step->number = EIO;
	if (write(report, c->step, sizeof(*c->step)) !=
		(ssize_t)sizeof(*c->step))
		done = false; /* the parent has died */
	fd_close(&report);
	c->self->keeps = c->keeps;
	spawn_settle();
	status = done ? request->main(request->ctx) : 1;
	sandbox_scratch_leave();
	fflush(NULL);
	return status;
}

/* ------------------------------------------------------------- the parent */

/*
 * clone(2) by number, since fork(2) makes no namespaces.  With no stack given
 * the child is a copy of this process and goes on here, as after fork.
 */
static pid_t
clone_child(const struct confining *c)
{
	unsigned long flags = SIGCHLD;

	if (c->level == SANDBOX_STRICT) {
		flags |= OWN_NAMESPACES;
		if (c->keeps & KEEP_NETWORK)
			flags &= ~(unsigned long)CLONE_NEWNET;
		/* /proc/PID/cgroup shows paths from here on only. */
		if (c->keeps & KEEP_PROC)
			flags |= CLONE_NEWCGROUP;
		if (!c->plan->account.drop)
			flags |= CLONE_NEWUSER;
	}
	return (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);
}

/* Kills a child that sent no report: it may run half confined. */
static bool
read_report(int fd, pid_t pid, struct step *failed)
{
	ssize_t n;

	do
		n = read(fd, failed, sizeof(*failed));
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(*failed))
		return failed->number == 0;
	kill(pid, SIGKILL);
	errno = EIO;
	return step_fail(failed, "survive the set-up");
}

bool
confine_start(struct sandbox_plan *plan, const struct confine_request *request,
	pid_t *pid, struct step *failed)
{
	struct confining c = { .plan = plan,
		.self = sandbox_to_fill(),
		.level = request->level,
		.keeps = request->keeps,
		.watched = request->watched,
		.brief = request->brief,
		.dotfiles = &plan->dotfiles,
		.proc = -1,
		.root_fd =
			request->level == SANDBOX_STRICT ? -1 : plan->root_fd,
		.store_fd =
			request->keeps & KEEP_WORKSPACE ? plan->store_fd : -1,
		.step = failed };
	int report[2];
	bool started;

	*failed = (struct step){ .name = "" };
	errno = fd_pipe(report);
	if (errno != 0)
		return step_fail(failed, "make a pipe");
	fflush(NULL);
	*pid = clone_child(&c);
	if (*pid == 0) {
		fd_close(&report[0]);
		_exit(child_main(&c, report[1], request));
	}
	started = *pid > 0 || step_fail(failed, "clone");
	fd_close(&report[1]);
	started = started && read_report(report[0], *pid, failed);
	fd_close(&report[0]);
	if (!started && *pid > 0)
		while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
			;
	return started;
}

/* SPDX-License-Identifier: MIT */
/*
 * How a confined process comes into the world.  The parent clones, the child
 * walks the steps of its level and reports the first one that fails; nothing
 * else of the child has run by then.  Namespaces are user_namespaces(7),
 * pid_namespaces(7); the order of losing power is core/README.md, The sandbox.
 */
#include "sandbox/sandbox_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/bounds.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"

#define OWN_NAMESPACES                                                         \
	(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |            \
		CLONE_NEWUTS)

#define STACK_BYTES (64 << 20)
#define WORKER_BYTES (16 << 20) /* a worker's and its launcher's own */

static struct sandbox self = {
	.site = "", .site_fd = -1, .scratch = "", .libexec = ""
};

const struct sandbox *
sandbox_self(void)
{
	return &self;
}

static struct cgroup memory = CGROUP_INIT;
static bool grouped; /* in a memory group, its own or its worker's */

struct cgroup *
sandbox_memory(void)
{
	return &memory;
}

int
sandbox_at(const char **path)
{
	if (self.site_fd < 0 || !view_is_below(*path, self.site))
		return AT_FDCWD;
	*path += strlen(self.site);
	*path += **path == '/';
	if (**path == '\0')
		*path = ".";
	return self.site_fd;
}

const char *
sandbox_level_name(enum sandbox_level level)
{
	switch (level) {
	case SANDBOX_NONE: break;
	case SANDBOX_OFF: return "off";
	case SANDBOX_LANDLOCK: return "landlock";
	case SANDBOX_STRICT: return "strict";
	}
	return "none";
}

bool
sandbox_mode_from(const char *word, enum sandbox_mode *out)
{
	static const char *const words[] = {
		[SANDBOX_MODE_AUTO] = "auto",
		[SANDBOX_MODE_STRICT] = "strict",
		[SANDBOX_MODE_LANDLOCK] = "landlock",
		[SANDBOX_MODE_OFF] = "off",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*out = (enum sandbox_mode)i;
			return true;
		}
	return false;
}

/* -------------------------------------------------------- the account */

static enum ss_err
no_account(struct ss_error *err, const char *name)
{
	error_set(err, SS_CONFIG, "there is no account named %s", name);
	error_hint(err, "make it, or set pool.user to another one");
	return SS_CONFIG;
}

static void
account_name(struct sandbox_plan *plan, const struct passwd *found)
{
	snprintf(plan->account, sizeof(plan->account), "%s",
		found != NULL ? found->pw_name : "tool");
}

/* Started by a user: tools run as that user, and as nobody else. */
static enum ss_err
account_own(struct sandbox_plan *plan, struct ss_error *err)
{
	const struct passwd *named = NULL;

	plan->uid = geteuid();
	plan->gid = getegid();
	account_name(plan, getpwuid(plan->uid));
	if (plan->user != NULL && plan->user[0] != '\0') {
		named = getpwnam(plan->user);
		if (named == NULL)
			return no_account(err, plan->user);
		if (named->pw_uid != plan->uid)
			return error_set(err, SS_CONFIG,
				"only root can run tools as %s", plan->user);
	}
	return SS_OK;
}

/*
 * Of the machine's own file: the accounts that a package makes are there, and
 * asking every service of nsswitch.conf(5) costs more than a tool's start.
 * By passwd(5), since fgetpwent(3) seeks once for each line.
 */
static bool
account_of_machine(struct sandbox_plan *plan, const char *name)
{
	FILE *file = fopen("/etc/passwd", "re");
	char *line = NULL, *ids;
	size_t cap = 0, len = strlen(name);
	bool found = false;

	while (file != NULL && !found && getline(&line, &cap, file) > 0) {
		if (strncmp(line, name, len) != 0 || line[len] != ':')
			continue;
		ids = strchr(line + len + 1, ':');
		found = ids != NULL &&
			sscanf(ids, ":%u:%u:", &plan->uid, &plan->gid) == 2;
	}
	free(line);
	if (file != NULL)
		fclose(file);
	snprintf(plan->account, sizeof(plan->account), "%s", name);
	return found;
}

static bool
account_find(struct sandbox_plan *plan)
{
	const struct passwd *named;

	if (plan->user == NULL || plan->user[0] == '\0')
		return account_of_machine(plan, "statespace") ||
			account_of_machine(plan, "nobody");
	named = getpwnam(plan->user);
	if (named == NULL)
		return false;
	plan->uid = named->pw_uid;
	plan->gid = named->pw_gid;
	account_name(plan, named);
	return true;
}

/* Started by root: never uid 0 (RLIMIT_NPROC does not bind there). */
static enum ss_err
account_chosen(struct sandbox_plan *plan, struct ss_error *err)
{
	const struct group *group;

	if (!account_find(plan))
		return no_account(err,
			plan->user != NULL && plan->user[0] != '\0'
				? plan->user
				: "statespace or nobody");
	if (plan->group != NULL && plan->group[0] != '\0') {
		group = getgrnam(plan->group);
		if (group == NULL)
			return error_set(err, SS_CONFIG,
				"there is no group named %s", plan->group);
		plan->gid = group->gr_gid;
	}
	plan->drop = true;
	if (plan->uid != 0 && plan->gid != 0)
		return SS_OK;
	error_set(err, SS_CONFIG, "tools cannot run as root");
	error_hint(err,
		"set pool.user and pool.group to an account without "
		"privileges");
	return SS_CONFIG;
}

/* ---------------------------------------------------------- the plan */

/* "" for a host whose documents lie on no disk. */
static const char *
site_of(const struct sandbox_plan *p)
{
	return p->root != NULL ? p->root : "";
}

/* What would give the view away: the host's processes, its whole tree. */
static enum ss_err
check_grants(
	const struct path_list *list, const char *root, struct ss_error *err)
{
	static const char *const never[] = { VIEW_SCRATCH, "/proc", "/dev",
		"/sys" };
	char path[4096];
	bool optional;

	for (size_t i = 0; i < list->count; i++) {
		if (!view_outside(list->items[i], root, path, sizeof(path),
			    &optional) ||
			path[1] == '\0')
			return error_set(err, SS_CONFIG,
				"[grant] %s is no path that can be granted",
				list->items[i]);
		if (view_is_below(path, root))
			continue;
		for (size_t k = 0; k < ARRAY_LEN(never); k++)
			if (view_is_below(path, never[k]))
				return error_set(err, SS_CONFIG,
					"[grant] %s: nothing below %s can be "
					"granted",
					list->items[i], never[k]);
	}
	return SS_OK;
}

enum ss_err
sandbox_prepare(struct sandbox_plan *plan, struct ss_error *err)
{
	enum ss_err code = geteuid() == 0 ? account_chosen(plan, err)
					  : account_own(plan, err);

	if (code == SS_OK && plan->grant != NULL)
		code = check_grants(&plan->grant->read, site_of(plan), err);
	if (code == SS_OK && plan->grant != NULL)
		code = check_grants(&plan->grant->write, site_of(plan), err);
	return code;
}

/* ------------------------------------------------------ steps of a child */

struct birth {
	const struct sandbox_plan *plan;
	enum sandbox_level level;
	unsigned keeps;
	bool watched;
	int proc;    /* the outer /proc, until the walls stand; -1 */
	int root_fd; /* the plan's, for levels without a view; -1 */
	struct step *step;
	struct dotfiles *dotfiles; /* the plan's: in the child a copy */
};

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
 * The account is itself inside and nobody else exists.  The maps belong to
 * root while a process is not dumpable: then writing them says EACCES.
 */
static bool
map_account(struct birth *b)
{
	char map[64];

	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		return step_fail(b->step, "become dumpable");
	if (!write_at(b->proc, "self/setgroups", "deny"))
		return step_fail(b->step, "forbid setgroups");
	snprintf(map, sizeof(map), "%u %u 1", b->plan->uid, b->plan->uid);
	if (!write_at(b->proc, "self/uid_map", map))
		return step_fail(b->step, "write uid_map");
	snprintf(map, sizeof(map), "%u %u 1", b->plan->gid, b->plan->gid);
	if (!write_at(b->proc, "self/gid_map", map))
		return step_fail(b->step, "write gid_map");
	return true;
}

static bool
become_account(struct birth *b)
{
	const struct sandbox_plan *p = b->plan;

	if (!p->drop)
		return true;
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
		setresgid(p->gid, p->gid, p->gid) < 0 ||
		setresuid(p->uid, p->uid, p->uid) < 0)
		return step_fail(b->step, "become %s", p->account);
	return true;
}

static bool
drop_capabilities(struct birth *b)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	int why;

	/*
	 * Without CAP_SETPCAP there is nothing that a file could give back,
	 * since no_new_privs comes next.  The first unknown one ends it.
	 */
	for (unsigned long cap = 0;; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		why = errno;
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) < 0)
			break;
		errno = why;
		if (why != EPERM)
			return step_fail(b->step, "drop the bounding set");
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return step_fail(b->step, "drop ambient capabilities");
	if (syscall(SYS_capset, &head, none) < 0)
		return step_fail(b->step, "drop capabilities");
	return true;
}

/* What every process that is not the parent's own gets, confined or not. */
static bool
lose_privileges(struct birth *b)
{
	if (!drop_capabilities(b))
		return false;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return step_fail(b->step, "set no_new_privs");
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return step_fail(b->step, "become undumpable");
	/*
	 * Changing the account cleared it: last.  Where no pid namespace goes
	 * with this process it must end its tool's descendants first: it
	 * learns of its parent's death by a hang-up.
	 */
	if ((b->level == SANDBOX_STRICT || b->level == SANDBOX_NONE) &&
		prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return step_fail(b->step, "die with the parent");
	return true;
}

/*
 * A stack of that much holds what programs put there; it is no data
 * (RLIMIT_DATA), and each process has one.
 */
static bool
bound_stack(struct birth *b)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_STACK, &most) < 0)
		return step_fail(b->step, "look at RLIMIT_STACK");
	if (most.rlim_max <= STACK_BYTES)
		return true;
	most.rlim_max = STACK_BYTES;
	if (most.rlim_cur > STACK_BYTES)
		most.rlim_cur = STACK_BYTES;
	return setrlimit(RLIMIT_STACK, &most) == 0 ||
		step_fail(b->step, "set RLIMIT_STACK");
}

/* To see what tools hold, or how many there are: see enter_bounds. */
static bool
reads_proc(const struct birth *b)
{
	return !grouped || !b->plan->drop;
}

/*
 * In a group of its own the kernel bounds the memory.  An account that root
 * chose is not the machine's root, whom RLIMIT_NPROC does not bind.
 */
static bool
enter_bounds(struct birth *b)
{
	bool strict = b->level == SANDBOX_STRICT;
	int proc = b->proc;
	bool binds;

	b->proc = -1;
	if (strict)
		proc = view_take_proc();
	if (!bound_stack(b)) {
		fd_close(&proc);
		return false;
	}
	self.memory = grouped ? "group" : proc >= 0 ? NULL : "process";
	if (b->level == SANDBOX_OFF) {
		bounds_enter_open(proc, false);
		return true;
	}
	binds = b->plan->drop || bounds_processes_bind();
	errno = bounds_enter(proc, strict, binds);
	return errno == 0 ||
		step_fail(b->step,
			binds ? "bound shared memory"
			      : "bound the processes of root");
}

static bool
enter_filter(struct birth *b)
{
	bool strict = b->level == SANDBOX_STRICT;
	unsigned keeps = b->keeps;

	if (strict && b->watched)
		keeps |= KEEP_NETWORK; /* the namespace has none */
	errno = filter_child_enter(filter_whole(keeps, strict));
	return errno == 0 || step_fail(b->step, "install the filter");
}

/* ------------------------------------------------------------- levels */

/* As root the user namespace comes last: it owns nothing of the others. */
static bool
enter_user_namespace(struct birth *b)
{
	if (b->plan->drop) {
		if (prctl(PR_SET_DUMPABLE, 1) < 0 ||
			syscall(SYS_unshare, CLONE_NEWUSER) < 0)
			return step_fail(b->step, "unshare the user namespace");
		return map_account(b);
	}
	return true;
}

/*
 * A belt beside the filter's braces: containers mount this file read-only,
 * and then unshare, clone, clone3 and setns are still refused.
 */
static void
forbid_namespaces(const struct birth *b)
{
	write_at(b->proc, "sys/user/max_user_namespaces", "0");
}

static bool
check_site(struct birth *b)
{
	if (access(VIEW_SITE, R_OK | X_OK) < 0)
		return step_fail(
			b->step, "read the site as %s", b->plan->account);
	return true;
}

static bool
enter_strict(struct birth *b)
{
	const struct sandbox_plan *p = b->plan;
	struct view_plan view = { .root = site_of(p),
		.dotfiles = b->dotfiles,
		.libexec = p->libexec,
		.grant = p->grant,
		.writes = self.landlock_abi >= 3,
		.watches = reads_proc(b),
		.scratch_bytes = p->scratch_bytes,
		.scratch_files = p->scratch_files,
		.uid = p->uid,
		.gid = p->gid,
		.account = p->account };

	b->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->proc < 0)
		return step_fail(b->step, "open /proc");
	if (!p->drop && !map_account(b))
		return false;
	if (sethostname("statespace", 10) < 0)
		return step_fail(b->step, "set the host name");
	if (!view_enter(&view, &b->keeps, b->step) || !become_account(b) ||
		!enter_user_namespace(b) || !view_hide_mounts(b->step))
		return false;
	forbid_namespaces(b);
	fd_close(&b->proc);
	self.own_pid_namespace = true;
	self.site = VIEW_SITE;
	self.scratch = VIEW_SCRATCH;
	self.libexec = p->libexec != NULL ? VIEW_LIBEXEC : "";
	return lose_privileges(b) && check_site(b) && enter_bounds(b) &&
		enter_filter(b) && sandbox_scratch_take(VIEW_SCRATCH, b->step);
}

static bool
enter_outside(struct birth *b)
{
	const struct sandbox_plan *p = b->plan;

	self.site = site_of(p);
	self.site_fd = b->root_fd;
	self.libexec = p->libexec != NULL ? p->libexec : "";
	/* The bounding set can only be dropped as root. */
	for (unsigned long cap = 0; p->drop && cap < 64; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (!become_account(b))
		return false;
	if (b->level == SANDBOX_NONE)
		return lose_privileges(b);
	self.scratch = sandbox_scratch_make(b->step);
	if (self.scratch == NULL)
		return false;
	if (reads_proc(b))
		b->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return lose_privileges(b) && enter_bounds(b) &&
		(b->level != SANDBOX_LANDLOCK || enter_filter(b));
}

/* Landlock before ABI 3 cannot stop truncation: below the floor. */
static bool
enter_landlock(struct birth *b)
{
	if (self.landlock_abi < 3) {
		errno = EOPNOTSUPP;
		return step_fail(b->step, "find Landlock 3 or newer (have %d)",
			self.landlock_abi);
	}
	b->keeps &= ~(unsigned)KEEP_PROC; /* it would be everybody's */
	return enter_outside(b);
}

static bool
enter_level(struct birth *b)
{
	self = (struct sandbox){ .level = b->level,
		.landlock_abi = landlock_abi(b->plan->landlock_abi_max),
		.site = "",
		.site_fd = -1,
		.scratch = "",
		.libexec = "",
		.dotfiles = b->dotfiles };
	snprintf(self.why, sizeof(self.why), "%s", b->plan->why);
	switch (b->level) {
	case SANDBOX_STRICT: return enter_strict(b);
	case SANDBOX_LANDLOCK: return enter_landlock(b);
	case SANDBOX_OFF:
	case SANDBOX_NONE: self.landlock_abi = 0; return enter_outside(b);
	}
	return false;
}

/* ------------------------------------------------------- parent and child */

/* A launcher wants nothing of the parent's: no listening socket. */
static bool
keep_only(struct birth *b, int *report, int only)
{
	int *kept[] = { &only, report, &b->root_fd };
	int next = CONFINE_FIRST_FD;

	/* Out of the way first: a place may be another one's. */
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (*kept[i] >= 0 &&
			(*kept[i] = fcntl(*kept[i], F_DUPFD_CLOEXEC,
				 CONFINE_FIRST_FD + ARRAY_LEN(kept))) < 0)
			return step_fail(b->step, "keep a descriptor");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (*kept[i] >= 0 &&
			(*kept[i] = dup3(*kept[i], next++, O_CLOEXEC)) < 0)
			return step_fail(b->step, "keep a descriptor");
	if (syscall(SYS_close_range, next, ~0U, 0) < 0)
		return step_fail(b->step, "close what the parent has open");
	return true;
}

/* A launcher's runs are bounded by its worker: the group is one. */
static void
join_group(const struct birth *b, bool launcher)
{
	grouped = false;
	if (b->plan->memory_group == NULL)
		return;
	memory = *b->plan->memory_group;
	cgroup_join(&memory);
	grouped = memory.max >= 0;
	if (launcher)
		cgroup_close(&memory);
}

static int
child(struct birth *b, int report, const struct confine_request *wish)
{
	bool born;
	int status;

	join_group(b, wish->only >= 0);
	if (wish->launch_fd >= 0)
		close(wish->launch_fd);
	born = (wish->only < 0 || keep_only(b, &report, wish->only)) &&
		enter_level(b);
	if (!born && b->step->number == 0)
		b->step->number = EIO;
	if (write(report, b->step, sizeof(*b->step)) !=
		(ssize_t)sizeof(*b->step))
		born = false; /* nobody waits: the parent is gone */
	fd_close(&report);
	self.keeps = b->keeps;
	launcher_attach(wish->launcher);
	spawn_settle();
	status = born ? wish->process.main(wish->process.ctx) : 1;
	sandbox_scratch_leave();
	fflush(NULL);
	return status;
}

/*
 * Not fork: the namespaces begin with the process.  It is a copy of this one
 * all the same, on the same stack; glibc asks the kernel for its ids.
 */
static pid_t
start(const struct birth *b)
{
	unsigned long flags = SIGCHLD;

	if (b->level == SANDBOX_STRICT) {
		flags |= OWN_NAMESPACES;
		if (b->keeps & KEEP_NETWORK)
			flags &= ~(unsigned long)CLONE_NEWNET;
		if (b->keeps & KEEP_PROC) /* /proc/PID/cgroup: from here on */
			flags |= CLONE_NEWCGROUP;
		if (!b->plan->drop)
			flags |= CLONE_NEWUSER;
	}
	return (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);
}

/* Of whom nothing is known it must not be that it goes on. */
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
confine_start(struct sandbox_plan *plan, const struct confine_request *wish,
	pid_t *pid, struct step *failed)
{
	struct birth b = { .plan = plan,
		.level = wish->level,
		.keeps = wish->process.keeps,
		.watched = wish->process.watched,
		.dotfiles = &plan->dotfiles,
		.proc = -1,
		.root_fd = wish->level == SANDBOX_STRICT ? -1 : plan->root_fd,
		.step = failed };
	int report[2];
	bool born;

	*failed = (struct step){ "", 0 };
	errno = fd_pipe(report);
	if (errno != 0)
		return step_fail(failed, "make a pipe");
	fflush(NULL);
	*pid = start(&b);
	if (*pid == 0) {
		fd_close(&report[0]);
		_exit(child(&b, report[1], wish));
	}
	born = *pid > 0 || step_fail(failed, "clone");
	fd_close(&report[1]);
	born = born && read_report(report[0], *pid, failed);
	fd_close(&report[0]);
	if (!born && *pid > 0)
		while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
			;
	return born;
}

/* The levels that a mode allows, best first; NONE ends them. */
static const enum sandbox_level *
levels_of(const struct sandbox_plan *plan)
{
	static const enum sandbox_level by_mode[][3] = {
		[SANDBOX_MODE_AUTO] = { SANDBOX_STRICT, SANDBOX_LANDLOCK },
		[SANDBOX_MODE_STRICT] = { SANDBOX_STRICT },
		[SANDBOX_MODE_LANDLOCK] = { SANDBOX_LANDLOCK },
		[SANDBOX_MODE_OFF] = { SANDBOX_OFF },
	};

	return by_mode[plan->mode];
}

static void
note_why(struct sandbox_plan *plan, enum sandbox_level level,
	const struct step *failed)
{
	size_t len = strlen(plan->why);

	snprintf(plan->why + len, sizeof(plan->why) - len, "%s%s: %s: %s",
		len > 0 ? "; " : "", sandbox_level_name(level), failed->name,
		strerror(failed->number));
}

/* The first birth of a plan decides for all of them. */
static bool
start_first(struct sandbox_plan *plan, struct confine_request *wish, pid_t *pid,
	struct step *failed)
{
	const enum sandbox_level *level = levels_of(plan);

	plan->why[0] = '\0';
	plan->decided = true;
	for (; *level != SANDBOX_NONE; level++) {
		plan->level = wish->level = *level;
		if (confine_start(plan, wish, pid, failed))
			return true;
		note_why(plan, *level, failed);
	}
	plan->level = wish->level = SANDBOX_NONE;
	return confine_start(plan, wish, pid, failed);
}

/*
 * For births to come: what a child lists dies with it.  It believes the list
 * only as long as it is true of what it sees itself.
 */
static void
keep_dotfiles(struct sandbox_plan *plan)
{
	int site = open(site_of(plan), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (site >= 0)
		dotfiles_keep(&plan->dotfiles, site);
	fd_close(&site);
}

/* A later one that fails is without tools; the next one tries again. */
static bool
start_again(struct sandbox_plan *plan, struct confine_request *wish, pid_t *pid,
	struct step *failed)
{
	wish->level = plan->level;
	if (plan->level >= SANDBOX_LANDLOCK)
		keep_dotfiles(plan);
	if (confine_start(plan, wish, pid, failed))
		return true;
	if (plan->level == SANDBOX_NONE)
		return false;
	plan->why[0] = '\0';
	note_why(plan, plan->level, failed);
	wish->level = SANDBOX_NONE;
	return confine_start(plan, wish, pid, failed);
}

/* A launcher that could not be born is missed by its worker's next tool. */
static bool
fork_launcher(struct sandbox_plan *plan, int socket)
{
	struct step failed;

	keep_dotfiles(plan);
	if (launcher_fork(plan, socket, &failed))
		return true;
	plan->why[0] = '\0';
	note_why(plan, plan->level, &failed);
	return false;
}

/*
 * Before its worker, so that the worker knows whether it has one; -1 when
 * there is none, with the reason for the log.
 */
static int
start_launcher(struct sandbox_plan *plan)
{
	int pair[2];

	if (!plan->decided)
		sandbox_decide(plan);
	if (plan->level < SANDBOX_LANDLOCK ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	if (!fork_launcher(plan, pair[1]))
		fd_close(&pair[0]);
	fd_close(&pair[1]);
	return pair[0];
}

/*
 * Leaves the launcher for later: the worker has a socket to a launcher that is
 * not there, the parent keeps the other end as *launch_fd.
 */
static int
offer_launcher(int *launch_fd)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	*launch_fd = pair[1];
	return pair[0];
}

static enum ss_err
start_worker(struct sandbox_plan *plan, struct confine_request *wish,
	pid_t *pid, struct ss_error *err)
{
	struct step failed;
	bool born = plan->decided ? start_again(plan, wish, pid, &failed)
				  : start_first(plan, wish, pid, &failed);

	fd_close(&wish->launcher);
	if (born)
		return SS_OK;
	return error_internal(err, failed.number, "worker: %s", failed.name);
}

enum ss_err
sandbox_fork(struct sandbox_plan *plan, const struct sandbox_process *process,
	struct ss_child *child, struct ss_error *err)
{
	struct confine_request wish = {
		.process = *process, .only = -1, .launcher = -1, .launch_fd = -1
	};
	struct cgroup group = CGROUP_INIT;
	enum ss_err code;

	*child = (struct ss_child){ .pid = -1, .launch_fd = -1 };
	if (plan->account[0] == '\0')
		return error_internal(err, 0, "sandbox_prepare was not called");
	if ((process->flags & SS_FORK_MEMORY) &&
		cgroup_open(&group, plan->scratch_bytes + WORKER_BYTES))
		plan->memory_group = &group;
	if (launcher_keeps(plan) == 0)
		;
	else if (process->flags & SS_FORK_LAUNCHER)
		wish.launcher = start_launcher(plan);
	else if (process->flags & SS_FORK_LAUNCHER_LATER)
		wish.launcher = offer_launcher(&wish.launch_fd);
	code = start_worker(plan, &wish, &child->pid, err);
	if (code != SS_OK || plan->level < SANDBOX_LANDLOCK)
		fd_close(&wish.launch_fd);
	child->launch_fd = wish.launch_fd;
	plan->memory_group = NULL;
	cgroup_close(&group);
	return code;
}

/*
 * The worker's message lies unread in the socket: it is the launcher's to read.
 * A socket that hangs up belonged to a worker that has ended.
 */
bool
sandbox_launch(struct sandbox_plan *plan, struct ss_child *child)
{
	struct pollfd asked = { .fd = child->launch_fd, .events = POLLIN };
	bool started = poll(&asked, 1, 0) == 1 && asked.revents == POLLIN &&
		fork_launcher(plan, child->launch_fd);

	fd_close(&child->launch_fd);
	return started;
}

static int
nothing(void *ctx)
{
	(void)ctx;
	return 0;
}

enum sandbox_level
sandbox_decide(struct sandbox_plan *plan)
{
	struct confine_request wish = { .process = { .main = nothing },
		.only = -1,
		.launcher = -1,
		.launch_fd = -1 };
	struct step failed;
	pid_t pid;

	if (plan->account[0] == '\0')
		return SANDBOX_NONE;
	if (plan->mode != SANDBOX_MODE_OFF)
		keep_dotfiles(plan);
	if (!start_first(plan, &wish, &pid, &failed))
		return SANDBOX_NONE;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return plan->level;
}

/* SPDX-License-Identifier: MIT */
/*
 * The worker is the sandbox (core/README.md, The sandbox).  A process is born
 * confined, stays so, and starts commands that inherit its walls; per command
 * there is only the tool's own Landlock ruleset to enter.
 *
 * The order of use:
 *
 *	parent	sandbox_prepare(&plan)			once, at start
 *		sandbox_fork(&plan, &process, &child)	for each worker
 *	worker	sandbox_self()				where site and /tmp are
 *		policy_resolve, ruleset_make		once per tool, cached
 *		sandbox_run(policy, ruleset, &spawn, &result)	per command
 *		sandbox_clean()				after its answer was sent
 *
 * Nothing is ever run half confined: a set-up step that fails ends the birth
 * (the parent then decides by the mode) or the command, with its name.
 */
#ifndef SS_SANDBOX_SANDBOX_H
#define SS_SANDBOX_SANDBOX_H

#include "files/dotfiles.h"
#include "sandbox/policy.h"

struct cgroup;

enum sandbox_mode {
	SANDBOX_MODE_AUTO, /* strict, else landlock, else no tools */
	SANDBOX_MODE_STRICT,
	SANDBOX_MODE_LANDLOCK,
	SANDBOX_MODE_OFF
};

enum sandbox_level {
	SANDBOX_NONE,     /* below the floor: tools are refused */
	SANDBOX_OFF,      /* the operator's word: nothing confines tools */
	SANDBOX_LANDLOCK, /* no namespaces: Landlock and seccomp */
	SANDBOX_STRICT
};

/* "none", "off", "landlock", "strict"; never NULL. */
const char *sandbox_level_name(enum sandbox_level level);
/* The word of the configuration; false: no such mode. */
bool sandbox_mode_from(const char *word, enum sandbox_mode *out);

/*
 * Everything that is decided in the parent.  Texts are borrowed and outlive
 * the plan.  Start from SANDBOX_PLAN_INIT.
 */
struct sandbox_plan {
	enum sandbox_mode mode;
	const char *root;          /* the site, absolute */
	int root_fd;               /* the same, open; -1: by its name */
	const char *libexec;       /* our helper programs; NULL: none */
	const struct grant *grant; /* NULL: nothing is granted */
	const char *user, *group;  /* to become when root; NULL: default */
	uint64_t scratch_bytes;    /* of the private /tmp */
	uint64_t scratch_files;
	int landlock_abi_max; /* 0: what the kernel has; for tests */

	/* Filled by sandbox_prepare and by the first birth. */
	bool decided;
	enum sandbox_level level;
	char why[256]; /* why no higher level, for the log; "" */
	char account[64];
	uid_t uid; /* the account that tools run as; never 0 */
	gid_t gid;
	bool drop;                   /* started as root: become it */
	struct cgroup *memory_group; /* of the child being started; NULL */
	struct dotfiles dotfiles;    /* of the site's root, if they are known */
};

#define SANDBOX_PLAN_INIT                                                      \
	((struct sandbox_plan){ .root_fd = -1,                                 \
		.scratch_bytes = (uint64_t)64 << 20,                           \
		.scratch_files = 10000 })

/*
 * Resolves the account and checks the grants.
 * Errors  SS_CONFIG: no such account, uid 0, or a user that only root can
 *         become; SS_INTERNAL.
 */
enum ss_err sandbox_prepare(struct sandbox_plan *plan, struct ss_error *err);
/*
 * Finds out by a throw-away birth which level this machine gives, and fixes
 * it: later births reach it or have no tools.  Without this call the first
 * sandbox_fork decides.  Never fails: SANDBOX_NONE with plan->why.
 */
enum sandbox_level sandbox_decide(struct sandbox_plan *plan);

/* A process to be started. */
struct sandbox_process {
	unsigned flags; /* SS_FORK_... of statespace.h */
	unsigned keeps; /* KEEP_...: what its one tool needs; else 0 */
	/*
	 * Strict only: Internet sockets can be made, and reach nothing, so that
	 * a traced tool shows which addresses it uses (watch.h).
	 */
	bool watched;
	int (*main)(void *ctx); /* its return value is the exit status */
	void *ctx;
};

/*
 * Starts a process that is confined and then runs process->main.  Blocks until
 * the child has reported that all its steps succeeded (about 2 ms).
 *
 * *child   as for ss_site_fork.
 * Levels   By plan->mode.  When no allowed level can be reached the process
 *          runs all the same, as SANDBOX_NONE, under the account: pages are
 *          served, sandbox_run refuses.
 * Errors   SS_INTERNAL: no process, or the account cannot be entered.
 * Process  Descriptors are inherited; the parent should be single-threaded.
 *          The child is settled (spawn.h): it must have set its signal
 *          handlers before its first command.
 */
enum ss_err
sandbox_fork(struct sandbox_plan *plan, const struct sandbox_process *process,
	struct ss_child *child, struct ss_error *err);
/* As ss_site_launch; when it fails the reason is in plan->why. */
bool sandbox_launch(struct sandbox_plan *plan, struct ss_child *child);

/* What this process is.  Before any birth: level none. */
struct sandbox {
	enum sandbox_level level;
	bool own_pid_namespace; /* pid 1 by our own doing: kill(-1) */
	unsigned keeps;
	int landlock_abi;    /* in use; 0: none */
	const char *site;    /* "/site", or the real path: reopen it here */
	int site_fd;         /* without a view: what that name meant; -1 */
	const char *scratch; /* the tools' TMPDIR */
	const char *libexec; /* our helper programs */
	const char *memory;  /* of tools: as ss_result.memory */
	char why[256];       /* why no higher level; "" */
	/* Of the site's root, as it was at birth; NULL before. */
	const struct dotfiles *dotfiles;
};
const struct sandbox *sandbox_self(void);
/*
 * Where to look a path up, for calls like openat(2): what is beneath the site
 * is looked for in site_fd, and *path loses its beginning.  A deploy that puts
 * another directory at the site's name is no affair of this process then.
 */
int sandbox_at(const char **path);

/*
 * Runs one command under its policy: here, or, when the policy keeps
 * something that this process gave away, in the launcher.  Fills in s->enter,
 * s->own_pid_namespace and nothing else.
 * Errors  SS_SANDBOX_UNAVAILABLE: the level is none, or a layer that this
 *         policy needs is missing; SS_INTERNAL; otherwise as spawn_run.
 */
enum ss_err sandbox_run(const struct policy *p, const struct ruleset *r,
	struct spawn *s, struct spawn_result *result, struct ss_error *err);

/*
 * The same for a page's components, all under one policy, as one run: runs is
 * what batch names, to be filled in.  A launcher takes them one by one.
 */
enum ss_err sandbox_run_many(const struct policy *p, const struct ruleset *r,
	struct spawn *runs, const struct spawn_batch *batch,
	struct ss_error *err);

/*
 * Empties the scratch after a command, or after a page's components.  False:
 * this process must not run another tool; leave, so that a fresh one is born.
 */
bool sandbox_clean(void);

/* ---- doctor ---- */

struct sandbox_probe {
	const char *name; /* "user namespace", "landlock", ... */
	bool works;
	bool needed; /* for the strict level */
	char detail[160];
	const char *remedy; /* NULL when it works */
};

/*
 * Tries every layer for real in throw-away children; returns how many of
 * the cap probes were filled.  plan as for sandbox_fork, prepared.
 */
size_t sandbox_probe(
	const struct sandbox_plan *plan, struct sandbox_probe *out, size_t cap);

#endif

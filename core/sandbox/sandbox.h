/* SPDX-License-Identifier: MIT */
/*
 * What this process is, as far as confinement goes.  A worker is confined once,
 * at its start, and every command that it starts inherits that; each command
 * then enters only its tool's own Landlock ruleset (core/README.md, The
 * sandbox).
 *
 * The order of use, by file:
 *
 *	parent	sandbox_plan.h	sandbox_prepare		once, at start
 *		sandbox_fork.h	sandbox_fork		for each worker
 *	worker	sandbox.h	sandbox_self		where site and /tmp are
 *		policy.h	policy_resolve		once for each tool
 *		ruleset.h	ruleset_make		the same, cached
 *		sandbox_run.h	sandbox_run		for each command
 *		sandbox_scratch.h sandbox_clean		after its answer was sent
 *
 * No command runs half confined: a step that fails ends the process that is
 * being set up (its parent then decides by the mode) or the command.
 */
#ifndef SS_SANDBOX_SANDBOX_H
#define SS_SANDBOX_SANDBOX_H

#include "files/dotfiles.h"
#include "run/cgroup.h"
#include "sandbox/keeps.h"

enum sandbox_mode {
	SANDBOX_MODE_AUTO, /* strict, else landlock, else no tools */
	SANDBOX_MODE_STRICT,
	SANDBOX_MODE_LANDLOCK,
	SANDBOX_MODE_OFF
};

enum sandbox_level {
	SANDBOX_NONE,     /* not confined enough: tools are refused */
	SANDBOX_OFF,      /* the operator chose that nothing confines tools */
	SANDBOX_LANDLOCK, /* no namespaces: Landlock and seccomp */
	SANDBOX_STRICT
};

/* "none", "off", "landlock", "strict"; never NULL. */
const char *sandbox_level_name(enum sandbox_level level);
/* The word of the configuration; false: no such mode. */
bool sandbox_mode_from(const char *word, enum sandbox_mode *out);

/* What bounds the memory of a command's processes. */
enum sandbox_memory {
	SANDBOX_MEMORY_READ,    /* all together, read at intervals: bounds.h */
	SANDBOX_MEMORY_PROCESS, /* "process": each by itself */
	SANDBOX_MEMORY_GROUP    /* "group": all together, by the kernel */
};

/* As ss_result.memory: NULL for the first. */
const char *sandbox_memory_name(enum sandbox_memory memory);

/* In a process that sandbox_fork did not start: level none. */
struct sandbox {
	enum sandbox_level level;
	bool own_pid_namespace; /* pid 1 of one that we made: kill(-1) */
	unsigned keeps;         /* KEEP_... */
	int landlock_abi;       /* in use; 0: none */
	const char *site;       /* "/site", or the real path: reopen it here */
	int site_fd;            /* without a view: what that name meant; -1 */
	int store_fd;           /* with KEEP_WORKSPACE: of the sessions; -1 */
	int layers; /* with KEEP_WORKSPACE in a view: overlay.h; else -1 */
	const char *scratch; /* the tools' TMPDIR */
	const char *libexec; /* our helper programs; "" */
	bool one_program;    /* libexec is a file that is all of them */
	enum sandbox_memory memory;
	char why[256];    /* why no higher level; "" */
	char remedy[512]; /* what would give it, for the operator; "" */
	/* Of the site's root, when this process started; NULL: unknown. */
	const struct dotfiles *dotfiles;
	unsigned number; /* of the site: struct sandbox_place */
	bool shared;     /* several sites lie in the view: see sandbox_run.c */
	const struct sandbox_plan *plan; /* that has these sites */
};
const struct sandbox *sandbox_self(void);
/* The remedy of its level; NULL: none. */
const char *sandbox_remedy(void);

/* Where the site lies whose commands this process runs. */
struct sandbox_place {
	unsigned number; /* in the plan's sites, from 1; 0: the plan's root */
	const char *site;
	int site_fd;
	const struct dotfiles *dotfiles;
};
/*
 * With several sites in one process: from now on sandbox_self() is about the
 * site at that place.  Texts and descriptor are borrowed.
 */
struct sandbox_place sandbox_place(void);
void sandbox_move(const struct sandbox_place *place);
/* The same to be filled in, by confine.c alone. */
struct sandbox *sandbox_to_fill(void);
/* The memory group that this process was started in; closed: none. */
struct cgroup *sandbox_memory_group(void);

/*
 * For calls like openat(2): returns the directory to look *path up in.  A path
 * beneath the site is looked up in site_fd, and *path loses its beginning, so
 * that a deploy which puts another directory at that name changes nothing for
 * this process.
 */
int sandbox_at(const char **path);

#endif

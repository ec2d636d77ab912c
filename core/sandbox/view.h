/* SPDX-License-Identifier: MIT */
/*
 * The view: the few files that a confined process sees, mounted read-only on
 * a private root (core/README.md, The sandbox).  Knows mounts and paths; not
 * users, capabilities, filters.  Works in a process that is alone in a new
 * mount namespace and may mount there; the caller throws that process away
 * when a step fails.
 */
#ifndef SS_SANDBOX_VIEW_H
#define SS_SANDBOX_VIEW_H

#include "files/dotfiles.h"
#include "sandbox/policy.h"

/* Where things are inside of it. */
#define VIEW_SITE "/site"
#define VIEW_SCRATCH "/tmp"
#define VIEW_LIBEXEC "/libexec"

/* Which step of a set-up failed, for the operator. */
struct step {
	char name[160];
	int number; /* errno */
};

/* Stores the name and errno; returns false, so that a refusal is one line. */
bool step_fail(struct step *s, const char *name, ...) PRINTF_LIKE(2, 3);

struct view_plan {
	const char *root;          /* the site */
	struct dotfiles *dotfiles; /* of it: what may be known, and then is */
	const char *libexec;       /* NULL: none */
	const struct grant *grant;
	bool writes;  /* bind [grant] write writable: Landlock is there */
	bool watches; /* make a /proc for view_take_proc */
	uint64_t scratch_bytes, scratch_files;
	uid_t uid; /* whose the scratch and the passwd line are */
	gid_t gid;
	const char *account;
};

/*
 * Builds the view, makes it the root and forgets the old one.  *keeps loses
 * KEEP_PROC when /proc cannot be mounted here.  The working directory is "/".
 */
bool view_enter(const struct view_plan *plan, unsigned *keeps, struct step *s);
/*
 * Moves this process's root into a detached copy of the view, when view_enter
 * kept KEEP_PROC.  /proc/PID/mountinfo, mounts and mountstats list the mounts
 * of the namespace that the root leads to, each with its path beneath its file
 * system, which is the site's on the host; from the copy it leads to none.
 * After the last user namespace: unshare(2) refuses one to a process that
 * called chroot(2).
 */
bool view_hide_mounts(struct step *s);
/*
 * A /proc of this pid namespace that is mounted nowhere, the caller's from now
 * on; -1: none (not asked for, or refused, as containers do that mask theirs).
 */
int view_take_proc(void);

/*
 * Do the copies (loader.h) still lie over the loaders?  The kernel takes one
 * away when an upgrade of the machine renames a new loader over the old: then
 * a closed exec set would be an advice, until a new view is built.
 */
bool view_loaders_hold(void);

/*
 * System trees that hold libraries and data, program directories, and the
 * files of /etc that a tool may read: NULL-terminated, absolute.  The view
 * holds all of them; Landlock grants the first and the last for reading.
 */
extern const char *const view_library_trees[];
extern const char *const view_program_trees[];
extern const char *const view_etc_entries[];
extern const char *const view_etc_network[]; /* with KEEP_NETWORK */
extern const char *const view_devices[];

/*
 * A path of the configuration or of a page as it is in the outside world:
 * absolute in out; relative ones are below root.  *optional: ended with '?'.
 */
bool view_outside(const char *path, const char *root, char *out, size_t cap,
	bool *optional);
/*
 * The same as this process's view has it: what is beneath root is beneath
 * site.
 */
bool view_inside(const char *path, const char *root, const char *site,
	char *out, size_t cap, bool *optional);
/* Is path the directory itself or below it?  Both clean. */
bool view_is_below(const char *path, const char *directory);

#endif

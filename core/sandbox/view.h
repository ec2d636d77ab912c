/* SPDX-License-Identifier: MIT */
/*
 * The view: the few files that a confined process sees, mounted read-only on a
 * root of its own, mount_namespaces(7), pivot_root(2).  Works in a process that
 * is alone in a new mount namespace and may mount there; the caller ends that
 * process when a step fails.
 */
#ifndef SS_SANDBOX_VIEW_H
#define SS_SANDBOX_VIEW_H

#include "sandbox/step.h"
#include "sandbox/view_plan.h"

/*
 * Builds the view, makes it the root and detaches the old one.  *keeps loses
 * KEEP_PROC when /proc cannot be mounted here.  The working directory is "/".
 */
bool view_enter(const struct view_plan *plan, unsigned *keeps, struct step *s);
/*
 * With KEEP_PROC: makes a detached copy of the view this process's root.
 * /proc/PID/mountinfo, mounts and mountstats list the mounts of the namespace
 * that the root belongs to, and show where on the host the site lies; a
 * detached copy belongs to none.  After the last user namespace: unshare(2)
 * refuses one to a process that called chroot(2).
 */
bool view_hide_mounts(struct step *s);
/*
 * A /proc of this pid namespace that is mounted nowhere, the caller's from now
 * on; -1: none (not asked for, or refused, as in containers that mask theirs).
 */
int view_take_proc(void);

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

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A workspace in the place of the site: an overlayfs mount whose lower layer is
 * the site's folder, and whose upper layer is a session's directory.  Only a
 * process that kept KEEP_WORKSPACE at the level strict can make one; it runs one
 * command at a time, so the mount is in its own mount namespace and is taken
 * away after the command.
 *
 * All layers are used by descriptor: they lie in a directory of the view that an
 * empty one covers, so that no path leads to them (overlay_take_layers).
 *
 * Source   Documentation/filesystems/overlayfs.rst, fsconfig(2).
 */
#ifndef SS_SANDBOX_OVERLAY_H
#define SS_SANDBOX_OVERLAY_H

#include "sandbox/step.h"

struct view_plan;

/* Names in the directory of the layers. */
#define OVERLAY_STORE "workspaces"

struct overlay {
	const char *id;       /* the session: a directory of the store */
	int upper, work;      /* of it, open */
	bool whole;           /* upper is a copy of it: no layers */
	const char *folder;   /* of the site, clean; "": all of it */
	const char *page_dir; /* dot entries down to it are masked */
};

/*
 * In the view: the store of the sessions, and each site as it is on the host,
 * also for writing.
 */
bool overlay_add_layers(int root, const struct view_plan *p, struct step *s);
/*
 * After the last namespace was entered: opens the directory of the layers and
 * covers it.  -1: it failed.
 */
int overlay_take_layers(struct step *s);

/*
 * Mounts it over the folder's place in the view, with the dot entries from the
 * folder down to the page's directory masked.
 */
bool overlay_begin(const struct overlay *o, struct step *s);
/* False: it is still there, and this process must run no more tools. */
bool overlay_end(const char *folder);
/* Can this process make one at all? */
bool overlay_is_possible(void);

/* In a command's child: gives up the rights to mount.  0 or errno. */
int overlay_child_leave(void);
/* The capabilities that making one takes, as for capset(2). */
uint64_t overlay_capabilities(void);

/* For tests: option strings, as for kernels that take no descriptors. */
extern bool overlay_uses_options;

#endif

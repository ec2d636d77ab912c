/* SPDX-License-Identifier: MIT */
/*
 * What one tool may touch: what the page and the tool ask for, compared with
 * the operator's ceiling and resolved to files as this process sees them
 * (core/README.md, The sandbox, statespace.toml(5)).
 */
#ifndef SS_SANDBOX_POLICY_H
#define SS_SANDBOX_POLICY_H

#include "base/arena.h"
#include "base/error.h"
#include "sandbox/grant.h"
#include "sandbox/powers.h"

struct policy {
	const char *program; /* absolute; NULL: the agent's, or not found */
	const char **more;   /* those of the ask; NULL: not found */
	bool exec_any;
	struct path_list exec; /* files, with loaders and interpreters */
	struct path_list read, write, unix_sockets; /* as this process sees */
	/*
	 * Each of the first two is looked up beneath this: the operator's
	 * grant that it is within.  What tools may write holds no link that
	 * leads a rule elsewhere.
	 */
	struct path_list read_under, write_under;
	enum network_kind network;
	struct path_list network_targets; /* widen the HTTP tool's guard */
	bool http;      /* the HTTP tool: it may read programs only */
	unsigned keeps; /* KEEP_...: not 0 means that the launcher runs it */
	struct spawn_limits limits;
	const char *page_dir;
	/* Of the site, which it may write: overlay.h; NULL: no workspace. */
	const char *workspace;
	unsigned site; /* as in struct sandbox_place */
};

/*
 * Does the ceiling allow what is asked?  Pure: for page load and for `check`.
 * Errors  SS_CAPABILITY_REFUSED naming key, line and column, which *place gets
 *         too unless it is NULL; a hint says what the operator would have to
 *         grant.
 */
enum ss_err
policy_check(const struct policy_ask *ask, const struct grant *ceiling,
	struct node_place *place, struct ss_error *err);

/*
 * Is a path that `read:` names given with it?  Not so a dot entry between the
 * site's root and the page's directory, or what is below one: those are open
 * only when the operator's grant names them too.  True for any other path.
 */
bool policy_read_holds(const struct policy_ask *ask,
	const struct grant *ceiling, const char *name);

/*
 * Will the rules of this tool (ruleset.h) let it read that file or directory of
 * the host, if it is in the tool's view?  path is absolute and clean.
 */
bool policy_reads(const struct policy_ask *ask, const struct grant *ceiling,
	const char *path);
/* Does it lie in what the tool asks to write? */
bool policy_writes(const struct policy_ask *ask, const struct grant *ceiling,
	const char *path);

/*
 * The same as policy_check, and then everything the kernel must know: program, loader,
 * interpreters, limits.  Call it in the worker, whose view counts; reads the
 * heads of a few files.  *out and what it points to live in arena.
 * Errors  as policy_check; SS_CAPABILITY_REFUSED for a granted path that is
 *         not there; SS_SANDBOX_UNAVAILABLE for some of the granted sockets
 *         where only all of them can be given; SS_INTERNAL.
 */
enum ss_err policy_resolve(struct arena *arena, const struct policy_ask *ask,
	const struct grant *ceiling, struct policy *out, struct ss_error *err);

/*
 * May a tool of any page write this page's file?  Then the page's tools are
 * ignored (core/README.md, The sandbox).  path is clean, relative to the site.
 */
bool policy_is_writable(const struct grant *ceiling, const char *path);
/*
 * The same by device and inode, for grants that lead into the site by links or
 * by another name.  root has the site open.  Also true when that cannot be
 * found out.
 */
bool policy_leads_to(const struct grant *ceiling, int root, const char *path);
/*
 * A grant to write that contains the whole site under another name, so that
 * comparing names does not show what lies in it.  NULL: none.  By realpath(3),
 * outside of a view.
 */
const char *policy_alias(const struct grant *ceiling);

#endif

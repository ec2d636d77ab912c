/* SPDX-License-Identifier: MIT */
/*
 * What one tool may touch: the page's and the tool's wishes held against the
 * operator's ceiling, resolved to files of this process's view, and made into
 * a Landlock ruleset (core/README.md, The sandbox, statespace.toml(5)).
 *
 * How the walls are built is sandbox's; how a child starts is spawn's.
 */
#ifndef SS_SANDBOX_POLICY_H
#define SS_SANDBOX_POLICY_H

#include "base/arena.h"
#include "base/error.h"
#include "page/spec.h"
#include "run/spawn.h"
#include "sandbox/powers.h"

struct path_list {
	const char *const *items;
	size_t count;
};

/*
 * The operator's ceiling: [grant] and [limits] of the configuration.  Paths
 * are relative to the site, or absolute; one that ends with '?' may be absent.
 * Borrowed by whoever is given it.
 */
struct grant {
	const char *root; /* the site, absolute: what relative paths mean */
	struct path_list read, write, unix_sockets;
	bool exec_any; /* else only the programs of exec */
	struct path_list exec;
	enum network_kind network; /* UNSET counts as OFF */
	struct path_list network_targets;
	bool http, proc;
	struct spawn_limits limits; /* the defaults, and the ceiling where */
	uint32_t timeout_ms;        /* these three are 0 */
	uint64_t memory_bytes, processes;
};

struct policy {
	const char *program; /* absolute; NULL: the agent's, or not found */
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
	bool http;      /* then no file is its own to read but programs' */
	unsigned keeps; /* KEEP_...: not 0 means that the launcher runs it */
	struct spawn_limits limits;
	const char *page_dir;
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
 * The same, and then everything the kernel must know: program, loader,
 * interpreters, limits.  Call it in the worker, whose view counts; reads the
 * heads of a few files.  *out and what it points to live in arena.
 * Errors  as policy_check; SS_CAPABILITY_REFUSED for a granted path that is
 *         not there; SS_SANDBOX_UNAVAILABLE for some of the granted sockets
 *         where only all of them can be given; SS_INTERNAL.
 */
enum ss_err policy_resolve(struct arena *arena, const struct policy_ask *ask,
	const struct grant *ceiling, struct policy *out, struct ss_error *err);

/*
 * May a tool of any page write this page's file?  Such a page declares no
 * tools (core/README.md, The sandbox).  path is clean, relative to the site.
 */
bool policy_is_writable(const struct grant *ceiling, const char *path);
/*
 * The same by what the grants lead to in this process, whatever they are
 * called: links, and other names of the site's own directories.  root has the
 * site open.  Also true when nobody can tell.
 */
bool policy_leads_to(const struct grant *ceiling, int root, const char *path);
/*
 * A grant to write that holds the whole site under another name: then text
 * does not tell what lies in it.  NULL: none.  By realpath(3), outside.
 */
const char *policy_alias(const struct grant *ceiling);

/* ---- the ruleset: made once, kept with the cached page ---- */

struct ruleset_mark;

struct ruleset {
	int fd; /* -1: none, or Landlock is not in use here */
	struct ruleset_mark *marks;
	size_t mark_count;
};

#define RULESET_INIT ((struct ruleset){ .fd = -1 })

/*
 * Makes the Landlock ruleset of a policy; fd stays -1 where sandbox_self()
 * does not use Landlock.  The marks live in arena.
 * Errors  SS_SANDBOX_UNAVAILABLE, detail names the step; SS_INTERNAL.
 */
enum ss_err ruleset_make(struct arena *arena, const struct policy *p,
	struct ruleset *out, struct ss_error *err);
/*
 * Rules hold on to inodes: false when a program was replaced, or a directory
 * of the page's path changed and a dot entry may be new.  Then release it and
 * make another one.  A few stat calls.
 */
bool ruleset_is_fresh(const struct ruleset *r);
void ruleset_release(struct ruleset *r);

#endif

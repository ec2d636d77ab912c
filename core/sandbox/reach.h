/* SPDX-License-Identifier: MIT */
/*
 * Can the account that tools run as reach a file through the view of a tool,
 * and if not, which file or directory of the host is in the way?  For
 * `statespace check` and --explain: asked outside of the sandbox, by the view's
 * own lists (view_find.h) and by faccessat2(2) as the account.  Links are
 * followed as a tool would follow them.
 */
#ifndef SS_SANDBOX_REACH_H
#define SS_SANDBOX_REACH_H

#include <limits.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "sandbox/sandbox_plan.h"

enum reach_what { REACH_READ, REACH_WRITE, REACH_RUN };

enum reach_end {
	REACH_HELD,    /* it may; at is the file */
	REACH_ABSENT,  /* at does not exist */
	REACH_UNSEEN,  /* no tool sees at */
	REACH_DENIED,  /* the owner and mode of at forbid it */
	REACH_NO_X,    /* at is a program that nobody may execute */
	REACH_KIND,    /* at is no file that can be executed */
	REACH_FOREIGN, /* at is a program of another architecture */
	REACH_MOUNT,   /* at is mounted noexec, or read-only */
	REACH_NEEDS,   /* at runs by `needs`, which tools cannot run */
	REACH_LOOP     /* too many links */
};

struct reach {
	/* What is asked. */
	char path[PATH_MAX]; /* absolute, as the tool names it */
	enum reach_what what;
	unsigned keeps; /* of the tool: KEEP_... */
	/* The answer. */
	enum reach_end end;
	bool linked;       /* a link led to at */
	char at[PATH_MAX]; /* of the host */
	char needs[256];   /* the interpreter or loader, for REACH_NEEDS */
	uid_t owner;       /* of at, as is mode, for REACH_DENIED */
	mode_t mode;
};

/*
 * Answers all of them.  Forks once; the child asks as the account.
 *
 * view     do tools see the view, or (false) the host?
 * False    no process, or no memory.
 */
bool reach_ask(const struct sandbox_plan *plan, bool view, struct reach *asks,
	size_t count);

/*
 * Adds why it cannot be reached, as a sentence without its subject: "leads to
 * /opt/x: tools cannot see it".  account: its name.
 */
bool reach_print(const struct reach *r, const char *account, struct buf *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Kills and reaps every process that a tool left, in whatever session it is.
 * Orphans become our children, because we are their subreaper
 * (PR_SET_CHILD_SUBREAPER) or pid 1 of a pid namespace of our own.  A process
 * is killed only while waitid(2) knows it as our child, and those that were our
 * children before the tool started are spared: a host may have its own.
 * Orphans of a host's child that ends meanwhile look like a tool's and are
 * killed.
 */
#ifndef SS_RUN_REAP_H
#define SS_RUN_REAP_H

#include "base/base.h"

struct reap {
	bool own_namespace; /* everything in it but us may be killed */
	pid_t *spared;
	size_t count;
};

#define REAP_INIT ((struct reap){ .spared = NULL })

/*
 * Once per process, before it gives up /proc: becomes the subreaper, keeps
 * the kernel's list of our children open.  0 or errno.
 */
int reap_prepare(void);
/* Notes the present children, to be spared.  0 or errno. */
int reap_note(struct reap *r);
/*
 * Kills and reaps until no child is left but the spared ones.  0, or ETIME
 * when some would not die within limit_ms, or errno.
 */
int reap_all(const struct reap *r, unsigned limit_ms);
void reap_release(struct reap *r);

/*
 * Does init, or a subreaper below it, wait for children that this process
 * leaves?  Only of the first pid namespace that is known: the first process of
 * a container may wait for none.
 */
bool reap_is_for_init(void);

#endif

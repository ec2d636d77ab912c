/* SPDX-License-Identifier: MIT */
/*
 * Leaving nothing behind: ends and reaps every process that a tool left,
 * whatever session it fled to.  Orphans come to us because we are their
 * subreaper (or pid 1 of a namespace of our own); only what waitid(2) says is
 * our child is ever killed, and what was our child before the tool started is
 * spared: a host may have children of its own.  Orphans of a host's child
 * that ends meanwhile cannot be told from a tool's and are ended.
 */
#ifndef SS_RUN_REAP_H
#define SS_RUN_REAP_H

#include "base/base.h"

struct reap {
	bool own_namespace; /* everything but us may be killed */
	pid_t *spared;
	size_t count;
};

#define REAP_INIT ((struct reap){ .spared = NULL })

/*
 * Once per process, before it gives up /proc: becomes the subreaper, keeps
 * the kernel's list of our children open.  0 or errno.
 */
int reap_prepare(void);
/* Notes the children there are, to be spared.  0 or errno. */
int reap_note(struct reap *r);
/*
 * Kills and reaps until no child is left but the spared ones.  0, or ETIME
 * when some would not die within limit_ms, or errno.
 */
int reap_all(const struct reap *r, unsigned limit_ms);
void reap_release(struct reap *r);

#endif

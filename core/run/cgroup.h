/* SPDX-License-Identifier: MIT */
/*
 * Memory of all processes of a tool together, by control group v2, where our
 * own group is delegated to us (systemd: Delegate=memory).  RLIMIT_DATA, which
 * always holds, bounds each process by itself.
 *
 * A worker and its launcher are born into a group of their own, and what they
 * start is in it without a call more: moving a process costs milliseconds.
 * The group may have the tool's memory, the scratch's, and a little for the
 * worker; when that is over the kernel ends the largest process, a tool's.
 */
#ifndef SS_RUN_CGROUP_H
#define SS_RUN_CGROUP_H

#include "base/base.h"

struct cgroup {
	int procs, max, events; /* its files; -1 */
	uint64_t allowance;     /* bytes beside the tool's */
	uint64_t limit, kills;  /* as last written and read */
};

#define CGROUP_INIT ((struct cgroup){ .procs = -1, .max = -1, .events = -1 })

/*
 * Moves this process to a leaf of its own group, so that there can be others
 * beside it.  False, and nothing has changed: not delegated, no memory
 * controller, or others of the group would have to move too.  Once it said
 * true it says so again.
 */
bool cgroup_delegate(void);
/* The same for a group that is open as a directory; cgroup_delegate's part. */
bool cgroup_delegate_at(int dir);
/* Moves back and removes the groups, which are empty; not in a fork. */
void cgroup_return(void);

/* A new group beside our leaf; false: none, g is as CGROUP_INIT. */
bool cgroup_open(struct cgroup *g, uint64_t allowance);
/* This process goes there for good; when it cannot, g is closed. */
void cgroup_join(struct cgroup *g);
void cgroup_close(struct cgroup *g);

/* What its processes may take from now on; 0: no limit.  0 or errno. */
int cgroup_limit(struct cgroup *g, uint64_t bytes);
/* Did the kernel end a process for it since this was asked last? */
bool cgroup_has_killed(struct cgroup *g);

#endif

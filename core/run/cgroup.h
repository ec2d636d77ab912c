/* SPDX-License-Identifier: MIT */
/*
 * Bounds the memory of all processes of a tool together, by control group v2,
 * cgroups(7), where our own group is delegated to us (systemd:
 * Delegate=memory). RLIMIT_DATA bounds each process by itself in any case.
 *
 * A worker and its launcher join a group of their own at their start, and what
 * they start is in it too: moving a process later would cost milliseconds.  The
 * group may use the tool's memory, the scratch's, and a little for the worker;
 * above that the kernel kills the largest process, which is a tool's.
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
 * controller, or other processes are in the group.  True again when it is
 * called again.
 */
bool cgroup_delegate(void);
/* The same for a group that is open as a directory. */
bool cgroup_delegate_at(int dir);
/* Moves back and removes the groups, which are empty; not in a fork. */
void cgroup_return(void);

/* A new group beside our leaf; false: none, g is as CGROUP_INIT. */
bool cgroup_open(struct cgroup *g, uint64_t allowance);
/* Moves this process there for good; when that fails, g is closed. */
void cgroup_join(struct cgroup *g);
void cgroup_close(struct cgroup *g);

/* How much its processes may use from now on; 0: no limit.  0 or errno. */
int cgroup_limit(struct cgroup *g, uint64_t bytes);
/* Did the kernel kill a process of the group since the last call? */
bool cgroup_has_killed(struct cgroup *g);

#endif

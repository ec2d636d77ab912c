/* SPDX-License-Identifier: MIT */
/*
 * Bounds what the processes of a tool use together where no control group
 * does.  RLIMIT_DATA bounds private memory that can be written, of each process
 * by itself, and RLIMIT_NPROC does not bind the machine's root.
 *
 *	memory		read from /proc at intervals (usage.h); more than the
 *			limit ends the tool
 *	shared		mmap(2) of shared memory without a file is decided by
 *			this process, through seccomp_unotify(2): /proc does not
 *			show pages of it that no process has mapped any more;
 *			all processes of a run together get the limit
 *	processes	where RLIMIT_NPROC does not bind, clone(2) is decided
 *			in the same way
 */
#ifndef SS_BOUNDS_H
#define SS_BOUNDS_H

#include "run/spawn.h"
#include "sandbox/filter.h"

/* Does RLIMIT_NPROC bind this process's account?  In a child of its own. */
bool bounds_processes_bind(void);

/*
 * From now on this process's children are bounded.  Needs no_new_privs.
 *
 * proc		a /proc as usage_read takes it; -1: none.  Owned from now on.
 * alone	as for usage_read
 * binds	bounds_processes_bind
 * whole	the filter of this process, *filtered: it has it already
 * 0 or errno	Without a listener shared memory is refused; where processes
 *		must be counted it is an error.
 */
int bounds_enter(int proc, bool alone, bool binds, const struct filter *whole,
	bool *filtered);
/* At the level off: memory is read, and there is no listener. */
void bounds_enter_open(int proc, bool alone);
/* Is memory read at intervals here? */
bool bounds_watch(void);

/* For the next batch: count commands that may each use what limits has. */
const struct spawn_bounds *
bounds_begin(const struct spawn_limits *limits, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Bounds what the processes of a tool take together where no control group
 * does.  RLIMIT_DATA bounds private memory that can be written, of each process
 * by itself, and RLIMIT_NPROC does not bind the machine's root.
 *
 *	memory		read from /proc at intervals (usage.h); more than the
 *			limit ends the tool
 *	shared		mmap(2) of shared memory without a file asks this
 *			process through a seccomp listener (seccomp_unotify(2)),
 *			since pages of it that no process has mapped any more
 *			are seen nowhere; all of a run together get the limit
 *	processes	where RLIMIT_NPROC does not bind, clone(2) asks too
 */
#ifndef SS_BOUNDS_H
#define SS_BOUNDS_H

#include "run/spawn.h"

/* Does RLIMIT_NPROC bind this process's account?  In a child of its own. */
bool bounds_processes_bind(void);

/*
 * From now on this process's children are bounded.  Needs no_new_privs.
 *
 * proc		a /proc as usage_read takes it; -1: none.  Owned from now on.
 * alone	as for usage_read
 * binds	bounds_processes_bind
 * 0 or errno	Without a listener shared memory is refused, and where
 *		processes would have to ask it is an error.
 */
int bounds_enter(int proc, bool alone, bool binds);
/* The first of these only, and no listener: what is not confined. */
void bounds_enter_open(int proc, bool alone);
/* Is memory read at intervals here? */
bool bounds_watch(void);

/* For the next batch: count commands that may each take what limits says. */
const struct spawn_bounds *
bounds_begin(const struct spawn_limits *limits, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the processes of a tool use together, read from proc_pid_status(5),
 * proc_pid_smaps(5) and proc_pid_fd(5).
 */
#ifndef SS_USAGE_H
#define SS_USAGE_H

#include "base/base.h"

struct usage {
	uint64_t bytes; /* private, shared, swapped, page tables, sockets */
	uint64_t tasks; /* threads, and processes that were not reaped */
};

/*
 * Adds up all descendants of this process.
 *
 * proc		a /proc, open as a directory.
 * alone	it is that of a pid namespace in which this process is pid 1:
 *		all others there are descendants.
 * enough	up to so many bytes the sum may count shared pages several
 *		times; above it they are counted once, which takes longer.
 * False	/proc, the kernel's lists of children or a process that lives
 *		cannot be read.
 */
bool usage_read(int proc, bool alone, uint64_t enough, struct usage *out);

#endif

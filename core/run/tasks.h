/* SPDX-License-Identifier: MIT */
/*
 * How many tasks this process's account has on the whole host.  RLIMIT_NPROC
 * counts them all where no user namespace of our own stands around the tools
 * (getrlimit(2)), so a limit for one tool has to be laid on top of them.
 */
#ifndef SS_RUN_TASKS_H
#define SS_RUN_TASKS_H

#include "base/base.h"

/*
 * Counted at most once a second by a walk through /proc; 0 when /proc cannot
 * be read, which leaves a limit as strict as it was.
 */
uint64_t tasks_count(void);

#endif

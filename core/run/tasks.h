/* SPDX-License-Identifier: MIT */
/*
 * How many tasks this process's account has on the whole host.  Outside a user
 * namespace of our own RLIMIT_NPROC counts all of them (getrlimit(2)), so they
 * are added to the limit of one tool.
 */
#ifndef SS_RUN_TASKS_H
#define SS_RUN_TASKS_H

#include "base/base.h"

/*
 * Counted at most once a second by reading /proc; 0 when that cannot be read:
 * then the limit is stricter than it need be.
 */
uint64_t tasks_count(void);

#endif

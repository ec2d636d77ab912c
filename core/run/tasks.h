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
 * Found out at most once a second, at a cost that does not grow with the host:
 * by the soft limit itself, which is changed and restored.  Where clone(2)
 * cannot be asked /proc is read; 0 when that cannot be read either: then the
 * limit is stricter than it need be.  1 where RLIMIT_NPROC does not bind.
 */
uint64_t tasks_count(void);

#endif
